"""The doing of what hooks left: each job that is due, by whoever does its kind.

The invariant: a job that was left is run, whoever dies in between; it is run at least
once and must bear being run twice; one process of a store runs jobs at a time. A job
that fails is tried again, later each time, at most `TRIES_MAX` times; then it is
dropped, and its fault stays for `doctor`. What it was to do is found again by a
later hook or by the catch-up.

What a job does is decided by those who do it; this only calls them.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents import capture, episode_writer, files, jobs, session_cache, small_files
from firsthand.agents.faults import GIVEN_UP, Fault, keep_fault
from firsthand.agents.jobs import Job
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.health import watch
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
    begun = time.monotonic()
    done = []
    with small_files.alone(folder / "lock") as alone:
        if not alone:
            return ()
        for name in small_files.names(folder, jobs.RUNS, jobs.JOBS_MAX):  # of a process that died
            _give_back(folder, name.removesuffix(jobs.RUNS))
        for name in small_files.names(folder, jobs.WAITS, jobs.JOBS_MAX):
            if time.monotonic() - begun > deadline_s:
                break
            job = jobs.read(folder / name)
            due = time.time_ns() // 1_000_000 if now_ms is None else now_ms
            if job is None or job.kind == jobs.SLEEP:  # a sleep takes minutes, and a process of its own
                continue
            if job.namespace == space.namespace and job.after_ms <= due:
                done.append(_run(space, folder, job, due))
    return tuple(done)


def _run(space: Space, folder: Path, job: Job, now_ms: int) -> Done:
    """Run one job. Its try is counted before: one that kills its process is dropped too, in the end."""
    waits, runs = folder / f"{job.name}{jobs.WAITS}", folder / f"{job.name}{jobs.RUNS}"
    begun = replace(job, tries=job.tries + 1)
    with small_files.ours(f"begin {runs}"):
        waits.replace(runs)  # from here on the same job can be left anew, for what happens meanwhile
    if job.tries >= TRIES_MAX:
        return _dropped(space, runs, job, job.why or "its process ended each time")
    small_files.write(runs, json.dumps(asdict(begun)).encode())
    try:
        _do(space, begun)
    except FirsthandError as error:
        why = f"{type(error).__name__}: {error}"
        if begun.tries >= TRIES_MAX:
            return _dropped(space, runs, begun, why)
        later = replace(begun, why=why[:500], after_ms=now_ms + BACKOFF_S[begun.tries - 1] * 1000)
        keep_fault(space.path, Fault(f"job {job.kind}", why, job.session, namespace=job.namespace))
        small_files.write(waits, json.dumps(asdict(later)).encode())
        small_files.remove(runs)
        return Done(later, why)
    small_files.remove(runs)
    return Done(begun)


def _dropped(space: Space, runs: Path, job: Job, why: str) -> Done:
    sentence = f"{GIVEN_UP} after {job.tries} tries: {why}"
    keep_fault(space.path, Fault(f"job {job.kind}", sentence, job.session, namespace=job.namespace))
    small_files.remove(runs)
    return Done(job, sentence, dropped=True)


def _do(space: Space, job: Job) -> None:
    """Call whoever does a kind of job."""
    if job.kind == jobs.FOLLOW:
        capture.follow(space, job)
    elif job.kind == jobs.SPOOL:
        capture.settle(space, job)
    elif job.kind == jobs.PROJECT:
        capture.take_project(space, job)
    elif job.kind == jobs.FILES:
        files.follow(AgentSpace(space, job.agent))
        session_cache.prune(space.path)
    elif job.kind == jobs.CLOSE:
        capture.follow(space, job)
        episode_writer.close(AgentSpace(space, job.agent), job.session)
    elif job.kind == jobs.CATCH_UP:
        episode_writer.catch_up(AgentSpace(space, job.agent))
    elif job.kind == jobs.HEALTH:
        if watch.due(space.path):
            watch.watch(space)
    else:
        raise InvalidArgument(
            f"expected a job of {', '.join(jobs.KINDS)}; got {job.kind!r}, of another version. Remove it."
        )


def _give_back(folder: Path, name: str) -> None:
    """Let a job that a dead process had begun wait again, unless it was left anew."""
    waits, runs = folder / f"{name}{jobs.WAITS}", folder / f"{name}{jobs.RUNS}"
    if waits.exists():
        small_files.remove(runs)
        return
    with small_files.ours(f"give back {runs}"):
        runs.replace(waits)
