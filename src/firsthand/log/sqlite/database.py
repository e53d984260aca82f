"""Opening SQLite the way the log's promises need it, and translating what it raises.

WAL and ``synchronous=FULL`` (acknowledged is durable); one write connection, one
reader for each thread; nothing of a connection survives a fork. This is the one
place where SQLite's errors become Firsthand's.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import (
    NotAStore,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)

from .index_files import BUSY_MS, IndexFiles

CACHE_KIB = 8_192
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILED_SYNC = (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC)
_FORKED: list[
    object
] = []  # connections of a parent process: never used, never closed, since that would touch its locks


def translated(error: apsw.Error, path: Path | str = "the store", system_errno: int = 0) -> StoreError:
    """Make one of SQLite's errors ours."""
    what = f"{path}: {str(error) or type(error).__name__}"
    if getattr(error, "extendedresult", 0) in _FAILED_SYNC:  # whatever the reason: pages may be gone already
        return StoreFailed(f"{what}. A sync failed and is not tried again. Check the disk and reopen the store.")
    if isinstance(error, (apsw.ConnectionClosedError, apsw.ThreadingViolationError)):  # the second: closed just now
        return StoreClosed(f"{path} was closed; open it again.")
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and system_errno in _NO_SPACE):
        return StoreFull(f"{what}. The disk or a quota is full; nothing of this write was kept. Free space and retry.")
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{what}. Another process holds the store; wait for it, or look who does.")
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError)):
        return StoreReadOnly(f"{what}. The store cannot be written here; open it with read_only=True.")
    if isinstance(error, apsw.NotADBError):
        return NotAStore(f"{what}. Expected a Firsthand database; restore it from a backup, or choose another folder.")
    if isinstance(error, (apsw.CorruptError, apsw.FormatError)):
        return StoreDamaged(f"{what}. Run 'firsthand store verify' to see which events are concerned.")
    if isinstance(error, apsw.CantOpenError):
        return StoreFailed(f"{what}. The database file cannot be opened; check that the folder exists and its rights.")
    return StoreFailed(f"{what}. Reopen the store; run 'firsthand store verify' if it happens again.")


@contextmanager
def translating(path: Path | str, db: apsw.Connection | None = None) -> Iterator[None]:
    """Turn SQLite's errors into Firsthand's for the length of a block."""
    try:
        yield
    except apsw.Error as error:
        raise translated(error, path, system_errno(db)) from error
    except UnicodeDecodeError as error:
        raise not_text(error, path) from error


def not_text(error: UnicodeDecodeError, path: Path | str) -> StoreDamaged:
    """Say that a text in the database is no text any more."""
    return StoreDamaged(
        f"{path}: a text is damaged ({error}). Run 'firsthand store verify' to see which events are concerned."
    )


def system_errno(db: apsw.Connection | None) -> int:
    """Give the operating system's last error number on a connection; 0 where there is none to ask."""
    try:
        return db.system_errno if db is not None else 0
    except apsw.ConnectionClosedError:  # then the error says so already
        return 0


