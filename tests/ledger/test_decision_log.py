"""The ledger in the log: appended, undone, erased with what it rests on, and the same in any handle."""

from __future__ import annotations

import itertools
import json

import pytest

from firsthand import Kind, Memory, Trust
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft
from firsthand.ledger.decision_events import MEDIA
from firsthand.ledger.decision_log import DECISIONS_MAX, SESSION, ledger_of
from firsthand.ledger.decisions import Decision
from firsthand.ledger.statements import retract, supersede
from firsthand.value import replace

SAID = ("The staging port is 8080.", "The staging port is now 8443.", "Change it to 9000.")


@pytest.fixture
def told(memory):
    """The pointers of three messages of one user."""
    session = memory.session("one")
    return [session.user(text).pointer for text in SAID]


@pytest.fixture
def log(memory, told):
    """The ledger of a memory in which the second message took the first one's place, and the third the second's."""
    made = ledger_of(memory)
    for old, new in itertools.pairwise(told):
        supersede(memory, old, new, reason="moved")
    return made


def stands(log, told) -> str:
    ledger = log.at()
    return "".join(str(number) for number, pointer in enumerate(told, 1) if ledger.stands(pointer))


def test_decisions_are_events_that_no_recall_finds(memory, log):
    """Each decision is one event of the ledger's session, with pointers and no words, and recall gives none of them."""
    events = list(memory.events(SESSION))
    assert [event.kind for event in events] == [Kind.LEDGER, Kind.LEDGER]
    assert [decision.id for decision in log.decisions()] == [event.id for event in events]
    assert not any(text in event.text for event in events for text in ("8443", "9000", "8080"))
    assert all(memory.event(hit.pointer).kind is Kind.USER_MESSAGE for hit in memory.recall("moved staging port").hits)


def test_another_handle_reads_the_same_ledger(memory, log):
    """What one handle kept, another one folds to the same ledger."""
    with Memory.open(memory.path, read_only=True, embedder="none") as other:
        assert ledger_of(other).at() == log.at()


def test_a_decision_is_made_once(memory, log, told):
    """Keeping or deciding what is there already appends nothing, and neither does restoring what stands."""
    head = memory.head()
    assert log.keep(log.decisions()) == ()
    assert not supersede(memory, told[0], told[1]).is_new
    assert log.restore(told[2]) == ()
    assert memory.head() == head


def test_undo_and_undo_of_undo(log, told):
    """An undone decision is not in force, undoing it again says so by giving nothing, and its undoing can be undone."""
    first, second = log.decisions()
    (undone,) = log.undo(second.id[-8:], reason="two things")
    assert (undone.undoes, undone.reason, undone.by) == (second.id, "two things", "user")
    assert stands(log, told) == "23"
    assert log.undo(second.id) == ()
    log.undo(undone.id)
    assert stands(log, told) == "3"
    assert [decision.undoes for decision in log.undo(first.id, following=True)] == [first.id, second.id]
    assert stands(log, told) == "123"


def test_an_id_names_one_decision(log):
    """What names no decision, or several, is refused with how many it names."""
    for identity, why in (
        ("", "it has none"),
        ("zzz", "it has none"),
        (log.decisions()[0].id[:6], "2 begin or end so"),
    ):
        with pytest.raises(Unresolvable, match=why):
            log.find(identity)


def test_a_person_takes_back_and_restores(memory, log, told):
    """What is retracted is out, and what is restored stands in the place of what took its place."""
    retract(memory, told[2])
    assert stands(log, told) == ""
    log.restore(told[0], reason="it was right")
    assert stands(log, told) == "1"


def test_as_of_a_position_is_as_it_was_then(memory, log):
    """The ledger of each position on the way is the one that was read there."""
    before = {position: log.at(position) for position in range(int(memory.head().partition(":")[0]) + 1)}
    log.undo(log.decisions()[0].id, following=True)
    assert {position: ledger_of(memory).at(position) for position in before} == before


def test_what_rests_on_an_erased_event_is_gone(memory, log, told):
    """With an event go the decisions that name it, also from a handle that had read them, and recall says so."""
    assert len(log.decisions()) == 2
    best = memory.recall("staging port 8080").hits[0]
    assert (best.pointer, best.replaces in told[:2]) == (told[2], True)
    memory.erase([told[1]])
    assert log.decisions() == ()
    assert {hit.replaces for hit in memory.recall("staging port").hits} == {""}


def test_decisions_of_the_first_edition_stay_in_force(memory, told):
    """What its sweep decided of a sentence counts for that sentence's bytes, and is undone like any other."""
    session = memory.session("two")
    long = session.user("The limit is 3. " + "And so on. " * 20).pointer
    session.user("The limit is now 4.")
    for number, (old, size) in enumerate(((told[0], 25), (long, 15))):
        decision = {"decision": 1, "action": "supersede", "key": "shop/port stag", "target": f"{old}@0-{size}",
                    "by_fact": f"{told[1]}@0-29", "reason": "the user said that it has changed",
                    "by": "rule:correction", "through": 2, "undoes": ""}  # fmt: skip
        draft = Draft(Kind.LEDGER, json.dumps(decision).encode(), MEDIA, {"sources": [f"{old}@0-{size}"]},
                      origin="firsthand", trust=Trust.TRUSTED, id=f"{number + 1:026d}")  # fmt: skip
        memory.append([draft], session=SESSION)
    log = ledger_of(memory)
    assert [log.at().stands(f"{old}@0-{size}") for old, size in ((told[0], 25), (long, 15))] == [False, False]
    hits = {hit.pointer: hit.preview for hit in memory.recall("staging port limit so").hits}
    assert (told[0] in hits, "The limit is 3" in hits[long], "And so on." in hits[long]) == (False, False, True)
    log.undo("1")
    assert told[0] in {hit.pointer for hit in memory.recall("staging port 8080").hits}


def test_what_another_program_wrote_is_passed_over(memory, log):
    """Text, prose, other shapes and odd numbers under the kind ledger are no decisions, and hide none."""
    known = log.decisions()
    texts = (b"prose", b"[]", b"{}", b'{"decision": 1}', b"\xff", b"[" * 100_000)
    memory.append([Draft(Kind.LEDGER, text, MEDIA) for text in texts], session=SESSION)
    memory.append([Draft(Kind.LEDGER, b'{"decision": 1}')], session=SESSION)
    assert ledger_of(memory).decisions() == known


def test_too_many_decisions_at_once_are_refused(log):
    """More decisions than one transaction takes are an error, and none of them is kept."""
    first = log.decisions()[0]
    many = [replace(first, id=f"{number:026d}") for number in range(DECISIONS_MAX + 1)]
    with pytest.raises(InvalidArgument, match="at most 10,000 decisions"):
        log.keep(many)
    with pytest.raises(InvalidArgument, match="a key and a target"):
        log.keep([Decision("0" * 26, "retract", "", "")])
    assert len(log.decisions()) == 2
