"""Connections to PostgreSQL for one role, and its errors as ours.

A connection that is handed out knows no tenant: who reads names the namespace within the transaction, so that
nothing of one tenant is left on a connection for the next.
"""

from __future__ import annotations

import logging
import os
import select
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg
from psycopg import errors
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg_pool import ConnectionPool, PoolTimeout

from firsthand.errors import (
    AppendError,
    FirsthandError,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreMoved,
    StoreNewer,
    StoreReadOnly,
)

from .deadline import LONG_S, TIMEOUT_S, UNLIMITED, Connection, bounded, connect
from .roles import APPLICATION, SCHEMA, connecting

POOL_MAX = 8
RECONNECT_S = 8.0
"""The pool tries again ever more seldom for so long; then it begins anew: a server that is back is soon seen."""
OVER_LIMIT, DAY_S = "FH001", 86_400
"""The state of an append that `append` refused for a limit of its namespace."""
MOVED = "FH003"
"""The state of what `hold` refused, since the namespace has moved."""
MOVING = "-c firsthand.moving=on"
"""The option of a connection that writes to a namespace on its way."""
_ENTER = "SET LOCAL firsthand.namespace = '{:d}'"
_MOVED = (
    "SELECT moved FROM namespace WHERE namespace = %s AND moved IS NOT NULL "
    "AND current_setting('firsthand.moving', true) IS DISTINCT FROM 'on'"
)
ERASED_MEANWHILE = "FH002"
_DRIVER_LOG = logging.getLogger("psycopg")
HOLD_S = 10.0
"""A process that stops in the middle of a transaction is waited for so long, then its connection is closed."""


class Connections:
    """A pool of connections to one database.

    Args:
        dsn: how to reach it, as libpq reads it.
        timeout_s: how long a server that says nothing, a free connection, or another writer is waited for.
    """

    def __init__(self, dsn: str, *, size_max: int = POOL_MAX, timeout_s: float = TIMEOUT_S) -> None:
        self._size_max, self.timeout_s, self._limit = size_max, timeout_s, threading.local()
        with connecting(dsn):  # what is wrong with an address no pool heals by trying again
            connect(dsn).close()
            self._bounded = bounded(dsn)
        self._open()

    def _open(self) -> None:
        self._pid = os.getpid()
        if not _DRIVER_LOG.handlers:  # what it would print of a server that is away is said by whoever waits for it
            _DRIVER_LOG.addHandler(logging.NullHandler())
        self._pool = ConnectionPool(
            self._bounded, connection_class=Connection, min_size=1, max_size=self._size_max, timeout=self.timeout_s,
            open=False, configure=self._configure, check=_check, reconnect_timeout=RECONNECT_S,
            reconnect_failed=ConnectionPool.check,
        )  # fmt: skip
        self._pool.open()
        self.closed = False

    def close(self) -> None:
        """Let every connection go."""
        self.closed = True
        if self._pid == os.getpid():
            self._pool.close()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Wait at most so long for a server that says nothing, in this thread's part of a block."""
        before, self._limit.seconds = self._silence_s(), min(seconds, self.timeout_s)
        try:
            yield
        finally:
            self._limit.seconds = before

    @property
    def standby(self) -> bool:
        """True where the server that this thread asked last is a standby, which may lack what was acknowledged."""
        return bool(getattr(self._limit, "standby", False))

    def _silence_s(self) -> float:
        return float(getattr(self._limit, "seconds", self.timeout_s))

    def _configure(self, db: Connection) -> None:
        db.silence_s = self.timeout_s
        db.execute(UNLIMITED)
        db.execute(f"SET search_path = {SCHEMA}, pg_temp")
        db.execute("SET citus.propagate_set_commands = 'local'")  # means nothing without Citus
        db.execute("SET synchronous_commit = on")  # acknowledged is durable, whatever the server's default
        db.execute(f"SET lock_timeout = {int(self.timeout_s * 800)}")  # it says so before it counts as silent
        db.execute(f"SET idle_in_transaction_session_timeout = {int(HOLD_S * 1_000)}")
        db.commit()
        db.autocommit = True
        db.adapters.register_dumper(Array, _ArrayDumper)

    @contextmanager
    def use(self) -> Iterator[Connection]:
        """Give a connection for the length of a block; errors leave it as ours."""
        if self.closed:
            raise StoreClosed("this store was closed; open it again.")
        if self._pid != os.getpid():  # after a fork: the parent's sockets are the parent's
            self._open()
        limit = self._silence_s()
        with translating(), self._pool.connection(min(limit, self.timeout_s)) as db:
            db.silence_s = limit
            try:
                yield db
                self._limit.standby = db.info.parameter_status("in_hot_standby") == "on"
            except psycopg.Rollback as error:  # leaves its transaction only where the connection is lost
                raise psycopg.OperationalError("the connection was lost while a transaction was undone") from error

    @contextmanager
    def reading(self, namespace: int, *, at_one_moment: bool = False) -> Iterator[Connection]:
        """Give a connection within a transaction that may read one namespace.

        Args:
            at_one_moment: every statement sees the log as the first one does; between them it may take its time.

        Raises:
            StoreMoved: at the end of the block: what was read is not to be used.
        """
        with self.use() as db:
            with nullcontext() if at_one_moment else db.pipeline(), db.transaction():
                if at_one_moment:
                    db.silence_s = LONG_S
                    db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    db.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                enter(db, namespace)
                yield db
                # Behind all reads, since rows are removed after their namespace was marked; on its way with the COMMIT.
                mark = db.execute(_MOVED, (namespace,), prepare=True)
            if (row := mark.fetchone()) is not None:
                raise moved(row[0])


