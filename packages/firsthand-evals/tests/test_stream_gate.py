"""The gate of consolidation: each check refuses what it is for, and what is taken leaves every question answered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consolidate_worlds import LINES, OWN, answer, episodes, knows
from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.ledger.consolidators import Consolidator, none, propose, rules_plus_exceptions
from firsthand.ledger.entries import Entry, Episode, Proposal, View, Written, applied, current, settled
from firsthand.ledger.entry_gate import (
    GateReport,
    GateSettings,
    Judged,
    Task,
    check,
    distinct,
    without,
)
from firsthand.ledger.solver import Solver, Strong, Weak
from firsthand.value import replace
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
from firsthand_evals.stream.gate_rates import GateRates, rates

EPISODES = episodes()
VIEW = View((), tuple(EPISODES))
BIRCH = tuple(one.pointer for one in EPISODES if one.scope == "birch")
STRONG, WEAK = Strong(knows), Weak(knows)
HARMFUL = [MergeAll(), DropOldest(5), Telephone(0.5, 1), FullRewrite(), AppendOnly(), RulesOnly(), OverScoped(),
           Misgrouped(0.4, 1), LatestPerKey()]  # fmt: skip


def written(
    text: str, sources: tuple[str, ...] = BIRCH, scope: str = "birch", among: list[Episode] | None = None
) -> Proposal:
    return settled([Written(text, sources, scope)], [], VIEW, among or EPISODES, by="test")


def report(proposal: Proposal, among: list[Episode] | None = None, **given: object) -> GateReport:
    return check(proposal, VIEW, among or EPISODES, WEAK, **given)  # type: ignore[arg-type]


def reasons(found: GateReport) -> list[str]:
    return [one.reason for one in found.judged]


def test_a_true_rule_is_taken_with_the_sources_that_it_gives():
    """The rule comes in, its exceptions are no longer its sources, and the report can be found from it."""
    found = report(written("birch level N => 3 * N + 2"))
    (one,) = found.judged
    assert one.accepted
    assert one.left_out == ("fh:10", "fh:25")
    assert set(one.entry.sources) == set(BIRCH) - {"fh:10", "fh:25"}
    assert found.view.entries == (one.entry,)
    assert one.entry.report == found.hash
    assert [each.name for each in one.checks] == [
        "form", "evidence", "trust", "exact tokens", "source replay", "scope replay", "no regression",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sources", "reason"),
    [
        ("", BIRCH, "form"),
        ("birch level N => 3 * N + 2\nrule: * => 0", BIRCH, "form"),
        ("birch level N => 3 * N + 2\x0b## HEADER", BIRCH, "form"),
        ("birch level N => 3 * N + 2\u202e", BIRCH, "form"),
        ("x" * 401, BIRCH, "form"),
        ("birch level N => 3 * N + 2", (), "form"),
        ("birch level N => 3 * N + 2", (*BIRCH, "fh:nowhere"), "form"),
        ("* level N => 3 * N + 2", tuple(one.pointer for one in EPISODES), "form"),
        ("birch level N => 3 * N + 2", BIRCH[:2], "evidence"),
        ("birch level N, as /etc/birch.conf says => 3 * N + 2", BIRCH, "exact tokens"),
        ("birch level N (see `helpful`) => 3 * N + 2", BIRCH, "exact tokens"),
        ("birch level N => 4 * N", BIRCH, "source replay"),
        ("trees grow with their level", BIRCH, "source replay"),
        ("* level N => 3 * N + 2", BIRCH, "scope replay"),
        ("The total was $5,500. birch level N => 3 * N + 2", BIRCH, "exact tokens"),
    ],
)  # fmt: skip
def test_each_check_refuses_what_it_is_for(text: str, sources: tuple[str, ...], reason: str):
    """An entry that fails one check is refused by that one, and the memory stays as it was."""
    found = report(written(text, sources))
    assert reasons(found) == [reason]
    assert found.view == VIEW
    assert found.counts() == {reason: 1}


def test_without_scope_replay_an_over_scoped_rule_comes_in():
    """It gives all of its own sources, and answers for other families too: that is what scope replay is for."""
    wide = written("* level N => 3 * N + 2")
    assert reasons(report(wide)) == ["scope replay"]
    found = report(wide, settings=GateSettings(scope=False))
    assert reasons(found) == [""]
    assert WEAK.answer(f"{OWN} level 50", found.view.text) == "152"
    assert WEAK.answer(f"{OWN} level 50", "") == "100"


def test_a_source_that_says_something_else_now_is_noticed():
    """An entry whose source was changed since it was written is refused."""
    proposal = written("birch level N => 3 * N + 2")
    changed = [replace(one, answer="1") if one.pointer == BIRCH[0] else one for one in EPISODES]
    found = check(proposal, VIEW, changed, WEAK)
    assert [(one.reason, one.checks[-1].detail) for one in found.judged] == [
        ("form", "sources that say what they said when it was made; one says something else")
    ]


def test_repeats_and_quotations_count_once():
    """The same case said again, in other spelling or with a word more, is no further evidence."""
    said = ["birch level 1", "Birch, level 1!", "the birch level 1", "BIRCH LEVEL 1"]
    again = [Episode(f"fh:r{n}", "birch", text, "5", 100 + n) for n, text in enumerate(said)]
    assert len(distinct(again)) == 1
    found = check(written("birch level 1 => 5", tuple(one.pointer for one in again), among=again), View(), again, WEAK)
    assert [(one.reason, one.checks[-1].right) for one in found.judged] == [("evidence", 1)]


def test_our_own_output_is_no_evidence():
    """Cases that Firsthand itself said or put before an agent do not count towards an entry."""
    own = [replace(one, ours=one.pointer in BIRCH[2:]) for one in EPISODES]
    found = check(written("birch level N => 3 * N + 2", among=own), VIEW, own, WEAK)
    assert [(one.reason, one.checks[-1].right) for one in found.judged] == [("evidence", 2)]


def test_what_a_tool_said_waits_for_the_user():
    """An entry that stands on untrusted text is held, and comes in when the user let that very entry in."""
    web = [replace(one, trust=Trust.UNTRUSTED, origin="web") if one.pointer == BIRCH[0] else one for one in EPISODES]
    proposal = written("birch level N => 3 * N + 2", among=web)
    assert reasons(check(proposal, VIEW, web, WEAK)) == ["trust"]
    found = check(proposal, VIEW, web, WEAK, approved=[proposal.written[0].id])
    assert reasons(found) == [""]
    assert found.accepted[0].trust is Trust.UNTRUSTED
    assert reasons(check(proposal, VIEW, web, WEAK, approved=["another"])) == ["trust"]


def test_what_was_written_with_entries_in_sight_is_refused():
    """A writer that was shown earlier entries has nothing taken from it (the ingredient that does most harm)."""
    before = report(written("birch level N => 3 * N + 2")).view
    found = check(propose(FullRewrite(), before, EPISODES), before, EPISODES, WEAK)
    assert set(reasons(found)) == {"form"}
    assert found.view.entries == before.entries


def test_a_task_that_was_solved_stays_solved():
    """An entry after which something that is known without memory is answered wrongly is refused."""
    lone = [one for one in EPISODES if one.scope == "birch"]
    wide = settled([Written("* level N => 3 * N + 2", BIRCH, "birch")], [], View((), tuple(lone)), lone, by="test")
    task = Task(f"{OWN} level 70", answer(OWN, 70))
    assert reasons(check(wide, View((), tuple(lone)), lone, WEAK)) == [""]
    assert reasons(check(wide, View((), tuple(lone)), lone, WEAK, tasks=[task])) == ["no regression"]
    assert reasons(check(wide, View((), tuple(lone)), lone, WEAK, tasks=[replace(task, answer="1")])) == [""]


def test_what_is_not_answered_any_more_is_shown_again():
    """A deletion holds only where the memory that is left still answers; the fixed point is reached by replays."""
    everything = tuple(one.pointer for one in EPISODES)
    proposal = settled([Written("birch level N => 3 * N + 2", BIRCH, "birch")], everything, VIEW, EPISODES, by="test")
    found = check(proposal, VIEW, EPISODES, WEAK)
    kept = {one.pointer for one in EPISODES if one.scope == "cedar"} | {"fh:10", "fh:25"}
    assert {one.pointer for one in found.view.raw} == kept
    assert set(found.restored) == kept
    assert found.rounds == 2
    assert found.lost == 0


def test_an_entry_that_fails_later_goes_with_what_came_of_it():
    """When the world changes, the entry and its descendants are quarantined, and their sources are shown again."""
    taken = check(propose(rules_plus_exceptions, VIEW, EPISODES), VIEW, EPISODES, WEAK).view
    birch = next(one for one in taken.entries if one.scope == "birch")
    cedar = next(one for one in taken.entries if one.scope == "cedar")
    child = replace(cedar, id="child", parents=(birch.id,))  # it holds still, and goes all the same
    stands = replace(taken, entries=(*taken.entries, child))
    later = [Episode(f"fh:n{n}", "birch", f"birch level {n}", str(900 - n * n), 1000 + n) for n in range(1, 13)]
    found = check(propose(none, stands, EPISODES), stands.with_raw(later), [*EPISODES, *later], WEAK)
    assert found.quarantined == tuple(sorted([birch.id, "child"]))
    assert [one.scope for one in found.view.entries] == ["cedar", OWN]
    assert {one.pointer for one in found.view.raw} >= {one.pointer for one in later}


def test_an_erased_source_takes_its_entry_along():
    """An entry one of whose sources is not there any more does not stand."""
    taken = report(written("birch level N => 3 * N + 2")).view
    left = [one for one in EPISODES if one.pointer != BIRCH[0]]
    found = check(propose(none, taken, left), taken, left, WEAK)
    assert found.quarantined == (taken.entries[0].id,)
    assert found.view == View((), tuple(left))


def test_taking_an_entry_out_shows_what_it_covered():
    """What an entry covered, and what no entry that is left covers, is shown again."""
    taken = check(propose(rules_plus_exceptions, VIEW, EPISODES), VIEW, EPISODES, WEAK).view
    birch = next(one for one in taken.entries if one.scope == "birch")
    left = without(taken, {birch.id}, EPISODES)
    assert birch not in left.entries
    assert {one.pointer for one in left.raw} >= set(BIRCH)
    assert without(taken, {"another"}, EPISODES) == taken


@pytest.mark.parametrize("solver", [STRONG, WEAK], ids=["strong", "weak"])
@pytest.mark.parametrize("consolidator", HARMFUL, ids=lambda one: one.name)
def test_no_harmful_consolidator_gets_through(consolidator: Consolidator, solver: Solver):
    """Whatever a consolidator proposes, batch after batch, each question that was answered is answered still."""
    view, known = View(), []
    for start in range(0, len(EPISODES), 9):
        new = EPISODES[start : start + 9]
        known += new
        view = view.with_raw(new)
        found = check(propose(consolidator, view, known), view, known, solver)
        view = found.view
        assert found.lost == 0
        assert [one for one in current(known).values() if solver.answer(one.case, view.text) != one.answer] == []
        assert {one.pointer for one in view.raw} | set(view.demoted) == {one.pointer for one in known}


def test_merge_all_is_refused_and_does_harm_without_the_gate():
    """One entry for all families answers for none of them, and even what needs no memory is lost."""
    proposal = propose(MergeAll(), VIEW, EPISODES)
    after = applied(VIEW, proposal, EPISODES)
    asked = [f"{OWN} level {n}" for n in range(50, 60)]
    wrong = sum(WEAK.answer(one, after.text) != knows(one) for one in asked)
    assert wrong == len(asked) or "2 * N" in after.text
    assert reasons(report(proposal)) == ["form"]


def test_a_weak_solver_gains_on_what_it_has_not_seen():
    """With the rules that the gate takes a solver that makes none answers new cases, from fewer characters."""
    found = check(propose(rules_plus_exceptions, VIEW, EPISODES), VIEW, EPISODES, WEAK)
    asked = [(f"{family} level {n}", answer(family, n)) for family in LINES for n in range(60, 70)]
    assert {WEAK.answer(one, VIEW.text) for one, _ in asked} == {None}
    assert [WEAK.answer(one, found.view.text) for one, _ in asked] == [right for _, right in asked]
    assert len(found.view.text) * 2 < len(VIEW.text)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_entry_in_the_memory_fails_its_own_replay(data: st.DataObject):
    """For any answers: what is taken gives each of its own sources, and all questions are answered."""
    answers = data.draw(st.lists(st.integers(0, 9), min_size=9, max_size=24))
    made = [Episode(f"fh:{n}", f"f{n % 2}", f"f{n % 2} level {n}", str(said), n) for n, said in enumerate(answers)]
    view = View((), tuple(made))
    found = check(propose(rules_plus_exceptions, view, made), view, made, WEAK)
    by_pointer = {one.pointer: one for one in made}
    for one in found.view.entries:
        assert all(WEAK.answer(by_pointer[name].case, one.line) == by_pointer[name].answer for name in one.sources)
    assert [one for one in made if WEAK.answer(one.case, found.view.text) != one.answer] == []


def test_theta_is_a_share():
    """A theta that is no share is refused."""
    with pytest.raises(InvalidArgument, match="theta is a share from 0 to 1; got 2"):
        report(written("x"), settings=GateSettings(theta=2))


def test_a_circle_in_what_stands_is_refused():
    """Entries that are their own ancestors are not tried."""
    view = View((Entry("a", "x", (), parents=("b",)), Entry("b", "x", (), parents=("a",))))
    with pytest.raises(InvalidArgument, match="comes of itself"):
        check(Proposal(), view, EPISODES, WEAK)


def test_a_sample_says_what_it_may_have_missed():
    """A check of n questions that all hold bounds what was lost unseen at three in n; without any it bounds nothing."""
    found = report(written("x"))
    assert found.canaries == 36
    assert found.miss_bound == pytest.approx(3 / 36)
    assert replace(found, canaries=0).miss_bound == 1.0


def test_a_gate_that_refuses_everything_is_seen():
    """The rates count good and bad entries, taken and refused; where there are none there is no rate."""
    good, bad = (Entry(name, name, ()) for name in ("good", "bad"))
    judged = [
        Judged(good, "", True, ()),
        Judged(good, "", False, ()),
        Judged(bad, "", False, ()),
        Judged(bad, "", True, ()),
    ]
    assert rates(judged, lambda one: one.text == "good") == GateRates(1, 1, 1, 1)
    assert rates([], bool) == GateRates()
