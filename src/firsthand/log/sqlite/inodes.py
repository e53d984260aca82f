"""Whether the files under an open store are still those that it opened, and whole.

A process that holds a database open goes on writing into it after its name was removed
or given to another file, or after somebody cut it off: commits succeed, and nobody will
ever read them. So the files behind the names are looked at before each transaction, and
again before what was committed is acknowledged.

The invariant: once something was not as it must be, nothing is acknowledged any more.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from firsthand.errors import StoreReplaced

from . import wal

Inode = tuple[int, int]
"""Device and number: what tells a file or folder from every other, whatever its path."""
_HEADER_BYTES = 32  # of a database; its size in pages stands at the end of them


class Inodes:
    """The database and its WAL as they were when they were opened.

    Args:
        file: the database; its connection has read from it already, so that the WAL is there too.
    """

    def __init__(self, file: Path) -> None:
        self._database, self._wal = str(file), f"{file}-wal"
        self._opened = (inode_of(self._database), inode_of(self._wal))
        self._size_bytes = file.stat().st_size
        self._fault = ""

    def check(self, db: apsw.Connection, *, wal: bool = True) -> None:
        """Refuse to go on over other files than those that were opened; under the write lock.

        Args:
            wal: look at the WAL too; a transaction that begins leaves that to its end, before it is acknowledged.

        Raises:
            StoreReplaced: a name is gone, or leads to another file, or the database was cut off.
        """
        if self._unchanged(wal=wal):
            return
        self._fault = self._fault or self._difference() or self._cut(db)
        if self._fault:
            self._rescue(db)
            raise StoreReplaced(
                f"{self._fault} while the store was open, so nothing more is acknowledged through this handle. "
                "Find out who moves or cleans files there, then open the store again: it says what is missing."
            )

    def _unchanged(self, *, wal: bool) -> bool:
        """Say whether both names lead to the files that were opened, and the database is as long as it was."""
        try:  # os.stat: this stands on the way of every append, and pathlib doubles what it costs
            there = os.stat(self._database)  # noqa: PTH116
        except FileNotFoundError:
            return False
        same = (there.st_dev, there.st_ino) == self._opened[0] and there.st_size == self._size_bytes
        return not self._fault and same and (not wal or inode_of(self._wal) == self._opened[1])

    def _difference(self) -> str:
        for name, opened in zip((self._database, self._wal), self._opened, strict=True):
            there = inode_of(name)
            if there != opened:
                what = "was removed" if there is None else "is another file now" if opened else "was put there"
                return f"{name} {what}"
        return ""

    def _cut(self, db: apsw.Connection) -> str:
        """Say whether pages are gone that the database's first page speaks of, and the WAL does not have.

        SQLite's own erasures make it shorter; a process that died in a checkpoint leaves its end in the WAL.
        """
        size = os.stat(self._database).st_size  # noqa: PTH116 - as above
        _, header = db.read("main", 0, 0, _HEADER_BYTES)  # not by a file of our own: closing it drops SQLite's locks
        page_bytes, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
        if not pages or size < pages * page_bytes:
            _, moved = db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            waiting = {frame.page for frame in wal.parse(Path(self._wal).read_bytes()).frames[moved:] if frame.believed}
            if not pages or not waiting >= set(range(size // page_bytes + 1, pages + 1)):
                return f"{self._database} was cut off, from {self._size_bytes:,} bytes to {size:,},"
        self._size_bytes = size
        return ""

    def _rescue(self, db: apsw.Connection) -> None:
        """Move what a removed WAL has into the database, if nothing was put in its place.

        No process can have opened the store anew without making another WAL.
        """
        if inode_of(self._database) == self._opened[0] and inode_of(self._wal) is None:
            with suppress(apsw.Error):  # what cannot be moved is named by whoever opens the store next
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def inode_of(path: Path | str) -> Inode | None:
    """Say which file or folder a path leads to; None for none."""
    try:
        there = os.stat(path)  # noqa: PTH116 - as above
    except FileNotFoundError:
        return None
    return there.st_dev, there.st_ino
