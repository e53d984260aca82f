"""What is counted of a ranking, and how sure a count is.

Intervals are bootstrap intervals by question; a difference of two methods is taken over the same
questions in the same draws. Questions of one talk are not wholly independent, so that the true
intervals are somewhat wider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

DRAWS = 5_000
SEED = 4
COVERED = (2.5, 97.5)
Row = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions, with its interval."""

    mean: float
    low: float
    high: float
    count: int


def estimate(values: Sequence[float] | Row) -> Estimate:
    """Give the mean of one value a question."""
    row = np.asarray(values, np.float64)
    low, high = np.percentile(_weights(len(row)) @ row, COVERED)
    return Estimate(float(row.mean()), float(low), float(high), len(row))


def separation(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Give the chance that a positive has the higher score than a negative (the area under the curve)."""
    ranks = (
        np.searchsorted(np.sort(negative), positive, side="left"),
        np.searchsorted(np.sort(negative), positive, "right"),
    )
    return float((ranks[0] + ranks[1]).mean() / (2 * len(negative)))


def by_group(groups: Sequence[str], values: Mapping[str, Row]) -> dict[str, dict[str, Row]]:
    """Split the questions of each method by group, in the groups' order."""
    where = {group: np.array([one == group for one in groups]) for group in sorted(set(groups))}
    return {group: {name: row[chosen] for name, row in values.items()} for group, chosen in where.items()}


@cache
def _weights(count: int) -> Row:
    """Give the share of each question in each draw."""
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    return np.asarray(drawn / count, np.float64)
