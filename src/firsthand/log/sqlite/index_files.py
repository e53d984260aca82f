"""The index files of a store: one SQLite file a namespace, attached to a connection when it is asked for.

So the cost of opening a store does not grow with its namespaces, and no query of one can read another's
postings: the tables of namespace 7 are in ``index/7.db``, which nothing but a read or write of namespace 7 opens.

The invariant: an index file is derived. It is committed after the log's own file, without a sync, so that a crash
leaves it behind and never ahead; it says of which store it is and which event it reaches, and what does not
fit the log is not believed. A missing one is made anew, some events at a time. Within a transaction no file is
attached or let go: what is read in it is of one moment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from firsthand.log.disk import FOLDER_MODE, open_private
from firsthand.log.rows import key_of
from firsthand.value import value

FOLDER = "index"
BUSY_MS = 5_000  # SQLite's own wait; writers queue before it, so it is for checkpoints and recovery
ATTACHED_KEPT = 4
"""Of one connection, from one use to the next; SQLite allows ten at once."""
_TABLES = """
-- How far each index in this file reaches; why it stopped, if it did.
CREATE TABLE reach (
  name     TEXT PRIMARY KEY,
  store    BLOB NOT NULL,              -- uuid of the store
  position INTEGER NOT NULL,           -- every event up to here is in the index
  chain    BLOB NOT NULL,              -- chain hash of the event there; empty for none
  fault    TEXT NOT NULL DEFAULT ''    -- empty while it follows
) WITHOUT ROWID;
"""
UNREADABLE = "the index file cannot be read"
LEFT_OUT = "left out"  # the first position whose payload could not be read when it was indexed


@value
class Reached:
    """How far an index says that it reaches; with a fault it is not followed until a rebuild."""

    position: int
    fault: str


def schema_of(namespace: int) -> str:
    """Give the name that a namespace's index file is attached by."""
    return f"index_{namespace}"


def path_of(root: Path, namespace: int) -> Path:
    """Give the place of a namespace's index file."""
    return root / FOLDER / f"{namespace}.db"


def namespaces_in(root: Path) -> list[int]:
    """List the namespaces that have an index file."""
    names = [path.stem for path in (root / FOLDER).glob("*.db")] if (root / FOLDER).is_dir() else []
    return sorted(int(name) for name in names if name.isdigit())


