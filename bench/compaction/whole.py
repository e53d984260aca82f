"""The parts of a whole run: which methods on which sessions, and what a model is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from firsthand.llm.port import Model
from timing import say

from . import answering, pi_compactions, scoring
from .answering import Said
from .method import Method, Shown
from .ours import Ours
from .paging import ModelDecides, RuleDecides, SelfPaging
from .plain import SearchOverAll, Sliding, Truncation
from .scoring import Asked, Fed
from .summaries import ByModel, Extract, Oracle, RunningSummary
from .values import Ask, Question, Trace

HAS_LANGCHAIN = find_spec("langchain") is not None
TRIVIAL_HITS = 10
MODEL_QUESTIONS = {Ask.EXACT: 5, Ask.PARAPHRASED: 1, Ask.TWO_STEP: 1, Ask.NEVER: 3}
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


class Deadline:
    """The time that model work may take in all."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def passed(self) -> bool:
        """Say whether the time is over."""
        return time.monotonic() > self._end


def methods(*, langchain: bool = HAS_LANGCHAIN) -> list[Make]:
    """Give the methods that need no model."""
    made: list[Make] = [
        lambda trace: Truncation(trace.window_tokens),
        lambda trace: Sliding(trace.window_tokens),
        lambda trace: RunningSummary(trace.window_tokens, Extract()),
        lambda trace: RunningSummary(trace.window_tokens, Oracle(trace.needles)),
    ]
    if langchain:
        from .langchain_summary import LangChainSummary

        made.append(lambda trace: LangChainSummary(trace.window_tokens, summariser=Extract()))
        made.append(lambda trace: LangChainSummary(trace.window_tokens, summariser=Extract(), whole=True))
    made.append(lambda trace: SelfPaging(trace.window_tokens, RuleDecides()))
    made.append(lambda trace: SearchOverAll(trace.window_tokens))
    made.append(lambda trace: Ours(trace.window_tokens))
    return made


def model_methods(model: Model, *, langchain: bool = HAS_LANGCHAIN) -> list[Make]:
    """Give the methods in which a model decides what is kept, and three without one to answer beside them."""
    made: list[Make] = [
        lambda trace: RunningSummary(trace.window_tokens, ByModel(model)),
        lambda trace: SelfPaging(trace.window_tokens, ModelDecides(model)),
    ]
    if langchain:
        from .langchain_summary import LangChainSummary

        made.append(lambda trace: LangChainSummary(trace.window_tokens, model=model))
    made.append(lambda trace: Truncation(trace.window_tokens))
    made.append(lambda trace: SearchOverAll(trace.window_tokens))
    made.append(lambda trace: Ours(trace.window_tokens))
    return made


def tested_methods(model: Model) -> list[Make]:
    """Give the methods that the test runs on recorded replies; ours is not among them, since its texts may change."""
    return model_methods(model, langchain=False)[:-1]


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
        "trivial": {"count": run.found_by_itself, "of": sum(len(trace.needles) for trace in traces)},
        "control": None,
    }


def with_model(
    traces: Sequence[Trace], makes: Sequence[Make], model: Model, deadline: Deadline, *, named: str
) -> dict[str, Any]:
    """Run methods on short sessions, and let the model answer; what the time did not reach is named."""
    run = _Run()
    left_out: list[str] = []
    control = [_control(model, trace, question, deadline) for trace in traces for question in trace.questions]
    for make in makes:
        for trace in traces:
            method = make(trace)
            if deadline.passed():
                left_out.append(method.name)
            else:
                fed, asked = scoring.run(method, trace, _answerer(model, deadline), _chosen(trace))
                run.fed.append(fed)
                run.asked += asked
                say(f"{method.name} on {trace.name}: {fed.seconds:.0f} s to feed, {fed.model_calls} model calls")
            method.close()
    known = [one for one in control if one is not None]
    missing = f" Not run, since the time was over: {', '.join(left_out)}." if left_out else ""
    return {
        "title": "With a model",
        "about": f"{_sizes(traces)}, model {named}; made-up flood of plain sentences. In windows of this size the "
        f"tools' schemas are left out of {Ours.name}'s budget, as under hooks.{missing}",
        "rows": scoring.as_values(run.asked),
        "fed": scoring.fed_values(run.fed),
        "trivial": None,
        "control": {"right": sum(one is Said.RIGHT for one in known), "of": len(known)},
    }


def pi(file: Path, *, seed: int) -> dict[str, Any]:
    """Measure the real compactions of the pi session."""
    found = pi_compactions.as_values(pi_compactions.measure(file, seed=seed))
    return {"title": "Two compactions that really happened", "compactions": found}


@dataclass(slots=True)
class _Run:
    """What several methods did on several sessions."""

    fed: list[Fed] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    found_by_itself: int = 0


def _run_all(makes: Sequence[Make], traces: Sequence[Trace]) -> _Run:
    run = _Run()
    for make in makes:
        for trace in traces:
            method = make(trace)
            fed, asked = scoring.run(method, trace)
            run.fed.append(fed)
            run.asked += asked
            if isinstance(method, Ours):
                run.found_by_itself += _trivial(method, trace)
            method.close()
        say(f"{run.fed[-1].method}: done on {len(traces)} sessions")
    return run


def _answerer(model: Model, deadline: Deadline) -> Callable[[Question, Shown], Said | None]:
    return lambda question, shown: None if deadline.passed() else answering.answer(model, question, shown)


def _control(model: Model, trace: Trace, question: Question, deadline: Deadline) -> Said | None:
    if question.ask is not Ask.EXACT or deadline.passed():
        return None
    return answering.control(model, question, {needle.string: needle for needle in trace.needles})


def _chosen(trace: Trace) -> list[Question]:
    """Choose the questions that the model is asked: some of each kind, the same for every method."""
    return [
        question
        for ask, most in MODEL_QUESTIONS.items()
        for question in [one for one in trace.questions if one.ask is ask][:most]
    ]


def _trivial(ours: Ours, trace: Trace) -> int:
    """Count the needles that Firsthand's full store finds by their own text."""
    found = 0
    for needle in trace.needles:
        hits = ours.memory.recall(needle.string, hits_max=TRIVIAL_HITS)
        found += any(needle.string in hit.exact or needle.string in hit.preview for hit in hits)
    return found


def _sizes(traces: Sequence[Trace]) -> str:
    window = max(trace.window_tokens for trace in traces)
    asked = sum(len(trace.questions) for trace in traces)
    needles = sum(len(trace.needles) for trace in traces)
    count = len(traces)
    return (
        f"{count} session{'s' if count > 1 else ''}, window {window:,} tokens, {needles:,} needles, {asked:,} questions"
    )
