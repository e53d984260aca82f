"""The commands agent switch and agent jobs: what happens unasked, on or off; and what hooks left to do."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument, Memory, environment
from firsthand.agents.jobs import pending
from firsthand.agents.settings import switch, user_file
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.health.job_runner import run_due
from firsthand.value import asdict

RUN_SECONDS_MAX = 600


def add(group: Parser) -> None:
    """Add the commands to the group agent."""
    command = group.command(
        "switch", _switch, "Turn on or off what happens unasked.",
        """
        firsthand agent switch recall off                     for all projects of this user
        firsthand agent switch cues off --project .           for one project
        """,
    )  # fmt: skip
    command.add_argument("what", metavar="WHAT", help="record, preamble, cues, recall, actions, episodes, ...")
    command.add_argument("state", choices=("on", "off"), help="on or off")
    command.add_argument("--project", metavar="DIR", help="for the project of this folder; default: for all")
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


def _switch(chosen: argparse.Namespace, out: Output) -> int:
    """Write a switch into the settings file of those it is for, and say which."""
    store = Path(chosen.store) if chosen.store else environment.default_store()
    file = user_file(store)
    project = Path(chosen.project).expanduser() if chosen.project else None
    if project is not None and not project.is_dir():
        raise InvalidArgument(f"expected the folder of a project after --project; there is no folder {project}")
    switch(file, chosen.what, on=chosen.state == "on", project=project)
    if out.as_json:
        out.json({"file": str(file), "switch": chosen.what, "on": chosen.state == "on"})
    else:
        out.line(f"{chosen.what} is {chosen.state}: {shown(str(file))}")
    return DONE


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
        out.json({**asdict(job), **facts})
    else:
        out.line(f"{job.kind}  {shown(job.session or job.agent)}  {words}".rstrip())
