"""Large payloads: pieces of a MiB, each compressed (and sealed) by itself, addressed by the SHA-256 of the whole.

Up to a size they lie in the database, one row a piece. Larger ones lie in an object store (`objects`), the pieces one
behind the other; their one row is the manifest: where each piece ends, with its checksum. An object is written before
its row, the row before the event; an event whose payload has no row is refused. So no event points to nothing. Its
name is noted before it is uploaded, and only what is noted is removed: a copy of the database, or another primary, has
the same object store, and objects of its own there.

The invariant: a payload that is read whole is checked against its address, a piece of an object against its checksum.
What no event holds counts against the limits of its namespace, and is removed by `sweep` once it is old.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import IO
from zlib import crc32

from firsthand.errors import InvalidDraft, StoreBusy, StoreDamaged, StoreError, StoreFailed, StoreFull, StoreMoved
from firsthand.event import Artifact, ByteSource
from firsthand.log import compression
from firsthand.log.payload import PIECE_BYTES, check_range, head_of, pieces_of
from firsthand.log.preview import Previewer
from firsthand.value import value

from .connection import Connections, enter
from .deadline import LONG_S, Connection
from .objects import INCOMING, ObjectStore
from .seal import Seal

PAYLOAD_BYTES_MAX, OBJECT_BYTES_MAX = 1 << 30, 64 << 30
SWEEP_S = 86_400.0
"""What no event holds is removed once it is so old: until then its append may be on its way."""
MANIFEST = -1
"""The number of the piece that says where the others lie in their object."""
SPOOL_BYTES = 8 << 20
_PLACE = struct.Struct("<II")


@value
class _Staged:
    """A payload read to its end: its compressed pieces one behind the other, and where each begins and ends."""

    artifact: Artifact
    file: IO[bytes]
    ends: tuple[int, ...]

    def pieces(self) -> Iterator[bytes]:
        """Read the pieces, from the first one."""
        self.file.seek(0)
        yield from (self.file.read(end - begin) for begin, end in pairwise((0, *self.ends)))


class FreedMeanwhile(StoreDamaged):
    """The last event that held a payload was erased while it was read, and its object with it."""


class Payloads:
    """The large payloads of one store.

    Args:
        objects: where those over ``over`` bytes lie; None has all of them in the database.
    """

    def __init__(self, connections: Connections, seal: Seal, objects: ObjectStore | None, over: int) -> None:
        self._connections, self._seal, self._objects, self._over = connections, seal, objects, over
        self._reading: Callable[[int], AbstractContextManager[Connection]] = connections.reading
        self.bytes_max = PAYLOAD_BYTES_MAX if objects is None else OBJECT_BYTES_MAX

    def at_the_moment_of(self, db: Connection) -> Payloads:
        """Give them as a transaction that reads their namespace sees them, read over its own connection."""
        payloads = copy(self)
        payloads._reading = lambda _: nullcontext(db)  # noqa: SLF001 - a copy of this
        return payloads

    def put(self, namespace_key: int, source: bytes | ByteSource) -> Artifact:
        """Keep a payload; on return it is durable."""
        return self._put(namespace_key, b"", source)

    def take(self, namespace_key: int, source: ByteSource, inline_max: int) -> bytes | Artifact:
        """Read a source once: give it back as bytes if it is short, else keep it."""
        head = head_of(source, inline_max)
        return head if len(head) <= inline_max else self._put(namespace_key, head, source)

    def present(self, namespace_key: int, digest: bytes) -> bool:
        """Say whether a payload is there, without reading it."""
        with self._connections.reading(namespace_key) as db:
            sql = "SELECT FROM artifact WHERE namespace = %s AND digest = %s AND piece <= 0"
            return db.execute(sql, (namespace_key, digest)).fetchone() is not None

    def pieces(self, namespace_key: int, artifact: Artifact, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield a payload, or a range of it, in pieces of at most 1 MiB."""
        return self._pieces(namespace_key, artifact, start, check_range(start, end, artifact.size_bytes))

    def verify(self, namespace_key: int, artifact: Artifact) -> str | None:
        """Read a whole payload; None if it is as written, or was erased meanwhile, else what is wrong."""
        try:
            for _ in self._pieces(namespace_key, artifact, 0, artifact.size_bytes):
                pass
        except FreedMeanwhile:
            return None
        except StoreDamaged as error:
            return str(error)
        return None

    def remove(self, namespace_key: int, digest: bytes) -> bool:  # noqa: ARG002 - the port
        """Nothing: `erase` takes the rows of what no event holds along, in its own transaction."""
        return False

    def listing(self, namespace_key: int) -> Iterator[bytes]:
        """Yield the digests of a namespace's payloads, in order."""
        with self._reading(namespace_key) as db:
            db.silence_s = LONG_S
            sql = "SELECT digest FROM artifact WHERE namespace = %s AND piece <= 0 ORDER BY digest"
            rows = db.execute(sql, (namespace_key,)).fetchall()
        return iter([row[0] for row in rows])

    def remove_freed(self, namespace_key: int) -> int:
        """Destroy the objects that an erasure or a sweep has freed, also one cut short; give how many there were.

        Raises:
            StoreFailed: some are still there.
        """
        if self._objects is None:
            return 0
        with self._connections.reading(namespace_key) as db:
            sql = "SELECT name FROM pending_object WHERE namespace = %s AND size IS NULL"
            names = [row[0] for row in db.execute(sql, (namespace_key,)).fetchall()]
        removed, gone, errors = 0, list[bytes](), list[StoreError]()
        for name in names:
            try:
                removed += self._objects.remove(_name(namespace_key, name))
                gone.append(name)
            except StoreError as error:
                errors.append(error)
        if gone:
            self._forget(namespace_key, gone)
        if errors:
            raise StoreFailed(
                f"{len(errors):,} of {len(names):,} objects that no event holds any more could not be removed (the "
                f"first: {errors[0]}). Do the same again, or run: firsthand store prune payloads"
            ) from errors[0]
        return removed

    def _forget(self, namespace_key: int, names: list[bytes]) -> None:
        """Note that objects are gone."""
        with self._connections.reading(namespace_key) as db:
            db.execute("SELECT forget_objects_1(%s, %s)", (namespace_key, names))

    def unknown(self, namespace_key: int) -> list[str]:
        """Name the objects of a namespace, a day old, that this database has not noted: others may hold them."""
        if self._objects is None:
            return []
        listed = list(self._objects.listing(_folder(namespace_key), SWEEP_S))
        with self._reading(namespace_key) as db:
            sql = (
                "SELECT object FROM artifact WHERE namespace = %s AND object IS NOT NULL "
                "UNION SELECT name FROM pending_object WHERE namespace = %s"
            )
            known = {_name(namespace_key, row[0]) for row in db.execute(sql, (namespace_key, namespace_key)).fetchall()}
        return [name for name in listed if name not in known]

    def sweep(self, namespace_key: int, older_than_s: float = SWEEP_S) -> int:
        """Remove what no event came to hold and is at least so old; give how many payloads that were."""
        before = datetime.now(UTC) - timedelta(seconds=older_than_s)
        with self._connections.reading(namespace_key) as db:
            db.silence_s = LONG_S
            rows = db.execute("SELECT FROM sweep_1(%s, %s)", (namespace_key, before)).fetchall()
        unforgotten = self._seal.forget(namespace_key)
        if (objects := self._objects) is not None:
            for name in objects.listing(INCOMING, older_than_s):  # of nobody: the process was killed
                objects.remove(name)
        self.remove_freed(namespace_key)
        if unforgotten:
            raise StoreFailed(f"keys of what no event holds could not be forgotten: {unforgotten}. Prune again.")
        return len(rows)

    # reading -----------------------------------------------------------------------------------------

    def _pieces(self, namespace_key: int, artifact: Artifact, start: int, end: int) -> Iterator[bytes]:
        digest, number = hashlib.sha256(), start // PIECE_BYTES
        manifest: tuple[str, list[tuple[int, int, int]]] | None = None
        while number * PIECE_BYTES < end:
            stored = None if manifest is not None else self._row(namespace_key, artifact, number)
            if stored is None:
                manifest = manifest or self._manifest(namespace_key, artifact)
                stored = self._of_object(namespace_key, artifact, number, *manifest)
            piece = self._plain(namespace_key, artifact, number, stored)
            digest.update(piece)
            at = number * PIECE_BYTES
            yield piece[max(0, start - at) : end - at]
            number += 1
        if start == 0 and end == artifact.size_bytes and digest.digest() != artifact.digest:
            raise _damaged(artifact, f"it has the SHA-256 {digest.hexdigest()}")

    def _row(self, namespace_key: int, artifact: Artifact, number: int) -> bytes | None:
        sql = "SELECT bytes FROM artifact WHERE namespace = %s AND digest = %s AND piece = %s"
        with self._reading(namespace_key) as db:
            row = db.execute(sql, (namespace_key, artifact.digest, number), binary=True).fetchone()
        return None if row is None else row[0]

    def _manifest(self, namespace_key: int, artifact: Artifact) -> tuple[str, list[tuple[int, int, int]]]:
        """Give the name of a payload's object, and where its pieces begin and end in it, with their checksums."""
        sql = "SELECT object, bytes FROM artifact WHERE namespace = %s AND digest = %s AND piece = %s"
        with self._reading(namespace_key) as db:
            row = db.execute(sql, (namespace_key, artifact.digest, MANIFEST)).fetchone()
        if row is None:
            raise _damaged(artifact, "it, or a piece of it, is missing")
        try:
            places = list(_PLACE.iter_unpack(self._plain(namespace_key, artifact, MANIFEST, row[1])))
        except struct.error as error:
            raise _damaged(artifact, "its manifest is damaged") from error
        ends = [0, *accumulate(size for size, _ in places)]
        return _name(namespace_key, row[0]), [
            (begin, end, checksum) for (begin, end), (_, checksum) in zip(pairwise(ends), places, strict=True)
        ]

    def _of_object(
        self, namespace_key: int, artifact: Artifact, number: int, name: str, places: list[tuple[int, int, int]]
    ) -> bytes:
        if self._objects is None:
            raise _damaged(artifact, "it lies in an object store, and none is open; set FIRSTHAND_OBJECTS")
        if number >= len(places):
            raise _damaged(artifact, f"piece {number} of it is missing")
        begin, end, checksum = places[number]
        stored = self._objects.read(name, begin, end - begin)
        if stored is None:
            with self._connections.reading(namespace_key) as db:  # a new moment, and where it has moved, that is said
                sql = "SELECT object FROM artifact WHERE namespace = %s AND digest = %s AND piece = %s"
                row = db.execute(sql, (namespace_key, artifact.digest, MANIFEST)).fetchone()
            if row is None or _name(namespace_key, row[0]) != name:
                raise FreedMeanwhile(f"artifact {artifact.digest.hex()}: it was erased while it was read; read again")
            raise _damaged(artifact, f"its object {name} in {self._objects.address} is missing")
        if len(stored) != end - begin or crc32(stored) != checksum:
            raise _damaged(artifact, f"piece {number} of its object {name} in {self._objects.address} is damaged")
        return stored

    def _plain(self, namespace_key: int, artifact: Artifact, number: int, stored: bytes) -> bytes:
        """Give the bytes of a piece as it is kept."""
        content = self._seal.open_piece(namespace_key, artifact.digest, number, stored)
        if content is None:
            raise _damaged(artifact, "its key was forgotten: it was erased later than this database stands")
        try:
            return compression.decompress(content)
        except ValueError as error:
            raise _damaged(artifact, f"piece {number} of it is damaged ({error})") from error

    # writing -----------------------------------------------------------------------------------------

    def _put(self, namespace_key: int, head: bytes, source: bytes | ByteSource) -> Artifact:
        with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as file:
            staged = self._staged(file, head, source)
            artifact = staged.artifact
            with self._connections.use() as db:
                row = db.execute("SELECT keep_1(%s, %s)", (namespace_key, artifact.digest)).fetchone()
            if row is not None and row[0]:
                return artifact
            try:
                self._put_staged(namespace_key, staged)
            except StoreFull:
                self.sweep(namespace_key)  # what a crash left may have taken the room
                self._put_staged(namespace_key, staged)
        return artifact

    def _put_staged(self, namespace_key: int, staged: _Staged) -> None:
        """Keep a payload, if the limits of its namespace have room for what no event holds yet and for it."""
        digest, objects = staged.artifact.digest, self._objects if staged.artifact.size_bytes > self._over else None
        name = digest if objects is None else os.urandom(16)
        with self._seal.leaf(namespace_key) as leaf:
            with self._connections.use() as db:  # committed at once, so that no other payload waits for this one
                db.execute("SELECT room_1(%s, %s, %s, %s)", (namespace_key, staged.ends[-1], name, digest))
            try:
                if objects is None:
                    self._put_rows(namespace_key, staged, leaf, name)
                else:
                    self._put_object(namespace_key, staged, leaf, objects, name)
            except BaseException as error:
                with suppress(StoreError):  # then a sweep does it
                    if objects is None:
                        self._forget(namespace_key, [name])
                    elif isinstance(error, StoreMoved):  # and what was noted of it went with the move
                        objects.remove(_name(namespace_key, name))
                    else:
                        self._free(namespace_key, name)
                raise

    def _free(self, namespace_key: int, name: bytes) -> None:
        """Remove the object of an upload that failed, unless its row came to be for all that."""
        with self._connections.reading(namespace_key) as db:
            db.execute("SELECT free_objects_1(%s, %s)", (namespace_key, [name]))
        self.remove_freed(namespace_key)

    def _staged(self, file: IO[bytes], head: bytes, source: bytes | ByteSource) -> _Staged:
        digest, previewer, size, ends = hashlib.sha256(), Previewer(), 0, []
        for piece in pieces_of(head, source):
            size += len(piece)
            if size > self.bytes_max:
                advice = " or name an object store in FIRSTHAND_OBJECTS" if self._objects is None else ""
                raise InvalidDraft(f"a payload has at most {self.bytes_max:,} bytes here; split it{advice}")
            digest.update(piece)
            previewer.feed(piece)
            file.write(compression.compress(piece))
            ends.append(file.tell())
        return _Staged(Artifact(digest.digest(), size, previewer.finish()), file, tuple(ends))

    def _sealed(self, namespace_key: int, staged: _Staged, leaf: int) -> Iterator[bytes]:
        """Give the pieces as they are kept, all under one leaf."""
        for number, piece in enumerate(staged.pieces()):
            yield self._seal.piece(namespace_key, staged.artifact.digest, number, leaf, piece)

    def _put_rows(self, namespace_key: int, staged: _Staged, leaf: int, name: bytes) -> None:
        """Keep the pieces in the database, and give the room back that was kept for them."""
        with self._connections.use() as db, db.transaction():
            enter(db, namespace_key)
            for number, stored in enumerate(self._sealed(namespace_key, staged, leaf)):
                sql = "SELECT put_piece_1(%s, %s, %s, %b, NULL, NULL)"
                db.execute(sql, (namespace_key, staged.artifact.digest, number, stored))
            db.execute("SELECT forget_objects_1(%s, %s)", (namespace_key, [name]))

    def _put_object(self, namespace_key: int, staged: _Staged, leaf: int, objects: ObjectStore, name: bytes) -> None:
        """Upload an object under a name of its own, then say in the database where it is."""
        places = list[tuple[int, int]]()

        def pieces() -> Iterator[bytes]:
            for stored in self._sealed(namespace_key, staged, leaf):
                places.append((len(stored), crc32(stored)))
                yield stored

        objects.put(_name(namespace_key, name), pieces())
        listed = compression.compress(b"".join(_PLACE.pack(*place) for place in places))
        manifest = self._seal.piece(namespace_key, staged.artifact.digest, MANIFEST, leaf, listed)
        with self._connections.use() as db:
            row = db.execute(
                "SELECT put_piece_1(%s, %s, %s, %b, %b, %s)",
                (namespace_key, staged.artifact.digest, MANIFEST, manifest, name, sum(size for size, _ in places)),
            ).fetchone()
        if row is None or row[0] is None:
            raise StoreBusy("the upload of a payload took so long that it was pruned; retry with the same ids")
        if row[0] != name:  # somebody put the same payload meanwhile
            with suppress(StoreError):  # then a sweep removes it
                self.remove_freed(namespace_key)


def _folder(namespace_key: int) -> str:
    return f"{namespace_key:016x}"


def _name(namespace_key: int, name: bytes) -> str:
    return f"{_folder(namespace_key)}/{name.hex()}"


def _damaged(artifact: Artifact, what: str) -> StoreDamaged:
    return StoreDamaged(f"artifact {artifact.digest.hex()}: {what}; restore it from a backup or an export")