def open_writer(file: Path, vfs: str | None = None) -> apsw.Connection:
    """Open the connection that writes."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    with translating(file):
        db = apsw.Connection(str(file), flags=flags, vfs=vfs)
        db.set_busy_timeout(BUSY_MS)
        mode = db.pragma("journal_mode", "wal")
        if mode != "wal":
            raise StoreFailed(
                f"{file}: expected journal mode wal, got {mode}; is the folder on a network file system? "
                "A store needs a local disk."
            )
        db.pragma("synchronous", "FULL")
        # The last connection to close would move the WAL into the file without the writers' lock.
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _tune(db)
    return db


def recover(file: Path, vfs: str | None = None) -> None:
    """Undo a change that power loss cut short before the database was in WAL mode, as while a store was made.

    A connection that only reads cannot, so this comes before the first look at a store that may be written.
    """
    if not Path(f"{file}-journal").exists():
        return
    with translating(file):
        db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
        try:
            db.set_busy_timeout(BUSY_MS)
            db.pragma("user_version")  # the first read rolls the journal back
        finally:
            db.close()


def open_reader(file: Path, vfs: str | None = None) -> apsw.Connection:
    """Open a connection that only reads, also where nothing may be written."""
    with translating(file):
        try:
            db = _read_only(f"file:{_quoted(file)}?mode=ro", vfs)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            wal = Path(f"{file}-wal")
            if not file.exists() or os.access(file.parent, os.W_OK) or (wal.exists() and wal.stat().st_size):
                raise
            # A folder that cannot be written has no room for SQLite's -shm file. Without a WAL
            # the main file is complete and nobody here can change it.
            db = _read_only(f"file:{_quoted(file)}?immutable=1", vfs)
        _tune(db)
    return db


def _quoted(file: Path) -> str:
    """Write a path for a URI; the signs that would end it are the only ones that need it."""
    return str(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _read_only(uri: str, vfs: str | None) -> apsw.Connection:
    db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=vfs)
    db.set_busy_timeout(BUSY_MS)
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opening is lazy: reach the file now
    return db


def _tune(db: apsw.Connection) -> None:
    db.pragma("cache_size", -CACHE_KIB)
    db.pragma("trusted_schema", 0)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)


def read_map(db: apsw.Connection, sql: str) -> dict[Any, Any]:
    """Read a small table of two columns."""
    rows: list[Any] = db.execute(sql).fetchall()
    return dict(rows)


class Readers:
    """One read connection for each thread of one process."""

    def __init__(self, file: Path, vfs: str | None) -> None:
        self._file, self._vfs = file, vfs
        self._local = threading.local()
        self._all: list[tuple[threading.Thread, apsw.Connection]] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False

    def get(self) -> apsw.Connection:
        """Give this thread's connection, opened on first use.

        Raises:
            StoreClosed: after `close`.
        """
        if self._closed:
            raise StoreClosed(f"{self._file} was closed; open it again.")
        if self._pid != os.getpid():
            with self._lock:
                _FORKED.append((self._all, self._local))
                self._all, self._local, self._pid = [], threading.local(), os.getpid()
        db: apsw.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = open_reader(self._file, self._vfs)
            self._local.db = db
            self._local.index_files = IndexFiles(db, self._file.parent)
            with self._lock:
                self._all.append((threading.current_thread(), db))
                self._let_go(lambda thread: not thread.is_alive())
        return db

    def index_files(self) -> IndexFiles:
        """Give the index files of this thread's connection."""
        self.get()
        files: IndexFiles = self._local.index_files
        return files

    def _let_go(self, unneeded: Callable[[threading.Thread], bool]) -> None:
        living: list[tuple[threading.Thread, apsw.Connection]] = []
        for thread, db in self._all:
            if not unneeded(thread):
                living.append((thread, db))
                continue
            with suppress(apsw.ThreadingViolationError):  # in use in this moment: it goes with its thread
                db.close()
        self._all = living

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            self._closed = True
            if self._pid == os.getpid():
                self._let_go(lambda _: True)
            self._all, self._local = [], threading.local()


class FreshReaders(Readers):
    """The read connections of a log that follows another one, each handed out once it has followed."""

    def __init__(self, readers: Readers, refresh: Callable[[], None]) -> None:
        self._readers, self._refresh = readers, refresh

    def get(self) -> apsw.Connection:
        """Give this thread's connection; within a transaction, as of that."""
        db = self._readers.get()
        if not db.in_transaction:
            self._refresh()
        return db

    def index_files(self) -> IndexFiles:
        """Give the index files of this thread's connection."""
        self.get()
        return self._readers.index_files()


def abandon(connection: object) -> None:
    """Keep a parent's connection alive in a forked child without ever touching it."""
    _FORKED.append(connection)
