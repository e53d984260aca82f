"""Whether a value follows from others by exact arithmetic, and from which statements.

    7 notebooks at $4; 9 pens at $2        46 is the sum of their products
    from 2021-04-01 for 36 months          2024-04-01 is so many months later

The invariant: a result that is given is exact, and the statements named are those it was
worked out from. What it does not find may follow all the same: it tries few forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations
from math import prod

from firsthand_evals.probe.statements import Statement
from firsthand_evals.probe.values import Value

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
    for one, other in combinations([(number, it) for it in tried for number in numbers(it)], 2):
        if wanted in _results(one[0], other[0]):
            return tuple(dict.fromkeys((one[1], other[1])))
    return ()


def _products(found: tuple[Fraction, ...]) -> Fraction:
    """Add up each number by the next: so many of one thing at a price, so many of another."""
    return _sum(tuple(one * other for one, other in zip(found[::2], found[1::2], strict=True)))


def _product(found: tuple[Fraction, ...]) -> Fraction:
    return prod(found, start=Fraction(1))


def _sum(found: tuple[Fraction, ...]) -> Fraction:
    return sum(found, start=Fraction(0))


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
