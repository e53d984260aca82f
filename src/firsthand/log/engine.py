"""The port of a log: what every engine does, and what its callers may ask of it.

`log.sqlite.log.Log` keeps a store in a folder, `log.postgres.log.PostgresLog` on a server for many machines. The
invariants I1 to I8 of an engine stand in docs/log-format.md, "Engines"; one suite holds both to them. What also
answers recall is a `log.sqlite.local.LocalLog`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Protocol

from firsthand.event import Draft, Event, Kind
from firsthand.pointer import Pointer
from firsthand.value import value

from .export import Exported
from .payload import PayloadStore
from .prepare import DraftGroup
from .results import Appended, Damaged, Erasure, SessionInfo, Verification

TIMEOUT_MS = 30_000
"""A write waits so long for other writers."""
Progress = Callable[[int, int], None]
"""Is told how many events are done, and how many there are."""


@value
class Entry:
    """One event as an index is given it.

    Attributes:
        namespace_key: the namespace's number in this store; an index keeps tenants apart by it.
        event: the event; its position is its key in every index.
    """

    namespace_key: int
    event: Event


@value
class Entries:
    """The next events of a log, as an index is given them.

    Attributes:
        entries: those that are whole, in order of position.
        damaged: positions of those that cannot be read, so cannot be indexed; `verify` says why.
        through: the last position looked at; the one read from, when the log ends there.
        lost: positions that a loss among the entries names: they were acknowledged and are gone.
    """

    entries: tuple[Entry, ...]
    damaged: tuple[int, ...]
    through: int
    lost: tuple[range, ...] = ()


class LogReader(Protocol):
    """Reads events of one store, each checked as it is read. Every read names its namespace."""

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number in this store; 0 when the engine knows none."""
        ...

    def event(self, namespace: str, identifier: str) -> Event:
        """Read one event by its id; `Unresolvable` when it is not of this namespace."""
        ...

    def event_at(self, namespace: str, position: int) -> Event | None:
        """Read one event by its position; None when it is not of this namespace."""
        ...

    def events_at(self, namespace: str, positions: Sequence[int]) -> list[Event]:
        """Read events by position, in the order asked for; what is not of this namespace is left out."""
        ...

    def payloads_at(self, namespace: str, positions: Sequence[int]) -> dict[int, bytes]:
        """Read what events hold by position, of a large content its digest; without what was erased or is damaged."""
        ...

    def origins_at(self, namespace: str, positions: Sequence[int]) -> dict[int, str]:
        """Give where events came from, by position."""
        ...

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
        """Yield events in order of position between two positions, both excluded."""
        ...

    def latest(
        self, namespace: str, session: str, kind: Kind, *, before: int | None = None, damaged: Damaged | None = None
    ) -> Event | None:
        """Read a session's newest event of a kind, before a position; None when it has none."""
        ...

    def begins_message(self, namespace: str, position: int) -> bool:
        """Say whether the event at a position is the first part of what stands in a window."""
        ...

    def entries(self, namespace_key: int, after: int, limit: int) -> Entries:
        """Read the next events of a namespace; none is ever skipped, whoever appends meanwhile."""
        ...

    def sessions(self, namespace: str) -> tuple[SessionInfo, ...]:
        """List a namespace's sessions, in the order they began."""
        ...

    def head(self, namespace: str) -> tuple[int, bytes]:
        """Give a namespace's last position and the hash rolled over its events; 0 and zeros before the first one."""
        ...

    def uuid(self) -> bytes:
        """Give the identity of the store."""
        ...

    def fence_key(self) -> bytes:
        """Give the key that fences of this store are made with; it never leaves the store."""
        ...

    def pieces(self, event: Event, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield an event's payload, or a byte range of it, in pieces of at most 1 MiB."""
        ...

    def content(self, event: Event) -> bytes:
        """Give an event's whole payload."""
        ...

    def source_of(self, event: Event) -> bytes:
        """Give the source record that an event was cut from, byte for byte."""
        ...

    def span(self, namespace: str, first: Event, last: Event) -> Iterator[Event]:
        """Yield the events of a span within one session."""
        ...

    def expand(self, namespace: str, pointer: Pointer) -> Iterator[bytes]:
        """Yield the bytes that a pointer addresses, in pieces."""
        ...


class LogEngine(Protocol):
    """Keeps a log: what `append` has returned is durable, and nothing but `erase` changes an event."""

    @property
    def reader(self) -> LogReader:
        """Reads its events."""
        ...

    @property
    def artifacts(self) -> PayloadStore:
        """Where its large payloads are."""
        ...

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number, made on first use."""
        ...

    def append(
        self, drafts: Sequence[Draft], *, namespace: str, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to one session, all or none; see `verbs.AppendVerbs`."""
        ...

    def append_group(self, groups: Sequence[DraftGroup], *, namespace: str) -> tuple[Appended, ...]:
        """Append events to several sessions in one transaction, all or none."""
        ...

    def submit(self, batches: object) -> tuple[Appended, ...]:
        """Append what was prepared before."""
        ...

    def erase(self, namespace: str, identifiers: Sequence[str], reason: str = "") -> Erasure:
        """Destroy the content of events and of the further parts of their source records."""
        ...

    def verify(self, *, namespace: str, heads: Sequence[str] = (), progress: Progress | None = None) -> Verification:
        """Derive every hash of a namespace again; heads kept elsewhere are found again."""
        ...

    def export(self, out: BinaryIO, *, namespace: str, session: str | None = None) -> Exported:
        """Write a namespace or a session as JSON Lines; see `log.export`."""
        ...

    def check_writable(self) -> None:
        """Raise at once where nothing can be written."""
        ...

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Take over the identity of the store whose export is being restored, where this one is empty and its own."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...
