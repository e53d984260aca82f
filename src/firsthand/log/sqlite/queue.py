"""Who writes next: a fair queue of the threads and processes of one store.

One writer at a time holds ``lock`` (flock: the kernel frees it when its holder
dies). Whoever finds it held leaves its batches in its slot, a file of its own in
``queue/``, and waits; the holder commits what stands in the slots together with
its own, one sync for all, and writes each its results. So a writer is never
starved: whoever holds the lock carries everybody.

Why no result can be wrong: an append is idempotent by event id. A batch that was
committed by another process, but whose result was lost with that process, is
appended again by its owner and found to be there.

Why a slot is a file that stays: making, renaming and removing files for each
batch cost more than the sync that was saved, since the file system's journal
carried them into every sync of the database.

This module knows nothing of events: it moves sealed batches and results.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from firsthand.errors import FirsthandError, StoreBusy, StoreClosed, StoreReplaced
from firsthand.log.disk import make_private, open_private, translated
from firsthand.value import value

SLOT_BYTES_MAX = 1 << 20  # a larger batch waits for the lock itself
SLOT_BATCHES_MAX = 32
RESULT_BYTES_MAX = 65_536
SLOTS_MAX = 256  # writers that wait for others at once; one more waits for the lock itself
SWEEP_SECONDS = 5.0
_HEADER = struct.Struct("<QQI")  # number of the request, length, checksum
_RESULT_AT, _RESULT_DATA_AT, _REQUEST_DATA_AT = 64, 128, 128 + RESULT_BYTES_MAX
_POLL_FIRST_S, _POLL_MOST_S = 0.000_1, 0.000_5
_TICK_NS = 50_000_000
_GIVE_WAY_S, _GIVE_WAY_TIMES = 0.02, 10  # to one who must hold the lock itself; no longer, since it may be stopped


@value(frozen=False, eq=False)
class Ticket:
    """One batch on its way: its place in this process's queue and what came of it."""

    batch: Any
    size_bytes: int  # -1: only its own process may commit it
    result: Any = None
    error: FirsthandError | None = None
    done: bool = False
    posted: bool = False  # it stood in the slot once; if nothing came of it, its owner commits it

    def settle(self, result: Any = None, error: FirsthandError | None = None) -> None:
        """Record the outcome."""
        self.result, self.error = result, error
        self.done = True


