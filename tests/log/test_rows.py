"""Rows that hold another type, or a text that is no text: refused as damage wherever they are read."""

from __future__ import annotations

import io

import pytest

from firsthand.errors import StoreDamaged
from firsthand.event import Draft, Kind
from firsthand.log.sqlite.export import export_salvage
from stores import damage_index, open_log

VALUES = {
    "text that is no UTF-8": "CAST(x'ff41c0' AS TEXT)",
    "text": "'abc'",
    "real": "1.5",
    "blob": "x'ff41c0'",
    "huge": "9223372036854775807",
}
EVENT = ["sequence", "part", "turn", "kind", "trust", "agent", "origin", "time", "ingested", "chain", "commitment",
    "salt", "body"]  # fmt: skip
SESSION = ["length", "turn", "first_time", "last_time", "first_position", "head"]


def told(columns):
    """Give the values that no such column may hold; of the others only the chain can tell."""
    numbers, hashes = {"sequence", "part", "turn", "length", "first_position"}, {"chain", "head"}
    held = {("huge", column) for column in numbers} | {("blob", column) for column in hashes}
    return [(kind, column) for kind in VALUES for column in columns if (kind, column) not in held]


@pytest.fixture
def change(make_log):
    """Give a function that makes a store of three events, runs a statement on it and opens it for reading."""

    def changed(sql):
        log = make_log(damaged=True)
        log.append([Draft(Kind.NOTE, b"note %d" % n, agent="a") for n in range(3)], namespace="default", session="s")
        log.writer.execute(sql).fetchall()
        log.close()
        return open_log(log.root, read_only=True)

    return changed


@pytest.mark.parametrize(("kind", "column"), told(EVENT))
def test_an_event_with_a_field_of_another_type_is_damaged(change, kind, column):
    """Reading and exporting it raise `StoreDamaged`; salvage names its position and gives the other two."""
    log = change(f"UPDATE event SET {column} = {VALUES[kind]} WHERE key = 2")
    identifier = log.reader.event_at("default", 3).id
    with pytest.raises(StoreDamaged):
        log.reader.event_at("default", 2)
    with pytest.raises(StoreDamaged):
        list(log.reader.events("default"))
    with pytest.raises(StoreDamaged):
        log.export(io.BytesIO())
    out = io.BytesIO()
    assert export_salvage(log.root, out).damaged == 1
    assert b'"damaged":{"position":2,' in out.getvalue()
    assert log.reader.event("default", identifier).content == b"note 2"
    log.close()


@pytest.mark.parametrize(("kind", "column"), told(SESSION))
def test_a_session_with_a_field_of_another_type_is_damaged(change, kind, column):
    """Listing the sessions raises `StoreDamaged`; the events themselves are given."""
    log = change(f"UPDATE session SET {column} = {VALUES[kind]}")
    with pytest.raises(StoreDamaged):
        log.reader.sessions("default")
    assert [event.content for event in log.reader.events("default")] == [b"note 0", b"note 1", b"note 2"]
    log.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE name SET text = x'ff41' WHERE text = 'a'",
        "UPDATE name SET text = CAST(x'ff41' AS TEXT) WHERE text = 'a'",
        "UPDATE session SET name = x'ff41'",
        "UPDATE session SET name = CAST(x'ff41' AS TEXT)",
    ],
)
def test_a_name_that_is_no_text_is_damaged(change, sql):
    """A name that became bytes, or invalid UTF-8, is never shown as if it were one."""
    log = change(sql)
    with pytest.raises(StoreDamaged):
        log.reader.event_at("default", 1)
    log.close()


@pytest.mark.parametrize("kind", VALUES)
def test_a_count_by_kinds_that_there_are_not_is_refused(change, kind):
    """Counting events of a kind that does not exist raises `StoreDamaged`."""
    log = change(f"UPDATE event SET kind = {VALUES[kind]} WHERE key = 2")
    with pytest.raises(StoreDamaged):
        log.reader.census("default")
    log.close()


@pytest.mark.parametrize("kind", sorted(set(VALUES) - {"blob"}))
def test_a_head_that_is_none_is_refused(change, kind):
    """A store's head of another type raises `StoreDamaged`."""
    log = change(f"UPDATE namespace SET head = {VALUES[kind]}")
    with pytest.raises(StoreDamaged):
        log.reader.head("default")
    log.close()


@pytest.mark.parametrize("kind", sorted(set(VALUES) - {"huge"}))
def test_a_reach_that_is_no_position_is_refused(change, kind):
    """An index whose reach is no number counts for nothing, and says so."""
    log = change("UPDATE event SET turn = turn")
    damage_index(log.root, f"UPDATE reach SET position = {VALUES[kind]}")
    assert "cannot be read" in log.reader.index_faults("default")["text"][1]
    log.close()
