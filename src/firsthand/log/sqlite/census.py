"""What is counted over a namespace and its sessions, from the columns of their rows: no body is read for it.

The invariant: nothing here reads a word of anybody, and nothing is changed; what is shown of an event is read
through `read.Reader`, checked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from firsthand.event import Kind
from firsthand.log.rows import POSITION_MAX, key_of

from .read import Reader

SAMPLES = 30
SPREAD, SPREAD_POSITIONS = 64, 1_000
"""Places all along the log at which events are chosen, and how many positions one is looked for at each."""
NEWEST_POSITIONS = 20_000
"""Looked through for the newest events of a host."""
_KEY = "SELECT key FROM session WHERE namespace = ? AND name = ?"


class Census:
    """Counts of one namespace of a store."""

    def __init__(self, reader: Reader, namespace: str) -> None:
        self._reader, self._namespace = reader, namespace
        self._tenant = reader.namespace_key(namespace)

    def kinds(self, sessions: Sequence[str]) -> dict[str, dict[Kind, int]]:
        """Count the events of some sessions by kind."""
        sql = (
            "SELECT s.name, e.kind, count(*) FROM session s JOIN event e ON e.session = s.key "  # noqa: S608 - marks alone
            f"WHERE s.namespace = ? AND s.name IN ({', '.join('?' * len(sessions))}) GROUP BY s.key, e.kind"
        )
        counts: dict[str, dict[Kind, int]] = {name: {} for name in sessions}
        for name, kind, number in self._rows(sql, self._tenant, *sessions):
            counts[str(name)][Kind.of(kind)] = number
        return counts

    def times(self, session: str, length: int) -> list[int]:
        """Give the times of events spread evenly over a session, in microseconds since 1970."""
        places = sorted({round(number * (length - 1) / SAMPLES) for number in range(SAMPLES + 1)})
        sql = f"SELECT coalesce(time, ingested) FROM event WHERE session = ({_KEY}) AND sequence = ?"  # noqa: S608
        return [time for place in places for (time,) in self._rows(sql, self._tenant, session, place)]

    def stored_bytes(self, session: str) -> int:
        """Give what the contents of a session take in the log, compressed."""
        sql = f"SELECT total(length(body)) FROM event WHERE session = ({_KEY})"  # noqa: S608 - a constant
        return int(self._rows(sql, self._tenant, session)[0][0])

    def stretches(self, session: str, begin: int, width: int) -> list[tuple[int, Kind, int, int]]:
        """Count a session's events by stretch, of so many microseconds, and kind: stretch, kind, events, first turn."""
        sql = (
            "SELECT max(0, (time - ?) / ?), kind, count(*), min(turn) FROM event "  # noqa: S608 - a constant
            f"WHERE session = ({_KEY}) AND time IS NOT NULL GROUP BY 1, 2"
        )
        rows = self._rows(sql, begin, width, self._tenant, session)
        return [(number, Kind.of(kind), events, turn) for number, kind, events, turn in rows]

    def position_of_turn(self, session: str, turn: int) -> int:
        """Give the position of a turn's first event; 0 when there is no such turn."""
        sql = f"SELECT min(key) FROM event WHERE session = ({_KEY}) AND turn = ?"  # noqa: S608 - a constant
        ((key,),) = self._rows(sql, self._tenant, session, turn)
        return 0 if key is None else key & POSITION_MAX

    def position_at(self, microseconds: int) -> int:
        """Give the position that the log had reached at a time, by when it took events in; 0 where it held none."""
        sql = "SELECT ingested FROM event WHERE key <= ? ORDER BY key DESC LIMIT 1"
        low, high = 0, self._head()
        while low < high:
            middle = (low + high + 1) // 2
            ((ingested,),) = self._rows(sql, key_of(self._tenant, middle))
            low, high = (low, middle - 1) if ingested > microseconds else (middle, high)
        return low

    def spread(self, through: int, newest: int) -> list[int]:
        """Give positions of events up to a position: the newest ones, and some from all along the log."""
        low, high = key_of(self._tenant, max(0, through - NEWEST_POSITIONS)), key_of(self._tenant, through)
        sql = "SELECT key FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL ORDER BY key DESC LIMIT ?"
        rows = self._rows(sql, low, high, newest)
        sql = "SELECT key FROM event WHERE key BETWEEN ? AND ? AND salt IS NOT NULL LIMIT 1"
        for number in range(SPREAD):
            first = 1 + through * number // SPREAD
            last = min(through, first + SPREAD_POSITIONS)
            rows += self._rows(sql, key_of(self._tenant, first), key_of(self._tenant, last))
        return sorted({row & POSITION_MAX for (row,) in rows})

    def clocks(self, newest: int) -> tuple[int | None, int | None]:
        """Give when the newest event was taken in, and the greatest event time of the newest, both in microseconds."""
        sql = "SELECT ingested, time FROM event WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT ?"
        rows = self._rows(sql, key_of(self._tenant, 0), key_of(self._tenant, POSITION_MAX), newest)
        return (rows[0][0] if rows else None, max((time for _, time in rows if time is not None), default=None))

    def last_taken(self, prefix: str, kinds: Collection[Kind]) -> int | None:
        """Say when an event of some kinds, in a session whose name begins so, was last taken in.

        In microseconds since 1970; None if none was among the newest events of the namespace.
        """
        head = self._head()
        numbers = ", ".join(str(kind.number) for kind in kinds)
        sql = (
            "SELECT max(e.ingested) FROM event e JOIN session s ON s.key = e.session WHERE e.key > ? "  # noqa: S608
            f"AND e.key <= ? AND e.kind IN ({numbers}) AND substr(s.name, 1, ?) = ?"
        )
        low, high = key_of(self._tenant, max(0, head - NEWEST_POSITIONS)), key_of(self._tenant, head)
        ((last,),) = self._rows(sql, low, high, len(prefix), prefix)
        return None if last is None else int(last)

    def _head(self) -> int:
        return self._reader.head(self._namespace)[0]

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._reader.rows(sql, values)
