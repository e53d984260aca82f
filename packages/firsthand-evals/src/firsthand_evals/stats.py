"""Statistics of experiments: intervals over whole clusters, intervals of rates, and what to say of zeros.

The unit is the cluster (a case, a problem, a stream), never the item: repetitions of
one case are alike, and counting them as many would make every interval too narrow.
The invariant: equal values and an equal seed give equal figures, in whatever order the
clusters come; every figure carries its n, and of one item or one cluster no interval and no
verdict is said but "too few". Below `RESAMPLED_MIN` clusters resampling makes intervals too
narrow, so that they are those of Student's t over the clusters. Shares that are alike in every
cluster know neither: at most 3 of n clusters may be otherwise, by the rule of three.

It knows no experiment. Intervals are of 95 % and stand each for itself: they are not
widened for the number of comparisons that a table makes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firsthand import InvalidArgument
from firsthand.cli.display import count
from firsthand.value import value

RESAMPLES = 5_000
SEED = 20_260_315
LEVEL = 0.95
TOO_FEW = "too few"
RESAMPLED_MIN = 20
"""Clusters from which an interval comes of resampling."""
ALIKE_MIN = 5
"""Clusters that all differ by the same are a difference from so many: by chance as many lean one way 1 time in 16."""
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
      2.110, 2.101)  # fmt: skip
"""Of Student's t, two-sided 95 %, from 1 degree of freedom."""
_Z = 1.959963984540054  # of a two-sided 95 %

Clusters = Mapping[Any, Sequence[float]]
"""The items of each cluster, by its name."""


@value
class Rate:
    """A share of items, with Wilson's interval.

    Attributes:
        hits, n: how many of how many.
        low, high: the interval, both 0 to 1; the whole range when n is 0.
    """

    hits: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """Hits by n; None when there was nothing to count."""
        return self.hits / self.n if self.n else None

    def __str__(self) -> str:
        if self.share is None:
            return "none asked (n = 0)"
        if self.n == 1:
            return f"{self.hits} of 1, {TOO_FEW}"
        if self.hits == 0:
            return f"0 of {self.n} (at most {none_seen(self.n):.3f})"
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.hits} of {self.n})"


class _Resampled:
    """What a mean and a mean difference have in common; both have one interval by resampled clusters."""

    __slots__ = ()
    mean: float
    low: float
    high: float
    clusters: int

    @property
    def few(self) -> bool:
        """True when there are too few clusters to say how sure the mean is."""
        return self.clusters < 2

    def interval(self, digits: int = 3, sign: str = "") -> str:
        """Give the mean with its interval, or say that there are too few."""
        mean, low, high = (f"{it:{sign}.{digits}f}" for it in (self.mean, self.low, self.high))
        return f"{mean}, {TOO_FEW}" if self.few else f"{mean} [{low}, {high}]"


@value
class Mean(_Resampled):
    """A mean over items, with an interval from resampling clusters.

    Attributes:
        mean, low, high: in the unit of the values; of one cluster all three are the mean, which is no interval.
        clusters, n: how many clusters, how many items in all.
    """

    mean: float
    low: float
    high: float
    clusters: int
    n: int

    def __str__(self) -> str:
        return f"{self.interval()} ({count(self.clusters, 'case')}, {count(self.n, 'item')})"


@value
class Difference(_Resampled):
    """A mean difference of pairs, one item with and one without, by cluster: with minus without."""

    mean: float
    low: float
    high: float
    clusters: int
    n: int

    @property
    def few(self) -> bool:
        """True also of fewer than `ALIKE_MIN` clusters that all differ by the same."""
        return self.clusters < 2 or (self.low == self.high and self.clusters < ALIKE_MIN)

    @property
    def verdict(self) -> str:
        """Say in words whether there is a difference."""
        if self.few:
            return TOO_FEW
        if self.low > 0:
            return "better"
        if self.high < 0:
            return "worse"
        if self.mean == 0 and self.low == self.high:
            return "no difference"
        return "no difference detectable"

    def told(self, verdict: str = "", digits: int = 3) -> str:
        """Give the mean with its interval and verdict, or say that there are too few."""
        return self.interval(digits, "+") if self.few else f"{self.interval(digits, '+')} {verdict}".rstrip()

    def __str__(self) -> str:
        return f"{self.told(self.verdict)} ({count(self.clusters, 'case')}, {count(self.n, 'pair')})"


