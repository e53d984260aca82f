"""The memories of many tenants, each open on its own: one engine for all, a replica a namespace.

The invariant: a memory that is handed out is of one namespace alone, and nothing of a request is left on it. It holds
all that the engine held when it was handed out, so that what one server acknowledged every other one shows; one that
cannot be brought so far in time is not handed out.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from psycopg import Error, OperationalError, errors

from firsthand import FirsthandError, InvalidArgument, Memory, StoreBusy
from firsthand.errors import KeyMissing, StoreFailed, StoreFull, StoreReadOnly, StoreReplaced
from firsthand.log.disk import make_private
from firsthand.log.postgres.condition import rights
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.replica import ReplicatedLog
from firsthand.log.postgres.replicas import Replicas
from firsthand.server import api_door
from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_client import Call

OPEN_MAX = 64
WAIT_S = 5.0
FAILED = "the store failed; the server's log says how"
UNREAD = "the store could not be read; the server's log says how"
NO_KEY = "the server cannot read the key of this namespace; its operator has to put it back"
REFUSED = "the store takes no writes; the server's log says why"
BUSY = "the store is busy or cannot be reached; send it again with the same ids"
FULL = "this server's disk is full; another one answers, or this one later: send it again with the same ids"
SAID_S = 60.0
"""Of a cause that keeps requests waiting, one is logged in so long."""
ROOM_BYTES = 1 << 18
SPEAKING_OF_ITSELF = frozenset({"08", "25", "28", "42", "53", "54", "55", "57", "58", "XX"})
"""Classes of SQLSTATE whose words are of connections, transactions, rights, tables and disks, never of values."""


class TenantReplicas(Replicas):
    """Replicas whose namespaces share no folder for a machine's own files.

    Raises:
        InvalidArgument: row-level security does not bind the role of the address.
    """

    def __init__(self, address: str, home: Path, folder: Path, bytes_max: int) -> None:
        super().__init__(address, home, folder, bytes_max)
        try:
            _check_role(self.engine)
        except BaseException:
            self.close()
            raise

    def open_log(self, namespace: str, *, shared: bool = True, **options: Any) -> ReplicatedLog:
        """Open a namespace."""
        log = super().open_log(namespace, shared=shared, **options)
        if log.engine is not self.engine:  # of another primary
            _check_role(log.engine)
        log.home = log.root.with_name(f"{number_of(namespace):016x}.home")
        make_private(log.home)
        return log


class Spaces(Stores):
    """Opens the memories of namespaces as requests need them, and closes those that none needs.

    Attributes:
        folder: of all replicas; no answer names it.
    """

    def __init__(self, replicas: TenantReplicas, folder: Path, embedder: str, log: Callable[[str], None]) -> None:
        super().__init__(handles_max=OPEN_MAX)
        self.engine, self.folder = replicas.engine, folder
        self._replicas, self._embedder, self._log = replicas, embedder, log
        self._said: dict[str, float] = {}

    @contextmanager
    def of(self, call: Call) -> Iterator[Memory]:
        """Give the memory of a call's namespace, with all that the engine had when it was asked for.

        Raises:
            FirsthandError: in words that name nothing of this machine; `StoreBusy` where its replica lacks so much that
                it takes longer than `WAIT_S`, or was discarded meanwhile.
        """
        named, opening = self.named(call.namespace), True
        try:
            with ExitStack() as until:
                memory = until.enter_context(super().of(named))
                try:
                    try:
                        left = _followed(memory)
                    except StoreReplaced:  # its replica was discarded: another one is begun
                        self._let_go(memory)
                        until.close()
                        memory = until.enter_context(super().of(named))
                        left = _followed(memory)
                    if left:
                        raise StoreBusy(f"this server's replica lacks the newest {left:,} events yet; ask again")
                    opening = False
                    yield memory
                except StoreReplaced as error:
                    self._let_go(memory)
                    raise StoreBusy("this server's replica is begun anew; ask again") from error
        except FirsthandError as error:
            if opening and isinstance(error, StoreFull):  # nothing was written to PostgreSQL yet
                self._log_once(f"the disk of replicas, {self.folder}, takes nothing: {_origin(error)}")
                raise StoreBusy(FULL) from error
            error.args = (self.plain(error, opening=opening),)
            if str(error) == UNREAD and isinstance(error, StoreReadOnly):  # of a role that may not read
                raise StoreFailed(UNREAD) from error
            raise

    def plain(self, error: FirsthandError, *, opening: bool = False) -> str:
        """Say what went wrong to a tenant: what is not the caller's fault in words that name nothing."""
        status = api_door.status_of(error)
        if str(error) in {FAILED, UNREAD, REFUSED, NO_KEY, BUSY, FULL}:  # as `of` said it, and logged it
            return str(error)
        if status < 500 or (isinstance(error, StoreFull) and error.wait_s):
            return str(error).replace(str(self.folder), "this store")
        if isinstance(error, KeyMissing):
            self._log(f"a request failed: KeyMissing: {error}")
            return NO_KEY
        if status == 503:
            self._log_once(f"a request has to wait: {_origin(error)}")
            return BUSY
        self._log(f"a request failed: {_origin(error)}")
        if isinstance(error.__cause__, errors.ReadOnlySqlTransaction):
            return REFUSED
        return UNREAD if opening else FAILED

    def has_room(self) -> bool:
        """Say whether what comes can be taken into the replicas."""
        try:
            make_private(self.folder)
            with tempfile.TemporaryFile(dir=self.folder) as file:
                file.write(bytes(ROOM_BYTES))
        except OSError:
            return False
        return True

    def _log_once(self, line: str) -> None:
        """Log a line that was not logged within `SAID_S`."""
        now = time.monotonic()
        if now - self._said.get(line, -math.inf) >= SAID_S:
            self._said = {each: at for each, at in self._said.items() if now - at < SAID_S} | {line: now}
            self._log(line)

    def read_only(self, _call: Call, refusal: StoreReadOnly, /) -> Memory:
        """Refuse as the engine did, in plain words: nothing but the engine is a tenant's store."""
        raise refusal

    def names(self) -> list[str]:
        """Name the folders of the replicas that are open."""
        with self._lock:
            return [str(handle.memory.log.root) for handle in self._handles.values()]

    def named(self, namespace: str) -> Call:
        """Give what `of` takes for a namespace."""
        return Call(store="", namespace=namespace, embedder=self._embedder)

    def _let_go(self, memory: Memory) -> None:
        """Hand a memory to nobody else: the next call opens another one."""
        with self._lock:
            handles = [handle for handle in self._handles.values() if handle.memory is memory]
        for handle in handles:
            self._retire(handle)

    def _opened(self, call: Call) -> Memory:
        replicas: Any = self._replicas
        return Memory(replicas, namespace=call.namespace, embedder=call.embedder)

    def _identity(self, call: Call) -> tuple[int, int]:
        return 0, number_of(call.namespace)


