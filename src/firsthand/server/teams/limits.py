"""How fast a principal may ask: a bucket of tokens each, in this process alone.

Two servers allow twice as much. The invariant: the table of buckets is bounded; one that is dropped was the one
asked least recently.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

BUCKETS_MAX = 10_000


class Buckets:
    """Buckets that fill at a rate, by name.

    Args:
        rate: tokens a second; 0 takes every request.
        burst: what a full bucket holds.
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, max(burst, 1.0), clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what it held when, used last stands last

    def wait_s(self, name: str, tokens: float = 1.0) -> float:
        """Take tokens; give 0, or after how many seconds there will be enough, and then none are taken."""
        if not self._rate:
            return 0.0
        with self._lock:
            now = self._clock()
            level, then = self._buckets.pop(name, (self._burst, now))
            level = min(self._burst, level + (now - then) * self._rate)
            wait = 0.0 if level >= tokens else (tokens - level) / self._rate
            self._buckets[name] = (level if wait else level - tokens, now)
            if len(self._buckets) > BUCKETS_MAX:
                self._buckets.popitem(last=False)
        return wait
