"""Sleep in a process of its own: begun by the daemon when nobody asks it anything, niced, and never waited for.

The invariant: one at a time; a hook that comes meanwhile finds the daemon as free as
ever. A process that ends badly is named in the log of hooks, and its sleep stays to be
done.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from firsthand import environment
from firsthand.agents.sleep_jobs import begin_sleep, sleeps_waiting

IDLE_S = 300.0
"""So long no hook has asked, of any host; the daemon itself ends after three times that."""
LOOK_S = 30.0
"""Between two looks whether a process has ended."""
SLEEP_MAX_S = 6 * 3_600.0
"""One that takes longer hangs: it is ended, and its sleep stays to be done."""
LOOK_MAX_S = 3_600.0
"""The clock may be set meanwhile, so that what is due tomorrow is looked at again in an hour."""
NICE = 10


class Sleeper:
    """Begins what sleeps are due."""

    def __init__(self, log: Callable[[str], None], *, idle_s: float = IDLE_S) -> None:
        self._log, self._idle_s = log, idle_s
        self._process: subprocess.Popen[bytes] | None = None
        self._begun = 0.0
        self._whose = ""

    def look(self, store: str, namespace: str, idle_s: float) -> float | None:
        """Begin the sleep that is due in a store, and say in how many seconds to look again; None when none waits.

        Args:
            idle_s: how long nobody has asked the daemon.

        Raises:
            StoreError: the list of jobs cannot be read or written.
        """
        waiting = sleeps_waiting(Path(store), namespace)
        if self._is_asleep():
            return LOOK_S
        if not waiting:
            return None
        due_s = waiting[0].after_ms / 1000 - time.time()
        if due_s > 0 or idle_s < self._idle_s:
            return min(max(due_s, self._idle_s - idle_s), LOOK_MAX_S)
        if begin_sleep(Path(store), waiting[0]):
            self._begin(store, namespace, waiting[0].agent, waiting[0].cwd)
        return LOOK_S

    def _begin(self, store: str, namespace: str, agent: str, project: str) -> None:
        words = command(store, namespace, agent, project)
        # What this process imports that one finds too, whoever started this one; and nothing that lies in a folder
        # where it happens to stand (-P).
        paths = os.pathsep.join(folder for folder in sys.path if folder)
        self._process = subprocess.Popen(
            words, cwd=store, env=environment.for_commands(PYTHONPATH=paths), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._whose, self._begun = agent, time.monotonic()
        os.setpriority(os.PRIO_PROCESS, self._process.pid, NICE)

    def _is_asleep(self) -> bool:
        """Say whether a process sleeps, and tell of one that ended badly."""
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None and time.monotonic() - self._begun > SLEEP_MAX_S:
            os.killpg(self._process.pid, signal.SIGKILL)  # it leads a session of its own
        if code is None:
            return True
        if code:
            again = f"firsthand agent sleep --agent {shlex.quote(self._whose)}"
            self._log(f"a sleep of {self._whose} ended with exit code {code}: {again}")
        self._process = None
        return False


def command(store: str, namespace: str, agent: str, project: str) -> list[str]:
    """Give what to run for an agent to sleep."""
    # Joined by "=", since a name may begin with a dash.
    words = ["-P", "-m", "firsthand", "agent", "sleep", "--quiet", f"--store={store}", f"--namespace={namespace}"]
    return [sys.executable, *words, f"--agent={agent}", *((f"--project={project}",) if project else ())]
