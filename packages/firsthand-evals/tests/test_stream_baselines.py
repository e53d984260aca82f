"""Consolidators by rule: what they write, what they may see, and what each that does harm loses."""

from __future__ import annotations

from consolidate_worlds import LINES, ODD, episodes, knows
from firsthand.ledger.entries import View, current
from firsthand.ledger.solver import Weak
from firsthand_evals.stream.baselines import LOST, FullRewrite, Telephone
from firsthand_evals.stream.consolidators import Consolidator, rules_plus_exceptions, shown_to, ungated, with_raw
from firsthand_evals.stream.rules import Strong

EPISODES = episodes()
WEAK = Weak(knows)


def after(consolidator: Consolidator, batches: int = 1) -> View:
    view, known = View(), []
    size = len(EPISODES) // batches
    for start in range(0, size * batches, size):
        known += EPISODES[start : start + size]
        view = with_raw(view, EPISODES[start : start + size])
        writing = shown_to(consolidator, view, known)
        view = ungated(view, writing, known, by=consolidator.name, writes=consolidator.writes)
    return view


def wrong(view: View, family: str) -> int:
    """Count the questions of a family that a solver answers otherwise than it was told."""
    asked = [one for one in current(EPISODES).values() if one.scope == family]
    return sum(WEAK.answer(one.case, view.text) != one.answer for one in asked)


def test_telephone_loses_at_every_telling():
    """Without loss every answer stays; with certain loss none; the same seed loses the same, line by line."""
    assert [wrong(after(Telephone(0)), family) for family in LINES] == [0, 0]
    assert [wrong(after(Telephone(1)), family) for family in LINES] == [12, 12]
    once, again, other = (after(Telephone(0.3, seed), 4).text for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert 0 < once.count(LOST) < len(EPISODES)
    assert after(Telephone(0.3, 1), 9).text.count(LOST) > after(Telephone(0.3, 1), 1).text.count(LOST)


def test_full_rewrite_stays_within_its_lines():
    """It keeps a line a family, none of the raw ones, and loses what follows no rule."""
    view = after(FullRewrite(2), 4)
    assert (len(view.entries), view.raw) == (2, ())
    assert min(wrong(after(FullRewrite(), 4), family) for family in LINES) >= 2


def test_a_rule_stands_on_the_cases_that_it_gives():
    """Each family with a line has its rule; the cases that follow none are no source and stay shown."""
    writing = shown_to(rules_plus_exceptions, View((), tuple(EPISODES)), EPISODES)
    odd = {one.pointer for one in EPISODES if one.scope != "double" and int(one.case.split()[-1]) in ODD}
    assert [one.text for one in writing.entries] == [
        "birch level N => 3 * N + 2", "cedar level N => 5 * N + 7", "double level N => 2 * N",
    ]  # fmt: skip
    assert {name for one in writing.entries for name in one.sources} == {one.pointer for one in EPISODES} - odd
    assert set(writing.demoted) == {one.pointer for one in EPISODES} - odd


def test_earlier_entries_are_hidden_from_the_writer():
    """A consolidator that does not say that it reads entries is shown none."""
    seen = []

    class Looks(type(rules_plus_exceptions)):
        def write(self, episodes, shown):
            seen.append(shown.entries)
            return super().write(episodes, shown)

    view = after(rules_plus_exceptions)
    for reads in (False, True):
        Looks.reads_derived = reads
        shown_to(Looks(), view, EPISODES)
    assert seen == [(), view.entries]


CASES = "\n".join(f"case: birch level {n} => {3 * n + 2}" for n in (1, 4, 9))


def test_only_the_strong_reader_makes_a_rule():
    """Of three cases or more that most agree on, and not of two; the weak one answers what stands there."""
    asked = ["birch level 4", "birch level 10", "oak level 10"]
    assert [Strong().answer(one, CASES) for one in asked] == ["14", "32", None]
    assert [Weak().answer(one, CASES) for one in asked] == ["14", None, None]
    assert Strong().answer("birch level 10", CASES.rpartition("\n")[0]) is None
    odd = "\n".join(f"case: birch level {n} => {n * n * 7 + 1}" for n in (20, 31, 47))
    assert Strong().answer("birch level 10", f"{CASES}\n{odd.splitlines()[0]}") == "32"
    assert Strong().answer("birch level 10", f"{CASES}\n{odd}") is None
    assert Strong().answer("oak " + "9" * 9_000, "\n".join(f"case: oak {n} => {n}" for n in range(5))) is None
