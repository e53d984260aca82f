"""A process that does one deferred work again and again on copies of a store, each time killed at another call.

    python killed_while.py STORE COPIES WORK POINTS

It counts the calls by which the work changes files (writes, syncs, truncations and
deletions of SQLite's files; opening to write, renaming, removing and making of all
others) in a run that ends, spreads POINTS over them, and for each makes a copy, forks,
and kills the child with SIGKILL just before that call. It prints a line of JSON a copy.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path

import apsw

from firsthand import Memory, Moment, consolidate_in, sleep, sweep

NOW = Moment(1_790_100_000_000_000)
AGENT = "shop"
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
_WRITES = os.O_WRONLY | os.O_RDWR


class Counter:
    """Counts calls that change files, and ends the process before one of them."""

    def __init__(self) -> None:
        self.at, self.calls, self.armed = 0, 0, False

    def call(self) -> None:
        """Count one."""
        if self.armed:
            self.calls += 1
            if self.calls == self.at:
                os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count what Python does to files."""
        if event in _CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES):
            self.call()


COUNTER = Counter()


class CountingVFS(apsw.VFS):
    """SQLite's files, counted."""

    def __init__(self) -> None:
        super().__init__("counting", "unix", makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return _CountedFile("unix", name, flags)

    def xDelete(self, name, syncdir):  # noqa: N802 - SQLite's name
        COUNTER.call()
        super().xDelete(name, syncdir)


class _CountedFile(apsw.VFSFile):
    def xLock(self, level):  # noqa: N802 - SQLite's name
        try:
            super().xLock(level)
        except apsw.IOError as error:  # of a file that is open to read; SQLite itself takes it as no lock to be had
            raise apsw.BusyError("no lock") from error

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        COUNTER.call()
        super().xWrite(data, offset)

    def xTruncate(self, size):  # noqa: N802 - SQLite's name
        COUNTER.call()
        super().xTruncate(size)

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        COUNTER.call()  # what is synced is synced by the kernel in the end: a kill of the process loses nothing of it


def work(store: Path, name: str) -> None:
    """Do the work on a store."""
    with Memory.open(store, embedder="none") as memory:
        if name == "sleep":
            sleep(memory, AGENT, now=NOW, quiet_seconds=0, consolidate=True)
        elif name == "sweep":
            sweep(memory, AGENT)
        else:
            consolidate_in(memory, AGENT, keep=True)


def run(store: Path, copy: Path, name: str, at: int) -> int:
    """Do the work on a copy in a child, killed before the call of that number; give the calls, or 0 when killed."""
    shutil.copytree(store, copy)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            COUNTER.at, COUNTER.armed = at, True
            work(copy, name)
            COUNTER.armed = False
            os.write(writing, str(COUNTER.calls).encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        calls = int(told.read() or b"0")
    status = os.waitpid(child, 0)[1]
    assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    return calls


def main(store: Path, copies: Path, name: str, points: int) -> None:
    """Run it once to its end, and then killed at each point."""
    sys.addaudithook(COUNTER.audit)
    vfs = CountingVFS()
    every = run(store, copies / "whole", name, 0)
    print(json.dumps({"copy": "whole", "calls": every}), flush=True)
    for number in range(points):
        at = 1 + number * (every - 1) // max(1, points - 1)
        calls = run(store, copies / str(number), name, at)
        print(json.dumps({"copy": str(number), "calls": calls, "at": at}), flush=True)
    del vfs


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
