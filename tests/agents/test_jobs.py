"""The list of what hooks left to do."""

from __future__ import annotations

from firsthand.agents import jobs
from firsthand.agents.jobs import Job

JOB = Job(jobs.FOLLOW, "default", "a", "claude-code:1", "claude-code", "t.jsonl")


def test_the_same_thing_left_twice_is_one_job(tmp_path):
    """A second leaving changes nothing, unless it is to be done sooner."""
    later = Job(jobs.CLOSE, "default", "a", "s", after_ms=9_000)
    sooner = Job(jobs.CLOSE, "default", "a", "s", after_ms=5_000)
    assert [jobs.leave(tmp_path, one) for one in (JOB, JOB, later, sooner, later)] == [True, False, True, True, False]
    assert jobs.pending(tmp_path) == (JOB, sooner)
    assert jobs.next_due_ms(tmp_path) == 0


def test_what_is_no_job_is_passed_over(tmp_path):
    """Files of another version, torn ones and strange names disturb nobody."""
    jobs.leave(tmp_path, JOB)
    for name, data in (("0-x.json", b"{"), ("0-y.json", b"[]"), ("z.txt", b""), ("0-w.json", b'{"nothing": 1}')):
        (jobs.folder(tmp_path) / name).write_bytes(data)
    assert jobs.pending(tmp_path) == (JOB,)
