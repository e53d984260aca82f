"""Payloads that are too large for the row of their event: who keeps them, and who reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from firsthand.errors import InvalidDraft
from firsthand.event import Artifact, ByteSource, Event

PIECE_BYTES = 1 << 20


class ContentReader(Protocol):
    """Reads an event's whole payload in pieces, wherever it is kept."""

    def pieces(self, event: Event) -> Iterator[bytes]:
        """Yield the payload in order, in pieces of at most 1 MiB; nothing for an erased event.

        Raises:
            StoreDamaged: the bytes are not the ones that were written.
        """
        ...


class PayloadStore(Protocol):
    """Keeps payloads that are too large for the row of their event, by namespace and SHA-256.

    Attributes:
        bytes_max: of one payload.
    """

    bytes_max: int

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


def head_of(source: ByteSource, inline_max: int) -> bytes:
    """Read the beginning of a source: all of it, unless that is longer than may stand in an event's row."""
    head = b""
    while len(head) <= inline_max and (piece := _read(source, inline_max + 1 - len(head))):
        head += piece
    return head


def pieces_of(head: bytes, source: bytes | ByteSource) -> Iterator[bytes]:
    """Yield a payload in pieces of `PIECE_BYTES`, but for the last one.

    Args:
        head: what was read of the source already.

    Raises:
        InvalidDraft: the source gives something else than bytes, or more than was asked for.
    """
    if isinstance(source, bytes):
        view = memoryview(source)
        yield from (bytes(view[at : at + PIECE_BYTES]) for at in range(0, len(source), PIECE_BYTES))
        return
    parts, size, ended = [head], len(head), False
    while not ended:
        while size < PIECE_BYTES and (piece := _read(source, PIECE_BYTES - size)):
            parts.append(piece)
            size += len(piece)
        data, ended = b"".join(parts), size < PIECE_BYTES
        for at in range(0, size, PIECE_BYTES):
            yield data[at : at + PIECE_BYTES]
        parts, size = [], 0


def check_range(start: int, end: int | None, size: int) -> int:
    """Give where a range of so many bytes ends.

    Raises:
        ValueError: it is negative or runs backwards.
    """
    end = size if end is None else min(end, size)
    if start < 0 or (end < start <= size):
        raise ValueError(f"a range runs forward from 0; got {start} to {end}")
    return end


def _read(source: ByteSource, size: int) -> bytes:
    piece: object = source.read(size)
    if not isinstance(piece, bytes):
        raise InvalidDraft(
            f"a payload's source gives bytes; this one gave {type(piece).__name__}. Open the file in binary mode."
        )
    if len(piece) > size:
        raise InvalidDraft(
            f"a payload's source gives at most the {size:,} bytes asked for; this one gave {len(piece):,}"
        )
    return piece
