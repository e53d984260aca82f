"""Memory that feeds memory: a chain of sessions, each with nothing of the others but what was carried (9, App. G).

Each session brings one more purchase and asks for the running total; the first one has a
wrong subtotal, which is committed to by script, as in `drift`. Behind the last session a
correction asks for the true total. The invariant: session k sees purchase k, what was
carried out of session k - 1, and what the memory answers when asked; nothing else. A
chain without a premise is the control: what goes wrong there, the loop did.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from firsthand import InvalidArgument
from firsthand.value import asdict, replace
from firsthand_evals.reclaim import drift, policies, scoring, seam
from firsthand_evals.reclaim.ask import Probe, Talk, opening, talk
from firsthand_evals.reclaim.corrections import asking, correction
from firsthand_evals.reclaim.items import Case, Item, key, sha256
from firsthand_evals.reclaim.policies import LOSSY, PADDED, SOURCE_FIRST, TAGGED
from firsthand_evals.reclaim.readers import NEW, RECALL, RECALLED, Reader
from firsthand_evals.reclaim.reading import NOTHING_YET
from firsthand_evals.reclaim.seam import Carried, Memory, Messages, Subject
from firsthand_evals.reclaim.tasks import CASCADE_SLIP, Problem, Purchase, money

BUDGET_CHARACTERS = 200
HOPS_MAX = 78
ASK = "the running total before tax"


def ask(case: Case, reader: Reader, *, probe: Probe | None = None) -> Item:
    """Live through a chain, and ask its correction."""
    problem = _slipped(case)
    assert case.budget is not None  # _slipped looked
    with seam.made(case.subject, problem) as memory:
        carried = Carried(NOTHING_YET, case.budget, len(NOTHING_YET), len(NOTHING_YET), over=False)
        hops: list[dict[str, Any]] = []
        lived: list[dict[str, str]] = []
        for number in range(1, case.hops + 1):
            said = _hop(case, problem, number, reader, carried, memory)
            carried = seam.carry(memory, said.messages, case.budget)
            hops.append(_told(problem, number, said, carried, planted=case.premise))
            lived += said.messages
        regime = probe(carried.text, _said(lived), memory) if probe is not None else ""
        turns = correction(case.correction, problem)
        last = talk(reader, opening(carried.text, memory), turns, memory)
    scored = scoring.score(last.replies[-1], problem)
    return Item(
        key(case, reader), case.parameters(reader), sha256(lived), carried.text, carried.used, carried.written,
        carried.over or any(hop["over"] for hop in hops), tuple(asdict(pull) for pull in last.pulls), turns,
        last.replies, scored.outcome, scored.value, scored.hedged, problem.answer,
        problem.attractor, regime, tuple(hops),
    )  # fmt: skip


def _hop(case: Case, problem: Problem, number: int, reader: Reader, carried: Carried, memory: Memory) -> Talk:
    """Live one session."""
    planted = case.premise and number == 1
    note = f"\n{drift.noted(problem, case.wording).strip()}" if planted else ""
    asked = asking(replace(problem, ask=ASK))
    turn = f"{NEW} {problem.listed[number - 1]}.{note}\n{asked}"
    before = opening(carried.text, memory)
    if not planted:
        return talk(reader, before, [turn], memory)
    wrong = _wrong(problem, 1)
    reply = f"{drift.committed(ASK, f'{problem.unit}{wrong}', case.wording)}\nANSWER: {wrong}"
    messages = (*before, {"role": "user", "content": turn}, {"role": "assistant", "content": reply})
    return Talk(messages, (reply,), ())


def _said(lived: Messages) -> list[dict[str, str]]:
    """Leave out what the memory itself brought into the sessions: what it carried, was asked, and answered.

    A note stands on what was said; taken for that, an answer of the memory would be a source that nobody gave, and
    each session would repeat all before it.
    """
    asked = (RECALL, RECALLED)
    return [dict(one) for one in lived if one["role"] != "system" and not one["content"].startswith(asked)]


def _told(problem: Problem, number: int, said: Talk, carried: Carried, *, planted: bool) -> dict[str, Any]:
    """Say what came of one session."""
    truth, wrong = _running(problem, number), _wrong(problem, number) if planted else ""
    scored = scoring.score(said.replies[-1], replace(problem, answer=truth, attractor=wrong))
    return {
        "truth": truth, "given": scored.value, "outcome": scored.outcome, "reply": said.replies[-1],
        "carried": carried.text, "used": carried.used, "over": carried.over,
        "pulls": [asdict(pull) for pull in said.pulls],
    }  # fmt: skip


def _slipped(case: Case) -> Problem:
    """Move the error of a ledger to its first item, where the paper plants it."""
    problem = case.problem
    first = problem.facts[0] if problem.facts else None
    if (
        case.hops > HOPS_MAX
        or case.budget is None
        or len(problem.listed) != case.hops
        or not isinstance(first, Purchase)
    ):
        raise InvalidArgument(
            f"a chain of {case.hops} sessions wants a ledger of as many items, at most {HOPS_MAX}, and a budget; "
            f"got {len(problem.listed)} items and {case.budget!r}"
        )
    wrong = money(first.quantity * first.price + CASCADE_SLIP)
    return replace(
        problem, premise=f"the {first.good} come to {problem.unit}{wrong} together",
        locus=f"the subtotal of the {first.good}", attractor=_wrong(problem, case.hops) if case.premise else "",
        fabricated=f"the receipt lists 1 lot of {first.good} for {problem.unit}{wrong}",
    )  # fmt: skip


def _running(problem: Problem, number: int) -> str:
    return money(_sum(problem, number))


def _wrong(problem: Problem, number: int) -> str:
    return money(_sum(problem, number) + CASCADE_SLIP)


def _sum(problem: Problem, number: int) -> Fraction:
    bought = [fact for fact in problem.facts[:number] if isinstance(fact, Purchase)]
    return sum((one.quantity * one.price for one in bought), start=Fraction(0))


class Chained:
    """A hand-made note along a chain: the running total, or the items so far, the earliest dropped first."""

    def __init__(self, name: str, problem: Problem) -> None:
        self._name, self._problem = name, problem
        self._hops, self._total = 0, ""

    def write(self, messages: Messages, budget: int) -> str:
        """Write the note of the session that was just lived."""
        self._hops += 1
        line = scoring.answer_line(messages[-1]["content"]) or ""
        given = scoring.values(line, self._problem.kind)
        self._total = given[0] if len(given) == 1 else self._total
        lines = self._problem.listed[: self._hops]
        if self._name in {SOURCE_FIRST, TAGGED}:
            return _latest(lines, budget, tagged=self._name == TAGGED)
        told = f"{policies.HEAD} you concluded, for {ASK}: {self._problem.shown(self._total)}."
        return told if self._name == LOSSY else policies.pad(told, len(_latest(lines, budget, tagged=False)))


def policy(name: str) -> Subject:
    """Give a policy of the paper along a chain: lossy, lossy_padded, source_first, source_first_tagged."""
    if name not in {LOSSY, PADDED, SOURCE_FIRST, TAGGED}:
        raise InvalidArgument(f"a chain knows {LOSSY}, {PADDED}, {SOURCE_FIRST} and {TAGGED}; got {name!r}")
    return Subject(name, lambda problem: Chained(name, problem), policy=True)


def _latest(lines: Sequence[str], budget: int, *, tagged: bool) -> str:
    """Write as many whole lines as fit, dropping the earliest."""
    for first in range(len(lines) + 1):
        kept = lines[first:]
        tag = policies.tag(len(kept), len(lines)) if tagged else ""
        told = f"{policies.HEAD} {'; '.join(kept)}.{tag}" if kept else f"{policies.HEAD}{tag}"
        if len(told) <= budget:
            return told
    return policies.HEAD
