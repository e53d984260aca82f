"""The gate of consolidation: each check refuses what it is for, and what is taken leaves every question answered."""

from __future__ import annotations

import pytest

from consolidate_worlds import LINES, OWN, answer, by_lines, episodes, knows
from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import Entry, Episode, Written, entry, versions
from firsthand.ledger.entry_gate import ENTRIES_MAX, GateReport, GateSettings, Task, check, distinct
from firsthand.ledger.solver import Weak
from firsthand.value import replace

EPISODES = episodes()
BIRCH = tuple(one.pointer for one in EPISODES if one.scope == "birch")
WEAK = Weak(knows)
RULE = "birch level N => 3 * N + 2"


def written(text: str, sources: tuple[str, ...] = BIRCH, among: list[Episode] | None = None) -> tuple[Entry, ...]:
    known = {one.pointer: one for one in among or EPISODES}
    return (entry(Written(text, sources, "birch"), known, by="test"),)


def report(proposed: tuple[Entry, ...], among: list[Episode] | None = None, standing=(), **given) -> GateReport:
    return check(proposed, standing, among or EPISODES, WEAK, **given)


def reasons(found: GateReport) -> list[str]:
    return [one.reason for one in found.judged]


def test_a_true_rule_is_taken_with_the_sources_that_it_gives():
    """The rule comes in, its exceptions are no longer its sources, and the report can be found from it."""
    found = report(written(RULE))
    (one,) = found.judged
    assert one.accepted
    assert set(one.entry.sources) == set(BIRCH) - {"fh:10", "fh:25"}
    assert found.view.entries == (one.entry,)
    assert one.entry.report == found.hash
    assert set(found.view.demoted) == set(one.entry.sources)
    assert [each.name for each in one.checks] == [
        "form", "evidence", "exact tokens", "source replay", "quarantine", "scope replay", "no regression",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sources", "reason"),
    [
        ("", BIRCH, "form"),
        (f"{RULE}\nrule: * => 0", BIRCH, "form"),
        (f"{RULE}\x0b## HEADER", BIRCH, "form"),
        (f"{RULE}\u202e", BIRCH, "form"),
        ("x" * 401, BIRCH, "form"),
        (RULE, (), "form"),
        (RULE, (*BIRCH, "fh:nowhere"), "form"),
        ("* level N => 3 * N + 2", tuple(one.pointer for one in EPISODES), "form"),
        (RULE, BIRCH[:2], "evidence"),
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
    assert (found.view.entries, found.view.raw) == ((), tuple(EPISODES))


def test_without_scope_replay_an_over_scoped_rule_comes_in():
    """It gives all of its own sources, and answers for other families too: that is what scope replay is for."""
    wide = written("* level N => 3 * N + 2")
    assert reasons(report(wide)) == ["scope replay"]
    found = report(wide, settings=GateSettings(scope=False))
    assert reasons(found) == [""]
    assert WEAK.answer(f"{OWN} level 50", found.view.text) == "152"
    assert WEAK.answer(f"{OWN} level 50", "") == "100"


def test_a_stricter_theta_refuses_a_rule_with_exceptions():
    """With a theta of 1 a rule with one exception is refused by scope replay; a theta that is no share is none."""
    assert reasons(report(written(RULE, tuple(one for one in BIRCH if one not in {"fh:10", "fh:25"})),
                          settings=GateSettings(theta=1))) == ["scope replay"]  # fmt: skip
    with pytest.raises(InvalidArgument, match="theta is a share from 0 to 1; got 2"):
        report((), settings=GateSettings(theta=2))


def test_a_task_that_was_solved_stays_solved():
    """An entry after which something that is known without memory is answered wrongly is refused."""
    lone = [one for one in EPISODES if one.scope == "birch"]
    wide = written("* level N => 3 * N + 2", among=lone)
    task = Task(f"{OWN} level 70", answer(OWN, 70))
    assert reasons(report(wide, lone)) == [""]
    assert reasons(report(wide, lone, tasks=[task])) == ["no regression"]
    assert reasons(report(wide, lone, tasks=[replace(task, answer="1")])) == [""]


def test_an_answer_that_was_taken_back_is_no_regression():
    """A rule that gives the new answers of questions, and not the old ones, is taken."""
    before = [Episode(f"fh:old{n}", "birch", f"birch level {n}", str(7 * n), n) for n in range(1, 7)]
    now = [Episode(f"fh:new{n}", "birch", f"birch level {n}", str(3 * n + 2), 10 + n) for n in range(1, 7)]
    found = report(written(RULE, tuple(one.pointer for one in now), [*before, *now]), [*before, *now])
    assert (reasons(found), found.canaries, found.lost) == ([""], 6, 0)
    assert found.view.raw == ()
    old = written("birch level N => 7 * N", tuple(one.pointer for one in before), [*before, *now])
    assert reasons(report(old, [*before, *now])) == ["source replay"]


def test_a_source_that_says_something_else_now_is_noticed():
    """An entry whose source was changed since it was written is refused."""
    changed = [replace(one, answer="1") if one.pointer == BIRCH[0] else one for one in EPISODES]
    (one,) = check(written(RULE), (), changed, WEAK).judged
    assert (one.reason, one.checks[-1].fault) == (
        "form", "sources that say what they said when it was made; one says something else"
    )  # fmt: skip


def test_repeats_and_quotations_count_once():
    """The same case said again, in other spelling or with a word more, is no further evidence."""
    said = ["birch level 1", "Birch, level 1!", "the birch level 1", "BIRCH LEVEL 1"]
    again = [Episode(f"fh:r{n}", "birch", text, "5", 100 + n) for n, text in enumerate(said)]
    assert len(distinct(again)) == 1
    found = report(written("birch level 1 => 5", tuple(one.pointer for one in again), again), again)
    assert [(one.reason, one.checks[-1].right) for one in found.judged] == [("evidence", 1)]


def test_what_is_not_answered_any_more_is_shown_again():
    """Of two rules for all families the later one is read: what the earlier one covered is shown again."""
    cedar = tuple(one.pointer for one in EPISODES if one.scope == "cedar")
    known = {one.pointer: one for one in EPISODES}
    two = [entry(Written(text, sources, scope), known, by="test") for text, sources, scope in (
        ("* level N => 3 * N + 2", BIRCH, "birch"), ("* level N => 5 * N + 7", cedar, "cedar"))]  # fmt: skip
    found = report(tuple(two), settings=GateSettings(scope=False))
    assert (reasons(found), found.lost) == (["", ""], 0)
    assert set(found.view.demoted) == set(found.view.entries[1].sources)
    assert {one.pointer for one in found.view.raw} >= set(BIRCH)


def test_an_entry_that_fails_later_goes_and_its_sources_are_shown():
    """When users say otherwise the entry is named as fallen, the others stand, and all that it covered is in view."""
    standing = report(versions(by_lines(EPISODES), (), EPISODES, by="test")).view.entries
    assert [one.scope for one in standing] == ["birch", "cedar", OWN]
    later = [Episode(f"fh:n{n}", "birch", f"birch level {n}", str(900 - n * n), 1000 + n) for n in range(1, 13)]
    found = report((), [*EPISODES, *later], standing)
    assert found.fallen == (standing[0].id,)
    assert found.view.entries == standing[1:]
    assert {one.pointer for one in found.view.raw} >= {one.pointer for one in later}
    left = [one for one in EPISODES if one.pointer != BIRCH[0]]
    assert report((), left, standing).fallen == (standing[0].id,)  # with one source erased it does not stand


def test_a_weak_solver_gains_on_what_it_has_not_seen():
    """With the rules that the gate takes a solver that makes none answers new cases, from fewer characters."""
    plain = report(()).view
    found = report(versions(by_lines(EPISODES), (), EPISODES, by="test"))
    asked = [(f"{family} level {n}", answer(family, n)) for family in LINES for n in range(60, 70)]
    assert {WEAK.answer(one, plain.text) for one, _ in asked} == {None}
    assert [WEAK.answer(one, found.view.text) for one, _ in asked] == [right for _, right in asked]
    assert len(found.view.text) * 2 < len(plain.text)


def test_a_flood_of_entries_is_refused():
    """More entries than one proposal may bring are refused as a whole."""
    with pytest.raises(InvalidArgument, match="at most 200 entries; got 201"):
        report(written(RULE) * (ENTRIES_MAX + 1))
