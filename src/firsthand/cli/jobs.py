"""The command agent jobs: what hooks left to do."""

from __future__ import annotations

import argparse
import time
from typing import Any

from firsthand import Memory
from firsthand.agents.jobs import pending
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.health.job_runner import run_due
from firsthand.json_codec import to_json

RUN_SECONDS_MAX = 600


def add(group: Parser) -> None:
    """Add the command to the group agent."""
    command = group.command(
        "jobs", _jobs, "List what hooks left to do, or do it now.",
        """
        firsthand agent jobs
        firsthand agent jobs --run
        firsthand agent jobs --retry
        """,
    )  # fmt: skip
    command.add_argument("--run", action="store_true", help="do what is due, and record the calls that wait")
    command.add_argument("--retry", action="store_true", help="record the calls that were set aside too")


def _jobs(chosen: argparse.Namespace, out: Output) -> int:
    """List the jobs and the calls that wait; run and record them, or try those that were set aside again."""
    with to_write(chosen, create=True) as memory:
        calls = KeptCalls(memory.path)
        if chosen.retry:
            out.remark(f"{count(calls.retry(), 'call')} to be tried again")
        if chosen.run or chosen.retry:
            return _run(memory, out)
        jobs, waiting, aside = pending(memory.path, memory.namespace), len(calls.waiting()), len(calls.set_aside())
    for job in jobs:
        _say(out, job, f"tried {count(job.tries, 'time')}  {shown(job.why)}")
    out.remark(f"{count(len(jobs), 'job')} to do")
    if waiting:
        out.remark(f"{count(waiting, 'call')} of hooks to record: {shown(str(calls.folder))}")
    if aside:
        out.remark(f"{count(aside, 'call')} set aside (--retry): {shown(str(calls.aside_folder))}")
    return DONE


def _run(memory: Memory, out: Output) -> int:
    """Record the calls that were kept, then run the jobs that are due, and tell what became of each."""
    from firsthand.server import spool
    from firsthand.server.hook_answers import answered

    calls = spool.record(memory, out.warn, time.monotonic() + RUN_SECONDS_MAX, answered)
    if calls.recorded or calls.failed or calls.busy:
        busy = "; another process holds the store" if calls.busy else ""
        out.remark(f"{count(calls.recorded, 'call')} recorded, {calls.failed:,} failed{busy}")
    outcomes = run_due(memory, deadline_s=RUN_SECONDS_MAX)
    for outcome in outcomes:
        _say(out, outcome.job, shown(outcome.why) or "done", fault=outcome.why, dropped=outcome.dropped)
    out.remark(f"{count(len(outcomes), 'job')} done or tried")
    failed = calls.failed or calls.busy or any(outcome.why for outcome in outcomes)
    return STORE_FAILED if failed else DONE


def _say(out: Output, job: Any, words: str, **facts: object) -> None:
    if out.as_json:
        out.json({**to_json(job), **facts})
    else:
        out.line(f"{job.kind}  {shown(job.session or job.agent)}  {words}".rstrip())
