"""Runs the jobs that hooks left, each by whoever does its kind.

The invariant: a job that was left is run, whoever dies in between; it is run at least
once and must bear being run twice; one process of a store runs jobs at a time. A job
that fails is tried again, later each time, at most `TRIES_MAX` times; then it is
dropped, and its fault stays for `doctor`. What it was to do is found again by a
later hook or by the catch-up.
"""

from __future__ import annotations

import time

from firsthand.agent_space import AgentSpace
from firsthand.agents import capture, episode_writer, files, jobs, session_cache, small_files
from firsthand.agents.faults import GIVEN_UP, Fault, keep_fault
from firsthand.agents.jobs import Job
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.health import doctor
from firsthand.space import Space
from firsthand.value import asdict, replace, value

TRIES_MAX = 5
BACKOFF_S = (2, 15, 60, 300, 1_800)
DEADLINE_S = 60.0


@value
class Done:
    """What became of a job: ``why`` is empty when it went well; ``dropped`` when it is not tried again."""

    job: Job
    why: str = ""
    dropped: bool = False


def run_due(space: Space, *, deadline_s: float = DEADLINE_S, now_ms: int | None = None) -> tuple[Done, ...]:
    """Run the jobs of this namespace that are due, each once; nothing while another process does.

    Args:
        deadline_s: after so long no further one is begun.
        now_ms: of the clock; None reads it.

    Raises:
        StoreError: the list itself cannot be read or written.
    """
    folder = jobs.folder(space.path)
    if not small_files.names(folder, "", 1):
        return ()
    until, done = time.monotonic() + deadline_s, []
    with small_files.alone(folder / "lock") as alone:
        for name in small_files.names(folder, jobs.RUNS, jobs.JOBS_MAX) if alone else ():  # of a process that died
            runs = folder / name
            waits = runs.with_suffix(jobs.WAITS)
            with small_files.ours(f"give back {runs}"):  # unless it was left anew
                runs.unlink() if waits.exists() else runs.replace(waits)
        for name in small_files.names(folder, jobs.WAITS, jobs.JOBS_MAX) if alone else ():
            if time.monotonic() > until:
                break
            job = jobs.read(folder / name)
            due = time.time_ns() // 1_000_000 if now_ms is None else now_ms
            if job is not None and job.namespace == space.namespace and job.after_ms <= due:
                done.append(_run(space, job, due))
    return tuple(done)


def _run(space: Space, job: Job, now_ms: int) -> Done:
    """Run one job. Its try is counted before: one that kills its process is dropped too, in the end."""
    waits, runs = (jobs.folder(space.path) / f"{job.name}{ends}" for ends in (jobs.WAITS, jobs.RUNS))
    begun = replace(job, tries=job.tries + 1)
    with small_files.ours(f"begin {runs}"):
        waits.replace(runs)  # from here on the same job can be left anew, for what happens meanwhile
    why, dropped = job.why or "its process ended each time", job.tries >= TRIES_MAX
    if not dropped:
        small_files.put_table(runs, asdict(begun))
        try:
            _do(space, begun)
        except FirsthandError as error:
            why, dropped = f"{type(error).__name__}: {error}", begun.tries >= TRIES_MAX
        else:
            small_files.remove(runs)
            return Done(begun)
    if dropped:
        why = f"{GIVEN_UP} after {TRIES_MAX} tries: {why}"
    else:
        begun = replace(begun, why=why[:500], after_ms=now_ms + BACKOFF_S[begun.tries - 1] * 1000)
        small_files.put_table(waits, asdict(begun))
    keep_fault(space.path, Fault(f"job {job.kind}", why, job.session, namespace=job.namespace))
    small_files.remove(runs)
    return Done(begun, why, dropped)


def _do(space: Space, job: Job) -> None:
    """Call whoever does a kind of job."""
    if job.kind in (jobs.FOLLOW, jobs.CLOSE):
        capture.follow(space, job)
    if job.kind == jobs.CLOSE:
        episode_writer.close(AgentSpace(space, job.agent), job.session)
    elif job.kind == jobs.SPOOL:
        capture.settle(space, job)
    elif job.kind == jobs.PROJECT:
        capture.take_project(space, job)
    elif job.kind == jobs.FILES:
        files.follow(AgentSpace(space, job.agent))
        session_cache.prune(space.path)
    elif job.kind == jobs.CATCH_UP:
        episode_writer.catch_up(AgentSpace(space, job.agent))
    elif job.kind == jobs.HEALTH:
        if doctor.due(space.path):
            doctor.watch(space)
    elif job.kind != jobs.FOLLOW:
        raise InvalidArgument(
            f"expected a job of {', '.join(jobs.KINDS)}; got {job.kind!r}, of another version. Remove it."
        )
