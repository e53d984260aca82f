"""Logistic regression in plain Python, small enough for the default path: no numpy.

The invariant: the same rows give the same weights, wherever they are computed.
The weights are drawn to those given before (a prior), so that few rows move them
little, and none at all without rows. It knows nothing of what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from firsthand.value import value

from .gate import sigmoid

STEPS_MAX = 12
STEP_LEAST = 1e-5
FOLDS = 5
BINS = 10


@value
class Weighed:
    """Weights of a fit: first the bias, then one for each column."""

    weights: tuple[float, ...]

    def chance(self, row: Sequence[float]) -> float:
        """Give the chance of a row (without its bias)."""
        return sigmoid(self.weights[0] + sum(map(mul, self.weights[1:], row)))


def fit(rows: Sequence[Sequence[float]], truths: Sequence[bool], prior: Weighed, strength: float) -> Weighed:
    """Fit weights by Newton's method, drawn to a prior.

    Args:
        rows: numbers from about 0 to 1, as many in each as the prior has weights beside its bias.
        strength: of the draw to the prior; the bias is drawn a tenth as much.
    """
    weights = list(prior.weights)
    count = len(weights)
    # Column by column, so that each sum is one call: ten times as fast as row by row.
    columns = [[1.0] * len(rows), *(list(map(float, column)) for column in zip(*rows, strict=True))][:count]
    pull = [strength * 0.1, *[strength] * (count - 1)]
    if not rows:
        return prior
    for _ in range(STEPS_MAX):
        chances = [sigmoid(sum(map(mul, weights, row))) for row in zip(*columns, strict=True)]
        missed = [chance - truth for chance, truth in zip(chances, truths, strict=True)]
        bow = [chance * (1 - chance) for chance in chances]
        slope = [
            sum(map(mul, missed, columns[at])) + pull[at] * (weights[at] - prior.weights[at]) for at in range(count)
        ]
        bent = [list(map(mul, bow, column)) for column in columns]
        bend = [[sum(map(mul, bent[at], columns[other])) for other in range(at + 1)] for at in range(count)]
        for at in range(count):
            bend[at][at] += pull[at] + 1e-9
        step = _solved(bend, slope)
        weights = [one - move for one, move in zip(weights, step, strict=True)]
        if max(map(abs, step)) < STEP_LEAST:
            break
    return Weighed(tuple(weights))


def _solved(lower: list[list[float]], right: list[float]) -> list[float]:
    """Solve a symmetric, positive system, of which only the lower half is given, by Cholesky's method."""
    count = len(right)
    root: list[list[float]] = []
    for at in range(count):
        line: list[float] = []
        for other in range(at):
            line.append((lower[at][other] - sum(map(mul, line, root[other]))) / root[other][other])
        line.append(max(1e-12, lower[at][at] - sum(map(mul, line, line))) ** 0.5)
        root.append(line)
    half: list[float] = []
    for at in range(count):
        half.append((right[at] - sum(map(mul, half, root[at]))) / root[at][at])
    out = [0.0] * count
    for at in reversed(range(count)):
        rest = sum(root[below][at] * out[below] for below in range(at + 1, count))
        out[at] = (half[at] - rest) / root[at][at]
    return out


def left_out(
    rows: Sequence[Sequence[float]], truths: Sequence[bool], prior: Weighed, strength: float
) -> tuple[float, ...]:
    """Give each row the chance that a fit on the others gives it, five folds, row by row in turn."""
    chances = [0.0] * len(rows)
    for fold in range(FOLDS):
        kept = [at for at in range(len(rows)) if at % FOLDS != fold]
        found = fit([rows[at] for at in kept], [truths[at] for at in kept], prior, strength)
        for at in range(fold, len(rows), FOLDS):
            chances[at] = found.chance(rows[at])
    return tuple(chances)


def calibration_error(chances: Sequence[float], truths: Sequence[bool]) -> float:
    """Give the expected calibration error: mean distance of chance and truth in ten bins of equal size (0 to 1)."""
    order = sorted(range(len(chances)), key=lambda at: (chances[at], at))
    error = 0.0
    for number in range(BINS):
        inside = order[len(order) * number // BINS : len(order) * (number + 1) // BINS]
        error += abs(sum(chances[at] - truths[at] for at in inside))
    return error / max(1, len(order))


def brier(chances: Sequence[float], truths: Sequence[bool]) -> float:
    """Give the mean squared distance of chance and truth (0 to 1)."""
    return sum((chance - truth) ** 2 for chance, truth in zip(chances, truths, strict=True)) / max(1, len(chances))
