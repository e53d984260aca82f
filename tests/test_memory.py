"""What only the meeting of the rooms can show."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.errors import InvalidDraft, Unresolvable


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


def test_names_and_texts_without_utf_8_are_refused_or_taken(tmp_path):
    """A lone surrogate as a session's name is refused by every reading verb; as a text to erase it is looked for."""
    with Memory(tmp_path) as memory:
        memory.session("s").user("x is here")
        for ask in (
            lambda: list(memory.events("\ud800")),
            lambda: list(memory.anatomies("\ud800")),
            lambda: memory.assert_fact("x", "x", "x", session="\ud800"),
        ):
            with pytest.raises(InvalidDraft, match="lone surrogate"):
                ask()
        assert memory.erase([], containing="\ud800").erased == ()
        assert memory.verify().ok
