"""Looks into a store's tables for rows that should be there: a few look-ups, however large the store.

The invariant: it asks the index for the very rows of events, never how far the index
believes to reach; and it changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import apsw

from firsthand.event import Kind
from firsthand.index.check import events_without_rows
from firsthand.index.reach import reach
from firsthand.log.rows import POSITION_MAX, key_of
from firsthand.space import Space

SPREAD, SPREAD_POSITIONS = 64, 1_000
"""Places all along the log at which the index is asked, and how many positions an event is looked for at each."""
NEWEST_POSITIONS = 20_000
"""Looked through for the newest events of a host."""
_WORDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)


def lacking(space: Space, positions: Collection[int]) -> set[int]:
    """Give those of some events that the text index has no row for, though it has those around them.

    The newest few wait to be indexed together, and are found in the log meanwhile: they lack nothing, unless the
    index has stopped.
    """
    db, key = _db(space)
    at = reach(space.log.reader, key, _head(space))
    if not at.fault:
        positions = {position for position in positions if position <= at.through}
    try:
        return events_without_rows(db, key, positions)
    except (apsw.SQLError, apsw.CorruptError):
        return set(positions)  # a table that cannot be read has no row that anybody finds


def chosen(space: Space, through: int, newest: int) -> list[int]:
    """Give positions of events up to a position: the newest ones, and some from all along the log."""
    db, key = _db(space)
    low, high = key_of(key, max(0, through - NEWEST_POSITIONS)), key_of(key, through)
    sql = "SELECT key FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL ORDER BY key DESC LIMIT ?"
    rows = _all(db, sql, low, high, newest)
    sql = "SELECT key FROM event WHERE key BETWEEN ? AND ? AND salt IS NOT NULL LIMIT 1"
    for number in range(SPREAD):
        first = 1 + through * number // SPREAD
        rows += _all(db, sql, key_of(key, first), key_of(key, min(through, first + SPREAD_POSITIONS)))
    return sorted({row & POSITION_MAX for (row,) in rows})


def clocks(space: Space, newest: int) -> tuple[int | None, int | None]:
    """Give when the newest event was taken in, and the greatest event time of the newest: microseconds since 1970."""
    db, key = _db(space)
    sql = "SELECT ingested, time FROM event WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT ?"
    rows = _all(db, sql, key_of(key, 0), key_of(key, POSITION_MAX), newest)
    return (rows[0][0] if rows else None, max((time for _, time in rows if time is not None), default=None))


def last_of_host(space: Space, host: str) -> int | None:
    """Say when a message or tool call of a host's sessions was last taken in, in microseconds since 1970.

    None if none was among the newest events of the namespace.

    Args:
        host: its sessions are named ``host:...``.
    """
    db, key = _db(space)
    head = _head(space)
    kinds = ", ".join(str(kind.number) for kind in _WORDS)
    sql = (
        "SELECT max(e.ingested) FROM event e JOIN session s ON s.key = e.session WHERE e.key > ? "  # noqa: S608
        f"AND e.key <= ? AND e.kind IN ({kinds}) AND s.name >= ? AND s.name < ?"
    )
    low = key_of(key, max(0, head - NEWEST_POSITIONS))
    ((last,),) = _all(db, sql, low, key_of(key, head), f"{host}:", f"{host};")
    return None if last is None else int(last)


def agents(space: Space) -> list[str]:
    """Name the agents of the namespace, those that did something last first."""
    db, key = _db(space)
    sql = (
        "SELECT name FROM session WHERE namespace = ? AND name >= 'agent:' AND name < 'agent;' "
        "ORDER BY last_position DESC"
    )
    return [str(name).removeprefix("agent:") for (name,) in _all(db, sql, key)]


def _head(space: Space) -> int:
    return space.log.reader.head(space.namespace)[0]


def _db(space: Space) -> tuple[apsw.Connection, int]:
    reader = space.log.reader
    key = reader.namespace_key(space.namespace)
    return reader.indexed(key), key


def _all(db: apsw.Connection, sql: str, *values: Any) -> list[Any]:
    return db.execute(sql, values).fetchall()
