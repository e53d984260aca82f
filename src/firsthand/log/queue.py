"""Who writes next: a fair queue of the threads and processes of one store.

One writer at a time holds ``lock`` (flock: the kernel frees it when its holder
dies). Whoever finds it held leaves its batch in ``queue/`` and waits; the holder
commits what waits together with its own, one sync for all, and leaves each its
result. So a writer is never starved: whoever holds the lock carries everybody.

Why no result can be wrong: an append is idempotent by event id. A batch that was
committed by another process, but whose result was lost with that process, is
appended again by its owner and found to be there.

This module knows nothing of events: it moves sealed batches and results.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.errors import FirsthandError, StoreBusy

SPOOL_BYTES_MAX = 1 << 20  # a larger batch waits for the lock itself
GROUP_BYTES_MAX = 8 << 20  # waiting batches committed at once, at most
GROUP_BATCHES_MAX = 256
STALE_SECONDS = 600  # results that nobody fetched, requests that nobody could read
_POLL_FIRST_S, _POLL_MOST_S = 0.000_2, 0.002
_TICK_NS = 50_000_000


@dataclass(slots=True, eq=False)
class Ticket:
    """One batch on its way: its place in this process's queue and what came of it."""

    batch: Any
    size_bytes: int  # -1: only its own process may commit it
    result: Any = None
    error: FirsthandError | None = None
    done: bool = False
    spooled: Path | None = None
    request: Path | None = None  # set on a ticket that came from another process

    def settle(self, result: Any = None, error: FirsthandError | None = None) -> None:
        """Record the outcome."""
        self.result, self.error = result, error
        self.done = True


