"""Where payloads lie that are too large for the database: an object store, as a folder or behind the S3 protocol.

The invariant: an object is written once, under a name that was never used before; what `put` has returned is durable.
An object store belongs to one store, whose identity it holds: another one's is refused, never read as empty.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import psycopg

from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument, StoreBusy
from firsthand.log.disk import Disk

MARKER = "firsthand-store"
"""The object that holds the identity of the store whose payloads lie here."""
INCOMING = "incoming"


class ObjectStore(Protocol):
    """Keeps objects under names of two parts, ``folder/name``, but for the marker."""

    address: str

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Keep an object; on return it is durable, and nothing is there if this raises.

        Raises:
            StoreFull, StoreReadOnly, StoreFailed, StoreBusy: nothing was kept.
        """
        ...

    def read(self, name: str, start: int, length: int) -> bytes | None:
        """Read a range of an object, shorter where it ends before; None when there is no such object."""
        ...

    def remove(self, name: str) -> bool:
        """Destroy an object; False if there was none."""
        ...

    def listing(self, folder: str, older_than_s: float) -> Iterator[str]:
        """Yield the names of a folder's objects that were put at least so long ago."""
        ...


class ObjectFolder:
    """An object store in a folder, such as of a network file system that all servers mount."""

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self._root, self._disk = root, disk or Disk()
        self.address = str(root)

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Keep an object: written aside and synced, then given its name."""
        path, disk = self._root / name, self._disk
        self._check(name)
        aside = self._root / INCOMING / os.urandom(16).hex()
        disk.make_folder(aside.parent)
        disk.make_folder(path.parent)
        descriptor = disk.create(aside)
        try:
            try:
                for piece in pieces:
                    disk.write(descriptor, piece)
                disk.sync_open(descriptor)
            finally:
                disk.close(descriptor)
            self._check(name)
            renamed = disk.rename(aside, path)
        except BaseException:
            disk.unlink(aside)
            raise
        if not renamed:
            raise StoreBusy(f"{aside} was removed while it was written; retry with the same ids")
        disk.sync_folder(path.parent)

    def read(self, name: str, start: int, length: int) -> bytes | None:
        """Read a range of an object; None when there is no such object."""
        descriptor = self._disk.open(self._root / name)
        if descriptor is None:
            self._check(name)
            return None
        try:
            return self._disk.read(descriptor, length, start)
        finally:
            self._disk.close(descriptor)

    def remove(self, name: str) -> bool:
        """Destroy an object; False if there was none."""
        removed = self._disk.unlink(self._root / name)
        if removed:
            self._disk.sync_folder((self._root / name).parent)
        else:
            self._check(name)
        return removed

    def _check(self, name: str) -> None:
        """Refuse a folder that is no store's, such as an empty mount point: what is there now is hidden later."""
        if name != MARKER and self._disk.size(self._root / MARKER) is None:
            raise StoreBusy(
                f"the folder of large payloads {self._root} does not hold the file {MARKER}: see that it is mounted "
                "(FIRSTHAND_OBJECTS), then retry with the same ids"
            )

    def listing(self, folder: str, older_than_s: float) -> Iterator[str]:
        """Yield the names of a folder's objects that were put at least so long ago."""
        until = time.time() - older_than_s
        for name in self._disk.names(self._root / folder):
            modified = self._disk.modified(self._root / folder / name)
            if modified is not None and modified <= until:
                yield f"{folder}/{name}"


def open_objects(address: str) -> ObjectStore:
    """Open the object store at an address: a folder, or ``s3://BUCKET/PREFIX?endpoint=URL&region=NAME``.

    Raises:
        InvalidArgument: it is no such address, or the extra ``s3`` is not installed.
    """
    if address.startswith("s3://"):
        try:
            from .bucket import Bucket  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise InvalidArgument(f"an object store at s3:// needs the extra s3: {extra_command('s3')}") from error
        return Bucket(address)
    if "://" in address or not Path(address).is_absolute():
        raise InvalidArgument(
            f"expected an object store as an absolute folder or s3://BUCKET/PREFIX; got {address[:200]!r}"
        )
    return ObjectFolder(Path(address))


def objects_of(db: psycopg.Connection, facts: Mapping[str, bytes], address: str, *, claims: bool) -> ObjectStore | None:
    """Open the object store of a store in PostgreSQL, and check that it is its own; None where it has none.

    Args:
        facts: what the store says of itself.
        claims: one that is nobody's may become this store's.

    Raises:
        InvalidArgument: it is another store's, or not the one that this store has its payloads in.
    """
    uuid, recorded = facts["uuid"].hex(), facts.get("objects", b"").decode()
    if not address and recorded:
        raise InvalidArgument(f"this store keeps its large payloads in {recorded}; set FIRSTHAND_OBJECTS to that")
    if not address:
        return None
    objects = open_objects(address)
    owner = objects.read(MARKER, 0, 64)
    if owner is None and not recorded and claims:
        objects.put(MARKER, [uuid.encode()])
        owner = objects.read(MARKER, 0, 64)  # another store may have been faster
    if owner is None:
        raise InvalidArgument(
            f"this store keeps its large payloads in {recorded}, and {address} holds none of them; set "
            "FIRSTHAND_OBJECTS to the first, or copy all of it, with the object firsthand-store, to the second"
        )
    if owner != uuid.encode():
        raise InvalidArgument(
            f"{address} holds the payloads of store {owner.decode('ascii', 'replace')}, this store is {uuid}; set "
            f"FIRSTHAND_OBJECTS to {recorded or 'another folder or prefix'}"
        )
    if recorded != address and claims:
        row = db.execute("SELECT name_objects_1(%s, %s)", (address.encode(), recorded.encode())).fetchone()
        if row is None or not row[0]:
            raise StoreBusy("the store was opened with another object store just now; open it again")
    return objects
