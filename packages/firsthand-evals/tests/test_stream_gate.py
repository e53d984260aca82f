"""The gate of consolidation under consolidators that do harm: what is taken leaves every question answered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consolidate_worlds import OWN, episodes, knows
from firsthand.ledger.entries import Entry, Episode, View, current, versions
from firsthand.ledger.entry_gate import Check, GateReport, Judged, check
from firsthand.ledger.solver import Solver, Weak
from firsthand_evals.stream.baselines import (
    AppendOnly,
    DropOldest,
    FullRewrite,
    LatestPerKey,
    MergeAll,
    Misgrouped,
    OverScoped,
    RulesOnly,
    Telephone,
)
from firsthand_evals.stream.consolidators import Consolidator, rules_plus_exceptions, shown_to, ungated
from firsthand_evals.stream.gate_trials import GateRates, rates
from firsthand_evals.stream.rules import Strong

EPISODES = episodes()
VIEW = View((), tuple(EPISODES))
STRONG, WEAK = Strong(knows), Weak(knows)
HARMFUL = [MergeAll(), DropOldest(5), Telephone(0.5, 1), FullRewrite(), AppendOnly(), RulesOnly(), OverScoped(),
           Misgrouped(0.4, 1), LatestPerKey()]  # fmt: skip


def gated(consolidator: Consolidator, view: View, known: list[Episode], solver: Solver) -> GateReport:
    written = shown_to(consolidator, view, known).entries
    return check(versions(written, view.entries, known, by="test"), view.entries, known, solver)


@pytest.mark.parametrize("solver", [STRONG, WEAK], ids=["strong", "weak"])
@pytest.mark.parametrize("consolidator", HARMFUL, ids=lambda one: one.name)
def test_no_harmful_consolidator_gets_through(consolidator: Consolidator, solver: Solver):
    """Whatever a consolidator proposes, batch after batch, each question that was answered is answered still."""
    view, known = View(), []
    for start in range(0, len(EPISODES), 9):
        known += EPISODES[start : start + 9]
        found = gated(consolidator, view, known, solver)
        view = found.view
        assert found.lost == 0
        assert [one for one in current(known).values() if solver.answer(one.case, view.text) != one.answer] == []
        assert {one.pointer for one in view.raw} | set(view.demoted) == {one.pointer for one in known}


def test_merge_all_is_refused_and_does_harm_without_the_gate():
    """One entry for all families answers for none of them, and even what needs no memory is lost."""
    writing = shown_to(MergeAll(), VIEW, EPISODES)
    after = ungated(VIEW, writing, EPISODES, by="merge all", writes="anew")
    asked = [f"{OWN} level {n}" for n in range(50, 60)]
    wrong = sum(WEAK.answer(one, after.text) != knows(one) for one in asked)
    assert wrong == len(asked) or "2 * N" in after.text
    assert [one.reason for one in gated(MergeAll(), VIEW, EPISODES, WEAK).judged] == ["form"]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_entry_in_the_memory_fails_its_own_replay(data: st.DataObject):
    """For any answers: what is taken gives each of its own sources, and all questions are answered."""
    answers = data.draw(st.lists(st.integers(0, 9), min_size=9, max_size=24))
    made = [Episode(f"fh:{n}", f"f{n % 2}", f"f{n % 2} level {n}", str(said), n) for n, said in enumerate(answers)]
    found = gated(rules_plus_exceptions, View((), tuple(made)), made, WEAK)
    by_pointer = {one.pointer: one for one in made}
    for one in found.view.entries:
        assert all(WEAK.answer(by_pointer[name].case, one.line) == by_pointer[name].answer for name in one.sources)
    assert [one for one in made if WEAK.answer(one.case, found.view.text) != one.answer] == []


def test_a_gate_that_refuses_everything_is_seen():
    """The rates count good and bad entries, taken and refused; where there are none there is no rate."""
    good, bad = (Entry(name, name, ()) for name in ("good", "bad"))
    judged = [Judged(one, "", (Check("form", fault),)) for one in (good, bad) for fault in ("", "wrong")]
    assert rates(judged, lambda one: one.text == "good") == GateRates(1, 1, 1, 1)
    assert rates([], bool) == GateRates()
