"""The exact values of a text: numbers, times, dates and strings that are written in one way alone.

    "7 notebooks at $4.50 until 18:30, see run-031"    7, 4.5, 18:30, run-031

The invariant: two values are equal when their kind and key are; a number's key is exact,
whatever its currency or separators. It reads no word: a number that is spelled out, a
weekday or a name is none of its values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from firsthand import pointer
from firsthand_evals.reclaim.scoring import NUMBER_CHARACTERS_MAX, amount

Kind = Literal["number", "time", "date", "string"]
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (  # what an earlier one takes no later one reads
    ("date", re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")),
    ("time", re.compile(r"(?<![\w:.])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])")),
    ("string", re.compile(r"`([^`\n]{1,200})`")),
    ("string", re.compile(r"(?<![\w/])(?:https?://|[\w.~-]*/)[\w./:@%+-]*\w")),
    ("string", re.compile(r"(?<![\w$€£.,-])(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])\w[\w.-]*[\w](?!\w)")),
    ("number", re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)*(?!\w)")),
)


@dataclass(frozen=True, slots=True)
class Value:
    """One exact value.

    Attributes:
        key: what it is equal by; text: as it is written, which does not count.
    """

    kind: Kind
    key: str
    text: str = field(default="", compare=False)


def read(text: str) -> tuple[Value, ...]:
    """Read the exact values of a text, in order; pointers are none."""
    for address in pointer.find(text):
        text = text.replace(address, " " * len(address))
    taken: list[tuple[int, int, Value]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= first or last <= start for first, last, _ in taken):
                taken.extend((start, end, found) for found in _value(kind, match[match.lastindex or 0]))
    return tuple(found for _, _, found in sorted(taken, key=lambda it: it[0]))


def _value(kind: Kind, text: str) -> Iterator[Value]:
    if kind == "number":
        if len(text) <= NUMBER_CHARACTERS_MAX:
            yield Value(kind, str(amount(text)), text)
    elif kind == "time":
        yield Value(kind, text.zfill(5), text)
    else:
        yield Value(kind, text.casefold() if kind == "string" else text, text)