def rate(hits: int, n: int) -> Rate:
    """Give a share with Wilson's score interval."""
    if not 0 <= hits <= n:
        raise InvalidArgument(f"hits are a whole number from 0 to n = {n}; got {hits}")
    if n == 0:
        return Rate(0, 0, 0.0, 1.0)
    share, square = hits / n, _Z * _Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    # at the ends the bound is the share itself; rounding must not put it beside
    return Rate(hits, n, 0.0 if hits == 0 else max(0.0, centre - half), 1.0 if hits == n else min(1.0, centre + half))


def none_seen(n: int) -> float:
    """Give the most that a share can be, at 95 %, of which n items showed none: the rule of three, 3 / n."""
    if n < 1:
        raise InvalidArgument(f"of no items nothing can be said; expected n from 1, got {n}")
    return min(1.0, 3 / n)


def so_low_by_chance(hits: int, n: int, share: float) -> float:
    """Give how often at most so many of n are hit when each is with this chance."""
    return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(hits + 1))


def least_chance(clusters: int) -> float:
    """Give how often so many differences lean all one way by chance: no test of their signs comes below that."""
    return 2.0 ** (1 - clusters)


def half_width(clusters: int) -> float:
    """Give how many standard errors an interval has to each side: of few clusters by Student's t."""
    return _T[clusters - 2] if 2 <= clusters < RESAMPLED_MIN else _Z


def mean(clusters: Clusters, *, resamples: int = RESAMPLES, seed: int = SEED) -> Mean:
    """Give the mean of all items with its interval; of shares it stays from 0 to 1, of what is never below 0 above."""
    parts = _ordered(clusters)
    values = [item for items in clusters.values() for item in items]
    shares = _are_shares(clusters)
    found = _interval(parts, resamples, seed, 0.0 if min(values) >= 0 else -math.inf, 1.0 if shares else math.inf)
    low, high = found.low, found.high
    if shares and low == high and len(parts) > 1:
        other = none_seen(len(parts))
        low, high = low * (1 - other), high + other * (1 - high)
    return Mean(found.mean, low, high, found.clusters, found.n)


def difference(with_it: Clusters, without: Clusters, *, resamples: int = RESAMPLES, seed: int = SEED) -> Difference:
    """Give the mean difference of paired items with its interval; of shares it stays from -1 to 1.

    Both name the same clusters, and the items of a cluster stand in the same order.
    """
    if set(with_it) != set(without):
        only = sorted(map(str, set(with_it) ^ set(without)))
        raise InvalidArgument(f"pairs want the same clusters on both sides; only one side has {', '.join(only[:5])}")
    paired: dict[Any, list[float]] = {}
    for name, items in with_it.items():
        if len(items) != len(without[name]):
            raise InvalidArgument(f"cluster {name!r} has {len(items)} items on one side, {len(without[name])} beside")
        paired[name] = [one - other for one, other in zip(items, without[name], strict=True)]
    most = 1.0 if _are_shares(with_it) and _are_shares(without) else math.inf
    return _interval(_ordered(paired), resamples, seed, -most, most)


def _are_shares(clusters: Clusters) -> bool:
    return all(0 <= item <= 1 for items in clusters.values() for item in items)


def _ordered(clusters: Clusters) -> list[tuple[float, int]]:
    """Give the sum and size of each cluster, in an order that does not depend on how they came."""
    if not clusters:
        raise InvalidArgument("a mean wants at least one cluster; got none")
    empty = [name for name, items in clusters.items() if not len(items)]
    if empty:
        raise InvalidArgument(f"a cluster has at least one item; {empty[0]!r} has none")
    return sorted((math.fsum(items), len(items)) for items in clusters.values())


def _interval(
    parts: Sequence[tuple[float, int]], resamples: int, seed: int, least: float, most: float
) -> Difference:  # fmt: skip
    """Give the mean with its interval, which stays from ``least`` to ``most``."""
    if resamples < 1:
        raise InvalidArgument(f"resamples are a whole number from 1; got {resamples}")
    n = sum(size for _, size in parts)
    whole = math.fsum(total for total, _ in parts) / n
    if parts[0] == parts[-1]:  # ordered: all are alike, and whatever is drawn of them comes to the same
        return Difference(whole, whole, whole, len(parts), n)
    if len(parts) < RESAMPLED_MIN:
        apart = math.fsum((total - whole * size) ** 2 for total, size in parts)
        half = half_width(len(parts)) * math.sqrt(apart * len(parts) / (len(parts) - 1)) / n
        return Difference(whole, max(least, whole - half), min(most, whole + half), len(parts), n)
    totals, sizes = np.array(parts, dtype=float).T
    drawn = np.random.default_rng(seed).integers(len(parts), size=(resamples, len(parts)))
    means = totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(whole, float(low), float(high), len(parts), n)
