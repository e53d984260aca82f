"""The stores that a daemon holds open: one handle for each store, namespace and embedder.

The invariant: a handle is of the store that is at its path now. One whose folder was
deleted or replaced is let go when its last user is done, and the store opened anew.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from firsthand import Memory, StoreBusy
from firsthand.agents.side_files import erased_at
from firsthand.environment import default_embedder, default_store
from firsthand.errors import StoreReadOnly, StoreReplaced
from firsthand.log.disk import STORE_FILES
from firsthand.server.hook_client import Call
from firsthand.server.measures import Measures
from firsthand.value import value

HANDLES_MAX = 8
TIMEOUT_MS = 300
"""Of a write that waits for other writers: under what a hook waits for its answer."""
OPEN_S = 5.0
NO_IDENTITY = (0, 0)
"""Of what is no store."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")

Key = tuple[str, str, str]
"""Store, namespace, embedder."""


@value(frozen=False, eq=False)
class Handle:
    """One open store.

    Attributes:
        identity: of its database file; another one at the path is another store.
        users: calls that are at work on it.
        gone: no new call is given it; its last user closes it.
    """

    key: Key
    memory: Memory
    identity: tuple[int, int]
    users: int = 0
    gone: bool = False


class Stores:
    """Opens stores as calls need them, and closes those that no call needs.

    Attributes:
        measures: what is counted of the work on them.
    """

    def __init__(self, timeout_ms: int = TIMEOUT_MS, *, handles_max: int = HANDLES_MAX) -> None:
        self._timeout_ms, self._handles_max, self.measures = timeout_ms, handles_max, Measures()
        self._lock = threading.Lock()
        self._opening: dict[Key, threading.Lock] = {}
        self._handles: dict[Key, Handle] = {}  # the one used last stands last
        self._erased: dict[str, int] = {}  # of each store that was ever open here, when something was erased before
        self._places: dict[str, Key] = {}
        self._opened_as: dict[str, tuple[int, int]] = {}

    @contextmanager
    def of(self, call: Call) -> Iterator[Memory]:
        """Give the memory that a call is of, for as long as it is at work."""
        handle = self._taken((call.store, call.namespace, call.embedder), call)
        try:
            yield handle.memory
        finally:
            self._given_back(handle)

    def read_only(self, call: Call, _refusal: StoreReadOnly, /) -> Memory:
        """Open what can be read of a store that takes no writes; whoever asks closes it."""
        return Memory(call.store, namespace=call.namespace, read_only=True, create=False)

    def check_there(self, call: Call) -> None:
        """Refuse to answer from an empty store where one was: `StoreReplaced` when it is gone since it was opened here.

        Hooks do not ask this: what they bring is recorded in a store of its own until the other one is back.
        """
        if self._identity(call) == NO_IDENTITY:
            check_same(call.store, self._opened_as.get(call.store, NO_IDENTITY))

    def names(self) -> list[str]:
        """Name the stores that are open."""
        with self._lock:
            return sorted({key[0] for key in self._handles})

    @property
    def erased(self) -> str:
        """Name a store in which something was erased since it was opened here first; empty for none.

        Its words may stand anywhere in this process's memory.
        """
        with self._lock:
            stores = list(self._erased.items())
        return next((store for store, before in stores if erased_at(Path(store)) != before), "")

    def place(self, store: str, namespace: str, embedder: str) -> str:
        """Name a store and namespace as the addresses of its pages do; `at` gives them back."""
        plain = store == str(default_store()) and _PLAIN.fullmatch(namespace)
        digest = sha256(f"{store}\0{namespace}".encode("utf-8", "surrogateescape")).hexdigest()
        place = namespace if plain else f"~{digest[:12]}"
        with self._lock:
            self._places[place] = (store, namespace, embedder)
        return place

    def at(self, place: str) -> Key | None:
        """Give the store, namespace and embedder of a place; any namespace of the usual store is one."""
        with self._lock:
            key = self._places.get(place)
        if key is None and _PLAIN.fullmatch(place):
            return str(default_store()), place, default_embedder() or "none"
        return key

    def close(self) -> None:
        """Let all go."""
        with self._lock:
            handles = list(self._handles.values())
        for handle in handles:
            self._retire(handle)

    def _taken(self, key: Key, call: Call) -> Handle:
        with self._lock:
            alone = self._opening.setdefault(key, threading.Lock())
        with _waiting(alone, call.store):  # one thread opens a store; the others wait for it, not for others' stores
            identity = self._identity(call)
            with self._lock:
                handle = self._handles.get(key)
                if handle is not None and handle.identity == identity:
                    handle.users += 1  # in the same breath: from here on no other thread retires it
            if handle is not None and handle.identity != identity:
                self._retire(handle)
                handle = None
            if handle is None:
                memory = self._opened(call)
                handle = Handle(key, memory, self._identity(call), users=1)
                self._opened_as[call.store] = handle.identity
            with self._lock:
                self._handles.pop(key, None)
                self._handles[key] = handle
                idle = [handle for handle in self._handles.values() if not handle.users]
                spare = idle[: max(0, len(self._handles) - self._handles_max)]
        for spare_handle in spare:
            self._retire(spare_handle)
        return handle

    def _opened(self, call: Call) -> Memory:
        self._erased.setdefault(call.store, erased_at(Path(call.store)))
        return Memory(call.store, namespace=call.namespace, timeout_ms=self._timeout_ms, embedder=call.embedder)

    def _identity(self, call: Call) -> tuple[int, int]:
        return identity_of(call.store)

    def _given_back(self, handle: Handle) -> None:
        with self._lock:
            handle.users -= 1
            closes = handle.gone and not handle.users
        if closes:
            handle.memory.close()

    def _retire(self, handle: Handle) -> None:
        with self._lock:
            if handle.gone:
                return
            handle.gone = True
            if self._handles.get(handle.key) is handle:
                del self._handles[handle.key]
            closes = not handle.users
        if closes:
            handle.memory.close()


@contextmanager
def _waiting(lock: threading.Lock, store: str) -> Iterator[None]:
    if not lock.acquire(timeout=OPEN_S):
        raise StoreBusy(f"expected {store} to be open within {OPEN_S:.0f} s; another thread is still at it. Try again.")
    try:
        yield
    finally:
        lock.release()


def check_same(store: str, before: tuple[int, int]) -> tuple[int, int]:
    """Give the identity of the store at a path, for whoever asks it and is not to be answered from another one.

    Args:
        before: what it was when it was open here; zeros for a store that was not.

    Raises:
        StoreReplaced: it was moved, deleted or replaced since.
    """
    now = identity_of(store)
    if before in {NO_IDENTITY, now}:
        return now
    if now == NO_IDENTITY:
        what = "nothing stands at its path. Move it back, or end this server to begin an empty one"
    else:
        what = "another store stands at its path, which the next call is answered from"
    raise StoreReplaced(f"{store} was moved, deleted or replaced while this server had it open, and {what}.")


def identity_of(store: str) -> tuple[int, int]:
    """Give what tells a store's database file, or that of its address, from every other; zeros when there is none."""
    for name in STORE_FILES:
        with suppress(FileNotFoundError):
            status = (Path(store) / name).stat()
            return status.st_dev, status.st_ino
    return NO_IDENTITY
