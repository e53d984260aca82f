"""The ledger in the log: appended, undone, erased with what it rests on, and the same in any handle."""

from __future__ import annotations

import pytest

from firsthand import Kind, Memory, facts_of, ledger_of, sweep
from firsthand.consolidate.ledger import Decision
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft
from firsthand.lifecycle.ledger_log import DECISIONS_MAX, SESSION
from firsthand.value import replace

SAID = ("The staging port is 8080.", "The staging port is now 8443.", "Change it to 9000.")


@pytest.fixture
def swept(memory):
    """The ledger of a memory in which a port was changed twice."""
    session = memory.session("one")
    for text in SAID:
        session.user(text)
    sweep(memory)
    return ledger_of(memory)


def test_decisions_are_events_that_no_recall_finds(memory, swept):
    """Each decision is one event of the ledger's session, with pointers and no value, and recall gives none of them."""
    events = list(memory.events(SESSION))
    assert [one.kind for one in events] == [Kind.LEDGER, Kind.LEDGER]
    assert [one.id for one in swept.decisions()] == [one.id for one in events]
    assert not any(value in one.text for one in events for value in ("8443", "9000", "8080"))
    hits = memory.recall("the user said that it has changed staging port").hits
    assert all(memory.event(hit.pointer).kind is Kind.USER_MESSAGE for hit in hits)


def test_another_handle_reads_the_same_ledger(memory, swept):
    """What one handle kept, another one folds to the same ledger."""
    with Memory.open(memory.path, read_only=True, embedder="none") as other:
        assert ledger_of(other).at() == swept.at()


def test_a_decision_is_kept_once(memory, swept):
    """Keeping what is there already appends nothing."""
    head = memory.head()
    assert swept.keep(swept.decisions()) == ()
    assert memory.head() == head


def test_undo_and_undo_of_undo(swept):
    """An undone decision is not in force, undoing it again says so by giving nothing, and its undoing can be undone."""
    first, second = swept.decisions()
    (undone,) = swept.undo(second.id[-8:], reason="two things")
    assert (undone.undoes, undone.reason, undone.by) == (second.id, "two things", "user")
    assert swept.at().latest == {"port stag": first}
    assert swept.undo(second.id) == ()
    swept.undo(undone.id)
    assert swept.at().latest == {"port stag": second}


def test_undo_with_what_followed(swept):
    """With what followed from it, a decision and all decisions about what it put in are undone at once."""
    first, second = swept.decisions()
    assert [one.undoes for one in swept.undo(first.id, following=True)] == [first.id, second.id]
    assert swept.at().latest == {}


def test_an_id_names_one_decision(swept):
    """What names no decision, or several, is refused with how many it names."""
    for identity, told in (("", "it has none"), ("zzz", "it has none"), ("0000000000", "2 begin or end so")):
        with pytest.raises(Unresolvable, match=told):
            swept.find(identity)


def test_a_person_decides_on_one_fact(memory, swept):
    """A restored fact stands alone of its key, a tombstoned one leaves none, and what is said later stands."""
    told = facts_of(memory)
    log = ledger_of(memory)

    def values():
        return [one.value for one in facts_of(memory) if log.at().standing(one)]

    log.decide("restore", told[0], reason="it was right")
    assert values() == ["number:8080"]
    log.decide("tombstone", told[0])
    assert values() == []
    memory.session("one").user("The staging port is 7777.")
    assert values() == ["number:7777"]
    with pytest.raises(InvalidArgument, match="got 'supersede'"):
        log.decide("supersede", told[0])


def test_as_of_a_position_is_as_it_was_then(memory, swept):
    """The ledger of each position on the way is the one that was read there."""
    before = {one: swept.at(one) for one in range(int(memory.head().partition(":")[0]) + 1)}
    swept.undo(swept.decisions()[0].id, following=True)
    assert {one: ledger_of(memory).at(one) for one in before} == before


def test_what_rests_on_an_erased_event_is_gone(memory, swept):
    """With the event of a fact go the decisions that name it, also from a handle that had read them."""
    told = facts_of(memory)
    assert len(swept.decisions()) == 2
    memory.erase([told[1].event])
    assert swept.decisions() == ()
    sweep(memory)
    assert [(one.target, one.by_fact) for one in swept.decisions()] == [(told[0].pointer, told[2].pointer)]


def test_what_another_program_wrote_is_passed_over(memory, swept):
    """Text, prose, other shapes and odd numbers under the kind ledger are no decisions, and hide none."""
    known = swept.decisions()
    media = "application/vnd.firsthand.decision+json"
    texts = (b"prose", b"[]", b"{}", b'{"decision": 1}', b"\xff", b"[" * 100_000)
    memory.append([Draft(Kind.LEDGER, text, media) for text in texts], session=SESSION)
    memory.append([Draft(Kind.LEDGER, b'{"decision": 1}')], session=SESSION)
    assert ledger_of(memory).decisions() == known


def test_too_many_decisions_at_once_are_refused(memory, swept):
    """More decisions than one transaction takes are an error, and none of them is kept."""
    one = swept.decisions()[0]
    many = [replace(one, id=f"{number:026d}") for number in range(DECISIONS_MAX + 1)]
    with pytest.raises(InvalidArgument, match="at most 10,000 decisions"):
        swept.keep(many)
    with pytest.raises(InvalidArgument, match="a key and a target"):
        swept.keep([Decision("0" * 26, "tombstone", "", "")])
    assert len(swept.decisions()) == 2
