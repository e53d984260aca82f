"""The doing of what hooks left: once, again when it failed, and not for ever."""

from __future__ import annotations

import fcntl
import os

import pytest

from firsthand import Memory
from firsthand.agents import jobs
from firsthand.agents.faults import faults
from firsthand.agents.jobs import Job
from firsthand.health.job_runner import BACKOFF_S, TRIES_MAX, run_due
from firsthand.value import replace


@pytest.fixture
def bad(memory, tmp_path) -> Job:
    """A job that fails: its transcript is none."""
    path = tmp_path / "t.jsonl"
    path.write_text("what is this?\n" * 3)
    job = Job(jobs.FOLLOW, memory.namespace, "a", "claude-code:1", "claude-code", str(path))
    assert jobs.leave(memory.path, job)
    return job


def test_a_job_that_fails_is_tried_later_and_given_up_in_the_end(memory, bad):
    """Each failure is kept, each pause is longer, and after the last try the job is gone and said to be."""
    now = 1_000
    for number in range(TRIES_MAX):
        assert not number or run_due(memory, now_ms=now - 1) == ()
        (done,) = run_due(memory, now_ms=now)
        assert "SourceRejected" in done.why
        assert done.dropped == (number == TRIES_MAX - 1)
        now += BACKOFF_S[number] * 1000
    assert jobs.pending(memory.path) == ()
    assert [one.where for one in faults(memory.path)] == ["job follow"] * TRIES_MAX
    assert "given up" in faults(memory.path)[-1].text


def test_a_job_whose_process_died_is_run_again_and_dropped_when_it_always_dies(memory, bad):
    """What a dead process had begun is given back with its tries counted."""
    folder = jobs.folder(memory.path)
    waits = folder / f"{bad.name}.json"
    waits.rename(folder / f"{bad.name}.running")
    assert run_due(memory, now_ms=1)[0].job.tries == 1
    waits.unlink()
    jobs.leave(memory.path, replace(bad, tries=TRIES_MAX))
    (done,) = run_due(memory, now_ms=1)
    assert (done.dropped, done.why) == (True, f"given up after {TRIES_MAX} tries: its process ended each time")


def test_one_process_runs_jobs_at_a_time_and_only_of_its_namespace(memory, bad):
    """While another holds the lock nothing is run; a job of another namespace waits for its own memory."""
    descriptor = os.open(jobs.folder(memory.path) / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert run_due(memory, now_ms=1) == ()
    os.close(descriptor)
    with Memory.open(memory.path, namespace="other") as other:
        assert run_due(other, now_ms=1) == ()
    assert len(run_due(memory, now_ms=1)) == 1


def test_a_job_of_an_unknown_kind_is_a_fault(memory):
    """What another version left is named, and given up in the end."""
    jobs.leave(memory.path, Job("dance", memory.namespace))
    assert "expected a job of follow" in run_due(memory, now_ms=1)[0].why
