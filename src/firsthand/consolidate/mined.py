"""Questions mined from a store's own texts, each with a byte range for an answer that code can check.

A sentence that holds an exact string (a name, a path, a number) is asked by some of its
other words; the answer is the string, where it stands. They are asked in the answer's own
words, as people seldom ask, so they speak for no change: they only refuse one that loses them.

The invariant: the same texts give the same questions; the bytes that a question's pointer
addresses are its string; nothing untrusted, derived or injected is asked for.

It knows no storage and no ranking.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache

from firsthand.consolidate.recalls import strings_of
from firsthand.event import Event, Kind, Trust
from firsthand.recall.made import telling

from .trials import Question

WORDS_MIN, WORDS_MAX = 3, 6
STRING_CHARACTERS_MIN = 4
EVENT_CHARACTERS_MAX = 4_000
SENTENCE_CHARACTERS_MAX = 400
KINDS = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.DOCUMENT})
SEED = 20_261_122

_compiled = cache(re.compile)
_SENTENCE = r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*"


def mine(events: Sequence[Event], count: int) -> tuple[Question, ...]:
    """Make at most so many questions, one an event, drawn from all of them alike."""
    chance = random.Random(SEED)  # noqa: S311 - a sample, not a secret
    drawn = [one for one in events if can_be_asked_for(one)]
    chance.shuffle(drawn)
    found: dict[str, Question] = {}
    for event in drawn:
        one = _of(event)
        if one is not None:
            found.setdefault(one.text, one)
        if len(found) == count:
            break
    return tuple(found.values())


def can_be_asked_for(event: Event) -> bool:
    """Say whether an event's own words may be asked for: a user or an agent wrote them, and they are in the log."""
    return (
        event.kind in KINDS and event.trust <= Trust.AGENT and event.is_searchable and not event.erased
        and event.content is not None
    )  # fmt: skip


def _of(event: Event) -> Question | None:
    """Ask for an exact string of an event by the words beside it; None where there is none, or too few words."""
    chance = random.Random(event.id)  # noqa: S311 - a sample, not a secret
    text = event.text[:EVENT_CHARACTERS_MAX]
    for sentence in _compiled(_SENTENCE).finditer(text):
        said = sentence[0][:SENTENCE_CHARACTERS_MAX]
        strings = sorted((one for one in strings_of(said) if len(one) >= STRING_CHARACTERS_MIN), key=len, reverse=True)
        string = next((one for one in strings if one in said.casefold() and len(said.casefold()) == len(said)), "")
        words = [one for one in dict.fromkeys(telling(said)) if not _overlap(one.casefold(), string)]
        if not string or len(words) < WORDS_MIN:
            continue
        kept = set(chance.sample(words, min(len(words), WORDS_MAX)))
        at = sentence.start() + said.casefold().index(string)
        start = len(text[:at].encode("utf-8", "surrogatepass"))
        end = start + len(text[at : at + len(string)].encode("utf-8", "surrogatepass"))
        return Question(
            " ".join(one for one in words if one in kept), 0, "", (event.position,), (string,), real=False,
            pointer=f"fh:{event.id}@{start}-{end}", known=(f"fh:{event.id}",),
        )  # fmt: skip
    return None


def _overlap(word: str, string: str) -> bool:
    return word in string or string in word
