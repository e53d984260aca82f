"""A small world for tests of consolidation: families whose answers lie on a line, with some that do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from firsthand.ledger.entries import Episode, Written
from firsthand.ledger.solver import Line, shape_of

LINES = {"birch": (3, 2), "cedar": (5, 7)}
OWN = "double"
"""A family that a solver answers without any memory."""
ODD = frozenset({4, 9})
"""Levels that follow no rule."""


def answer(family: str, level: int) -> str:
    """Give the answer that a family's line has."""
    times, plus = LINES.get(family, (2, 0))
    return str(times * level + plus)


def episodes(levels: int = 12) -> list[Episode]:
    """Give an episode of each family and level; of the levels that are odd the answers lie on no line."""
    made = []
    for level in range(1, levels + 1):
        for family in (*LINES, OWN):
            said = str(500 + level * level) if level in ODD and family != OWN else answer(family, level)
            at = len(made) + 1
            made.append(Episode(f"fh:{at}", family, f"{family} level {level}", said, at))
    return made


def knows(question: str) -> str | None:
    """Know the answers of one family, whatever the level."""
    family, _, level = question.partition(" level ")
    return answer(OWN, int(level)) if family == OWN else None


def by_lines(cases: Sequence[Episode]) -> Iterator[Written]:
    """Write for each family of cases the line that at least three, and the most, of them lie on."""
    for scope in dict.fromkeys(case.scope for case in cases):
        numbers = {case: shape_of(case.question)[1] for case in cases if case.scope == scope}
        points = [(case, number, int(case.answer)) for case, number in numbers.items()
                  if number is not None and case.answer.isdecimal()]  # fmt: skip
        lines: dict[Line, list[str]] = {}
        for (_, x, y), (_, other_x, other_y) in pairwise(points):
            if x != other_x:
                times = Fraction(other_y - y) / (other_x - x)
                line = Line(times, y - times * x)
                lines[line] = [case.pointer for case, at, value in points if line.at(at) == str(value)]
        best = max(lines, key=lambda line: len(lines[line]), default=None)
        if best is not None and len(lines[best]) >= 3:
            shape = shape_of(next(case for case in cases if case.scope == scope).question)[0]
            yield Written(f"{shape} => {best}", tuple(lines[best]))
