"""Large payloads in the database: pieces of a MiB, each compressed by itself, addressed by their SHA-256.

The invariant: a payload that is read whole is checked against its address; a range reads the pieces that hold it.
Pieces that no event came to hold are found by `listing`; they are left by a crash between `put` and the append.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from firsthand.errors import InvalidDraft, StoreDamaged
from firsthand.event import Artifact, ByteSource
from firsthand.log import compression
from firsthand.log.preview import Previewer

from .connection import Connections
from .seal import Seal

PIECE_BYTES = 1 << 20
PAYLOAD_BYTES_MAX = 1 << 30


class Payloads:
    """The payloads of one store that lie in its database."""

    def __init__(self, connections: Connections, seal: Seal) -> None:
        self._connections, self._seal = connections, seal

    def put(self, namespace_key: int, source: bytes | ByteSource) -> Artifact:
        """Keep a payload; on return it is durable."""
        return self._put(namespace_key, source if isinstance(source, bytes) else b"", source)

    def take(self, namespace_key: int, source: ByteSource, inline_max: int) -> bytes | Artifact:
        """Read a source once: give it back as bytes if it is short, else keep it."""
        head = b""
        while len(head) <= inline_max:
            piece = _read(source, inline_max + 1 - len(head))
            if not piece:
                return head
            head += piece
        return self._put(namespace_key, head, source)

    def present(self, namespace_key: int, digest: bytes) -> bool:
        """Say whether a payload is there, without reading it."""
        with self._connections.reading(namespace_key) as db:
            sql = "SELECT FROM artifact WHERE namespace = %s AND digest = %s AND piece = 0"
            return db.execute(sql, (namespace_key, digest)).fetchone() is not None

    def pieces(self, namespace_key: int, artifact: Artifact, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield a payload, or a range of it, in pieces of at most 1 MiB."""
        end = artifact.size_bytes if end is None else min(end, artifact.size_bytes)
        if start < 0 or (end < start <= artifact.size_bytes):
            raise ValueError(f"a range runs forward from 0; got {start} to {end}")
        return self._pieces(namespace_key, artifact, start, end)

    def verify(self, namespace_key: int, artifact: Artifact) -> str | None:
        """Read a whole payload; None if it is as written, else what is wrong."""
        try:
            for _ in self._pieces(namespace_key, artifact, 0, artifact.size_bytes):
                pass
        except StoreDamaged as error:
            return str(error)
        return None

    def remove(self, namespace_key: int, digest: bytes) -> bool:  # noqa: ARG002 - the port
        """Nothing: `erase` takes the pieces of what no event holds along, in its own transaction."""
        return False

    def listing(self, namespace_key: int) -> Iterator[bytes]:
        """Yield the digests of a namespace's payloads, in order."""
        with self._connections.reading(namespace_key) as db:
            sql = "SELECT digest FROM artifact WHERE namespace = %s AND piece = 0 ORDER BY digest"
            rows = db.execute(sql, (namespace_key,)).fetchall()
        return iter([row[0] for row in rows])

    def _pieces(self, namespace_key: int, artifact: Artifact, start: int, end: int) -> Iterator[bytes]:
        digest, number = hashlib.sha256(), start // PIECE_BYTES
        sql = "SELECT bytes FROM artifact WHERE namespace = %s AND digest = %s AND piece = %s"
        while number * PIECE_BYTES < end:
            with self._connections.reading(namespace_key) as db:
                row = db.execute(sql, (namespace_key, artifact.digest, number)).fetchone()
            if row is None:
                raise _damaged(artifact, f"piece {number} of it is missing")
            content = self._seal.open_piece(namespace_key, artifact.digest, number, row[0])
            if content is None:
                raise _damaged(artifact, "its key was forgotten: it was erased later than this database stands")
            try:
                piece = compression.decompress(content)
            except ValueError as error:
                raise _damaged(artifact, f"piece {number} of it is damaged ({error})") from error
            digest.update(piece)
            at = number * PIECE_BYTES
            yield piece[max(0, start - at) : end - at]
            number += 1
        if start == 0 and end == artifact.size_bytes and digest.digest() != artifact.digest:
            raise _damaged(artifact, f"it has the SHA-256 {digest.hexdigest()}")

    def _put(self, namespace_key: int, head: bytes, source: bytes | ByteSource) -> Artifact:
        digest, previewer, size, pieces = hashlib.sha256(), Previewer(), 0, []
        for piece in _pieces_of(head, source):
            size += len(piece)
            if size > PAYLOAD_BYTES_MAX:
                raise InvalidDraft(f"a payload in PostgreSQL has at most {PAYLOAD_BYTES_MAX:,} bytes; split it")
            digest.update(piece)
            previewer.feed(piece)
            pieces.append(compression.compress(piece))
        artifact = Artifact(digest.digest(), size, previewer.finish())
        leaf = self._seal.leaf()
        with self._connections.use() as db, db.transaction():
            for number, piece in enumerate(pieces):
                content = self._seal.piece(namespace_key, artifact.digest, number, leaf, piece)
                db.execute("SELECT put_piece_1(%s, %s, %s, %b)", (namespace_key, artifact.digest, number, content))
        return artifact


def _pieces_of(head: bytes, source: bytes | ByteSource) -> Iterator[bytes]:
    """Yield all of a payload in pieces of `PIECE_BYTES`, but for the last one."""
    rest = head
    while True:
        while len(rest) < PIECE_BYTES and not isinstance(source, bytes):
            piece = _read(source, PIECE_BYTES - len(rest))
            if not piece:
                break
            rest += piece
        if not rest:
            return
        yield rest[:PIECE_BYTES]
        rest = rest[PIECE_BYTES:]


def _read(source: ByteSource, size: int) -> bytes:
    piece = source.read(size)
    if not isinstance(piece, bytes):
        raise InvalidDraft(f"expected a binary file, whose read() gives bytes; got {type(piece).__name__}")
    return piece


def _damaged(artifact: Artifact, what: str) -> StoreDamaged:
    return StoreDamaged(f"artifact {artifact.digest.hex()}: {what}; restore it from a backup or an export")
