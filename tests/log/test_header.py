"""What is read is what was hashed: the header of an event is checked wherever an event is made of a row."""

from __future__ import annotations

import io

import pytest

from firsthand import Memory
from firsthand.errors import StoreDamaged
from firsthand.event import Draft, Kind, Trust
from firsthand.moment import Moment
from stores import open_log

FORGED = {
    "kind": "kind = 1",
    "trust": "trust = 1",
    "agent": "agent = (SELECT key FROM name WHERE text = 'root')",
    "origin": "origin = (SELECT key FROM name WHERE text = 'root')",
    "time": "time = 5, time_offset = 0",
    "ingested": "ingested = 5",
    "turn": "turn = turn + 1",
    "part": "part = 1",
    "session": "session = (SELECT key FROM session WHERE name = 'other')",
    "namespace and session": "session = (SELECT key FROM session WHERE name = 'theirs')",
}


@pytest.fixture
def forge(make_log):
    """A store with three events of a page, one of them with its header changed in the database itself."""

    def changed(sql, position=2):
        log = make_log(damaged=True)
        page = {"trust": Trust.UNTRUSTED, "origin": "web", "agent": "tool", "time": Moment(1_000_000)}
        for number in range(3):
            log.append([Draft(Kind.TOOL_RESULT, b"a page %d" % number, **page)], namespace="default", session="s")
        log.append([Draft(Kind.NOTE, b"x", agent="root", origin="root")], namespace="default", session="other")
        log.append([Draft(Kind.NOTE, b"x")], namespace="secret", session="theirs")
        for _ in range(3):
            log.append([Draft(Kind.NOTE, b"y")], namespace="default", session="other")
        log.flush_indexes("default")
        sql = sql if sql.startswith("DELETE") else f"UPDATE event SET {sql} WHERE key = {position}"
        log.writer.execute(f"{sql}").fetchall()
        log.close()
        return open_log(log.root, read_only=True)

    return changed


@pytest.mark.parametrize("field", FORGED)
def test_no_way_of_reading_gives_an_event_whose_header_was_changed(forge, field):
    """One event, a page of them, a session's, an index's entries: a changed header is damage, and hides no other."""
    if field in {"session", "namespace and session"}:  # a number that this session has not used yet
        log = forge(FORGED[field] + ", sequence = 4")
    else:
        log = forge(FORGED[field])
    read = log.reader
    for way in (
        lambda: read.event_at("default", 2),
        lambda: read.events_at("default", [1, 2, 3]),
        lambda: list(read.events("default")),
        lambda: log.export(io.BytesIO()),
    ):
        with pytest.raises(StoreDamaged):
            way()
    assert read.entries(1, 0, 3).damaged == (2,)
    others = read.event_at("default", 1), read.event_at("default", 3)
    assert [event.kind for event in others] == [Kind.TOOL_RESULT] * 2
    assert 2 in {problem.position for problem in log.verify().problems if problem.where == "event"}
    log.close()


def test_a_forged_user_message_is_not_recalled(forge):
    """A page's words that were made a trusted user message in the database are in no answer, which says so."""
    log = forge("trust = 1, kind = 1")
    log.close()
    with Memory.open(log.root, read_only=True) as memory:
        answer = memory.recall("page")
        assert {hit.position for hit in answer.hits} == {1, 3}


def test_an_event_behind_a_missing_one_is_read_as_untrusted_and_says_so(forge):
    """Without the event before it a header cannot be checked: the content comes, the trust does not."""
    log = forge("DELETE FROM event WHERE key = 6")
    event = log.reader.event_at("default", 7)
    assert (event.content, event.trust) == (b"y", Trust.UNTRUSTED)
    assert event.unchecked.startswith("the event before it in its session is missing")
    assert log.reader.event_at("default", 5).unchecked == ""
    log.close()


def test_a_damaged_chain_hash_hides_only_its_own_event(forge):
    """The event behind one whose chain hash was changed is proven by that hash derived anew."""
    log = forge("chain = zeroblob(32)")
    with pytest.raises(StoreDamaged):
        log.reader.event_at("default", 2)
    event = log.reader.event_at("default", 3)
    assert (event.content, event.unchecked) == (b"a page 2", "")
    log.close()
