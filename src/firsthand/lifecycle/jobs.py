"""What hooks leave to do, since a host waits for them: a file a job, and the running of those that are due.

The invariant: a job that was left is run, whoever dies in between; it is run at least
once and must bear being run twice; one process of a store runs jobs at a time. A job
that fails is tried again, later each time, at most `TRIES_MAX` times; then it is
dropped, and its fault stays for `doctor`. What it was to do is found again by a
later hook or by the catch-up.

Decisions of what a job does are with those who do it; this only calls them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.lifecycle import small_files
from firsthand.lifecycle.faults import Fault, keep_fault
from firsthand.value import asdict, fields, replace, value

if TYPE_CHECKING:
    from firsthand.memory import Memory

FOLLOW, SPOOL, PROJECT, FILES = "follow", "spool", "project", "files"
CLOSE, CATCH_UP, HEALTH = "close", "catch_up", "health"
KINDS = (FOLLOW, SPOOL, PROJECT, FILES, CLOSE, CATCH_UP, HEALTH)
"""In the order in which they are run: an episode is written from a transcript that was read to its end."""
JOBS_MAX = 10_000
TRIES_MAX = 5
BACKOFF_S = (2, 15, 60, 300, 1_800)
DEADLINE_S = 60.0
_WAITS, _RUNS = ".json", ".running"


@value
class Job:
    """One thing to do.

    Attributes:
        kind: one of `KINDS`.
        namespace, agent, session: whose it is.
        host, path, cwd: of a transcript.
        after_ms: not before this time (since 1970); 0 for at once.
        tries: how often it was begun.
        why: how it failed last.
    """

    kind: str
    namespace: str = ""
    agent: str = ""
    session: str = ""
    host: str = ""
    path: str = ""
    cwd: str = ""
    after_ms: int = 0
    tries: int = 0
    why: str = ""

    @property
    def name(self) -> str:
        """What it is known by: the same thing left twice is one job."""
        key = f"{self.namespace}\0{self.agent}\0{self.session}\0{self.host}\0{self.path}"
        digest = hashlib.blake2s(key.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return f"{KINDS.index(self.kind) if self.kind in KINDS else 9}-{self.kind}-{digest}"


@value
class Done:
    """What became of a job: ``why`` is empty when it went well; ``dropped`` when it is not tried again."""

    job: Job
    why: str = ""
    dropped: bool = False


def leave(store: Path, job: Job) -> bool:
    """Leave a job to do; False when it waits already, and no later than this.

    Raises:
        StoreError: it cannot be written.
    """
    path = _folder(store) / f"{job.name}{_WAITS}"
    waiting = _read(path)
    if waiting is not None and (waiting.tries or waiting.after_ms <= job.after_ms):
        return False
    small_files.write(path, json.dumps(asdict(job)).encode())
    return True


def pending(store: Path) -> tuple[Job, ...]:
    """Give the jobs that wait or run, in the order in which they would be run."""
    folder = _folder(store)
    named = small_files.names(folder, _WAITS, JOBS_MAX) + small_files.names(folder, _RUNS, JOBS_MAX)
    return tuple(job for name in sorted(named) if (job := _read(folder / name)) is not None)


def next_due_ms(store: Path, namespace: str | None = None) -> int | None:
    """Say when the next job (of a namespace) is due, in milliseconds since 1970; None when there is none."""
    found = (job.after_ms for job in pending(store) if namespace is None or job.namespace == namespace)
    return min(found, default=None)


def run_due(memory: Memory, *, deadline_s: float = DEADLINE_S, now_ms: int | None = None) -> tuple[Done, ...]:
    """Run the jobs of this namespace that are due, each once; nothing while another process does.

    Args:
        deadline_s: after so long no further one is begun.
        now_ms: of the clock; None reads it.

    Raises:
        StoreError: the list itself cannot be read or written.
    """
    folder = _folder(memory.path)
    if not small_files.names(folder, "", 1):
        return ()
    begun = time.monotonic()
    done = []
    with _alone(folder) as alone:
        if not alone:
            return ()
        for name in small_files.names(folder, _RUNS, JOBS_MAX):  # of a process that died
            _give_back(folder, name.removesuffix(_RUNS))
        for name in small_files.names(folder, _WAITS, JOBS_MAX):
            if time.monotonic() - begun > deadline_s:
                break
            job = _read(folder / name)
            due = time.time_ns() // 1_000_000 if now_ms is None else now_ms
            if job is not None and job.namespace == memory.namespace and job.after_ms <= due:
                done.append(_run(memory, folder, job, due))
    return tuple(done)


def _run(memory: Memory, folder: Path, job: Job, now_ms: int) -> Done:
    """Run one job. Its try is counted before: one that kills its process is dropped too, in the end."""
    waits, runs = folder / f"{job.name}{_WAITS}", folder / f"{job.name}{_RUNS}"
    begun = replace(job, tries=job.tries + 1)
    with small_files.ours(f"begin {runs}"):
        waits.replace(runs)  # from here on the same job can be left anew, for what happens meanwhile
    if job.tries >= TRIES_MAX:
        return _dropped(memory, runs, job, job.why or "its process ended each time")
    small_files.write(runs, json.dumps(asdict(begun)).encode())
    try:
        _do(memory, begun)
    except FirsthandError as error:
        why = f"{type(error).__name__}: {error}"
        if begun.tries >= TRIES_MAX:
            return _dropped(memory, runs, begun, why)
        later = replace(begun, why=why[:500], after_ms=now_ms + BACKOFF_S[begun.tries - 1] * 1000)
        keep_fault(memory.path, Fault(f"job {job.kind}", why, job.session))
        small_files.write(waits, json.dumps(asdict(later)).encode())
        small_files.remove(runs)
        return Done(later, why)
    small_files.remove(runs)
    return Done(begun)


def _dropped(memory: Memory, runs: Path, job: Job, why: str) -> Done:
    told = f"given up after {job.tries} tries: {why}"
    keep_fault(memory.path, Fault(f"job {job.kind}", told, job.session))
    small_files.remove(runs)
    return Done(job, told, dropped=True)


def _do(memory: Memory, job: Job) -> None:
    """Call whoever does a kind of job."""
    from firsthand.lifecycle import capture

    if job.kind == FOLLOW:
        capture.follow(memory, job)
    elif job.kind == SPOOL:
        capture.settle(memory, job)
    elif job.kind == PROJECT:
        capture.take_project(memory, job)
    elif job.kind == FILES:
        from firsthand.lifecycle import files

        files.follow(memory.agent(job.agent))
    elif job.kind == CLOSE:
        from firsthand.lifecycle import closing

        capture.follow(memory, job)
        closing.close(memory.agent(job.agent), job.session)
    elif job.kind == CATCH_UP:
        from firsthand.lifecycle import closing

        closing.catch_up(memory.agent(job.agent))
    elif job.kind == HEALTH:
        from firsthand.health import watch

        watch.watch(memory)
    else:
        raise InvalidArgument(f"expected a job of {', '.join(KINDS)}; got {job.kind!r}, of another version. Remove it.")


def _folder(store: Path) -> Path:
    return store / "hooks" / "jobs"


def _read(path: Path) -> Job | None:
    """Read a job; None when it is gone, or is none (a crash while it was written leaves none)."""
    data = small_files.read(path)
    if data is None:
        return None
    try:
        told: dict[str, Any] = json.loads(data)
        return Job(**{name: told[name] for name in fields(Job) if name in told})
    except (ValueError, TypeError, RecursionError):
        return None


def _give_back(folder: Path, name: str) -> None:
    """Let a job that a dead process had begun wait again, unless it was left anew."""
    waits, runs = folder / f"{name}{_WAITS}", folder / f"{name}{_RUNS}"
    if waits.exists():
        small_files.remove(runs)
        return
    with small_files.ours(f"give back {runs}"):
        runs.replace(waits)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Hold the lock of those who run jobs; False when another process has it."""
    with small_files.ours(f"lock {folder}"):
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)