class WriterLock:
    """The store's one write lock, with a word on who holds it."""

    def __init__(self, path: Path) -> None:
        self._fd = open_private(path, os.O_RDWR | os.O_CREAT)
        self._signature = f"{os.getpid():>10} firsthand\n".encode().ljust(64)  # after a fork the store is opened anew

    def try_acquire(self) -> bool:
        """Take the lock if it is free; say whether it was."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give the lock back."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def sign(self) -> None:
        """Write down who holds the lock, for whoever waits for it in vain."""
        os.pwrite(self._fd, self._signature, 0)

    def holder(self) -> str:
        """Say who held the lock last."""
        signed = os.pread(self._fd, 64, 0).decode("ascii", "replace").strip()
        return f"process {signed}" if signed else "an unknown process"

    def close(self) -> None:
        os.close(self._fd)


class Slot:
    """One writer's letter box: a request of its owner, and the results of the last one.

    A header is written after what it speaks of and carries its checksum, so a reader
    never takes half a request or half a result for a whole one.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._fd = path, descriptor

    @classmethod
    def own(cls, folder: Path) -> Slot:
        """Make a slot that lives, and is locked, as long as this handle."""
        path = folder / f"{time.time_ns():020d}-{os.getpid()}.slot"
        fd = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.pwrite(fd, bytes(_REQUEST_DATA_AT), 0)
        return cls(path, fd)

    @classmethod
    def other(cls, path: Path) -> Slot | None:
        """Open another writer's slot; None when it is gone."""
        try:
            return cls(path, os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW))
        except FileNotFoundError:
            return None

    def post(self, number: int, data: bytes) -> None:
        """Leave a request; number 0 takes the last one back."""
        os.pwrite(self._fd, data, _REQUEST_DATA_AT)
        os.pwrite(self._fd, _HEADER.pack(number, len(data), zlib.crc32(data)), 0)

    def answer(self, number: int, data: bytes) -> None:
        """Leave the results of a request."""
        os.pwrite(self._fd, data, _RESULT_DATA_AT)
        os.pwrite(self._fd, _HEADER.pack(number, len(data), zlib.crc32(data)), _RESULT_AT)

    def request(self) -> tuple[int, bytes] | None:
        """Read the request that waits; None when there is none, or not a whole one."""
        number, length, checksum = self._header(0)
        if not number or length > SLOT_BYTES_MAX or number == self._header(_RESULT_AT)[0]:
            return None
        data = os.pread(self._fd, length, _REQUEST_DATA_AT)
        return (number, data) if zlib.crc32(data) == checksum else None

    def result(self, number: int) -> bytes | None:
        """Read the results of a request; None while there are none."""
        answered, length, checksum = self._header(_RESULT_AT)
        if answered != number or length > RESULT_BYTES_MAX:
            return None
        data = os.pread(self._fd, length, _RESULT_DATA_AT)
        return data if zlib.crc32(data) == checksum else None

    def wipe(self) -> None:
        """Overwrite what requests and results left; a request that still waits is appended by its owner itself."""
        size = os.fstat(self._fd).st_size
        os.pwrite(self._fd, bytes(max(0, size - _RESULT_AT)), _RESULT_AT)

    def abandoned(self) -> bool:
        """Say whether its owner is gone: only then can somebody else lock it."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        return True

    def close(self) -> None:
        os.close(self._fd)

    def _header(self, at: int) -> tuple[int, int, int]:
        data = os.pread(self._fd, _HEADER.size, at)
        return _HEADER.unpack(data) if len(data) == _HEADER.size else (0, 0, 0)


class WriterQueue:
    """Brings batches to the one commit function, in turn.

    Args:
        root: the store's folder.
        commit: writes tickets in one transaction and settles each; called under the lock.
        seal, unseal: a batch as bytes and back (ValueError for what is no batch).
        pack, unpack: a result as JSON values and back.
        timeout_ms: how long a batch waits before `StoreBusy`.
    """

    def __init__(
        self,
        root: Path,
        *,
        commit: Callable[[Sequence[Ticket]], None],
        seal: Callable[[Any], bytes],
        unseal: Callable[[bytes], Any],
        pack: Callable[[Any], Any],
        unpack: Callable[[Any], Any],
        timeout_ms: int,
    ) -> None:
        self._commit, self._seal, self._unseal = commit, seal, unseal
        self._pack, self._unpack = pack, unpack
        self._timeout_s = timeout_ms / 1000
        self._folder = root / "queue"
        self._folder_text = str(self._folder)
        with _translating(self._folder):
            make_private(self._folder)
            self._lock = WriterLock(root / "lock")
        self._lead = threading.Lock()
        self._guard = threading.Lock()
        self._waiting: list[Ticket] = []
        self._slot: Slot | None = None  # made when this process first has to wait
        self._number = 0
        self._posted: list[Ticket] = []
        self._others: dict[str, Slot] = {}
        self._listed = -1
        self._known_names: list[str] = []
        self._swept = time.monotonic()
        self._closed = False
        self._asked = False  # an empty request stands in the slot: this process needs the lock itself
        self._gives_way = False
        self._way_until = 0.0
        self._ways_given: dict[str, tuple[int, int]] = {}  # slot to (number of its request, times)

    def submit(self, batch: Any, size_bytes: int) -> Any:
        """Have a batch committed and give its result.

        Raises:
            StoreBusy: the lock was not to be had within the timeout; ``batch`` on the error
                holds the events with their ids, so that a retry is no second append.
            FirsthandError: what the commit says of this batch.
        """
        ticket = Ticket(batch, size_bytes)
        with self._guard:
            self._waiting.append(ticket)
        try:
            with _translating(self._folder):
                self._wait(ticket)
        except BaseException:
            self._drop(ticket)  # interrupted: nobody is to commit on behalf of who no longer listens
            raise
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _wait(self, ticket: Ticket) -> None:
        deadline = time.monotonic() + self._timeout_s
        pause = _POLL_FIRST_S
        while not ticket.done:
            # One thread of this process leads: it commits for the others, or speaks for them.
            if self._lead.acquire(timeout=max(0.0, min(_POLL_MOST_S, deadline - time.monotonic()))):
                try:
                    if not ticket.done:
                        self._refuse_if_closed()
                        if not self._try_commit():
                            self._fetch_results()
                            self._post_waiting()
                finally:
                    self._lead.release()
                if not ticket.done:
                    time.sleep(pause)
            if time.monotonic() >= deadline and not ticket.done:
                self._drop(ticket)
                ticket.settle(error=self._busy(ticket.batch))
            pause = min(pause * 1.5, _POLL_MOST_S)

    def exclusively(self, action: Callable[[], Any]) -> Any:
        """Do something else under the write lock: a checkpoint, an erasure, a migration.

        Raises:
            StoreBusy: the lock was not to be had within the timeout.
        """
        deadline = time.monotonic() + self._timeout_s
        while True:
            if self._lead.acquire(timeout=0.1):
                try:
                    self._refuse_if_closed()
                    if self._take_the_lock():
                        try:
                            return action()
                        finally:
                            self._lock.release()
                finally:
                    self._lead.release()
            if time.monotonic() >= deadline:
                raise self._busy(None)
            time.sleep(_POLL_FIRST_S)

    def _take_the_lock(self) -> bool:
        """Take the lock for something else than a commit, or ask for it."""
        with _translating(self._folder):
            if not self._lock.try_acquire():
                self._fetch_results()
                self._ask()
                return False
            try:
                self._take_back()
                self._lock.sign()
            except BaseException:
                self._lock.release()
                raise
        return True

    def close(self, last: Callable[[], object]) -> None:
        """Wait for the thread at work, do a last thing if the write lock is free, and let everything go.

        Whoever still waits, or comes after, gets `StoreClosed`.
        """
        with self._lead:
            self._closed = True
            try:
                if self._lock.try_acquire():
                    try:
                        last()
                    finally:
                        self._lock.release()
            finally:
                if self._slot is not None:
                    self._slot.path.unlink(missing_ok=True)
                    self._slot.close()
                for slot in self._others.values():
                    slot.close()
                self._slot, self._others = None, {}
                self._lock.close()

    def wipe(self) -> None:
        """Leave nothing of any batch in any slot; called under the lock."""
        with _translating(self._folder):
            for path in self._folder.glob("*.slot"):
                slot = Slot.other(path)
                if slot is not None:
                    slot.wipe()
                    slot.close()

    # the holder's side ---------------------------------------------------------------------------

    def _try_commit(self) -> bool:
        if (time.monotonic() < self._way_until and not self._asked) or not self._lock.try_acquire():
            return False
        try:
            self._take_back()
            with self._guard:
                own = [ticket for ticket in self._waiting if not ticket.done]
            requests = self._requests()
            others = [ticket for _, _, tickets in requests for ticket in tickets]
            if own or others:
                self._lock.sign()
                self._commit([*own, *others])
            for slot, number, tickets in requests:
                # What failed is left to its owner, who commits it alone and gets the error at first hand.
                results = [None if t.error is not None or not t.done else self._pack(t.result) for t in tickets]
                data = json.dumps(results).encode()
                with suppress(OSError):  # without an answer its owner appends it again, and finds it there
                    slot.answer(number, data if len(data) <= RESULT_BYTES_MAX else b"[]")
        finally:
            self._lock.release()
            if self._gives_way:  # from now on, not from when it was seen: a commit may take longer than that
                self._gives_way, self._way_until = False, time.monotonic() + _GIVE_WAY_S
            self._forget_done()
        return True

    def _requests(self) -> list[tuple[Slot, int, list[Ticket]]]:
        """Read what other writers left, in the order in which they came to the store."""
        requests: list[tuple[Slot, int, list[Ticket]]] = []
        for name in self._names():
            slot = self._others.get(name) or Slot.other(self._folder / name)
            if slot is None:
                continue
            self._others[name] = slot
            request = slot.request()
            if request is None:
                continue
            number, data = request
            if not data:
                self._give_way(name, slot, number)
                continue
            try:
                batches = [self._unseal(sealed) for sealed in _apart(data)]
            except ValueError:  # another version's request: its owner waits for the lock and commits by itself
                continue
            requests.append((slot, number, [Ticket(batch, len(data)) for batch in batches]))
        return requests

    def _give_way(self, name: str, slot: Slot, number: int) -> None:
        """Leave the lock alone for a moment, for one who cannot be carried: a large batch, or no append at all."""
        before, times = self._ways_given.get(name, (0, 0))
        times = times + 1 if before == number else 1
        if times <= _GIVE_WAY_TIMES and not slot.abandoned():
            self._ways_given[name] = number, times
            self._gives_way = True

    def _names(self) -> list[str]:
        """List the others' slots; the folder is read only when it may have changed.

        A folder's time of change is a clock tick of some milliseconds coarse, so it is
        believed only once it lies well back.
        """
        changed = os.stat(self._folder_text).st_mtime_ns  # noqa: PTH116 - a third of the cost of Path.stat
        if changed != self._listed or time.time_ns() - changed < _TICK_NS or self._sweep_is_due():
            names = set(os.listdir(self._folder_text))  # noqa: PTH208 - the same
            mine = self._slot.path.name if self._slot is not None else ""
            for gone in self._others.keys() - names:
                self._others.pop(gone).close()
            self._known_names = sorted(name for name in names if name.endswith(".slot") and name != mine)[:SLOTS_MAX]
            self._listed = changed
        return self._known_names

    def _sweep_is_due(self) -> bool:
        """Remove, now and then, the slots of writers that died."""
        if not self._others or time.monotonic() - self._swept < SWEEP_SECONDS:
            return False
        self._swept = time.monotonic()
        for slot in self._others.values():
            if slot.abandoned():
                slot.path.unlink(missing_ok=True)
        return True

    # the waiter's side ---------------------------------------------------------------------------

    def _post_waiting(self) -> None:
        """Leave what waits, all of it that fits, for whoever holds the lock."""
        if self._posted:
            return
        with self._guard:
            fit = [t for t in self._waiting if not t.done and not t.posted and t.size_bytes >= 0][:SLOT_BATCHES_MAX]
        sealed: list[bytes] = []
        room = SLOT_BYTES_MAX
        for ticket in fit:
            data = self._seal(ticket.batch)
            room -= len(data) + 8
            if room < 0:
                break
            sealed.append(data)
        if not sealed:
            self._ask()
            return
        if self._slot is None:
            self._slot = Slot.own(self._folder)
        self._number += 1
        self._asked = False
        self._posted = fit[: len(sealed)]
        for ticket in self._posted:
            ticket.posted = True
        self._slot.post(self._number, b"".join(struct.pack("<Q", len(data)) + data for data in sealed))

    def _ask(self) -> None:
        """Ask the others to leave the lock free for a moment."""
        if self._posted or self._asked:
            return
        if self._slot is None:
            self._slot = Slot.own(self._folder)
        self._number += 1
        self._slot.post(self._number, b"")
        self._asked = True

    def _fetch_results(self) -> None:
        """Settle what another writer committed for this process."""
        if not self._posted:
            return
        assert self._slot is not None  # something was posted
        data = self._slot.result(self._number)
        if data is None:
            return
        for ticket, packed in zip(self._posted, json.loads(data), strict=False):
            if packed is not None and not ticket.done:
                ticket.settle(self._unpack(packed))
        self._posted = []
        self._forget_done()

    def _take_back(self) -> None:
        """Under the lock: fetch what came, and take back what nobody committed."""
        self._fetch_results()
        if self._posted or self._asked:
            assert self._slot is not None  # something was posted
            self._slot.post(0, b"")
            self._posted, self._asked = [], False

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self._folder.parent} was closed; open it again.")

    def _forget_done(self) -> None:
        with self._guard:
            self._waiting = [ticket for ticket in self._waiting if not ticket.done]

    def _drop(self, ticket: Ticket) -> None:
        with self._guard:
            if ticket in self._waiting:
                self._waiting.remove(ticket)

    def _busy(self, batch: Any) -> StoreBusy:
        error = StoreBusy(
            f"waited {self._timeout_s:g} s for the store's write lock; {self._lock.holder()} held it last. "
            "If it is stopped, continue or end it, then retry with the same ids: a retry is never a second append."
        )
        error.batch = batch
        return error


@contextmanager
def _translating(folder: Path) -> Iterator[None]:
    """Turn the operating system's errors into ours."""
    try:
        yield
    except FileNotFoundError as error:
        if folder.is_dir():
            raise translated(error, f"wait for the write lock by {folder}") from error
        raise StoreReplaced(
            f"{folder} is gone: the store was moved or removed, or this folder of it, while it was open. This write is "
            "not acknowledged; close this handle, open the store where it is now, and write again with the same ids."
        ) from error
    except OSError as error:
        raise translated(error, f"wait for the write lock by {folder}") from error


def _apart(data: bytes) -> list[bytes]:
    """Take a request apart into its sealed batches."""
    out: list[bytes] = []
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise ValueError("a request is cut off")
        (length,) = struct.unpack_from("<Q", data, at)
        out.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    return out