class IndexFiles:
    """The index files that one connection has attached.

    Args:
        write: make a file that is missing; otherwise it is not there.
    """

    def __init__(self, db: apsw.Connection, root: Path, *, write: bool = False) -> None:
        self._db, self._root, self._write = db, root, write
        self._folder = str(root / FOLDER)
        self._inodes: dict[int, int] = {}  # of the attached ones, the one used last at the end

    def attach(self, namespace: int) -> bool:
        """Attach a namespace's index file; say whether there is one, or within a transaction whether it is attached.

        Raises:
            apsw.Error: it is no database.
        """
        if self._db.in_transaction:
            return namespace in self._inodes
        inode = self._inode(namespace)
        known = self._inodes.pop(namespace, None)
        if known is not None and known == inode:
            self._inodes[namespace] = inode
            return True
        if known is not None:
            self._detach(namespace)
        self.trim()
        while inode:
            self._look(namespace)
            self._db.execute(f"ATTACH ? AS {schema_of(namespace)}", (self._uri(namespace),))
            before, inode = inode, self._inode(namespace)
            if inode == before:
                break
            self._detach(namespace)  # exchanged while it was opened: its WAL may be the other one's
        if not inode:
            return False
        self._inodes[namespace] = inode
        if self._write:  # a commit waits for no sync: a crash of the system may leave the file behind the log
            self._db.execute(f"PRAGMA {schema_of(namespace)}.synchronous = NORMAL")
        return True

    def made(self, namespace: int) -> None:
        """Attach a namespace's index file, made if it is missing."""
        if not self._inode(namespace):
            make(self._root, namespace)
        self.attach(namespace)

    def renew(self, namespace: int) -> None:
        """Put an empty index file in the place of a namespace's, whatever state that is in; outside a transaction."""
        if self._inodes.pop(namespace, None) is not None:
            self._db.execute(f"DETACH {schema_of(namespace)}")
        remove(self._root, namespace)
        self.made(namespace)

    def trim(self) -> None:
        """Let go of files that were replaced, and of those used longest ago; outside a transaction."""
        replaced = [namespace for namespace, inode in self._inodes.items() if self._inode(namespace) != inode]
        staying = [namespace for namespace in self._inodes if namespace not in replaced]
        for namespace in (*replaced, *staying[:-ATTACHED_KEPT]):
            del self._inodes[namespace]
            self._detach(namespace)

    def release(self) -> None:
        """Let go of every file; outside a transaction."""
        for namespace in [*self._inodes]:
            del self._inodes[namespace]
            self._detach(namespace)

    def checkpoint(self) -> None:
        """Move what was written into the files, as far as no reader needs it where it is."""
        for namespace in self._inodes:
            self._checkpoint(namespace)

    def reached(self, namespace: int, name: str) -> Reached:
        """Say how far an index of a namespace reaches: up to 0 where it is missing or of another log."""
        try:
            if not self.attach(namespace):
                return Reached(0, "")
            sql = f"SELECT store, position, chain, fault FROM {schema_of(namespace)}.reach WHERE name = ?"  # noqa: S608
            rows: list[Any] = self._db.execute(sql, (name,)).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            return Reached(0, f"{UNREADABLE} ({error})")
        if not rows:
            return Reached(0, "")
        store, position, chain, fault = rows[0]
        if not isinstance(position, int) or not isinstance(fault, str):
            return Reached(0, f"{UNREADABLE} (it reaches {position!r})")
        uuid = self._db.execute("SELECT value FROM store WHERE key = 'uuid'").get
        if store != uuid or (not fault and position and chain != chain_at(self._db, namespace, position)):
            return Reached(0, "")  # of another store, or of another past of this one
        return Reached(position, fault)

    def _look(self, namespace: int) -> None:
        """Read a file's tables on their own: attached, a damaged list of tables would fail every statement.

        Raises:
            apsw.Error: they cannot be read.
        """
        flags = apsw.SQLITE_OPEN_READWRITE if self._write else apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        alone = apsw.Connection(self._uri(namespace), flags=flags)
        try:
            alone.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            alone.execute("SELECT count(*) FROM reach").fetchall()
        finally:
            alone.close()

    def _detach(self, namespace: int) -> None:
        self._checkpoint(namespace)
        self._db.execute(f"DETACH {schema_of(namespace)}")

    def _checkpoint(self, namespace: int) -> None:
        if not self._write:
            return
        self._db.set_busy_timeout(0)  # a proof reads for seconds, and other writers wait for the lock meanwhile
        try:
            with suppress(apsw.Error):  # the file has all that was committed either way: the next writer moves it
                self._db.wal_checkpoint(dbname=schema_of(namespace), mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            self._db.set_busy_timeout(BUSY_MS)

    def _inode(self, namespace: int) -> int:
        try:  # os.stat: this stands on the way of every append
            return os.stat(f"{self._folder}/{namespace}.db").st_ino  # noqa: PTH116
        except OSError:  # there is none, which 0 says
            return 0

    def _uri(self, namespace: int) -> str:
        file = path_of(self._root, namespace)
        if self._write or not self._db.readonly("main"):
            return str(file)
        quoted = str(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        # As the log's own file: where nothing may be written, there is no room for SQLite's -shm file.
        alone = not os.access(file.parent, os.W_OK) and not Path(f"{file}-wal").exists()
        return f"file:{quoted}?immutable=1" if alone else f"file:{quoted}?mode=ro"


def make(root: Path, namespace: int) -> None:
    """Make an empty index file under its name at once: a kill leaves all of it or none; under the write lock."""
    file = path_of(root, namespace)
    with suppress(FileExistsError):
        file.parent.mkdir(mode=FOLDER_MODE)
        file.parent.chmod(FOLDER_MODE)
    draft = file.with_suffix(".new")
    for path in _files(draft):
        path.unlink(missing_ok=True)
    os.close(open_private(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    db = apsw.Connection(str(draft))
    try:
        db.pragma("journal_mode", "wal")
        db.pragma("synchronous", "OFF")
        db.execute(_TABLES).fetchall()
    finally:
        db.close()
    draft.rename(file)


def remove(root: Path, namespace: int) -> None:
    """Remove an index file and what belongs to it."""
    for path in _files(path_of(root, namespace)):
        path.unlink(missing_ok=True)


def _files(file: Path) -> tuple[Path, ...]:
    return file, Path(f"{file}-wal"), Path(f"{file}-shm"), Path(f"{file}-journal")


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """Begin a transaction; at the end of the block it is undone, unless the block or SQLite itself has ended it."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def chain_at(db: apsw.Connection, namespace: int, position: int) -> bytes:
    """Give the chain hash of an event; empty where there is none."""
    chain = db.execute("SELECT chain FROM event WHERE key = ?", (key_of(namespace, position),)).get
    return chain if isinstance(chain, bytes) else b""


def keep_reach(db: apsw.Connection, namespace: int, name: str, reached: Reached) -> None:
    """Keep how far an index reaches; inside a write transaction."""
    db.execute(
        f"INSERT OR REPLACE INTO {schema_of(namespace)}.reach "  # noqa: S608 - a number
        "SELECT ?, value, ?, ?, ? FROM store WHERE key = 'uuid'",
        (name, reached.position, chain_at(db, namespace, reached.position), reached.fault),
    )
