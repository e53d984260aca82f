"""A process that does one deferred work again and again on copies of a store, each time ended at another call.

    python killed_while.py STORE COPIES WORK HOW POINTS

It counts the calls by which the work changes files (writes, syncs, truncations and
deletions of SQLite's files; opening to write, renaming, removing and making of all
others) in a run that ends, spreads POINTS over them, and for each makes a copy, forks,
and just before that call kills the child (HOW is kill), or lets that call and every
later one fail as on a full disk (full). For Ctrl-C (interrupt) it counts calls of our
functions, since Python lets none come in the middle of SQLite's. It prints a line of
JSON a copy.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

import apsw

sys.path.insert(0, str(Path(__file__).parents[1]))
from consolidate_worlds import by_lines
from firsthand import Memory, Moment
from firsthand.agents.sleep import sleep
from firsthand.errors import StoreFull
from firsthand.ledger.consolidation import consolidate_in

NOW = Moment(1_790_100_000_000_000)
AGENT = "shop"
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
_WRITES = os.O_WRONLY | os.O_RDWR


class Counter:
    """Counts calls that change files, and does to the process before one of them what was said."""

    def __init__(self) -> None:
        self.at, self.calls, self.how = 0, 0, ""

    def call(self) -> bool:
        """Count one; True when there is no room for it."""
        if self.how not in {"kill", "full"}:
            return False
        self.calls += 1
        if self.calls == self.at and self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return self.how == "full" and 0 < self.at <= self.calls

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count what Python does to files."""
        opens = event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & _WRITES)
        if (event in _CHANGES or opens) and self.call() and (opens or event == "os.mkdir"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count calls of our functions, and interrupt one."""
        if event == "call" and self.how and OURS in frame.f_code.co_filename:
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt


OURS = str(Path("firsthand") / "agents")
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
        if COUNTER.call():
            raise apsw.exception_for(apsw.SQLITE_FULL)
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
            sleep(memory, AGENT, now=NOW, quiet_seconds=0)
        else:
            consolidate_in(memory, by_lines, "test", keep=True)


def run(store: Path, copy: Path, name: str, how: str, at: int) -> int:
    """Do the work on a copy in a child that is ended before the call of that number; give the calls, 0 when it was."""
    shutil.copytree(store, copy)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            COUNTER.at, COUNTER.how = at, how
            if how == "interrupt":
                sys.setprofile(COUNTER.profile)
            work(copy, name)
            sys.setprofile(None)
            COUNTER.how = ""
            os.write(writing, str(COUNTER.calls).encode())
        except (StoreFull, KeyboardInterrupt):  # what a full disk and Ctrl-C are to end in
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the outermost frame of this process, which must not go on as its parent
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        calls = int(told.read() or b"0")
    status = os.waitpid(child, 0)[1]
    assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    return calls


def main(store: Path, copies: Path, name: str, how: str, points: int) -> None:
    """Run it once to its end, and then ended at each point."""
    sys.addaudithook(COUNTER.audit)
    vfs = CountingVFS()
    every = run(store, copies / "whole", name, how, 0)
    print(json.dumps({"copy": "whole", "calls": every}), flush=True)
    points = min(points, every)
    for number in range(points):
        at = 1 + number * (every - 1) // max(1, points - 1)
        calls = run(store, copies / str(number), name, how, at)
        print(json.dumps({"copy": str(number), "calls": calls, "at": at}), flush=True)
    del vfs


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
