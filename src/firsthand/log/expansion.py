"""From events to the bytes that pointers address, whatever engine keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from firsthand.errors import Erased, PointerError, StoreDamaged, Unresolvable
from firsthand.event import Event, Kind
from firsthand.pointer import Pointer
from firsthand.record import assemble

from .engine import Entries, Entry
from .loss import parse_loss
from .payload import PayloadStore

PIECE_BYTES = 1 << 20
ENTRIES_READ = 256


class Expansion(ABC):
    """What reads bytes out of events, on top of what reads events."""

    _artifacts: PayloadStore

    @abstractmethod
    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number in this store; 0 when nothing was ever written to it."""

    @abstractmethod
    def event(self, namespace: str, identifier: str) -> Event:
        """Read one event by its id."""

    @abstractmethod
    def session_events(self, namespace: str, session: str, after: int, before: int) -> Iterator[Event]:
        """Yield the events of a session between two positions, both excluded."""

    @abstractmethod
    def entries(self, namespace_key: int, after: int, limit: int) -> Entries:
        """Read the next events of a namespace, as an index is given them."""

    @abstractmethod
    def head(self, namespace: str) -> tuple[int, bytes]:
        """Give a namespace's last position and the hash rolled over its events."""

    @abstractmethod
    def record_parts(self, event: Event) -> tuple[Event, ...]:
        """Give all events of the source record that an event came from, in order."""

    def batches(self, namespace_key: int, through: int) -> Iterator[list[Entry]]:
        """Yield a namespace's whole events up to a position as an index is given them, some at a time."""
        after = 0
        while (read := self.entries(namespace_key, after, ENTRIES_READ)).through > after:
            after = read.through
            yield [entry for entry in read.entries if entry.event.position <= through]
            if after >= through:
                return

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
        yield from self.session_events(namespace, first.session, first.position - 1, last.position + 1)

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


def lost_in(entries: Sequence[Entry]) -> tuple[range, ...]:
    """Give the positions that losses name."""
    losses = (parse_loss(entry.event.content or b"") for entry in entries if entry.event.kind is Kind.LOSS)
    return tuple(each for loss in losses if loss is not None for each in loss.missing)


class PieceSource:
    """Pieces as something to read from."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces, self._rest = iter(pieces), b""

    def read(self, size: int, /) -> bytes:
        """Give at most that many bytes; none at the end."""
        while not self._rest and (piece := next(self._pieces, None)) is not None:
            self._rest = piece
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece
