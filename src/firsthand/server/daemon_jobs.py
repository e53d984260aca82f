"""What the daemon does when hooks are answered: kept calls and jobs, one store at a time, in one thread.

The invariant: the thread sleeps until a hook leaves something or something is due;
it never holds up an answer, and its end is only waited for as long as is said.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from firsthand import FirsthandError
from firsthand.server import spool
from firsthand.server.daemon_stores import Key, Stores
from firsthand.server.hook_answers import waits, work
from firsthand.server.hook_client import Call

WORK_S = 60.0  # of one turn at one store
AGAIN_S = 30.0  # after a fault, or when another process is at a store's jobs
TURN_S = 2.0  # between two turns at a store, at least
STORES_MAX = 64
HANGS_S = 30 * 60.0
"""Of one turn: the longest transcript is read in less, and what was begun is counted as a try."""


class Jobs:
    """The thread and what it is to look at."""

    def __init__(
        self, stores: Stores, log: Callable[[str], None], failed: Callable[[str], None], wake: Callable[[], None]
    ) -> None:
        self._stores, self._log, self._failed, self._wake = stores, log, failed, wake
        self._due: dict[Key, float] = {}  # monotonic time of the next look
        self._seen: set[Key] = set()
        self._changed = threading.Condition()
        self._ends = False
        self.busy = False
        self._begun, self._at = time.monotonic(), ""
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many stores have something to do, now or later."""
        return len(self._due)

    @property
    def hangs(self) -> str:
        """Say which store's jobs or kept calls take longer than they may; empty for none."""
        if not self.busy or time.monotonic() - self._begun < HANGS_S:
            return ""
        return f"what waits in {self._at} has been at work for {HANGS_S / 60:.0f} minutes"

    def look(self, call: Call, *, left: bool) -> None:
        """Look at a call's store when something was left there, and once when it is first met."""
        key = (call.store, call.namespace, call.embedder)
        with self._changed:
            if not left and key in self._seen:
                return
            if len(self._seen) >= STORES_MAX:
                self._seen.clear()
            self._seen.add(key)
            self._due[key] = 0.0
            self._changed.notify()

    def stop(self, seconds: float) -> None:
        """Begin nothing more, and wait so long for what is begun."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join(seconds)

    def _run(self) -> None:
        while (key := self._next()) is not None:
            again: float | None = AGAIN_S
            try:
                again = self._turn(key)
            except FirsthandError as error:
                self._log(f"what waits in {key[0]} is left for later: {type(error).__name__}: {error}")
            except BaseException as error:  # noqa: BLE001 - the outermost frame of this thread
                self._failed(f"a fault in a job: {type(error).__name__}: {error} {traceback.format_exc(limit=-3)!r}")
            with self._changed:
                self.busy = False
                if again is not None and key not in self._due:
                    self._due[key] = time.monotonic() + again
            self._wake()

    def _next(self) -> Key | None:
        """Wait for the next store that is to be looked at; None at the end."""
        with self._changed:
            while not self._ends:
                if self._due:
                    key = min(self._due, key=lambda store: self._due[store])
                    left = self._due[key] - time.monotonic()
                    if left <= 0:
                        del self._due[key]
                        self._begun, self._at = time.monotonic(), key[0]
                        self.busy = True
                        return key
                    self._changed.wait(left)
                else:
                    self._changed.wait()
        return None

    def _turn(self, key: Key) -> float | None:
        """Do what is due in a store, and say in how many seconds to look again; None when nothing waits."""
        store, namespace, embedder = key
        if not Path(store).is_dir():
            return None
        waiting = spool.whose(store)
        self._add((store, *others) for others in waiting - {key[1:], ("", "")})
        due = 0.0 if waiting & {key[1:], ("", "")} else waits(store, namespace)
        if due == 0.0:
            with self._stores.of(Call(store=store, namespace=namespace, embedder=embedder)) as memory:
                recorded = work(memory, self._log, seconds=WORK_S)
            due = waits(store, namespace)
            if recorded.failed or recorded.busy:
                due = min(AGAIN_S if recorded.failed else TURN_S, AGAIN_S if due is None else due)
        return None if due is None else max(due, TURN_S)

    def _add(self, keys: Iterable[Key]) -> None:
        """Look at what waits for others in the same store too: they may not call again."""
        with self._changed:
            for key in keys:
                self._due.setdefault(key, time.monotonic())
