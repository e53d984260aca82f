"""Statistics of streams: the stream is the unit, whatever happens within it (consolidation 3.6).

The invariant: all intervals come of resampling whole streams with a fixed seed; a band
holds for all updates of its curve at once (the largest deviation of all of them in units
of their standard errors), an interval for one figure alone. It knows no arm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from firsthand import InvalidArgument
from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.stats import SEED, Difference, Mean
from firsthand_evals.stream.run import Stream

BAND_RESAMPLES = 2_000
DIFFERENCE_RESAMPLES = 10_000
FLIPS = 10_000


@value
class Band:
    """A mean after one update, with the band that holds for the whole curve."""

    mean: float
    low: float
    high: float


@value
class Fall:
    """The update (from 1) at which a mean curve is highest, and the last update minus it, over streams.

    The update is chosen by the same streams, so a small fall may be chance alone.
    """

    update: int
    change: Difference


def of(streams: Sequence[Stream], arm: str) -> list[Stream]:
    """Give the streams of an arm, by seed."""
    return sorted((stream for stream in streams if stream.arm == arm), key=lambda stream: stream.seed)


def end(streams: Sequence[Stream], arm: str, figure: str) -> Mean:
    """Give the mean of a figure after the last update."""
    return stats.mean({stream.seed: [stream.end(figure)] for stream in of(streams, arm)})


def difference(streams: Sequence[Stream], arm: str, other: str, figure: str) -> Difference:
    """Give an arm's figure minus another one's after the last update, paired by world."""
    return stats.difference(
        {stream.seed: [stream.end(figure)] for stream in of(streams, arm)},
        {stream.seed: [stream.end(figure)] for stream in of(streams, other)}, resamples=DIFFERENCE_RESAMPLES,
    )  # fmt: skip


def fall(streams: Sequence[Stream], arm: str, figure: str) -> Fall:
    """Say where a curve is highest, and what is left of it at the end."""
    own = of(streams, arm)
    curve = [fmean(point) for point in zip(*_curves(own, figure), strict=True)]
    highest = max(range(len(curve)), key=lambda at: (curve[at], -at))
    change = stats.difference(
        {stream.seed: [stream.end(figure)] for stream in own}, {one.seed: [one.points[highest][figure]] for one in own},
        resamples=DIFFERENCE_RESAMPLES,
    )  # fmt: skip
    return Fall(highest + 1, change)


def band(streams: Sequence[Stream], arm: str, figure: str) -> tuple[Band, ...]:
    """Give a curve with a band that holds for all of its updates at once, at 95 %."""
    curves = np.array(_curves(of(streams, arm), figure))
    if not len(curves):
        raise InvalidArgument(f"a curve wants at least one stream; there is none of {arm!r}")
    n, means = len(curves), curves.mean(axis=0)
    errors = curves.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.zeros_like(means)
    moving, wide = errors > 0, 0.0
    if moving.any():  # so many standard errors that 95 % of resampled curves stay within them everywhere
        drawn = np.random.default_rng(SEED).integers(n, size=(BAND_RESAMPLES, n))
        apart = np.abs(curves[:, moving][drawn].mean(axis=1) - means[moving]) / errors[moving]
        wide = max(float(np.quantile(apart.max(axis=1), 0.95)), stats.half_width(n))
    return tuple(
        Band(float(mean), float(mean - wide * error), float(mean + wide * error))
        for mean, error in zip(means, errors, strict=True)
    )


def _curves(streams: Sequence[Stream], figure: str) -> list[list[float]]:
    return [[point[figure] for point in stream.points] for stream in streams]


def chance_of(streams: Sequence[Stream], arm: str, other: str, figure: str) -> float:
    """Give how often a paired difference as large comes of chance alone: its signs are flipped, world by world."""
    pairs = zip(of(streams, arm), of(streams, other), strict=True)
    changes = np.array([stream.end(figure) - beside.end(figure) for stream, beside in pairs])
    signs = np.random.default_rng(SEED).choice([-1, 1], size=(FLIPS, len(changes)))
    flips = int((np.abs(signs @ changes) >= abs(changes.sum()) - 1e-12).sum())
    return (1 + flips) / (1 + FLIPS)


def holm(chances: Mapping[str, float]) -> dict[str, float]:
    """Correct probabilities for their number, after Holm."""
    found: dict[str, float] = {}
    before = 0.0
    for left, (name, chance) in enumerate(sorted(chances.items(), key=lambda one: one[1])):
        before = found[name] = max(before, min(1.0, (len(chances) - left) * chance))
    return found
