"""The parts of a whole run: which methods on which sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from timing import say

from . import scoring
from .method import Method
from .ours import Ours
from .paging import RuleDecides, SelfPaging
from .plain import SearchOverAll, Sliding, Truncation
from .scoring import Asked, Fed
from .summaries import Extract, Oracle, RunningSummary
from .values import Trace

LIMITS = (
    "No figure of the paper is repeated here: its baselines were other releases, its traces are not public.",
    "The second hop's query is made by a rule; a capable model would make better ones.",
    "An extract by rule stands in for a good summariser and the oracle bounds any: it is told what will be asked.",
    (
        "MemGPT also keeps all messages in a store of its own with a search; that is the method with BM25 over all "
        "messages, and differs from self-paging in what is searched."
    ),
    "Nothing here measures whether an agent would ask at all: every question is searched for with its own words.",
)

Make = Callable[[Trace], Method]


def methods() -> list[Make]:
    """Give the methods that need no model."""
    made: list[Make] = [
        lambda trace: Truncation(trace.window_tokens),
        lambda trace: Sliding(trace.window_tokens),
        lambda trace: RunningSummary(trace.window_tokens, Extract()),
        lambda trace: RunningSummary(trace.window_tokens, Oracle(trace.needles)),
    ]
    made.append(lambda trace: SelfPaging(trace.window_tokens, RuleDecides()))
    made.append(lambda trace: SearchOverAll(trace.window_tokens))
    made.append(lambda trace: Ours(trace.window_tokens))
    return made


def free(
    title: str, traces: Sequence[Trace], makes: Sequence[Make], *, flood_texts: int = 0, real_set: bool = False
) -> dict[str, Any]:
    """Run methods that need no model."""
    run = _run_all(makes, traces)
    flood = f"flood of {flood_texts:,} real texts" if flood_texts else "made-up flood"
    where = (
        "messages as they were; needles are exact strings of the first window that stand nowhere later, questions are "
        "made by template from what stands around them (paraphrased: two words of it; never happened: from another set)"
        if real_set
        else f"{flood}, distractors all through it"
    )
    return {
        "title": title,
        "about": f"{_sizes(traces)}; {where}.",
        "rows": scoring.as_values(run.asked),
        "fed": scoring.fed_values(run.fed),
    }


@dataclass(slots=True)
class _Run:
    """What several methods did on several sessions."""

    fed: list[Fed] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


def _run_all(makes: Sequence[Make], traces: Sequence[Trace]) -> _Run:
    run = _Run()
    for make in makes:
        for trace in traces:
            method = make(trace)
            fed, asked = scoring.run(method, trace)
            run.fed.append(fed)
            run.asked += asked
            method.close()
        say(f"{run.fed[-1].method}: done on {len(traces)} sessions")
    return run


def _sizes(traces: Sequence[Trace]) -> str:
    window = max(trace.window_tokens for trace in traces)
    asked = sum(len(trace.questions) for trace in traces)
    needles = sum(len(trace.needles) for trace in traces)
    count = len(traces)
    return (
        f"{count} session{'s' if count > 1 else ''}, window {window:,} tokens, {needles:,} needles, {asked:,} questions"
    )
