"""Runs a follower in a thread of its own, so that nobody waits for an embedder.

It sleeps until it is woken, works until nothing is left, and sleeps again. What
goes wrong is kept in `fault` and tried again after a pause that doubles; so a dead
endpoint costs nothing and comes back by itself.

The invariant: the thread is a daemon, ends with `stop`, and does not survive a
fork: a child starts its own with its first `wake`. It knows no store.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from firsthand.errors import FirsthandError, StoreClosed

from .follower import Step

GATHER_SECONDS = 0.05
"""After being woken it waits so long for more: events come in turns."""
ELSEWHERE_SECONDS = 0.5
PAUSE_SECONDS, PAUSE_SECONDS_MAX = 1.0, 60.0
STOP_SECONDS = 5.0
"""Longest wait for a batch that is being embedded while the store closes; it is then left to itself."""


class Background:
    """One thread that follows.

    Args:
        step: does the next piece of work; it is only ever called in the thread.

    Attributes:
        fault: what went wrong the last time; empty since it went well.
    """

    def __init__(self, step: Callable[[], Step]) -> None:
        self._step = step
        self.fault = ""
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Say that there may be something to do."""
        if self._pid != os.getpid():  # neither the thread nor the state of its locks came along
            self._begin()
        self._woken.set()
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._stopped.is_set():
                    self._thread = threading.Thread(target=self._run, name="firsthand-vectors", daemon=True)
                    self._thread.start()

    def stop(self) -> None:
        """End the thread; wait for the batch that it is at."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._stopped.set()
            self._woken.set()
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)

    def _run(self) -> None:
        pause = PAUSE_SECONDS
        while not self._stopped.is_set():
            self._woken.wait()
            self._stopped.wait(GATHER_SECONDS)
            self._woken.clear()
            try:
                self._work()
            except StoreClosed:  # the store was closed under it, which says as much as `stop`
                return
            except FirsthandError as error:
                self.fault = str(error)
                self._stopped.wait(pause)
                pause = min(PAUSE_SECONDS_MAX, pause * 2)
                self._woken.set()
            except BaseException as error:
                self.fault = f"their thread ended ({type(error).__name__}: {error}); open the store anew"
                raise
            else:
                self.fault, pause = "", PAUSE_SECONDS

    def _work(self) -> None:
        while not self._stopped.is_set():
            did = self._step()
            if did is Step.DONE:
                return
            if did is Step.ELSEWHERE:
                self._stopped.wait(ELSEWHERE_SECONDS)
