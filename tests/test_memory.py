"""What only the meeting of the rooms can show."""

from __future__ import annotations

import apsw
import pytest

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.errors import Unresolvable
from firsthand.event import Draft, Kind


def test_live_events_have_a_time(tmp_path):
    """An event appended without a time happened now, so that a question about today finds it."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("a")
        for one in (session.user("crow"), session.tool_call("bash", {"command": "crow"})):
            event = memory.event(one)
            assert event.time is not None
            assert abs(event.time.microseconds - event.ingested.microseconds) < 60_000_000
        assert memory.recall("crow", since="2020-01-01").outcome is Outcome.FOUND


def test_a_retry_under_an_id_is_the_same_event(tmp_path):
    """With an id given, no time is made up: the retry changes nothing."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("a")
        identifier = "01M7Y31GAPDH57D2W0FWX2D8WA"
        first = session.user("crow", id=identifier)
        again = session.user("crow", id=identifier)
        assert (first.new, again.new, first.position) == (True, False, again.position)


def test_a_span_is_erased_whole(tmp_path):
    """A pointer to a span erases all of its events, and no other."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("a")
        one, two, three, four = (session.user(f"crow {number}") for number in range(4))
        erasure = memory.erase([f"fh:{two.id}..{three.id}"])
        assert erasure.erased == (two.id, three.id)
        assert [memory.event(each).erased for each in (one, two, three, four)] == [False, True, True, False]
        with pytest.raises(Unresolvable):
            memory.erase([f"fh:{one.id}..01M7Y31GAPDH57D2W0FWX2D8WA"])
        assert memory.verify().problems == ()


def test_common_terms_are_counted_as_a_live_store_grows(tmp_path, monkeypatch):
    """Appends alone, without an import, bring the counts up to date that bound a query."""
    monkeypatch.setattr("firsthand.space.FOLLOW_EVENTS", 1_200)
    with Memory.open(tmp_path / "s") as memory:
        drafts = [Draft(Kind.NOTE, f"crow {number}".encode()) for number in range(600)]
        for _ in range(2):
            assert not has_counts(memory)
            memory.append(drafts, session="a")
        assert has_counts(memory)
        assert memory.verify().problems == ()


def has_counts(memory):
    """Say whether the document frequencies of common terms were counted."""
    if not (memory.path / "index" / "1.db").exists():
        return False
    db = apsw.Connection(str(memory.path / "index" / "1.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        there = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'term_df'").get
        return bool(there and db.execute("SELECT df FROM term_df WHERE term = 'crow'").get)
    finally:
        db.close()
