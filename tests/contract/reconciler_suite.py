"""What every reconciler promises; inherit it and give a reconciler that leaves out as much as it may."""

from __future__ import annotations

import itertools

from firsthand.consolidate.keys import facts
from firsthand.consolidate.ledger import ACTIONS, Ledger, checked
from firsthand.consolidate.reconcile import ADD, NONE, HotPath, Reconciler, decide, is_whole, turns
from firsthand.event import Draft, Event, Kind, Trust
from firsthand.moment import Moment

AT = Moment(1_700_000_000_000_000, 0)


def draft(kind: Kind, text: str = "hello", call: str = "", part: int = 0) -> Draft:
    """Make a draft of a kind; a call or result carries its call's id."""
    return Draft(kind, text.encode(), meta={"call_id": call} if call else {}, part=part, trust=Trust.TRUSTED)


USER, AGENT = draft(Kind.USER_MESSAGE), draft(Kind.AGENT_MESSAGE)
CALL, RESULT = draft(Kind.TOOL_CALL, "{}", "c1"), draft(Kind.TOOL_RESULT, "", "c1")


def event(position: int, text: str, trust: Trust) -> Event:
    """Make a user message as the log gives it."""
    return Event(
        position, f"{position:026d}", "default", "one", position, 0, 0, Kind.USER_MESSAGE, "", "user", trust, AT, AT,
        "text/plain", {}, b"", text.encode(), None, False, b"", b"",
    )  # fmt: skip


class ReconcilerContract:
    """The contract of the port `Reconciler`."""

    def reconciler(self) -> Reconciler:
        """Give the reconciler under test."""
        raise AssertionError("the contract is inherited, with a reconciler of its own")

    def test_the_hot_path_answers_add_or_none(self):
        """Of any turn of up to four events of five kinds, whole or not, nothing but ADD and NONE is answered."""
        one = self.reconciler()
        pieces = (USER, AGENT, CALL, RESULT, draft(Kind.PERSONA))
        made = [turn for length in range(5) for turn in itertools.product(pieces, repeat=length)]
        assert {decide(one, turn) for turn in made} <= {ADD, NONE}

    def test_no_call_is_orphaned(self):
        """Whatever is left out of a batch, each call that stays has its result and each result its call, as before."""
        one = self.reconciler()
        for batch in itertools.product((USER, AGENT, CALL, RESULT), repeat=5):
            kept = HotPath(one)(batch)
            orphans = kept.count(CALL) - kept.count(RESULT)
            assert orphans == batch.count(CALL) - batch.count(RESULT), batch

    def test_a_turn_stays_or_goes_as_one(self):
        """What is kept of a batch is the turns of it that are kept, whole and in order."""
        one = self.reconciler()
        batch = [USER, AGENT, USER, CALL, RESULT, AGENT, USER, draft(Kind.AGENT_MESSAGE, "never do that"), USER]
        want = [piece for turn in turns(batch) if decide(one, turn) == ADD for piece in turn]
        assert list(HotPath(one)(batch)) == want

    def test_an_open_turn_stays(self):
        """A turn without an answer, or with a call that waits for its result, is never left out."""
        one = self.reconciler()
        for turn in ([USER], [USER, CALL], [USER, CALL, AGENT], [AGENT, AGENT], [USER, RESULT, AGENT]):
            assert not is_whole(turn)
            assert decide(one, turn) == ADD

    def test_the_sweep_gives_decisions_that_can_be_kept(self):
        """The sweep's decisions name a key, a target and what takes its place, and only of what a user said."""
        told = facts([
            event(1, "The staging port is 8080.", Trust.TRUSTED),
            event(2, "The staging port is now 1.", Trust.UNTRUSTED),
            event(3, "The staging port is now 8443.", Trust.TRUSTED),
        ])  # fmt: skip
        made = self.reconciler().sweep(told, {}, Ledger())
        assert [checked(one, ACTIONS) for one in made] == list(made)
        assert [(one.target, one.by_fact) for one in made] == [(told[0].pointer, told[2].pointer)]

    def test_the_sweep_is_the_same_twice(self):
        """The same facts give the same decisions, under the same ids."""
        told = facts([event(1, "My budget is $40.", Trust.TRUSTED), event(2, "My budget is now $50.", Trust.TRUSTED)])
        assert self.reconciler().sweep(told, {}, Ledger()) == self.reconciler().sweep(told, {}, Ledger())
