"""What hooks leave to do, since a host waits for them: a file a job.

The invariant: the same thing left twice is one job; one that is left while it runs is
there again afterwards. A file that is no job is passed over.

It knows the list and not who does what is on it (`health.job_runner`).
"""

from __future__ import annotations

from hashlib import blake2s
from pathlib import Path

from firsthand.agents import small_files
from firsthand.value import asdict, fields, value

FOLLOW, SPOOL, PROJECT, FILES = "follow", "spool", "project", "files"
CLOSE, CATCH_UP, HEALTH = "close", "catch_up", "health"
KINDS = (FOLLOW, SPOOL, PROJECT, FILES, CLOSE, CATCH_UP, HEALTH)
"""In the order in which they are run: an episode is written from a transcript that was read to its end."""
JOBS_MAX = 10_000
WAITS, RUNS = ".json", ".running"
"""How the file of a job ends that waits, and of one that was begun."""


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
        digest = blake2s(key.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return f"{KINDS.index(self.kind) if self.kind in KINDS else 9}-{self.kind}-{digest}"


def leave(store: Path, job: Job) -> bool:
    """Leave a job to do; False when it waits already, and no later than this.

    Raises:
        StoreError: it cannot be written.
    """
    path = folder(store) / f"{job.name}{WAITS}"
    waiting = read(path)
    if waiting is not None and (waiting.tries or waiting.after_ms <= job.after_ms):
        return False
    small_files.put_table(path, asdict(job))
    return True


def pending(store: Path, namespace: str | None = None) -> tuple[Job, ...]:
    """Give the jobs (of a namespace) that wait or run, in the order in which they would be run."""
    at = folder(store)
    named = small_files.names(at, WAITS, JOBS_MAX) + small_files.names(at, RUNS, JOBS_MAX)
    listed = (job for name in sorted(named) if (job := read(at / name)) is not None)
    return tuple(job for job in listed if namespace in (None, job.namespace))


def next_due_ms(store: Path, namespace: str | None = None) -> int | None:
    """Say when the next job (of a namespace) is due, in milliseconds since 1970; None when there is none."""
    return min((job.after_ms for job in pending(store, namespace)), default=None)


def folder(store: Path) -> Path:
    """Give the folder of the list."""
    return store / "hooks" / "jobs"


def read(path: Path) -> Job | None:
    """Read a job; None when it is gone, or is none (a crash while it was written leaves none)."""
    record = small_files.table(path)
    return Job(**{name: record[name] for name in fields(Job) if name in record}) if "kind" in record else None
