"""Payloads that are too large for the row of their event: who keeps them, and who reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from firsthand.event import Artifact, ByteSource, Event


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
