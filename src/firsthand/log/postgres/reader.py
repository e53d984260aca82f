"""Reading the log in PostgreSQL: the verbs of `log.sqlite.read.Reader`, on rows of one namespace at a time.

Every read names its namespace, in the query and in the transaction (row-level security): one that names none sees
nothing. Every event is checked as it is read, as in SQLite: its body against its commitment, its header against its
chain hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from firsthand.errors import StoreDamaged, Unresolvable
from firsthand.event import Event, Kind, genesis, id_bytes, link
from firsthand.fence import KEY_BYTES
from firsthand.log.engine import Entries, Entry
from firsthand.log.expansion import Expansion, lost_in
from firsthand.log.results import Damaged, SessionInfo
from firsthand.log.rows import POSITION_MAX, event_of, header_of, payload_of
from firsthand.moment import Moment
from firsthand.window import HISTORY

from .connection import Connections
from .deadline import LONG_S
from .payloads import Payloads
from .seal import Seal

STORED = (
    "e.position, e.id, e.namespace, e.session, e.sequence, e.part, e.turn, e.kind, e.trust, e.agent, e.origin, e.time, "
    "e.time_offset, e.ingested, e.ingested_offset, e.chain, e.commitment, e.salt, e.body"
)
_FROM = (
    f"SELECT {STORED}, (SELECT p.chain FROM event p WHERE p.namespace = e.namespace AND p.session = e.session "  # noqa: S608
    "AND p.sequence = e.sequence - 1), s.name, e.head FROM event e JOIN session s ON s.namespace = e.namespace "
    "AND s.session = e.session WHERE e.namespace = %(namespace)s "
)
_PAGE = 256
_HISTORY = [kind.number for kind in HISTORY]


def number_of(namespace: str) -> int:
    """Give the number of a namespace: 63 bits of the hash of its name, never 0."""
    return int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:8], "big") >> 1 or 1


class Reader(Expansion):
    """Reads events of one store. Safe to share between threads."""

    def __init__(self, connections: Connections, payloads: Payloads, seal: Seal, name: str) -> None:
        self._connections, self._artifacts, self._seal, self._name = connections, payloads, seal, name
        self._facts: dict[str, bytes] = {}

    # events ----------------------------------------------------------------------------------------

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number."""
        return number_of(namespace)

    def event(self, namespace: str, identifier: str) -> Event:
        """Read one event by its id.

        Raises:
            Unresolvable: no such event in this namespace.
            StoreDamaged: it is not what was written.
        """
        rows = self._rows(namespace, "AND e.id = %(id)s", id=id_bytes(identifier))
        if not rows:
            raise Unresolvable(
                f"no event fh:{identifier} in namespace {namespace!r} of {self._name}; it may belong to another store "
                "or namespace"
            )
        return self._event(namespace, rows[0])

    def event_at(self, namespace: str, position: int) -> Event | None:
        """Read one event by its position; None when it is not of this namespace."""
        rows = self._at(namespace, [position])
        return self._event(namespace, rows[0]) if rows else None

    def events_at(self, namespace: str, positions: Sequence[int]) -> list[Event]:
        """Read events by position, in the order asked for; what is not of this namespace is left out."""
        by_position = {row[0]: self._event(namespace, row) for row in self._at(namespace, positions)}
        return [by_position[position] for position in positions if position in by_position]

    def payloads_at(self, namespace: str, positions: Sequence[int]) -> dict[int, bytes]:
        """Read what events hold by position, of a large content its digest; without what was erased or is damaged."""
        payloads = {row[0]: payload_of(row) for row in self._at(namespace, positions)}
        return {position: payload for position, payload in payloads.items() if payload is not None}

    def origins_at(self, namespace: str, positions: Sequence[int]) -> dict[int, str]:
        """Give where events came from, by position."""
        return {row[0]: row[10] for row in self._at(namespace, positions)}

    def events(
        self,
        namespace: str,
        *,
        session: str | None = None,
        kind: Kind | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        damaged: Damaged | None = None,
    ) -> Iterator[Event]:
        """Yield events in order of position, a page at a time, so that no read stays open.

        Args:
            after, before: exclusive bounds by position.
            damaged: told of each event that is not what was written, which is then left out; None raises.
        """
        low, high = max(after, 0), min(before if before is not None else POSITION_MAX + 1, POSITION_MAX + 1)
        left = limit if limit is not None else POSITION_MAX
        where = "AND e.position > %(low)s AND e.position < %(high)s "
        where += "" if session is None else "AND s.name = %(session)s "
        where += "" if kind is None else "AND e.kind = %(kind)s "
        where += f"ORDER BY e.position {'DESC' if newest_first else 'ASC'} LIMIT %(limit)s"
        while left > 0:
            rows = self._rows(
                namespace, where, low=low, high=high, session=session, kind=kind.number if kind is not None else None,
                limit=min(left, _PAGE),
            )  # fmt: skip
            for row in rows:
                try:
                    event = self._event(namespace, row)
                except StoreDamaged as error:
                    if damaged is None:
                        raise
                    damaged(row[0], error)
                    continue
                yield event
            if len(rows) < min(left, _PAGE):
                return
            left -= len(rows)
            low, high = (low, rows[-1][0]) if newest_first else (rows[-1][0], high)

    def session_events(self, namespace: str, session: str, after: int, before: int) -> Iterator[Event]:
        """Yield the events of a session between two positions, both excluded."""
        return self.events(namespace, session=session, after=after, before=before)

    def tail(self, namespace: str, session: str, sequence: int, limit: int) -> list[tuple[Any, ...]]:
        """Give a session's rows from a sequence on, in the order of `STORED`."""
        where = "AND s.name = %(session)s AND e.sequence >= %(sequence)s ORDER BY e.sequence LIMIT %(limit)s"
        return [row[:19] for row in self._rows(namespace, where, session=session, sequence=sequence, limit=limit)]

    def latest(
        self, namespace: str, session: str, kind: Kind, *, before: int | None = None, damaged: Damaged | None = None
    ) -> Event | None:
        """Read a session's newest event of a kind, before a position; None when it has none."""
        events = self.events(namespace, session=session, kind=kind, before=before, newest_first=True, damaged=damaged)
        return next((event for event in events if not event.erased), None)

    def begins_message(self, namespace: str, position: int) -> bool:
        """Say whether the event at a position is the first part of what stands in a window."""
        where = "AND e.position = %(position)s AND e.part = 0 AND e.kind = ANY (%(kinds)s)"
        return bool(self._rows(namespace, where, position=position, kinds=_HISTORY))

    def entries(self, namespace_key: int, after: int, limit: int) -> Entries:
        """Read the next events of a namespace, as an index is given them; erased ones are left out."""
        with self._connections.reading(namespace_key) as db:
            name = db.execute("SELECT name FROM namespace WHERE namespace = %s", (namespace_key,)).fetchone()
            if name is None:
                return Entries((), (), after)
            sql = _FROM + "AND e.position > %(after)s AND e.body IS NOT NULL ORDER BY e.position LIMIT %(limit)s"
            values = {"namespace": namespace_key, "after": after, "limit": limit}
            rows = db.execute(sql, values, prepare=True, binary=True).fetchall()
        entries, damaged = [], []
        for row in rows:
            try:
                event = self._event(name[0], self._seal.opened(row))
            except StoreDamaged:
                damaged.append(row[0])
                continue
            if not event.erased:
                entries.append(Entry(namespace_key, event))
        return Entries(tuple(entries), tuple(damaged), rows[-1][0] if rows else after, lost_in(entries))

    def record_parts(self, event: Event) -> tuple[Event, ...]:
        """Give all events of the source record that an event came from, in order."""
        if event.part == 0 and not event.envelope:
            return (event,)
        where = "AND s.name = %(session)s AND e.sequence >= %(first)s ORDER BY e.sequence LIMIT %(limit)s"
        parts: list[Event] = []
        begin = event.sequence - event.part
        while len(parts) % 64 == 0:
            rows = self._rows(event.namespace, where, session=event.session, first=begin + len(parts), limit=64)
            parts += [self._event(event.namespace, row) for row in rows if row[5] == row[4] - begin]
            if not rows or rows[-1][5] != rows[-1][4] - begin:
                break
        return tuple(parts) if any(part.position == event.position for part in parts) else (event,)

    # the store -------------------------------------------------------------------------------------

    def sessions(self, namespace: str) -> tuple[SessionInfo, ...]:
        """List a namespace's sessions, in the order they began."""
        key = number_of(namespace)
        with self._connections.reading(key) as db:
            rows = db.execute(
                "SELECT name, length, turn, first_time, last_time, session, last_position, head FROM session "
                "WHERE namespace = %s ORDER BY session",
                (key,),
            ).fetchall()
        return tuple(
            SessionInfo(
                name, length, turn, None if first is None else Moment(first), None if last is None else Moment(last),
                first_position, last_position, head.hex(),
            )
            for name, length, turn, first, last, first_position, last_position, head in rows
        )  # fmt: skip

    def head(self, namespace: str) -> tuple[int, bytes]:
        """Give a namespace's last position and the hash rolled over its events; 0 and zeros before the first one."""
        key = number_of(namespace)
        with self._connections.reading(key) as db:
            row = db.execute("SELECT position, head FROM namespace WHERE namespace = %s", (key,)).fetchone()
        return (0, bytes(32)) if row is None else (row[0], row[1])

    def heads(self, namespace: str, at: int) -> tuple[int, bytes]:
        """Give a namespace's last position, and the head that it had at another; empty where it has none there."""
        key = number_of(namespace)
        sql = (
            "SELECT n.position, (SELECT e.head FROM event e WHERE e.namespace = n.namespace AND e.position = %s) "
            "FROM namespace n WHERE n.namespace = %s"
        )
        with self._connections.reading(key) as db:
            row = db.execute(sql, (at, key)).fetchone()
        end, there = row if row is not None else (0, None)
        return end, bytes(32) if at == 0 else bytes(there or b"")

    def stored(self, namespace: str, after: int, limit: int) -> list[Any]:
        """Give the rows behind a position as stored, those erased too, with the session's name and the head."""
        where = "AND e.position > %(after)s ORDER BY e.position LIMIT %(limit)s"
        return self._rows(namespace, where, after=after, limit=limit)

    def erases(self, namespace: str, after: int) -> bool:
        """Say whether something was erased behind a position."""
        where = "AND e.position > %(after)s AND e.kind = %(kind)s LIMIT 1"
        return bool(self._rows(namespace, where, after=after, kind=Kind.ERASURE.number))

    def uuid(self) -> bytes:
        """Give the identity of the store."""
        return self._fact("uuid")

    def fence_key(self) -> bytes:
        """Give the key that fences of this store are made with; it never leaves the store."""
        key = self._fact("fence_key")
        if len(key) != KEY_BYTES:
            raise StoreDamaged(f"expected a fence key of {KEY_BYTES} bytes; got {len(key)}. Restore the store.")
        return key

    def census(self, namespace: str) -> tuple[dict[str, int], int, int]:
        """Count a namespace's events by kind, those erased, and the bytes of their bodies as kept."""
        key = number_of(namespace)
        with self._connections.reading(key) as db:
            db.silence_s = LONG_S
            rows = db.execute(
                "SELECT kind, count(*), count(*) FILTER (WHERE body IS NULL), coalesce(sum(octet_length(body)), 0) "
                "FROM event WHERE namespace = %s GROUP BY kind ORDER BY kind",
                (key,),
            ).fetchall()
        kinds = {str(Kind.of(kind)): count for kind, count, _, _ in rows}
        return kinds, sum(row[2] for row in rows), int(sum(row[3] for row in rows))

    def _fact(self, name: str) -> bytes:
        if name not in self._facts:
            with self._connections.use() as db:
                row = db.execute("SELECT value FROM store WHERE key = %s", (name,)).fetchone()
            if row is None:
                raise StoreDamaged(f"what the store says of itself lacks {name!r}; restore it from a backup")
            self._facts[name] = bytes(row[0])
        return self._facts[name]

    # rows ------------------------------------------------------------------------------------------

    def _at(self, namespace: str, positions: Sequence[int]) -> list[Any]:
        return self._rows(namespace, "AND e.position = ANY (%(positions)s)", positions=[*positions])

    def _rows(self, namespace: str, where: str, **values: Any) -> list[Any]:
        key = number_of(namespace)
        with self._connections.reading(key) as db:
            rows = db.execute(_FROM + where, {"namespace": key, **values}, prepare=True, binary=True).fetchall()
        return [self._seal.opened(row) for row in rows]

    def _event(self, namespace: str, row: tuple[Any, ...]) -> Event:
        agent, origin, session = row[9], row[10], row[20]
        return event_of(
            row[:20], namespace, session, agent, origin, lambda: self._derived(namespace, session, row[4] - 1)
        )

    def _derived(self, namespace: str, session: str, sequence: int) -> bytes | None:
        """Derive the chain hash of an event of a session anew; None when the one in the store is right."""
        where = "AND s.name = %(session)s AND e.sequence = %(sequence)s"
        rows = self._rows(namespace, where, session=session, sequence=sequence)
        if not rows:
            return b""
        row = rows[0]
        before = genesis(namespace, session) if sequence == 0 else row[19]
        derived = b"" if before is None else link(before, header_of(row, row[9], row[10]), row[16])
        return None if derived == row[15] else derived