def _check_role(engine: PostgresLog) -> None:
    with engine.connections.use() as db:
        for concern in rights(db):
            raise InvalidArgument(
                f"expected the address of a role that owns nothing, for a server for many: {concern.what}; "
                f"{concern.remedy}, and serve with its address"
            )


def _followed(memory: Memory) -> int:
    log: Any = memory.log
    left: int = log.follow(WAIT_S)
    return left


def _origin(error: FirsthandError) -> str:
    """Tell a fault to whoever keeps the server: its classes, its place, and what PostgreSQL says of itself.

    What it says of values, quotes or was told to say may be of a tenant, as may all else that an error says.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    cause = error.__cause__
    parts = [type(error).__name__, *([type(cause).__name__] if cause else [])]
    if isinstance(cause, OperationalError) and not cause.sqlstate:  # of the connection itself
        parts += [re.sub(r'".*"', '"..."', str(cause), flags=re.DOTALL)]
    elif isinstance(cause, Error) and cause.sqlstate:
        words = (cause.diag.message_primary or "") * (cause.sqlstate[:2] in SPEAKING_OF_ITSELF)
        parts += [cause.sqlstate, *([re.sub(r'".*"', '"..."', words, flags=re.DOTALL)] if words else [])]
    return f"{': '.join(parts)} at {frame.filename}:{frame.lineno}"
