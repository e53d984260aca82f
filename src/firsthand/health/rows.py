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
from firsthand.value import value

SPREAD = 64
"""Places all along the log at which the index is asked."""
SPREAD_POSITIONS = 1_000
NEWEST_POSITIONS = 20_000
"""Looked through for the newest events of a host."""
_WORDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)


@value
class Clocks:
    """What the clock said when the newest events came, in microseconds since 1970.

    Attributes:
        ingested: of the newest event; None in an empty namespace.
        happened: the greatest event time of the newest ones; None when none is known.
    """

    ingested: int | None
    happened: int | None


def lacking(space: Space, positions: Collection[int]) -> set[int]:
    """Give those of some events that the text index has no row for, though it has those around them.

    The newest few wait to be indexed together, and are found in the log meanwhile: they lack nothing, unless the
    index has stopped.
    """
    db, key = _db(space)
    at = reach(space.log.reader, key, space.log.reader.head(space.namespace)[0])
    if not at.fault:
        positions = {position for position in positions if position <= at.through}
    try:
        return events_without_rows(db, key, positions)
    except (apsw.SQLError, apsw.CorruptError):
        return set(positions)  # a table that cannot be read has no row that anybody finds


def newest(space: Space, most: int) -> list[int]:
    """Give the positions of the newest events of the namespace that were not erased, newest first."""
    db, key = _db(space)
    head = space.log.reader.head(space.namespace)[0]
    low, high = key_of(key, max(0, head - NEWEST_POSITIONS)), key_of(key, head)
    sql = "SELECT key FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL ORDER BY key DESC LIMIT ?"
    return [position & POSITION_MAX for (position,) in _all(db, sql, (low, high, most))]


def spread(space: Space, through: int) -> list[int]:
    """Give positions of events of the namespace from all along the log, up to a position."""
    db, key = _db(space)
    sql = "SELECT key FROM event WHERE key BETWEEN ? AND ? AND salt IS NOT NULL LIMIT 1"
    positions = []
    for number in range(SPREAD):
        low = 1 + through * number // SPREAD
        positions += _all(db, sql, (key_of(key, low), key_of(key, min(through, low + SPREAD_POSITIONS))))
    return sorted({row & POSITION_MAX for (row,) in positions})


def clocks(space: Space, most: int) -> Clocks:
    """Read the clock of the newest events of the namespace."""
    db, key = _db(space)
    sql = "SELECT ingested, time FROM event WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT ?"
    rows = _all(db, sql, (key_of(key, 0), key_of(key, POSITION_MAX), most))
    times = [time for _, time in rows if time is not None]
    return Clocks(rows[0][0] if rows else None, max(times, default=None))


def last_taken_in(space: Space) -> int | None:
    """Say when the newest event of the namespace was taken in, in microseconds since 1970; None without one lately."""
    db, key = _db(space)
    at = newest(space, 1)
    rows = _all(db, "SELECT ingested FROM event WHERE key = ?", (key_of(key, at[0]),)) if at else []
    return int(rows[0][0]) if rows else None


def last_of_host(space: Space, host: str) -> int | None:
    """Say when a message or tool call of a host's sessions was last taken in; None if not lately.

    Args:
        host: its sessions are named ``host:...``.

    Returns:
        Microseconds since 1970, of the newest events of the namespace.
    """
    db, key = _db(space)
    head = space.log.reader.head(space.namespace)[0]
    kinds = ", ".join(str(kind.number) for kind in _WORDS)
    sql = (
        "SELECT max(e.ingested) FROM event e JOIN session s ON s.key = e.session WHERE e.key > ? "  # noqa: S608
        f"AND e.key <= ? AND e.kind IN ({kinds}) AND s.name >= ? AND s.name < ?"
    )
    rows = _all(db, sql, (key_of(key, max(0, head - NEWEST_POSITIONS)), key_of(key, head), f"{host}:", f"{host};"))
    return None if rows[0][0] is None else int(rows[0][0])


def agents(space: Space) -> list[str]:
    """Name the agents of the namespace, those that did something last first."""
    db, key = _db(space)
    sql = (
        "SELECT name FROM session WHERE namespace = ? AND name >= 'agent:' AND name < 'agent;' "
        "ORDER BY last_position DESC"
    )
    return [str(name).removeprefix("agent:") for (name,) in _all(db, sql, (key,))]


def _db(space: Space) -> tuple[apsw.Connection, int]:
    reader = space.log.reader
    key = reader.namespace_key(space.namespace)
    return reader.indexed(key), key


def _all(db: apsw.Connection, sql: str, values: tuple[Any, ...]) -> list[Any]:
    return db.execute(sql, values).fetchall()
