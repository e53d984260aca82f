"""Timing side by side: every subject gets the same items, in turns, so that noise falls on all alike.

Knows no engine and no store.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")
_STARTED = time.monotonic()


def interleave(
    subjects: Mapping[str, Callable[[Item], object]], items: Sequence[Item], *, block: int = 1
) -> dict[str, list[float]]:
    """Time each subject on each item, ``block`` items at a time, another subject first each time.

    Returns seconds of each call, by subject, in the order of the items.
    """
    names = list(subjects)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn, start in enumerate(range(0, len(items), block)):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            subject, taken = subjects[name], seconds[name]
            for item in items[start : start + block]:
                before = time.perf_counter()
                subject(item)
                taken.append(time.perf_counter() - before)
    return seconds


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which ``share`` (0 to 1) of the values lie, by nearest rank.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a percentile needs at least one value; the measurement gave none")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """Give the middle value."""
    return percentile(values, 0.5)


def say(text: str) -> None:
    """Show progress on standard error, with the seconds since the start."""
    print(f"[{time.monotonic() - _STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)
