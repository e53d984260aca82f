"""What pages count over whole sessions, from the columns of the log's rows: no body is read for it.

The invariant: nothing here reads a word of anybody; what a page shows of an event it reads
through `Space`, checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from firsthand.event import Kind
from firsthand.log.rows import key_of
from firsthand.log.sqlite.database import translating
from firsthand.space import Space

SAMPLES = 30
_KEY = "SELECT key FROM session WHERE namespace = ? AND name = ?"


def kinds(space: Space, sessions: Sequence[str]) -> dict[str, dict[Kind, int]]:
    """Count the events of some sessions by kind."""
    marks = ", ".join("?" * len(sessions))
    sql = (
        "SELECT s.name, e.kind, count(*) FROM session s JOIN event e ON e.session = s.key "  # noqa: S608 - marks alone
        f"WHERE s.namespace = ? AND s.name IN ({marks}) GROUP BY s.key, e.kind"
    )
    counts: dict[str, dict[Kind, int]] = {name: {} for name in sessions}
    with _rows(space) as (db, tenant):
        for name, kind, number in db.execute(sql, (tenant, *sessions)):
            counts[str(name)][Kind.of(int(str(kind)))] = int(str(number))
    return counts


def times(space: Space, session: str, length: int) -> list[int]:
    """Give the times of events spread evenly over a session, in microseconds since 1970."""
    with _rows(space) as (db, tenant):
        key = db.execute(_KEY, (tenant, session)).get
        places = sorted({round(number * (length - 1) / SAMPLES) for number in range(SAMPLES + 1)})
        sql = "SELECT coalesce(time, ingested) FROM event WHERE session = ? AND sequence = ?"
        return [int(time) for place in places if (time := db.execute(sql, (key, place)).get) is not None]


def stored_bytes(space: Space, session: str) -> int:
    """Give what the contents of a session take in the log, compressed."""
    with _rows(space) as (db, tenant):
        key = db.execute(_KEY, (tenant, session)).get
        return int(db.execute("SELECT total(length(body)) FROM event WHERE session = ?", (key,)).get or 0)


def columns(space: Space, session: str, begin: int, width: int) -> list[tuple[int, Kind, int, int]]:
    """Count a session's events by stretch, of so many microseconds, and kind: stretch, kind, events, first turn."""
    sql = (
        "SELECT max(0, (time - ?) / ?), kind, count(*), min(turn) FROM event "
        "WHERE session = ? AND time IS NOT NULL GROUP BY 1, 2"
    )
    with _rows(space) as (db, tenant):
        key = db.execute(_KEY, (tenant, session)).get
        stretches: list[Any] = db.execute(sql, (begin, width, key)).fetchall()
    return [(int(number), Kind.of(int(kind)), int(events), int(turn)) for number, kind, events, turn in stretches]


def position_of_turn(space: Space, session: str, turn: int) -> int:
    """Give the position of a turn's first event; 0 when there is no such turn."""
    sql = "SELECT min(key) FROM event WHERE session = ? AND turn = ?"
    with _rows(space) as (db, tenant):
        key = db.execute(sql, (db.execute(_KEY, (tenant, session)).get, turn)).get
    return 0 if key is None else int(key) - key_of(tenant, 0)


def position_at(space: Space, microseconds: int) -> int:
    """Give the position that the log had reached at a time, by when it took events in; 0 where it held none."""
    sql = "SELECT ingested FROM event WHERE key <= ? ORDER BY key DESC LIMIT 1"
    low, high = 0, space.position
    with _rows(space) as (db, tenant):
        while low < high:
            middle = (low + high + 1) // 2
            is_later = int(db.execute(sql, (key_of(tenant, middle),)).get) > microseconds
            low, high = (low, middle - 1) if is_later else (middle, high)
    return low


@contextmanager
def _rows(space: Space) -> Iterator[tuple[apsw.Connection, int]]:
    reader = space.log.reader
    with translating(space.log.root):
        yield reader.db, reader.namespace_key(space.namespace)
