"""A small world for tests of consolidation: families whose answers lie on a line, with some that do not."""

from __future__ import annotations

from firsthand.ledger.entries import Episode

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