class WriterLock:
    """The store's one write lock, with a word on who holds it."""

    def __init__(self, path: Path, version: str) -> None:
        self._path, self._version = path, version
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self.held = False

    def try_acquire(self) -> bool:
        """Take the lock if it is free; say whether it was."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self.held = True
        return True

    def release(self) -> None:
        """Give the lock back."""
        self.held = False
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def sign(self) -> None:
        """Write down who holds the lock, for whoever waits for it in vain."""
        os.pwrite(self._fd, f"{os.getpid():>10} firsthand {self._version}\n".encode().ljust(64), 0)

    def holder(self) -> str:
        """Say who held the lock last."""
        signed = os.pread(self._fd, 64, 0).decode("ascii", "replace").strip()
        return f"process {signed}" if signed else "an unknown process"

    def close(self) -> None:
        os.close(self._fd)


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
        version: str,
    ) -> None:
        self._commit, self._seal, self._unseal = commit, seal, unseal
        self._pack, self._unpack = pack, unpack
        self._timeout_s = timeout_ms / 1000
        self._spool = root / "queue"
        self._spool.mkdir(mode=0o700, exist_ok=True)
        self._lock = WriterLock(root / "lock", version)
        self._lead = threading.Lock()
        self._guard = threading.Lock()
        self._waiting: list[Ticket] = []
        self._count = 0
        self._spool_text = str(self._spool)
        self._empty_since = -1

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
            # One thread of this process leads: it commits for the others, or spools for them.
            if self._lead.acquire(timeout=max(0.0, min(pause, deadline - time.monotonic()))):
                try:
                    if not ticket.done and not self._try_commit():
                        self._spool_waiting()
                        self._fetch_results()
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
        while time.monotonic() < deadline:
            if self._lead.acquire(timeout=0.1):
                try:
                    if self._lock.try_acquire():
                        try:
                            self._lock.sign()
                            return action()
                        finally:
                            self._lock.release()
                finally:
                    self._lead.release()
            time.sleep(_POLL_MOST_S)
        raise self._busy(None)

    def at_once(self, action: Callable[[], object]) -> bool:
        """Do something under the write lock if it is free now; say whether it was done."""
        if not self._lead.acquire(blocking=False):
            return False
        try:
            if not self._lock.try_acquire():
                return False
            try:
                action()
            finally:
                self._lock.release()
            return True
        finally:
            self._lead.release()

    def close(self) -> None:
        self._lock.close()

    # the holder's side ---------------------------------------------------------------------------

    def _try_commit(self) -> bool:
        if not self._lock.try_acquire():
            return False
        try:
            self._fetch_results()  # the last holder may have committed ours just now
            with self._guard:
                own = [ticket for ticket in self._waiting if not ticket.done]
            for ticket in own:
                self._take_back(ticket)
            others = self._requests(GROUP_BATCHES_MAX - len(own))
            if own or others:
                if others:
                    self._lock.sign()
                self._commit([*own, *others])
            self._answer(others)
        finally:
            self._lock.release()
            with self._guard:
                self._waiting = [ticket for ticket in self._waiting if not ticket.done]
        return True

    def _requests(self, room: int) -> list[Ticket]:
        """Read what other processes left, oldest first."""
        tickets: list[Ticket] = []
        total = 0
        for name in self._names():
            if len(tickets) >= room or total > GROUP_BYTES_MAX:
                break
            if not name.endswith(".req"):
                self._sweep(name)
                continue
            path = self._spool / name
            try:
                data = path.read_bytes()
            except FileNotFoundError:  # withdrawn by its owner in this moment
                continue
            try:
                ticket = Ticket(self._unseal(data), len(data), request=path)
            except ValueError:  # not ours to judge: its owner still waits and appends by itself
                self._sweep(name)
                continue
            tickets.append(ticket)
            total += len(data)
        return tickets

    def _names(self) -> list[str]:
        """List the spool, but only if something may have come: this is on every append's way.

        A folder's time of change is a clock tick of some milliseconds coarse, so it is
        believed only once it lies well back.
        """
        changed = os.stat(self._spool_text).st_mtime_ns  # noqa: PTH116 - a third of the cost of Path.stat
        if changed == self._empty_since and time.time_ns() - changed > _TICK_NS:
            return []
        names = sorted(os.listdir(self._spool_text))  # noqa: PTH208 - the same
        self._empty_since = changed if not names else -1
        return names

    def _answer(self, others: Sequence[Ticket]) -> None:
        """Leave each its result; one that failed is left to its owner, who gets the error at first hand."""
        for ticket in others:
            assert ticket.request is not None  # it came from a request
            if ticket.error is None and ticket.done:
                _write_whole(ticket.request.with_suffix(".res"), json.dumps(self._pack(ticket.result)).encode())
            ticket.request.unlink(missing_ok=True)

    def _sweep(self, name: str) -> None:
        path = self._spool / name
        try:
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                path.unlink()
        except FileNotFoundError:  # another holder swept it
            return

    # the waiter's side ---------------------------------------------------------------------------

    def _spool_waiting(self) -> None:
        with self._guard:
            fresh = [t for t in self._waiting if t.spooled is None and 0 <= t.size_bytes <= SPOOL_BYTES_MAX]
        for ticket in fresh:
            self._count += 1
            name = f"{time.time_ns():020d}-{os.getpid()}-{threading.get_native_id()}-{self._count}"
            ticket.spooled = self._spool / f"{name}.req"
            _write_whole(ticket.spooled, self._seal(ticket.batch))

    def _fetch_results(self) -> None:
        with self._guard:
            spooled = [ticket for ticket in self._waiting if ticket.spooled is not None and not ticket.done]
        for ticket in spooled:
            assert ticket.spooled is not None  # filtered above
            path = ticket.spooled.with_suffix(".res")
            try:
                data = path.read_bytes()
            except FileNotFoundError:  # not yet committed
                continue
            path.unlink(missing_ok=True)
            ticket.settle(self._unpack(json.loads(data)))
        with self._guard:
            self._waiting = [ticket for ticket in self._waiting if not ticket.done]

    def _take_back(self, ticket: Ticket) -> None:
        if ticket.spooled is not None:
            ticket.spooled.unlink(missing_ok=True)
            ticket.spooled = None

    def _drop(self, ticket: Ticket) -> None:
        self._take_back(ticket)
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


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that no reader ever sees half of it; it need not survive a crash."""
    draft = path.with_suffix(".tmp")
    draft.touch(0o600)
    draft.write_bytes(data)
    draft.rename(path)