def check_place(db: Connection, namespace: int) -> None:
    """Raise `StoreMoved` where a namespace is on another primary, or on its way here."""
    if (row := db.execute(_MOVED, (namespace,), prepare=True).fetchone()) is not None:
        raise moved(row[0])


def takes_writes(db: psycopg.Connection) -> bool:
    """Say whether a server takes writes of a connection's role: a standby does not."""
    return db.execute("SHOW transaction_read_only").fetchone() == ("off",)


def enter(db: psycopg.Connection, namespace: int) -> None:
    """Name the namespace that the rest of a transaction may read, on every node of a cluster.

    A statement of SET, since Citus tells its workers of no call of `set_config`.
    """
    db.execute(_ENTER.format(namespace))
    if MOVING in db.info.options:  # a cluster's workers know of no setting but a transaction's own
        db.execute("SET LOCAL firsthand.moving = 'on'")


def moved(mark: str) -> StoreMoved:
    """Say where a namespace is, by its mark."""
    way, _, primary = mark.partition(" ")
    if way == "from":
        return StoreMoved(f"the namespace is being moved here from {primary}; retry with the same ids in a moment")
    error = StoreMoved(f"the namespace has moved to {primary}; open it there, and retry with the same ids")
    error.primary = primary
    return error


def _check(db: psycopg.Connection) -> None:
    """See that a connection is there still: an idle one has something to read when its server has gone."""
    poll = select.poll()
    poll.register(db.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(db)


_PASSING = (
    errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure,
    errors.IdleInTransactionSessionTimeout, errors.QueryCanceled,
)  # fmt: skip


@contextmanager
def translating() -> Iterator[None]:
    """Turn PostgreSQL's errors into Firsthand's for the length of a block."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        raise translated(error) from error


def translated(error: Exception) -> FirsthandError:
    """Make one of PostgreSQL's errors ours."""
    if getattr(error, "sqlstate", None) == ERASED_MEANWHILE:
        return AppendError(f"{str(error).splitlines()[0]}; append it again")
    if getattr(error, "sqlstate", None) == OVER_LIMIT:
        limit = str(error).splitlines()[0]
        option = f"--{'day-' * limit.endswith('a day')}{limit.split()[1]}"
        full = StoreFull(
            f"this namespace may hold no more: its limit of {limit} is reached. Nothing of this write was kept; "
            f"{'retry with the same ids tomorrow (UTC), or ' * ('day' in option)}have whoever keeps the store raise it "
            f"(firsthand store limit NAMESPACE {option} N), and retry with the same ids."
        )
        full.wait_s = DAY_S - time.time() % DAY_S if "a day" in str(error) else DAY_S
        return full
    if getattr(error, "sqlstate", None) == MOVED:
        return moved(str(error).splitlines()[0])
    what = f"PostgreSQL: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    if isinstance(error, (errors.DiskFull, errors.OutOfMemory, errors.InsufficientResources)):
        return StoreFull(f"{what}. Nothing of this write was kept. Free space and retry with the same ids.")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreReadOnly(
            f"{what}. This server is a standby: name the primary (target_session_attrs=read-write, of several hosts). "
            "Or default_transaction_read_only is on for this role or database: reset it."
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreReadOnly(
            f"{what}. The store's owner migrates, moves, grants and limits; for anything else the role is a member of "
            f"{APPLICATION}: docs/postgres.md, Set it up"
        )
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return StoreDamaged(f"{what}. Run 'firsthand store verify' to see which events are concerned.")
    if isinstance(error, _PASSING):
        return StoreBusy(f"{what}. Retry with the same ids: a retry is never a second append.")
    if isinstance(error, (errors.UndefinedFunction, errors.UndefinedColumn, errors.UndefinedTable)):
        return StoreNewer(
            f"{what}. A newer version of Firsthand has taken away what this one uses: upgrade it, then open again. Or "
            "no store is there any more: look at the address, or begin it (firsthand store migrate)."
        )
    if isinstance(error, PoolTimeout):
        return StoreBusy(
            "PostgreSQL: no connection was to be had in time: the server cannot be reached, or all connections are in "
            "use. Nothing was sent. Retry with the same ids; firsthand doctor says what is wrong."
        )
    if isinstance(error, psycopg.OperationalError):
        return StoreBusy(
            f"{what}. The server cannot be reached, or went away. Whether a write under way was kept is not known: "
            "retry with the same ids, which is never a second append."
        )
    return StoreFailed(f"{what}. If it happens again, run 'firsthand store verify'.")


# arrays ----------------------------------------------------------------------------------------------


class Array(bytes):
    """An array as PostgreSQL reads it in binary, so that nothing is asked about each of its members."""


class _ArrayDumper(Dumper):
    format = Format.BINARY  # of no type: the statement says which

    def dump(self, obj: Array) -> bytes:
        return obj


_TYPES = {
    "smallint": (21, "!ih", 2),
    "integer": (23, "!ii", 4),
    "bigint": (20, "!iq", 8),
    "bytea": (17, "", 0),
    "text": (25, "", 0),
}
_NULL = struct.pack("!i", -1)


def array_of(kind: str, members: Sequence[Any]) -> Array:
    """Lay out an array of one dimension whose members are of a type, or None."""
    number, layout, size = _TYPES[kind]
    if layout:
        pack = struct.Struct(layout).pack
        body = [_NULL if member is None else pack(size, member) for member in members]
    else:
        body = []
        for member in members:
            data = member.encode() if isinstance(member, str) else member
            body += (_NULL,) if data is None else (struct.pack("!i", len(data)), data)
    return Array(struct.pack("!iiIii", 1, None in members, number, len(members), 1) + b"".join(body))
