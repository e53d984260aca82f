"""The ledger as a fold: what is out, what is undone, and the same at any position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.ledger.decisions import Decision, Ledger, checked, fold, followers
from firsthand.value import replace

EVENTS = ("fh:1", "fh:2", "fh:3", "fh:4")


def supersede(position: int, old: int, new: int, key: str = "event:1") -> Decision:
    """Make the decision that one event takes the place of another."""
    return Decision(f"d{position}", "supersede", key, f"fh:{old}", f"fh:{new}", "why", position=position)


def about(position: int, action, target: str) -> Decision:
    """Make another decision about one event."""
    return Decision(f"d{position}", action, "event:1", target, position=position)


def undo(position: int, what: str) -> Decision:
    """Make the undoing of a decision."""
    return Decision(f"d{position}", "supersede", "event:1", "fh:1", undoes=what, position=position)


CHAIN = (supersede(11, 1, 2), supersede(12, 2, 3))


def standing(decisions, as_of=None) -> str:
    """Name the events that stand."""
    ledger = fold(decisions, as_of)
    return "".join(event[-1] for event in EVENTS if ledger.stands(event))


def test_what_was_superseded_is_out_and_what_took_its_place_stands():
    """Of a chain of decisions stands its last event, and what nobody decided on."""
    assert standing(()) == "1234"
    assert standing(CHAIN) == "34"
    assert standing(CHAIN[:1]) == "234"
    assert fold(CHAIN).taken_out_by("fh:1") == CHAIN[0]


def test_of_two_decisions_about_one_event_the_later_counts():
    """An event that is put in place again stands, whatever was decided of it before."""
    assert standing((*CHAIN, supersede(13, 3, 1))) == "14"


def test_as_of_a_position_later_decisions_do_not_count():
    """The ledger as of a position is that of the decisions up to it."""
    assert [standing(CHAIN, at) for at in (10, 11, 12)] == ["1234", "234", "34"]
    assert fold(CHAIN, 11) == fold(CHAIN[:1])


def test_an_undone_decision_is_as_if_it_had_never_been():
    """Undoing the last one gives the ledger before it; each further undoing turns it round once more."""
    undone = fold((*CHAIN, undo(13, "d12")))
    assert undone.out == fold(CHAIN[:1]).out
    assert undone.undone == {"d12": "d13"}
    turned, seen = [*CHAIN], []
    for position in range(13, 18):
        turned.append(undo(position, f"d{position - 1}"))
        seen.append(standing(turned))
    assert seen == ["234", "34", "234", "34", "234"]


def test_a_restored_event_stands_and_what_took_its_place_does_not():
    """Restoring the first of a chain takes out the end of it."""
    restored = fold((*CHAIN, about(13, "restore", "fh:1")))
    assert [restored.stands(event) for event in EVENTS] == [True, False, False, True]
    assert standing((about(11, "retract", "fh:1"), about(12, "restore", "fh:1"))) == "1234"
    assert standing((supersede(11, 1, 2), supersede(12, 2, 1), about(13, "restore", "fh:2"))) == "234"


def test_a_quarantine_takes_out_until_it_is_released():
    """What is quarantined is out whatever else is decided, and stands again as it did once it is released."""
    held = (*CHAIN, about(13, "quarantine", "fh:3"))
    assert standing(held) == "4"
    assert standing((*held, about(14, "release", "fh:3"))) == "34"


def test_a_decision_of_the_first_edition_is_in_force_for_the_part_that_it_names():
    """A sentence that was superseded is out and its event stands, and an undoing takes that back."""
    old = Decision("d11", "supersede", "shop/port staging", "fh:1@0-24", "fh:2@0-30", by="rule:correction", through=9,
                   position=11)  # fmt: skip
    ledger = fold([old])
    assert (ledger.stands("fh:1@0-24"), ledger.stands("fh:1"), ledger.stands("fh:2@0-30")) == (False, True, True)
    assert fold([old, undo(12, "d11")]).stands("fh:1@0-24")


def test_an_event_that_is_out_takes_its_parts_with_it():
    """A part of an event that is quarantined or superseded does not stand either."""
    ledger = fold([*CHAIN, about(13, "quarantine", "fh:4")])
    assert [ledger.stands(f"{event}@0-3") for event in EVENTS] == [False, False, True, False]


def test_followers_are_the_decisions_about_what_was_put_in():
    """Undoing the first of a chain with all that followed names the whole chain, and nothing beside it."""
    beside = supersede(13, 4, 1)
    assert followers((*CHAIN, beside), "d11") == CHAIN
    with pytest.raises(Unresolvable, match="has no decision"):
        followers(CHAIN, "d99")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"action": "forget"}, "its action is one of"),
        ({"target": ""}, "it has a key and a target"),
        ({"by_fact": ""}, "names what takes the place"),
        ({"reason": "x" * 301}, "at most 200 characters and its reason 300"),
        ({"sources": ("fh:1",) * 65}, "at most 64 sources"),
    ],
)
def test_a_decision_that_says_nothing_or_too_much_is_refused(change, told):
    """Each limit of a decision is told with what came."""
    with pytest.raises(InvalidArgument, match=told):
        checked(replace(CHAIN[0], **change))


@st.composite
def histories(draw):
    """Decisions of any sort about a few events, and undoings of those before."""
    decisions = []
    for position in range(1, draw(st.integers(0, 12)) + 1):
        if decisions and draw(st.booleans()):
            decisions.append(undo(position, draw(st.sampled_from(decisions)).id))
            continue
        action = draw(st.sampled_from(("supersede", "retract", "restore", "quarantine", "release", "approve")))
        old, new = draw(st.permutations(range(1, 5)))[:2]
        decision = supersede(position, old, new)
        decisions.append(replace(decision, action=action, by_fact=decision.by_fact if action == "supersede" else ""))
    return decisions


@given(histories(), st.integers(0, 12))
def test_the_ledger_of_a_position_is_that_of_the_decisions_before_it(decisions, as_of):
    """Whatever is decided later, the ledger as of a position stays the same, and undoing a decision twice is none."""
    assert fold(decisions, as_of) == fold([decision for decision in decisions if decision.position <= as_of])
    for decision in decisions:
        if not decision.undoes and decision.id not in fold(decisions).undone:
            twice = [*decisions, undo(20, decision.id), undo(21, "d20")]
            assert fold(twice).out == fold(decisions).out
            assert fold(twice).quarantined == fold(decisions).quarantined


def test_an_empty_ledger_takes_nothing_out():
    """Without decisions everything stands."""
    assert fold(()) == Ledger()
