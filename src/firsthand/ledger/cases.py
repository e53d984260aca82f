"""Cases of a message: lines that somebody wrote as a question and its answer.

    birch level 7 => 23
    DB_HOST = db2.internal

The invariant: a case is a line of the message, its pointer gives the line's very bytes,
and its question and answer are what stands on the two sides of the sign; no other line
gives one, whatever it says, and neither does recalled text that somebody handed on.

It does not know what a line means, nor which of two answers holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from firsthand.event import Event
from firsthand.fence import blanked
from firsthand.ledger.entries import BETWEEN, CASE, Episode
from firsthand.ledger.solver import shape_of

CASES_OF_EVENT_MAX = 64
CASE_CHARACTERS_MAX, ANSWER_CHARACTERS_MAX = 200, 160
_SETTING = re.compile(r"(?:export )?([A-Za-z_][\w.-]{0,99}) ?= ?([^\s=>](?:.*\S)?)\s*\Z")


def cases(event: Event) -> Iterator[Episode]:
    """Yield the cases of an event, in order; at most `CASES_OF_EVENT_MAX`."""
    return islice(_cases(event), CASES_OF_EVENT_MAX)


def _cases(event: Event) -> Iterator[Episode]:
    start = 0
    text = event.text
    for whole, line in zip(text.split("\n"), blanked(text).split("\n"), strict=False):
        size = len(whole.encode("utf-8", "surrogatepass"))
        asked, between, answer = line.strip().removeprefix(CASE).rpartition(BETWEEN)
        if not between and (setting := _SETTING.match(line.strip())) is not None:
            asked, answer = setting[1], setting[2]
        asked, answer = asked.strip(), answer.strip()
        if 0 < len(asked) <= CASE_CHARACTERS_MAX and 0 < len(answer) <= ANSWER_CHARACTERS_MAX:
            question = " ".join(asked.casefold().split())
            pointer = f"fh:{event.id}@{start}-{start + size}"
            yield Episode(pointer, shape_of(question)[0], asked, answer, event.position, event.origin, event.trust)
        start += size + 1
