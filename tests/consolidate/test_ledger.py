"""The ledger as a fold: what stands, what is undone, and the same at any position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.consolidate.ledger import (
    TAIL_MAX,
    Decision,
    Ledger,
    LedgerChange,
    checked,
    fold,
    followers,
    ledger_difference,
    surviving,
)
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.value import replace, value


@value
class Fact:
    """What the ledger needs of a fact."""

    key: str
    pointer: str
    position: int


FACTS = tuple(Fact("port", f"fh:{number}", number) for number in (1, 2, 3, 4))


def supersede(position: int, old: int, new: int, key: str = "port") -> Decision:
    """Make the decision that one fact takes the place of another."""
    return Decision(f"d{position}", "supersede", key, f"fh:{old}", f"fh:{new}", "why", through=new, position=position)


def undo(position: int, what: str) -> Decision:
    """Make the undoing of a decision."""
    return Decision(f"d{position}", "supersede", "port", "fh:1", undoes=what, position=position)


CHAIN = (supersede(11, 1, 2), supersede(12, 2, 3))


def standing(decisions, as_of=None, facts=FACTS):
    """Name the positions of the facts that stand."""
    return [one.position for one in surviving(facts, fold(decisions, as_of))]


def test_the_latest_decision_of_a_key_says_what_stands():
    """Of a key stands what its last decision put in, and what was said behind it."""
    assert standing(()) == [1, 2, 3, 4]
    assert standing(CHAIN) == [3, 4]
    assert standing(CHAIN[:1]) == [2, 3, 4]
    assert fold(CHAIN).taken_out_by(FACTS[0]) == CHAIN[1]


def test_as_of_a_position_later_decisions_do_not_count():
    """The ledger as of a position is that of the decisions up to it."""
    assert [standing(CHAIN, at) for at in (10, 11, 12)] == [[1, 2, 3, 4], [2, 3, 4], [3, 4]]
    assert fold(CHAIN, 11) == fold(CHAIN[:1])


def test_an_undone_decision_is_as_if_it_had_never_been():
    """Undoing the last one gives the ledger before it, and it is remembered as refused."""
    undone = fold((*CHAIN, undo(13, "d12")))
    assert undone.latest == fold(CHAIN[:1]).latest
    assert undone.undone == {"d12": "d13"}
    assert undone.refused == {("port", "fh:2", "fh:3")}


def test_undoing_an_undoing_makes_it_stand_again():
    """Each further undoing of the one before it turns the decision round once more."""
    found = [*CHAIN]
    seen = []
    for position in range(13, 18):
        found.append(undo(position, f"d{position - 1}"))
        seen.append(standing(found))
    assert seen == [[2, 3, 4], [3, 4], [2, 3, 4], [3, 4], [2, 3, 4]]


def test_tombstone_restore_quarantine_release():
    """A tombstone leaves nothing of a key, a restoration one fact, and a quarantine holds whatever the key says."""
    tomb = Decision("d20", "tombstone", "port", "fh:2", through=3, position=20)
    back = Decision("d21", "restore", "port", "fh:1", through=3, position=21)
    held = Decision("d22", "quarantine", "port", "fh:1", position=22)
    freed = Decision("d23", "release", "port", "fh:1", position=23)
    every = (*CHAIN, tomb, back, held, freed)
    assert [standing(every, at) for at in (20, 21, 22, 23)] == [[4], [1, 4], [4], [1, 4]]


def test_a_key_says_nothing_of_another():
    """A decision on one key leaves the facts of another."""
    other = Fact("host", "fh:9", 1)
    assert standing(CHAIN, facts=(other,)) == [1]


def test_what_followed_from_a_decision():
    """What followed from a decision is about the fact that it put in, and so on; not what was before or beside it."""
    beside = supersede(13, 7, 8, "host")
    every = (*CHAIN, beside, supersede(14, 3, 4))
    assert [one.id for one in followers(every, "d11")] == ["d11", "d12", "d14"]
    assert [one.id for one in followers(every, "d13")] == ["d13"]
    with pytest.raises(Unresolvable, match="has no decision 'nowhere'"):
        followers(every, "nowhere")


def test_the_difference_names_what_is_decided_otherwise():
    """Between two positions it names each key whose decision in force is another, with both."""
    held = Decision("d15", "quarantine", "host", "fh:7", position=15)
    every = (*CHAIN, held)
    assert ledger_difference(fold(every, 11), fold(every)) == (
        LedgerChange("port", CHAIN[0], CHAIN[1]),
        LedgerChange("fh:7", None, held),
    )
    assert ledger_difference(fold(every), fold(every)) == ()


def test_the_tail_is_bounded():
    """Of any number of decisions on a key, one is in force and the newest are kept, and all are counted."""
    many = tuple(supersede(number, number, number + 1) for number in range(1, TAIL_MAX + 50))
    ledger = fold(many)
    assert (len(ledger.latest), ledger.tail, ledger.decisions) == (1, many[-TAIL_MAX:], len(many))
    assert ledger.through == many[-1].position


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"action": "update"}, "action is one of"), ({"key": ""}, "a key and a target"), ({"target": ""}, "a key and"),
     ({"by_fact": ""}, "names what takes the place"), ({"key": "k" * 201}, "at most 200"),
     ({"reason": "r" * 301}, "301"), ({"sources": ("fh:1",) * 65}, "at most 64 sources; got 65")],
)  # fmt: skip
def test_a_decision_that_says_nothing_or_too_much_is_refused(changed, told):
    """Each field has its limit, and the refusal names it."""
    assert checked(CHAIN[0]) is CHAIN[0]
    with pytest.raises(InvalidArgument, match=told):
        checked(replace(CHAIN[0], **changed))


MOVES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.integers(1, 6), st.booleans()), max_size=25)


@given(MOVES, st.integers(0, 30))
def test_a_ledger_is_a_function_of_its_decisions_up_to_a_position(moves, as_of):
    """As of a position is the fold of what was decided up to it, and undoing all that is in force leaves nothing."""
    made: list[Decision] = []
    for number, (key, old, new, back) in enumerate(moves, 1):
        if back and made:
            made.append(undo(number, made[(old * new) % len(made)].id))
        else:
            made.append(supersede(number, old, new, key))
    assert fold(made, as_of) == fold([one for one in made if one.position <= as_of])
    ledger = fold(made)
    in_force = [one for one in made if not one.undoes and one.id not in ledger.undone]
    assert set(ledger.latest.values()) <= set(in_force)
    cleared = fold([*made, *(undo(100 + place, one.id) for place, one in enumerate(in_force))])
    assert (cleared.latest, cleared.held) == ({}, {})
    assert fold(()) == Ledger()
