"""Reconcilers on the hot path: what stays, what may go, and that a store without one is the same byte for byte."""

from __future__ import annotations

import pytest
from reconciler_suite import AGENT, CALL, RESULT, USER, ReconcilerContract, draft

from firsthand import Draft, Memory, SweepByModel
from firsthand.consolidate.reconcile import ADD, NONE, AddAll, HotPath, SizeAware, decide, is_low
from firsthand.errors import InvalidArgument
from firsthand.event import Kind, Trust
from firsthand.moment import Moment


class TestAddAll(ReconcilerContract):
    """The default keeps the contract."""

    def reconciler(self):
        return AddAll()


class TestSizeAware(ReconcilerContract):
    """The size-aware one keeps the contract when it is over its budget."""

    def reconciler(self):
        return SizeAware(0, lambda: 1)


class TestSweepByModel(ReconcilerContract):
    """One that asks a model keeps the contract, and asks it nothing on the hot path."""

    def reconciler(self):
        return SweepByModel(lambda prompt: "[]", "tiny", lambda pointer: b"")


class Grudging:
    """Leaves out whatever it may."""

    name = "grudging"

    def hot(self, turn):
        return NONE

    def sweep(self, window, working, ledger):
        return AddAll().sweep(window, working, ledger)


class TestGrudging(ReconcilerContract):
    """One that says NONE of everything keeps the contract too: what must stay is not its to decide."""

    def reconciler(self):
        return Grudging()


def test_a_reconciler_that_answers_otherwise_is_refused():
    """UPDATE or DELETE on the hot path is an error that names what may be answered."""

    class Eager(Grudging):
        name = "eager"

        def hot(self, turn):
            return "DELETE"

    with pytest.raises(InvalidArgument, match="answers ADD or NONE; eager answered 'DELETE'"):
        decide(Eager(), [USER, AGENT])


@pytest.mark.parametrize(
    "text",
    ["never push to main", "the port is 8080", "because it is slow", "see src/app", "call me Anna-Lena", "it failed",
     "nimm bitte immer Tee", "useState", "x" * 3_000],
)  # fmt: skip
def test_what_says_a_rule_a_value_or_a_reason_is_protected(text):
    """A turn is not of low importance when one of its messages says something to hold on to."""
    assert is_low([USER, AGENT])
    assert not is_low([draft(Kind.USER_MESSAGE, text), AGENT])
    assert not is_low([USER, draft(Kind.AGENT_MESSAGE, text)])


def test_a_turn_with_a_tool_is_protected():
    """A whole turn with a call and its result is kept over budget."""
    assert decide(SizeAware(0, lambda: 1), [USER, CALL, RESULT, AGENT]) == ADD


def test_small_talk_goes_over_budget_alone():
    """The same turn is kept up to the budget and left out from there on."""
    used = 0
    one = SizeAware(100, lambda: used)
    assert [decide(one, [USER, AGENT]), (used := 99), decide(one, [USER, AGENT])] == [ADD, 99, ADD]
    used = 100
    assert decide(one, [USER, AGENT]) == NONE
    with pytest.raises(InvalidArgument, match="from 0 on; got -1"):
        SizeAware(-1, lambda: 0)


def _batch(*texts):
    kinds = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE)
    at = Moment(1_700_000_000_000_000, 0)
    return [
        Draft(kinds[number % 2], text.encode(), id=f"{number + 1:026d}", time=at, trust=Trust.TRUSTED)
        for number, text in enumerate(texts)
    ]


def test_the_default_leaves_a_store_as_it_is_without_one(tmp_path):
    """Events, chain and text are the same with `AddAll` on the hot path and without a hot path."""
    batch = _batch("hello", "hi there", "the port is 8080", "noted")
    held = []
    for name, hot in (("with", HotPath(AddAll())), ("without", None)):
        with Memory.open(tmp_path / name, embedder="none") as memory:
            memory.hot_path = hot
            memory.append(batch, session="s")
            held.append([
                (one.position, one.id, one.kind, one.content, one.meta, one.sequence, one.turn, one.envelope)
                for one in memory.events()
            ])  # fmt: skip
            assert memory.verify().problems == ()
    assert held[0] == held[1]
    assert len(held[0]) == 4


def test_what_is_left_out_is_counted_and_the_rest_is_whole(tmp_path):
    """Over budget the small talk of a batch does not come into the log, is counted, and the log verifies."""
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        memory.hot_path = HotPath(SizeAware(0, lambda: 1))
        appended = memory.append(_batch("hello", "hi there", "the port is 8080", "noted"), session="s")
        assert [one.text for one in memory.events()] == ["the port is 8080", "noted"]
        assert [one.new for one in appended] == [True, True]
        assert (memory.hot_path.turns, memory.hot_path.left_out, memory.hot_path.events_left_out) == (2, 1, 2)
        assert memory.append(_batch("hello", "hi there"), session="s") == ()
        assert memory.session("s").user("hello").new  # an event alone is never a whole turn
        assert memory.verify().problems == ()
