"""Whether the files under an open store are still those that it opened.

A process that holds a database open goes on writing into it after its name was removed
or given to another file: commits succeed, and nobody will ever read them. So the files
behind the names are compared before each transaction, and again before what was
committed is acknowledged.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from firsthand.errors import StoreReplaced


class Inodes:
    """The database and its WAL as they were when they were opened.

    Args:
        file: the database; its connection has read from it already, so that the WAL is there too.
    """

    def __init__(self, file: Path) -> None:
        self._names = (str(file), f"{file}-wal")
        self._opened = [_inode(name) for name in self._names]

    def check(self) -> None:
        """Refuse to go on over other files than those that were opened.

        Raises:
            StoreReplaced: a name is gone, or leads to another file.
        """
        for name, opened in zip(self._names, self._opened, strict=True):
            there = _inode(name)
            if there != opened:
                what = "was removed" if there is None else "is another file now" if opened else "was put there"
                raise StoreReplaced(
                    f"{name} {what} while the store was open, so nothing more is acknowledged through this handle. "
                    "Find out who moves or cleans files there, then open the store again: it says what is missing."
                )

    def are_the_same(self) -> bool:
        """Say whether both names lead to the files that were opened."""
        return [_inode(name) for name in self._names] == self._opened

    def rescue(self, db: apsw.Connection) -> None:
        """Move what a removed WAL has into the database, if nothing was put in its place; under the write lock.

        No process can have opened the store anew without making another WAL.
        """
        if self.lost_only_the_wal():
            with suppress(apsw.Error):  # what cannot be moved is named by whoever opens the store next
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def lost_only_the_wal(self) -> bool:
        """Say whether the WAL is gone with nothing in its place, and the database is the one that was opened."""
        database, wal = self._names
        return _inode(wal) is None and _inode(database) == self._opened[0]


def _inode(name: str) -> tuple[int, int] | None:
    """Say which file a name leads to; None for none."""
    try:
        there = os.stat(name)  # noqa: PTH116 - on the way of every append; pathlib doubles what it costs
    except FileNotFoundError:
        return None
    return there.st_dev, there.st_ino
