"""What the log asks of an index that its writer keeps, and what it gives to one that reads.

The log does not know its indexes. `memory` hands it those that its writer keeps in
files of their own, behind three verbs, and those that lie in its file, behind two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import apsw

from firsthand.event import Artifact, ByteSource, Event
from firsthand.value import value


class ContentReader(Protocol):
    """Reads an event's whole payload in pieces, wherever it is kept."""

    def pieces(self, event: Event) -> Iterator[bytes]:
        """Yield the payload in order, in pieces of at most 1 MiB; nothing for an erased event.

        Raises:
            StoreDamaged: the bytes are not the ones that were written.
        """
        ...


class PayloadStore(Protocol):
    """Keeps payloads that are too large for the row of their event, by namespace and SHA-256."""

    def put(self, namespace_key: int, source: bytes | ByteSource) -> Artifact:
        """Keep a payload; on return it is durable.

        Raises:
            InvalidDraft: the source gives something else than bytes, or too many.
            StoreFull, StoreReadOnly, StoreFailed: nothing was kept.
        """
        ...

    def take(self, namespace_key: int, source: ByteSource, inline_max: int) -> bytes | Artifact:
        """Read a source once: give it back as bytes if it is short, else keep it."""
        ...

    def present(self, namespace_key: int, digest: bytes) -> bool:
        """Say whether a payload is there, without reading it."""
        ...

    def pieces(self, namespace_key: int, artifact: Artifact, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield a payload, or a range of it, in pieces of at most 1 MiB.

        Raises:
            ValueError: the range is negative or runs backwards.
            StoreDamaged: the payload is missing or another one.
        """
        ...

    def verify(self, namespace_key: int, artifact: Artifact) -> str | None:
        """Read a whole payload; None if it is as written, else what is wrong."""
        ...

    def remove(self, namespace_key: int, digest: bytes) -> bool:
        """Destroy a payload; False if there was none."""
        ...

    def listing(self, namespace_key: int) -> Iterator[bytes]:
        """Yield the digests of a namespace's payloads, in order."""
        ...


class RestoredLog(Protocol):
    """What a restore asks of a log."""

    @property
    def artifacts(self) -> PayloadStore:
        """Where its large payloads are."""
        ...

    def check_writable(self) -> None:
        """Raise at once where nothing can be written."""
        ...

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Take over the identity of the store whose export is being restored, if this one is empty."""
        ...

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number, making it on first use."""
        ...

    def submit(self, batches: Any) -> tuple[Any, ...]:
        """Append what was prepared before."""
        ...


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


class FollowingIndex(Protocol):
    """What follows the log in its own time and lies in its file: erased along with it, dropped to be rebuilt.

    Both run inside an open write transaction on ``db`` and neither begins or ends one.
    """

    name: str

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Remove events; they still have their content when this is called."""
        ...

    def reset(self, db: apsw.Connection) -> None:
        """Begin anew, empty, whatever state the index is in."""
        ...


class TransactionIndex(Protocol):
    """An index in the index file of a namespace, which the log's writer brings up to date behind its commits.

    That file is attached to ``db`` (`index_files.schema_of`). All may be called again for the same events and
    then change nothing. An ``apsw.Error`` that leaves them is undone by the log up to the state before the call;
    the events are there all the same, and the index is marked as not reaching beyond the position before them.
    """

    name: str

    def begin(self, db: apsw.Connection, namespace_key: int) -> None:
        """Begin a namespace's index anew, empty; inside a transaction."""
        ...

    def apply(self, db: apsw.Connection, entries: Sequence[Entry], contents: ContentReader) -> None:
        """Add events of one namespace, in order of position; inside a transaction."""
        ...

    def purge(self, db: apsw.Connection, namespace_key: int) -> None:
        """Take out the events that the log has erased, and leave no trace of them; called outside a transaction."""
        ...
