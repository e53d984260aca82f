"""From questions to shares: what stood before the model, what a rule read from it, and how sure that is.

*Available*: the exact string stands in what the method
puts before the model, its context and its own search with the question as query; no
model is in it. *Read by rule*: one deterministic reader for all (see `reader`).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from . import reader, strings
from .method import HOPS_MAX, Method
from .values import Ask, Question, Trace

Z = 1.959964  # 95 %


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, asked of one method at one point.

    Attributes:
        carried: the answer stands in the context itself.
        available: it stands there or in what was pulled.
        read: the rule found it; for what never happened: the rule found nothing.
        absent: the method's search itself said that there is nothing to rely on.
    """

    method: str
    trace: str
    cycle: int
    hops: int
    ask: Ask
    carried: bool
    available: bool
    read: bool
    absent: bool
    pulled_tokens: int
    seconds: float


@dataclass(slots=True)
class Fed:
    """What it took to feed a trace to a method."""

    method: str
    trace: str
    tokens_mean: float = 0.0
    tokens_max: int = 0
    compactions: Mapping[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a number, with its 95 % interval (Wilson)."""

    count: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Give the bounds; nothing is known of a share of nothing."""
        if not self.of:
            return 0.0, 1.0
        p, n = self.count / self.of, self.of
        middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        return max(0.0, middle - half), min(1.0, middle + half)


def spread(asked: Sequence[Asked], holds: Callable[[Asked], bool]) -> tuple[float, float]:
    """Give the mean over traces and its standard deviation, as the paper's Table 1 does."""
    by_trace: dict[str, list[bool]] = {}
    for one in asked:
        by_trace.setdefault(one.trace, []).append(holds(one))
    shares = [sum(ones) / len(ones) for ones in by_trace.values()]
    return statistics.fmean(shares), statistics.stdev(shares) if len(shares) > 1 else 0.0


def run(method: Method, trace: Trace) -> tuple[Fed, list[Asked]]:
    """Feed a trace to a method and ask it at every checkpoint."""
    fed = Fed(method.name, trace.name, steps=len(trace.steps))
    asked: list[Asked] = []
    tokens: list[int] = []
    compactions: dict[int, int] = {}
    marks = {step: cycle for cycle, step in trace.checkpoints.items()}
    for number, step in enumerate(trace.steps, 1):
        begun = time.perf_counter()
        method.feed(step)
        fed.seconds += time.perf_counter() - begun
        tokens.append(method.carried_tokens())
        cycle = marks.get(number)
        if cycle is not None:
            compactions[cycle] = method.compactions
            asked += [
                _ask(method, trace, cycle, hops, question)
                for question in trace.questions
                for hops in range(1, (HOPS_MAX if method.searches else 1) + 1)
            ]
    fed.tokens_mean, fed.tokens_max = statistics.fmean(tokens), max(tokens)
    fed.compactions = compactions
    return fed, asked


def _ask(method: Method, trace: Trace, cycle: int, hops: int, question: Question) -> Asked:
    begun = time.perf_counter()
    shown = method.ask(question.text, hops=hops)
    seconds = time.perf_counter() - begun
    sentence = reader.best(question.text, (shown.pulled, shown.context))
    carried = bool(question.answer) and strings.stands(question.answer, shown.context)
    available = carried or (bool(question.answer) and strings.stands(question.answer, shown.pulled))
    read = strings.stands(question.answer, sentence) if question.answer else not sentence
    return Asked(
        method.name, trace.name, cycle, hops, question.ask, carried, available, read, shown.said_absent,
        shown.pulled_tokens, seconds,
    )  # fmt: skip


def as_values(asked: Sequence[Asked]) -> list[dict[str, object]]:
    """Add questions up for the JSON report: one entry for each method, cycle, kind of question and number of hops."""
    groups: dict[tuple[str, int, int, Ask], list[Asked]] = {}
    for one in asked:
        groups.setdefault((one.method, one.cycle, one.hops, one.ask), []).append(one)
    out: list[dict[str, object]] = []
    for (method, cycle, hops, ask), ones in groups.items():
        entry: dict[str, object] = {"method": method, "cycle": cycle, "hops": hops, "ask": ask.value}
        for name in ("carried", "available", "read", "absent"):
            entry[name] = _value(Share(sum(getattr(one, name) for one in ones), len(ones)))
        mean, deviation = spread(ones, lambda one: one.available)
        entry["available over traces"] = {"mean": round(mean, 4), "deviation": round(deviation, 4)}
        entry["pulled tokens"] = round(statistics.fmean(one.pulled_tokens for one in ones))
        entry["milliseconds"] = round(1_000 * statistics.median(one.seconds for one in ones), 2)
        out.append(entry)
    return out


def _value(counted: Share) -> dict[str, object]:
    return {"count": counted.count, "of": counted.of, "interval": [round(one, 4) for one in counted.interval]}


def fed_values(fed: Sequence[Fed]) -> list[dict[str, object]]:
    """Give what feeding took, trace by trace, for the JSON report."""
    return [{**asdict(one), "tokens_mean": round(one.tokens_mean), "seconds": round(one.seconds, 2)} for one in fed]
