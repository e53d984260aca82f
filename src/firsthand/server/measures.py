"""What the server counts of its work, and how Prometheus reads it (``/metrics``, extra `telemetry`).

The invariant: counting is a number in a dictionary, whoever reads it; the library is imported by the first reader,
and where it is not installed the answer says what to type. No session, question or path is in a label.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

from firsthand import FirsthandError, __version__

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
MISSING = "metrics need the extra telemetry, and prometheus-client is not installed: pip install 'firsthand[telemetry]'"
_ABOUT = {
    "firsthand_calls": ("calls of a door (api, mcp, hook), by verb, tool or host", ("door", "name", "outcome")),
    "firsthand_recall_requests": ("recalls, by who asked and how they ended", ("trigger", "outcome")),
    "firsthand_events_appended": ("events appended by programs, by kind", ("source", "kind")),
    "firsthand_call_duration_seconds": ("how long calls took", ("door", "name")),
}


class Measures:
    """The numbers of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._buckets: dict[tuple[str, ...], Counter[int]] = {}
        self._seconds: Counter[tuple[str, ...]] = Counter()

    def count(self, name: str, *labels: str, by: int = 1) -> None:
        """Count something that happened."""
        with self._lock:
            self._counts[name, labels] += by

    @contextmanager
    def call(self, door: str, name: str) -> Iterator[Callable[[str], None]]:
        """Count a call and how long it takes; what is yielded takes its outcome, ``ok`` unless it raises."""
        begun, outcome = time.monotonic(), "ok"

        def ends(word: str) -> None:
            nonlocal outcome
            outcome = word

        try:
            yield ends
        except FirsthandError as error:
            outcome = type(error).__name__
            raise
        finally:
            seconds = time.monotonic() - begun
            with self._lock:
                self._counts["firsthand_calls", (door, name, outcome)] += 1
                self._buckets.setdefault((door, name), Counter())[bisect_left(BOUNDS_S, seconds)] += 1
                self._seconds[door, name] += seconds  # type: ignore[assignment] # a Counter of seconds

    def collect(self) -> Iterator[Any]:
        """Give the numbers as families of Prometheus."""
        core = import_module("prometheus_client.metrics_core")
        with self._lock:
            counts, seconds = dict(self._counts), dict(self._seconds)
            buckets = {labels: Counter(numbers) for labels, numbers in self._buckets.items()}
        for name, (about, labels) in _ABOUT.items():
            if name.endswith("_seconds"):
                times = core.HistogramMetricFamily(name, about, labels=labels)
                for values, numbers in buckets.items():
                    up_to = accumulate(numbers[place] for place in range(len(BOUNDS_S) + 1))
                    bounds = (*map(str, BOUNDS_S), "+Inf")
                    times.add_metric(values, [*zip(bounds, up_to, strict=True)], seconds[values])
                yield times
                continue
            counter = core.CounterMetricFamily(name, about, labels=labels)
            for (counted, values), number in counts.items():
                if counted == name:
                    counter.add_metric(values, number)
            yield counter

    def page(self, stores: list[str], memory_bytes: int) -> bytes:
        """Write all numbers as Prometheus reads them.

        Args:
            stores: folders of the stores that are open.
        """
        library = import_module("prometheus_client")
        registry = library.CollectorRegistry()
        registry.register(self)
        library.Gauge("firsthand_build_info", "the version", ["version"], registry=registry).labels(__version__).set(1)
        library.Gauge("firsthand_memory_bytes", "memory of the server", registry=registry).set(memory_bytes)
        files = [path for store in stores for path in Path(store).glob("firsthand.db*")]
        sizes = sum(path.stat().st_size for path in files)
        library.Gauge("firsthand_log_bytes", "databases of the stores that are open", registry=registry).set(sizes)
        page: bytes = library.generate_latest(registry)
        return page


def missing() -> str:
    """Say what is not installed and what to type; empty when nothing is."""
    return "" if find_spec("prometheus_client") else MISSING


def memory_bytes() -> int:
    """Give the memory that this process has; its most so far where the system tells no more."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
