"""What was said in a session, statement by statement, with the exact values of each.

The invariant: every statement is a substring of its message. It knows who said what, and
not what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any, Literal

from firsthand import InvalidArgument, pointer
from firsthand.value import value
from firsthand_evals.reclaim.scoring import NUMBER_CHARACTERS_MAX, amount

Message = Mapping[str, Any]
"""With ``role`` and ``content``, a text; ``pointer`` where it has one."""
AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
SESSION_CHARACTERS_MAX = 400_000
"""Of a session; what stands behind is not read, and the verdict says so."""
_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


@value
class Statement:
    """One statement; ``turn`` is the place of its message."""

    text: str
    role: str
    turn: int
    values: tuple[Value, ...]

    @property
    def by_agent(self) -> bool:
        """Whether an agent said it: what it says is a conclusion, and no source."""
        return self.role in AGENT_ROLES

    @property
    def names(self) -> frozenset[str]:
        """Give the capitalised words behind its first word."""
        return frozenset(_NAME.findall(self.text.partition(" ")[2])) | frozenset(_NAME.findall(self.text)[:1])


def content_of(message: Message) -> str:
    """Give the text of a message; empty for one that only calls a tool."""
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise InvalidArgument(f"the content of a message is text; got {type(content).__name__}: give it part by part")
    return content or ""


def statements(messages: Iterable[Message]) -> tuple[Statement, ...]:
    """Cut messages into statements; a system's instructions are none."""
    made: list[Statement] = []
    left = SESSION_CHARACTERS_MAX
    for turn, message in enumerate(messages):
        role, content = str(message.get("role", "")).casefold(), content_of(message)
        if role == "system":
            continue
        pieces = filter(None, (piece.strip().rstrip(";") for piece in _ENDS.split(content[:left])))
        made += (Statement(piece, role, turn, read(piece)) for piece in pieces)
        left = max(0, left - len(content))
    return tuple(made)


def plain(text: str) -> str:
    """Give a text without the differences that a quotation may have: case, spaces, and the sign at its end."""
    return " ".join(text.casefold().split()).rstrip(".;!")


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


TRIED_MAX = 60
"""Statements with numbers that are tried: the last ones."""
NUMBERS_OF_PAIR = 2
COUNT_MAX = 12_000
"""Of days, months or years that are added to a date."""


def numbers(statement: Statement) -> tuple[Fraction, ...]:
    """Give the numbers of a statement."""
    return tuple(Fraction(found.key) for found in statement.values if found.kind == "number")


def pairs(source: Sequence[Statement]) -> list[Statement]:
    """Give the statements with exactly two numbers, such as a quantity and a price."""
    return [statement for statement in source if len(numbers(statement)) == NUMBERS_OF_PAIR]


def follows(wanted: Value, source: Sequence[Statement]) -> tuple[Statement, ...]:
    """Give the statements that a value is worked out from; none where it does not follow by a form that is tried.

    A value that was said stands on the last statement that has it.
    """
    for statement in reversed(source):
        if wanted in statement.values:
            return (statement,)
    tried = [statement for statement in source if numbers(statement)][-TRIED_MAX:]
    if wanted.kind == "number":
        return _sums(Fraction(wanted.key), tried)
    return _later(wanted.key, source) if wanted.kind == "date" else ()


def _sums(wanted: Fraction, tried: Sequence[Statement]) -> tuple[Statement, ...]:
    """Try sums over all statements of products or of numbers, and their mean, then two numbers of any."""
    even = [it for it in tried if len(numbers(it)) % 2 == 0]
    for chosen, worth in ((even, _products), (tried, _product), (tried, _sum)):
        whole = sum((worth(numbers(it)) for it in chosen), start=Fraction(0))
        if chosen and wanted in {whole, whole / len(chosen)}:
            return tuple(chosen)
    for fractions, other in combinations([(number, it) for it in tried for number in numbers(it)], 2):
        if wanted in _results(fractions[0], other[0]):
            return tuple(dict.fromkeys((fractions[1], other[1])))
    return ()


def _products(fractions: tuple[Fraction, ...]) -> Fraction:
    """Add up each number by the next: so many of one thing at a price, so many of another."""
    return _sum(tuple(fraction * other for fraction, other in zip(fractions[::2], fractions[1::2], strict=True)))


def _product(fractions: tuple[Fraction, ...]) -> Fraction:
    return prod(fractions, start=Fraction(1))


def _sum(fractions: tuple[Fraction, ...]) -> Fraction:
    return sum(fractions, start=Fraction(0))


def _results(first: Fraction, second: Fraction) -> Iterator[Fraction]:
    yield from (first + second, first * second, abs(first - second))
    if first and second:
        yield from (first / second, second / first)


def _later(wanted: str, source: Sequence[Statement]) -> tuple[Statement, ...]:
    """Try a date and a whole number of days, months or years behind it."""
    counts = [(number, it) for it in source for number in numbers(it) if number.denominator == 1]
    for start, first in ((found.key, it) for it in source for found in it.values if found.kind == "date"):
        for count, second in counts:
            if wanted in _dates(start, int(count)):
                return tuple(dict.fromkeys((first, second)))
    return ()


def _dates(start: str, count: int) -> Iterator[str]:
    try:
        begun = date.fromisoformat(start)
    except ValueError:  # digits in the form of a date that no calendar has: nothing follows from it
        return
    if not 0 < count <= COUNT_MAX:
        return
    yield str(begun + timedelta(days=count))
    for months in (count, 12 * count):
        year, month = divmod(begun.year * 12 + begun.month - 1 + months, 12)
        if year <= date.max.year:
            yield f"{year:04}-{month + 1:02}-{begun.day:02}"
