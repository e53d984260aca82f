"""Entries in the log: appended with their gate report, taken out with what came of them, erased with their sources."""

from __future__ import annotations

import pytest

from firsthand import Draft, Kind, Trust, Unresolvable
from firsthand.ledger.consolidation import consolidate_in, consolidated_view
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.entries import Entry, identity_of
from firsthand.ledger.entry_log import MEDIA, SESSION, entries_of
from firsthand.value import replace

LEVELS = (7, 8, 9, 12, 15)


@pytest.fixture
def kept(memory) -> Entry:
    """An entry that was made of five statements of a user, and kept."""
    for level in LEVELS:
        memory.session("s").user(f"birch level {level} => {3 * level + 2}")
    (one,) = consolidate_in(memory, keep=True).kept
    return one


def test_an_entry_comes_back_as_it_was_kept(memory, kept):
    """What is read from the log is what the gate let in: text, sources, lineage, trust and report."""
    log = entries_of(memory)
    assert log.known() == log.standing() == (kept,)
    assert log.find(kept.id[-10:]) == log.find(f"fh:{kept.id}") == kept
    event = memory.event(f"fh:{kept.id}")
    assert (event.kind, event.text, event.trust, event.origin) == (Kind.ENTRY, kept.text, Trust.AGENT, "firsthand")
    assert event.meta["gate"]["checks"][-1] == ["no regression", 5, 5]
    assert entries_of(memory, "another").known() == ()


def test_an_entry_is_not_found_by_recall(memory, kept):
    """Recall finds the statements, and not what was derived of them: own output is no evidence."""
    hits = memory.recall("birch level").hits
    assert {one.kind for one in hits} == {Kind.USER_MESSAGE}
    assert kept.id not in {one.pointer for one in hits}


def test_the_same_entry_is_kept_once(memory, kept):
    """A second consolidation of the same statements adds nothing to the log."""
    head = memory.head()
    assert consolidate_in(memory, keep=True).kept == ()
    assert memory.head() == head


def test_what_the_user_takes_out_stays_out(memory, kept):
    """After a quarantine its statements are shown, and the same rule does not come in again, until it is released."""
    log = entries_of(memory)
    (decision,) = log.quarantine(kept.id, reason="the tariff changed")
    assert (decision.action, decision.key, decision.target) == ("quarantine", f"entry:{kept.id}", f"fh:{kept.id}")
    assert log.standing() == ()
    assert len(consolidated_view(memory).raw) == len(LEVELS)
    assert log.quarantine(kept.id) == ()
    memory.session("s").user("birch level 20 => 62")
    assert consolidate_in(memory, keep=True).report.counts() == {"quarantine": 1}
    (released,) = log.release(kept.id)
    assert (released.action, log.standing(), log.release(kept.id)) == ("release", (kept,), ())


def test_a_quarantine_is_undone_as_any_decision(memory, kept):
    """Undoing the decision in the ledger makes the entry stand again; as of then it was out."""
    log = entries_of(memory)
    (decision,) = log.quarantine(kept.id)
    ledger_of(memory).undo(decision.id)
    assert log.standing() == (kept,)
    assert log.standing(as_of=decision.position) == ()
    assert consolidated_view(memory, as_of=decision.position).entries == ()


def test_what_came_of_an_entry_goes_with_it(memory, kept):
    """A newer version takes the place of the old one, and both are out when the old one is taken out."""
    child = replace(kept, text=f"{kept.text} ", parents=(kept.id,), version=2)
    child = replace(child, id=identity_of(child))
    event = memory.event(f"fh:{kept.id}")
    meta = {**event.meta, "parents": [kept.id], "version": 2}
    memory.append(
        [Draft(Kind.ENTRY, child.text.encode(), MEDIA, meta, origin="firsthand", id=child.id)], session=SESSION
    )
    log = entries_of(memory)
    assert log.standing() == (child,)
    assert {one.target for one in log.quarantine(kept.id)} == {f"fh:{kept.id}", f"fh:{child.id}"}
    assert log.standing() == ()


def test_an_erased_source_erases_the_entry(memory, kept):
    """With one statement that it stands on the entry is erased, and its decisions too."""
    entries_of(memory).quarantine(kept.id)
    memory.erase([kept.sources[0].partition("@")[0]])
    assert entries_of(memory).known() == ()
    assert memory.event(f"fh:{kept.id}").erased
    assert ledger_of(memory).decisions() == ()


@pytest.mark.parametrize("change", [{"text": "* => 0"}, {"version": 7}, {"report": ""}, {"trust": "god"}, {"by": 5}])
def test_an_event_that_is_no_entry_is_not_read(memory, kept, change):
    """What has not the id of what it says, or no gate report, is none: no program forges one by appending it."""
    event = memory.event(f"fh:{kept.id}")
    meta = {**event.meta, **{name: told for name, told in change.items() if name != "text"}}
    text = change.get("text", kept.text).encode()
    memory.append([Draft(Kind.ENTRY, text, MEDIA, meta), Draft(Kind.ENTRY, b"prose")], session=SESSION)
    assert entries_of(memory).known() == (kept,)


def test_an_entry_without_a_report_of_the_gate_is_not_read(memory, kept):
    """What bears its own id, and was let in by no gate, is no entry."""
    meta = {**memory.event(f"fh:{kept.id}").meta, "report": ""}
    forged = replace(kept, text="* => 0")
    memory.append([Draft(Kind.ENTRY, b"* => 0", MEDIA, meta, id=identity_of(forged))], session=SESSION)
    assert entries_of(memory).known() == (kept,)


@pytest.mark.parametrize("identity", ["", "nothing", "01J8ZQ4T9M6V3K2N7P5R8S1WXY"])
def test_an_unknown_entry_is_named(memory, kept, identity):
    """An id that fits no entry is an error that says where they are listed."""
    with pytest.raises(Unresolvable, match="see: firsthand ledger entries"):
        entries_of(memory).find(identity)
