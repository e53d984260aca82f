"""Reading the log: events by position, id or session, and pointers down to their bytes.

Every read names its namespace; an event of another namespace does not exist for
it. Every event is checked against its commitment as it is read, every artifact
against its address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import Erased, PointerError, StoreDamaged, Unresolvable
from firsthand.event import Event, Kind, id_bytes
from firsthand.fence import KEY_BYTES
from firsthand.moment import Moment
from firsthand.pointer import Pointer
from firsthand.record import assemble
from firsthand.value import value
from firsthand.window import HISTORY

from .artifacts import ArtifactStore
from .database import Readers, translating
from .port import Entries, Entry
from .rows import COLUMNS, check_session_types, check_types, event_of

Damaged = Callable[[int, StoreDamaged], None]
"""Is told the position of an event that is not what was written, and what is wrong with it."""

PIECE_BYTES = 1 << 20
_FROM = f"SELECT {COLUMNS} FROM event "  # noqa: S608 - a constant
_PAGE = 256
_NO_BOUND = 1 << 62  # beyond every position
_KEPT = "AND (body IS NOT NULL OR salt IS NOT NULL)"  # half a body is damage, none is an erasure
_NAMESPACE = "SELECT name FROM namespace WHERE key = ?"


@value
class SessionInfo:
    """One session, as lists show it.

    Attributes:
        first, last: least and greatest event time; None when no event of it has one.
        head: chain hash of its last event, hexadecimal.
    """

    name: str
    events: int
    turns: int
    first: Moment | None
    last: Moment | None
    first_position: int
    last_position: int
    head: str


class Reader:
    """Reads events of one store. Safe to share between threads."""

    def __init__(self, root: Path, readers: Readers, artifacts: ArtifactStore) -> None:
        self._root, self._readers, self._artifacts = root, readers, artifacts
        self._namespaces: dict[str, int] = {}
        self._sessions: dict[int, str] = {}
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
            found = self._one("SELECT key FROM namespace WHERE name = ?", (namespace,))
            if found is None:
                return 0
            key = self._namespaces[namespace] = int(found)
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
                f"no event fh:{identifier} in namespace {namespace!r} of {self._root}; it may belong to another "
                "store or namespace"
            )
        return self._event(namespace, row)

    def event_at(self, namespace: str, position: int) -> Event | None:
        """Read one event by its position; None when it is not of this namespace."""
        row = self._one(_FROM + "WHERE position = ? AND namespace = ?", (position, self.namespace_key(namespace)))
        return None if row is None else self._event(namespace, row)

    def events_at(self, namespace: str, positions: Sequence[int]) -> list[Event]:
        """Read events by position, in the order asked for; what is not of this namespace is left out."""
        found: dict[int, Event] = {}
        for start in range(0, len(positions), _PAGE):
            page = positions[start : start + _PAGE]
            marks = ", ".join("?" * len(page))
            rows = self._all(
                f"{_FROM}WHERE position IN ({marks}) AND namespace = ?", (*page, self.namespace_key(namespace))
            )
            found |= {row[0]: self._event(namespace, row) for row in rows}
        return [found[position] for position in positions if position in found]

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
        bound = self.namespace_key(namespace)
        where, by = "namespace = ?", "position"
        low, high = after, before if before is not None else _NO_BOUND
        if session is not None:
            found = self._one("SELECT key FROM session WHERE namespace = ? AND name = ?", (bound, session))
            if found is None:
                return
            # A session's events are found by its own index, in sequence, which is the order of position. Bounds are
            # sequences too: by position, each page would be looked for from the session's beginning.
            where, by, bound = "session = ?", "sequence", int(found)
            low, high = self._last_sequence(bound, low), self._last_sequence(bound, high - 1) + 1
        where += "" if kind is None else f" AND kind = {int(kind)}"
        direction = "DESC" if newest_first else "ASC"
        left = limit if limit is not None else 1 << 62
        while left > 0:
            rows = self._all(
                f"{_FROM}WHERE {where} AND {by} > ? AND {by} < ? ORDER BY {by} {direction} LIMIT ?",
                (bound, low, high, min(left, _PAGE)),
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
            last = rows[-1][0] if session is None else rows[-1][4]
            low, high = (low, last) if newest_first else (last, high)

    def _last_sequence(self, session: int, position: int) -> int:
        """Give the sequence of a session's last event up to a position; -1 when it has none there.

        Costs a few steps in the session's index, however long it is.
        """
        if position <= 0:
            return -1
        if position >= _NO_BOUND - 1:
            return position
        exact = self._one("SELECT sequence FROM event WHERE position = ? AND session = ?", (position, session))
        if exact is not None:
            return int(exact)
        newest = self._one("SELECT max(sequence) FROM event WHERE session = ?", (session,))
        low, high = -1, -1 if newest is None else int(newest)
        while low < high:  # the answer lies between them, both included
            middle = (low + high + 1) // 2
            at = self._one(
                "SELECT position FROM event WHERE session = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1",
                (session, middle),
            )
            low, high = (middle, high) if at is None or at <= position else (low, middle - 1)
        return low

    def latest(
        self, namespace: str, session: str, kind: Kind, *, before: int | None = None, damaged: Damaged | None = None
    ) -> Event | None:
        """Read a session's newest event of a kind, before a position; None when it has none.

        Goes back from the end, so it costs what lies behind that event.

        Args:
            damaged: told of each that is not what was written, and the one before it is read; None raises.
        """
        while True:
            found = self._one(
                "SELECT e.position FROM session s JOIN event e ON e.session = s.key WHERE s.namespace = ? "
                "AND s.name = ? AND e.kind = ? AND e.position < ? AND e.salt IS NOT NULL "
                "ORDER BY e.sequence DESC LIMIT 1",
                (self.namespace_key(namespace), session, kind, before if before is not None else 1 << 62),
            )
            if found is None:
                return None
            try:
                return self.event_at(namespace, found)
            except StoreDamaged as error:
                if damaged is None:
                    raise
                damaged(found, error)
                before = found

    def begins_message(self, position: int) -> bool:
        """Say whether the event at a position is the first part of what stands in a window, be it whole or damaged."""
        found = self._one("SELECT kind FROM event WHERE position = ? AND part = 0", (position,))
        return found in HISTORY

    def entries(self, after: int, limit: int) -> Entries:
        """Read the next events of every namespace, as an index is given them; erased ones are left out.

        For the log's own upkeep: nothing of it may reach a caller of one namespace. A damaged
        event hides no other: it is left out, and its position is told.
        """
        try:
            rows = self._all(f"{_FROM}WHERE position > ? {_KEPT} ORDER BY position LIMIT ?", (after, limit))
        except StoreDamaged:  # a row or a page that SQLite cannot hand out: ask for them one by one
            return self._entries_one_by_one(after, min(after + limit, self.head()[0]))
        entries, damaged = self._whole(rows)
        return Entries(tuple(entries), tuple(damaged), rows[-1][0] if rows else after)

    def _entries_one_by_one(self, after: int, through: int) -> Entries:
        entries: list[Entry] = []
        damaged: list[int] = []
        for position in range(after + 1, through + 1):
            try:
                read = self._whole(self._all(f"{_FROM}WHERE position = ? {_KEPT}", (position,)))
            except StoreDamaged:
                damaged.append(position)
            else:
                entries += read[0]
                damaged += read[1]
        return Entries(tuple(entries), tuple(damaged), max(after, through))

    def _whole(self, rows: list[Any]) -> tuple[list[Entry], list[int]]:
        """Part the rows that are events from those that are damaged ones."""
        entries: list[Entry] = []
        damaged: list[int] = []
        for row in rows:
            try:
                namespace = self._text(self._all_namespaces, _NAMESPACE, row[2])
                entries.append(Entry(row[2], self._event(namespace, row)))
            except StoreDamaged:
                damaged.append(row[0])
        return entries, damaged

    def batches(self, namespace_key: int, through: int) -> Iterator[list[Entry]]:
        """Yield one namespace's whole events up to a position as an index is given them, some at a time."""
        after = 0
        while (read := self.entries(after, _PAGE)).through > after:
            after = read.through
            yield [one for one in read.entries if one.namespace_key == namespace_key and one.event.position <= through]
            if after >= through:
                return

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
            rows = self._all(
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

    # bytes -----------------------------------------------------------------------------------------

    def pieces(self, event: Event, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield an event's payload, or a byte range of it, in pieces of at most 1 MiB."""
        if event.artifact is not None:
            key = self.namespace_key(event.namespace)
            yield from self._artifacts.pieces(key, event.artifact, start, end)
            return
        content = (event.content or b"")[start:end]
        for at in range(0, len(content), PIECE_BYTES):
            yield content[at : at + PIECE_BYTES]

    def content(self, event: Event) -> bytes:
        """Give an event's whole payload."""
        return event.content if event.content is not None else b"".join(self.pieces(event))

    def source_of(self, event: Event) -> bytes:
        """Give the source record that an event was cut from, byte for byte.

        Raises:
            Unresolvable: the event came from no source record.
            Erased: it was erased.
            StoreDamaged: the record cannot be put together again.
        """
        parts = self.record_parts(event)
        if any(part.erased for part in parts):
            raise _erased(event)
        if not parts or not parts[0].envelope:
            raise Unresolvable(
                f"event fh:{event.id} was appended directly; it has no source record. Expand fh:{event.id}"
            )
        try:
            return assemble(parts[0].envelope, [self.content(part) for part in parts])
        except ValueError as error:
            raise StoreDamaged(f"the source record of fh:{event.id} cannot be put together again: {error}") from error

    def expand(self, namespace: str, pointer: Pointer) -> Iterator[bytes]:
        """Yield the bytes that a pointer addresses, in pieces.

        A span gives the contents of its events in order, each ended by a newline if it has none.

        Raises:
            Unresolvable: nothing answers to it; `Erased` when it was erased; a range beyond the end.
            StoreDamaged: the bytes are not what was written.
        """
        first = self.event(namespace, pointer.first)
        if pointer.last is not None:
            yield from self._span(namespace, first, self.event(namespace, pointer.last))
            return
        if first.erased:
            raise _erased(first)
        if pointer.source:
            yield self.source_of(first)
        elif pointer.unit == "lines":
            yield from _lines(self.pieces(first), pointer)
        elif pointer.unit == "bytes":
            if pointer.end > first.size_bytes:
                raise Unresolvable(f"{pointer} reaches beyond the end: the content has {first.size_bytes:,} bytes")
            yield from self.pieces(first, pointer.start, pointer.end)
        else:
            yield from self.pieces(first)

    def span(self, namespace: str, first: Event, last: Event) -> Iterator[Event]:
        """Yield the events of a span.

        Raises:
            PointerError: its ends lie in different sessions, or run backwards.
        """
        if first.session != last.session or first.position > last.position:
            raise PointerError(
                f"a span runs forward within one session; got {first.session!r} position {first.position} to "
                f"{last.session!r} position {last.position}"
            )
        yield from self.events(namespace, session=first.session, after=first.position - 1, before=last.position + 1)

    def _span(self, namespace: str, first: Event, last: Event) -> Iterator[bytes]:
        for event in self.span(namespace, first, last):
            if event.erased:
                yield f"[fh:{event.id} was erased]\n".encode()
                continue
            final = b""
            for piece in self.pieces(event):
                final = piece
                yield piece
            if not final.endswith(b"\n"):
                yield b"\n"

    # the store -------------------------------------------------------------------------------------

    def sessions(self, namespace: str) -> tuple[SessionInfo, ...]:
        """List a namespace's sessions, in the order they began."""
        rows = self._all(
            "SELECT name, length, turn, first_time, last_time, first_position, last_position, head "
            "FROM session WHERE namespace = ? ORDER BY first_position",
            (self.namespace_key(namespace),),
        )
        return tuple(map(_session_of, rows))

    def head(self) -> tuple[int, bytes]:
        """Give the last position and the hash rolled over every event up to it."""
        facts = dict(self._all("SELECT key, value FROM store WHERE key IN ('head', 'head_position')", ()))
        position, digest = facts.get("head_position"), facts.get("head")
        if not isinstance(position, int) or not isinstance(digest, bytes):
            raise StoreDamaged(f"{self._root}: the store's head is missing or no head; run 'firsthand verify'")
        return position, digest

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
        rows = self._all(
            "SELECT kind, count(*), sum(body IS NULL), sum(length(body)) FROM event WHERE namespace = ? "
            "GROUP BY kind ORDER BY kind",
            (self.namespace_key(namespace),),
        )
        unknown = [kind for kind, _, _, _ in rows if not any(kind == known for known in Kind)]
        if unknown:
            raise StoreDamaged(f"{self._root}: events of no known kind ({unknown[0]!r}); run 'firsthand verify'")
        kinds = {Kind(kind).word: count for kind, count, _, _ in rows}
        return kinds, sum(row[2] for row in rows), sum(row[3] or 0 for row in rows)

    def index_faults(self) -> dict[str, tuple[int, str]]:
        """Give the indexes that stopped following: name to (last position reached, why)."""
        rows = self._all("SELECT name, position, fault FROM index_reach WHERE fault != ''", ())
        for row in rows:
            check_types(row, {(str, int, str)}, f"{self._root}: how far an index reaches (run 'firsthand rebuild')")
        return {name: (position, fault) for name, position, fault in rows}

    # rows ------------------------------------------------------------------------------------------

    def _event(self, namespace: str, row: tuple[Any, ...]) -> Event:
        return event_of(
            row,
            namespace,
            self._text(self._sessions, "SELECT name FROM session WHERE key = ?", row[3]),
            self._text(self._names, "SELECT text FROM name WHERE key = ?", row[9]),
            self._text(self._names, "SELECT text FROM name WHERE key = ?", row[10]),
        )

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

    def _all(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        db = self._readers.get()
        with translating(self._root, db):
            return db.execute(sql, values).fetchall()


def _session_of(row: tuple[Any, ...]) -> SessionInfo:
    check_session_types(row)
    name, length, turn, first, last, first_position, last_position, head = row
    try:
        times = [None if one is None else Moment(one) for one in (first, last)]
    except ValueError as error:
        raise StoreDamaged(f"session {name!r}: a time is not what was written ({error})") from error
    return SessionInfo(name, length, turn, times[0], times[1], first_position, last_position, head.hex())


def _erased(event: Event) -> Erased:
    return Erased(f"the content of fh:{event.id} was erased; the log keeps that it was there, and no more")


def _lines(pieces: Iterator[bytes], pointer: Pointer) -> Iterator[bytes]:
    """Yield lines start to end, counted from 1, ended by a newline byte."""
    number = 1
    emitted = False
    for piece in pieces:
        at = 0
        while at < len(piece):
            newline = piece.find(b"\n", at)
            stop = len(piece) if newline < 0 else newline + 1
            if pointer.start <= number <= pointer.end:
                emitted = True
                yield piece[at:stop]
            number += newline >= 0
            if number > pointer.end:
                return
            at = stop
    if not emitted:
        raise Unresolvable(f"{pointer} reaches beyond the end: the content has {number:,} lines or fewer")
