"""Reading the log: events by position, id or session, and pointers down to their bytes.

Every read names its namespace; an event of another namespace does not exist for
it. Every event is checked as it is read: its body against its commitment, its header
against its chain hash. Every artifact is checked against its address.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import StoreDamaged, Unresolvable
from firsthand.event import Event, Kind, genesis, id_bytes, link
from firsthand.fence import KEY_BYTES
from firsthand.log import rows as event_rows
from firsthand.log.engine import Entries, Entry
from firsthand.log.expansion import Expansion, lost_in
from firsthand.log.results import Damaged, SessionInfo
from firsthand.log.rows import (
    COLUMNS,
    POSITION,
    POSITION_MAX,
    SESSION,
    check_event_types,
    check_types,
    event_of,
    header_of,
    key_of,
)
from firsthand.moment import Moment
from firsthand.window import HISTORY

from .artifacts import ArtifactStore
from .database import Readers, translating
from .index_files import Reached, schema_of, transaction

_FROM = f"SELECT {COLUMNS} FROM event "  # noqa: S608 - a constant
_HISTORY = {kind.number for kind in HISTORY}
_PAGE = 256
_NO_BOUND = 1 << 62  # beyond every position
_KEPT = "AND (body IS NOT NULL OR salt IS NOT NULL)"  # half a body is damage, none is an erasure
_NAMESPACE = "SELECT name FROM namespace WHERE key = ?"


class Reader(Expansion):
    """Reads events of one store. Safe to share between threads."""

    def __init__(self, root: Path, readers: Readers, artifacts: ArtifactStore, index_names: Sequence[str] = ()) -> None:
        self.index_names = tuple(index_names)
        self._root, self._readers, self._artifacts = root, readers, artifacts
        self.store = str(root)  # by the name that people know
        self._namespaces: dict[str, int] = {}
        self._sessions: dict[int, tuple[str, str]] = {}
        self._names: dict[int, str] = {}
        self._all_namespaces: dict[int, str] = {}

    @property
    def db(self) -> apsw.Connection:
        """This thread's read connection."""
        return self._readers.get()

    # events ----------------------------------------------------------------------------------------

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number in this store; 0 when nothing was ever written to it."""
        key = self._namespaces.get(namespace)
        if key is None:
            number = self._one("SELECT key FROM namespace WHERE name = ?", (namespace,))
            if number is None:
                return 0
            key = self._namespaces[namespace] = int(number)
        return key

    def event(self, namespace: str, identifier: str) -> Event:
        """Read one event by its id.

        Raises:
            Unresolvable: no such event in this namespace.
            StoreDamaged: it is not what was written.
        """
        row = self._one(_FROM + "WHERE id = ? AND namespace = ?", (id_bytes(identifier), self.namespace_key(namespace)))
        if row is None:
            raise Unresolvable(
                f"no event fh:{identifier} in namespace {namespace!r} of {self.store}; it may belong to another "
                "store or namespace"
            )
        return self._event(namespace, row)

    def event_at(self, namespace: str, position: int) -> Event | None:
        """Read one event by its position; None when it is not of this namespace."""
        key = self._key(namespace, position)
        row = self._one(_FROM + "WHERE key = ?", (key,)) if key else None
        return None if row is None else self._event(namespace, row)

    def _key(self, namespace: str, position: int) -> int:
        """Give the key of an event's row; 0 where there can be none."""
        tenant = self.namespace_key(namespace)
        return key_of(tenant, position) if tenant and 0 < position <= POSITION_MAX else 0

    def events_at(self, namespace: str, positions: Sequence[int]) -> list[Event]:
        """Read events by position, in the order asked for; what is not of this namespace is left out."""
        by_position = {row[0]: self._event(namespace, row) for row in self._rows_at(COLUMNS, namespace, positions)}
        return [by_position[position] for position in positions if position in by_position]

    def payloads_at(self, namespace: str, positions: Sequence[int]) -> dict[int, bytes]:
        """Read what events hold by position, of a large content its digest, and nothing else of them.

        Left out is what was erased, or is not what was written: `events_at` says why.
        """
        payloads = {
            row[0]: event_rows.payload_of(row) for row in self._rows_at(event_rows.STORED, namespace, positions)
        }
        return {position: payload for position, payload in payloads.items() if payload is not None}

    def origins_at(self, namespace: str, positions: Sequence[int]) -> dict[int, str]:
        """Give where events came from, by position; a header that was changed is found when its event is read."""
        rows = self._rows_at(f"{POSITION}, origin", namespace, positions)
        return {row[0]: self._text(self._names, "SELECT text FROM name WHERE key = ?", row[1]) for row in rows}

    def _rows_at(self, columns: str, namespace: str, positions: Sequence[int]) -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(positions), _PAGE):
            page = [key for position in positions[start : start + _PAGE] if (key := self._key(namespace, position))]
            rows += self.rows(f"SELECT {columns} FROM event WHERE key IN ({', '.join(map(str, page))})", ())  # noqa: S608 - numbers
        return rows

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
        tenant = self.namespace_key(namespace)
        if not tenant:
            return
        where, by = "", "key"
        values: tuple[int, ...] = ()
        low, high = max(after, 0), min(before if before is not None else _NO_BOUND, POSITION_MAX + 1)
        if session is None:
            low, high = key_of(tenant, low), key_of(tenant, high)
        else:
            number = self._one("SELECT key FROM session WHERE namespace = ? AND name = ?", (tenant, session))
            if number is None:
                return
            # A session's events are found by its own index, in sequence, which is the order of position. Bounds are
            # sequences too: by position, each page would be looked for from the session's beginning.
            where, by, values = "session = ? AND ", "sequence", (int(number),)
            low, high = self._last_sequence(values[0], low), self._last_sequence(values[0], high - 1) + 1
        where += "" if kind is None else f"kind = {kind.number} AND "
        direction = "DESC" if newest_first else "ASC"
        left = limit if limit is not None else 1 << 62
        while left > 0:
            rows = self.rows(
                f"{_FROM}WHERE {where}{by} > ? AND {by} < ? ORDER BY {by} {direction} LIMIT ?",
                (*values, low, high, min(left, _PAGE)),
            )
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
            last = key_of(tenant, rows[-1][0]) if session is None else rows[-1][4]
            low, high = (low, last) if newest_first else (last, high)

    def _last_sequence(self, session: int, position: int) -> int:
        """Give the sequence of a session's last event up to a position; -1 when it has none there.

        Costs a few steps in the session's index, however long it is.
        """
        if position <= 0:
            return -1
        if position >= POSITION_MAX:
            return _NO_BOUND
        tenant = int(self._one("SELECT namespace FROM session WHERE key = ?", (session,)))
        key = key_of(tenant, position)
        exact = self._one("SELECT sequence FROM event WHERE key = ? AND session = ?", (key, session))
        if exact is not None:
            return int(exact)
        newest = self._one("SELECT max(sequence) FROM event WHERE session = ?", (session,))
        low, high = -1, -1 if newest is None else int(newest)
        while low < high:  # the answer lies between them, both included
            middle = (low + high + 1) // 2
            at = self._one(
                "SELECT key FROM event WHERE session = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1",
                (session, middle),
            )
            low, high = (middle, high) if at is None or at <= key else (low, middle - 1)
        return low

    def session_events(self, namespace: str, session: str, after: int, before: int) -> Iterator[Event]:
        """Yield the events of a session between two positions, both excluded."""
        return self.events(namespace, session=session, after=after, before=before)

    def tail(self, namespace: str, session: str, sequence: int, limit: int) -> list[tuple[Any, ...]]:
        """Give a session's rows from a sequence on as `rows.STORED` has them, agent and origin as text."""
        rows = self.rows(
            f"SELECT {event_rows.STORED} FROM event WHERE session = (SELECT key FROM session WHERE namespace = ? "  # noqa: S608
            "AND name = ?) AND sequence >= ? ORDER BY sequence LIMIT ?",
            (self.namespace_key(namespace), session, sequence, limit),
        )
        sql = "SELECT text FROM name WHERE key = ?"
        return [(*row[:9], *(self._text(self._names, sql, key) for key in row[9:11]), *row[11:]) for row in rows]

    def latest(
        self, namespace: str, session: str, kind: Kind, *, before: int | None = None, damaged: Damaged | None = None
    ) -> Event | None:
        """Read a session's newest event of a kind, before a position; None when it has none.

        Goes back from the end, so it costs what lies behind that event.

        Args:
            damaged: told of each that is not what was written, and the one before it is read; None raises.
        """
        tenant = self.namespace_key(namespace)
        while True:
            position = self._one(
                f"SELECT {POSITION} FROM session s JOIN event ON event.session = s.key "  # noqa: S608 - a constant
                "WHERE s.namespace = ? AND s.name = ? AND event.kind = ? AND event.key < ? "
                "AND event.salt IS NOT NULL ORDER BY event.sequence DESC LIMIT 1",
                (tenant, session, kind.number, _NO_BOUND if before is None else key_of(tenant, before)),
            )
            if position is None:
                return None
            try:
                return self.event_at(namespace, position)
            except StoreDamaged as error:
                if damaged is None:
                    raise
                damaged(position, error)
                before = position

    def begins_message(self, namespace: str, position: int) -> bool:
        """Say whether the event at a position is the first part of what stands in a window, be it whole or damaged."""
        key = self._key(namespace, position)
        return bool(key) and self._one("SELECT kind FROM event WHERE key = ? AND part = 0", (key,)) in _HISTORY

    def entries(self, namespace_key: int, after: int, limit: int) -> Entries:
        """Read the next events of a namespace, as an index is given them; erased ones are left out.

        A damaged event hides no other: it is left out, and its position is named.
        """
        if not namespace_key:
            return Entries((), (), after)
        name = self._text(self._all_namespaces, _NAMESPACE, namespace_key)
        low, high = key_of(namespace_key, after), key_of(namespace_key, POSITION_MAX)
        damaged: list[int] = []
        try:
            rows = self.rows(f"{_FROM}WHERE key > ? AND key <= ? {_KEPT} ORDER BY key LIMIT ?", (low, high, limit))
            through = rows[-1][0] if rows else after
        except StoreDamaged:  # a row or a page that SQLite cannot hand out: ask for them one by one
            rows, through = [], max(after, min(after + limit, self.head(name)[0]))
            for position in range(after + 1, through + 1):
                try:
                    rows += self.rows(f"{_FROM}WHERE key = ? {_KEPT}", (key_of(namespace_key, position),))
                except StoreDamaged:
                    damaged.append(position)
        entries: list[Entry] = []
        for row in rows:
            try:
                entries.append(Entry(namespace_key, self._event(name, row)))
            except StoreDamaged:
                damaged.append(row[0])
        return Entries(tuple(entries), tuple(sorted(damaged)), through, lost_in(entries))

    def record_parts(self, event: Event) -> tuple[Event, ...]:
        """Give all events of the source record that an event came from, in order."""
        if event.part == 0 and not event.envelope:
            return (event,)
        first = event.sequence - event.part
        key = self.namespace_key(event.namespace)
        session = self._one("SELECT key FROM session WHERE namespace = ? AND name = ?", (key, event.session))
        parts: list[Event] = []
        whole = False
        while not whole:
            rows = self.rows(
                f"{_FROM}WHERE session = ? AND sequence >= ? ORDER BY sequence LIMIT 64", (session, first + len(parts))
            )
            whole = len(rows) < 64
            for row in rows:
                if row[5] != len(parts):
                    whole = True
                    break
                parts.append(self._event(event.namespace, row))
        # A part that was appended without the ones before it stands for itself.
        return tuple(parts) if any(part.position == event.position for part in parts) else (event,)

    # the store -------------------------------------------------------------------------------------

    def sessions(self, namespace: str) -> tuple[SessionInfo, ...]:
        """List a namespace's sessions, in the order they began."""
        rows = self.rows(
            "SELECT name, length, turn, first_time, last_time, first_position, last_position, head "
            "FROM session WHERE namespace = ? ORDER BY first_position",
            (self.namespace_key(namespace),),
        )
        return tuple(map(_session_of, rows))

    def head(self, namespace: str) -> tuple[int, bytes]:
        """Give a namespace's last position and the hash rolled over its events; 0 and zeros before the first one."""
        rows = self.rows("SELECT head_position, head FROM namespace WHERE name = ?", (namespace,))
        if not rows:
            return 0, bytes(32)
        position, digest = rows[0]
        if not isinstance(position, int) or not isinstance(digest, bytes):
            raise StoreDamaged(
                f"{self._root}: the head of namespace {namespace!r} is missing or no head; run 'firsthand store verify'"
            )
        return position, digest

    def events_in_store(self) -> int:
        """Count the events of all namespaces."""
        return int(self._one("SELECT total(length) FROM session", ()))

    def uuid(self) -> bytes:
        """Give the identity of the store; 16 zeros when it is damaged, which `verify` says."""
        uuid = self._one("SELECT value FROM store WHERE key = 'uuid'", ())
        return uuid if isinstance(uuid, bytes) else bytes(16)

    def fence_key(self) -> bytes:
        """Give the key that fences of this store are made with (`firsthand.fence`); it never leaves the store."""
        key = self._one("SELECT value FROM store WHERE key = 'fence_key'", ())
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise StoreDamaged(
                f"{self._root}: expected a fence key of {KEY_BYTES} bytes in table store; got {type(key).__name__}. "
                "Export the store and restore it into a new one."
            )
        return key

    def census(self, namespace: str) -> tuple[dict[str, int], int, int]:
        """Count a namespace's events by kind, those erased, and the bytes of their bodies as kept."""
        rows = self.rows(
            "SELECT kind, count(*), sum(body IS NULL), sum(length(body)) FROM event WHERE namespace = ? "
            "GROUP BY kind ORDER BY kind",
            (self.namespace_key(namespace),),
        )
        unknown = [kind for kind, _, _, _ in rows if not any(kind == known.number for known in Kind)]
        if unknown:
            raise StoreDamaged(f"{self._root}: events of no known kind ({unknown[0]!r}); run 'firsthand store verify'")
        kinds = {str(Kind.of(kind)): count for kind, count, _, _ in rows}
        return kinds, sum(row[2] for row in rows), sum(row[3] or 0 for row in rows)

    @contextmanager
    def at_one_moment(self, namespace_key: int) -> Iterator[apsw.Connection]:
        """Read a namespace's index and the log as they are at one moment, for the length of a block of this thread.

        The index first: an append commits it after the log, so this log holds every event that is in this index. An
        erasure waits for the end of the block.
        """
        db = self.indexed(namespace_key)
        if db.in_transaction:  # within another block, whose moment it is
            yield db
            return
        with translating(self._root, db), transaction(db):
            with suppress(apsw.SQLError, apsw.CorruptError):  # `reached` says what is wrong with it
                db.execute(f"SELECT count(*) FROM {schema_of(namespace_key)}.reach").fetchall()  # noqa: S608
            yield db

    def indexed(self, namespace_key: int) -> apsw.Connection:
        """Give this thread's read connection with a namespace's index file attached, if there is one."""
        with suppress(apsw.Error):  # `reached` says what is wrong with it
            self._readers.index_files().attach(namespace_key)
        return self._readers.get()

    def reached(self, namespace_key: int, name: str) -> Reached:
        """Say how far an index of a namespace says that it reaches."""
        with translating(self._root, self.db):
            return self._readers.index_files().reached(namespace_key, name)

    def index_faults(self, namespace: str) -> dict[str, tuple[int, str]]:
        """Give a namespace's indexes that stopped following: name to (last position reached, why)."""
        key = self.namespace_key(namespace)
        reached = {name: self.reached(key, name) for name in self.index_names} if key else {}
        return {name: (reach.position, reach.fault) for name, reach in reached.items() if reach.fault}

    # rows ------------------------------------------------------------------------------------------

    def _event(self, namespace: str, row: tuple[Any, ...]) -> Event:
        return event_of(
            row,
            namespace,
            self._session(namespace, row[3]),
            self._text(self._names, "SELECT text FROM name WHERE key = ?", row[9]),
            self._text(self._names, "SELECT text FROM name WHERE key = ?", row[10]),
            lambda: self._derived(namespace, row[3], row[4] - 1),
        )

    def _derived(self, namespace: str, session: int, sequence: int) -> bytes | None:
        """Derive the chain hash of an event of a session anew; None when the one in the store is right.

        Of an event that cannot be read it is empty: what hangs on it cannot be checked.
        """
        try:
            row = self.rows(f"{_FROM}WHERE session = ? AND sequence = ?", (session, sequence))[0]
            check_event_types(row)
            names = [self._text(self._names, "SELECT text FROM name WHERE key = ?", key) for key in (row[9], row[10])]
            before = genesis(namespace, self._session(namespace, session)) if sequence == 0 else row[19]
            derived = b"" if before is None else link(before, header_of(row, *names), row[16])
        except (StoreDamaged, ArithmeticError, ValueError, TypeError, struct.error):
            return b""  # no hash, so that nothing fits it
        return None if derived == row[15] else derived

    def _session(self, namespace: str, key: int) -> str:
        """Give the name of a session, which must be of the namespace that is read."""
        known = self._sessions.get(key)
        if known is None:
            rows = self.rows(
                "SELECT namespace.name, session.name FROM session JOIN namespace ON namespace.key = session.namespace "
                "WHERE session.key = ?",
                (key,),
            )
            if not rows or not all(isinstance(name, str) for name in rows[0]):
                raise StoreDamaged(f"{self._root}: an event names session {key!r}, which is missing or no text")
            known = self._sessions[key] = rows[0]
        if known[0] != namespace:
            raise StoreDamaged(f"{self._root}: an event of namespace {namespace!r} names a session of another one")
        return known[1]

    def _text(self, cache: dict[int, str], sql: str, key: int) -> str:
        text = cache.get(key)
        if text is None:
            text = self._one(sql, (key,))
            if not isinstance(text, str):
                raise StoreDamaged(f"{self._root}: an event names entry {key!r}, which is missing or no text ({sql})")
            cache[key] = text
        return text

    def _one(self, sql: str, values: tuple[Any, ...]) -> Any:
        db = self._readers.get()
        with translating(self._root, db):
            return db.execute(sql, values).get

    def rows(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        """Run a query of the log's own room."""
        db = self._readers.get()
        with translating(self._root, db):
            return db.execute(sql, values).fetchall()


def _session_of(row: tuple[Any, ...]) -> SessionInfo:
    check_types(row, SESSION, f"session {row[0]!r}")
    name, length, turn, first, last, first_position, last_position, head = row
    try:
        times = [None if time is None else Moment(time) for time in (first, last)]
    except ValueError as error:
        raise StoreDamaged(f"session {name!r}: a time is not what was written ({error})") from error
    return SessionInfo(name, length, turn, times[0], times[1], first_position, last_position, head.hex())
