"""What lies around an event in its session."""

from __future__ import annotations

import pytest

from firsthand.answer import Scope
from firsthand.event import INJECTED, Draft, Kind, Trust
from firsthand.log.log import Log
from firsthand.moment import parse
from firsthand.recall.around import SessionAround, within
from firsthand.recall.lexical import where

TIMES = [None, "2026-01-01", "2026-01-02", "2026-01-03", None, "2026-01-05"]


@pytest.fixture
def log(tmp_path):
    """A store with two sessions, several kinds, agents, times and trusts."""
    one = Log(tmp_path / "store")
    for session in ("deploy", "design"):
        one.append(
            [
                Draft(
                    (Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)[at % 3], str(at).encode(),
                    agent=("", "ann", "bob")[at % 3], trust=Trust.of(1 + at % 3), time=time and parse(time),
                )
                for at, time in enumerate(TIMES)
            ],
            namespace="n", session=session,
        )  # fmt: skip
    yield one
    one.close()


def test_the_nearest_come_first(log):
    """Both ways, within the session, up to the distance asked for and the head, of one kind where it is named."""
    middle = log.reader.event_at("n", 3)
    around = SessionAround(log.reader, "n", Scope(), 5)
    assert [one.position for one in around.before(middle, 9)] == [2, 1]
    assert [one.position for one in around.before(middle, 1)] == [2]
    assert [one.position for one in around.behind(middle, 9)] == [4, 5]
    assert [one.position for one in around.behind(middle, 9, Kind.TOOL_RESULT)] == []
    assert [one.position for one in around.behind(middle, 9, Kind.USER_MESSAGE)] == [4]


def test_what_is_not_searched_is_not_given(log):
    """Erased events and answers of recall are left out."""
    (own,) = log.append([Draft(Kind.TOOL_RESULT, b"x", meta={INJECTED: True})], namespace="n", session="deploy")
    (last,) = log.append([Draft(Kind.TOOL_RESULT, b"y")], namespace="n", session="deploy")
    log.erase("n", [log.reader.event_at("n", 6).id], "")
    around = SessionAround(log.reader, "n", Scope(), 99)
    assert [one.position for one in around.before(log.reader.event_at("n", last.position), 4)] == [5, 4]
    assert own.position not in {one.position for one in around.behind(log.reader.event_at("n", 1), 99)}


def test_damaged_events_hide_nothing_behind_them(log):
    """However many lie side by side, each is left out and named once, and what is further away is given."""
    for position in (3, 4, 5):
        log.exclusively(lambda db, at=position: db.execute("UPDATE event SET body = x'00' WHERE key = ?", (at,)))
    around = SessionAround(log.reader, "n", Scope(), 99)
    assert [one.position for one in around.before(log.reader.event_at("n", 6), 9)] == [2, 1]
    assert len(around.damaged) == len(set(around.damaged)) == 3


SCOPES = [
    Scope(), Scope(("deploy",)), Scope(("de*",)), Scope(("dep*", "x")), Scope(agents=("ann",)), Scope(agents=("",)),
    Scope(kinds=(Kind.TOOL_CALL, Kind.NOTE)), Scope(since=parse("2026-01-02")), Scope(until=parse("2026-01-02")),
    Scope(trust_max=Trust.AGENT), Scope(after_position=3), Scope(before_position=3),
    Scope(("design",), after_position=7, since=parse("2026-01-02")),
    Scope(without_sessions=("deploy",)), Scope(without_sessions=("de*", "none")), Scope(without_sessions=("*",)),
    Scope(("de*",), without_sessions=("deploy",)), Scope(("deploy",), without_sessions=("dep*",)),
    Scope(since=parse("2026-01-02T05:00:00+05:00")), Scope(until=parse("2026-01-01T19:00:00-05:00")),
]  # fmt: skip


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_a_scope_means_here_what_it_means_in_the_index(log, scope):
    """An event is within a scope exactly where the SQL of the index would find it."""
    db, key = log.reader.db, log.reader.namespace_key("n")
    limits = where(db, key, scope)
    sql = f"SELECT e.key FROM event e WHERE e.key >= ? AND e.key < ? {limits.sql}"
    found = {position for (position,) in db.execute(sql, (limits.low, limits.high, *limits.values))}
    assert {one.position for one in log.reader.events("n") if within(one, scope)} == found
