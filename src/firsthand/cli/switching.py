"""The commands switch and jobs: what happens unasked, turned on or off; and what hooks left to do."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firsthand import KeptCalls, Memory, environment, pause, pending, resume, run_due, session_file, switch, user_file
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.errors import InvalidArgument
from firsthand.value import asdict

RUN_SECONDS_MAX = 600


def add(commands: Any, command: Any) -> None:
    """Register the commands."""
    one = command(
        commands, "switch", "switching:turn",
        "Turn on or off what happens unasked: for all projects, for one, or for one session.",
        """
        firsthand switch recall off                     for all projects of this user
        firsthand switch cues off --project .           for one project
        firsthand switch recall off --session claude-code:5b0a6c1e-0000-4000-8000-000000000001
        """,
    )  # fmt: skip
    one.add_argument("what", metavar="WHAT", help="record, preamble, cues, recall, actions, episodes, tool_output ...")
    one.add_argument("state", choices=("on", "off"), help="on or off")
    whom = one.add_mutually_exclusive_group()
    whom.add_argument("--user", action="store_true", help="for all projects; so when none is named")
    whom.add_argument("--project", metavar="DIR", help="for the project that this folder belongs to")
    whom.add_argument("--session", metavar="NAME", help="for one session, by its name in the log")
    two = command(
        commands, "jobs", "switching:list_jobs",
        "List what hooks left to do, or do it now; otherwise the daemon does.",
        """
        firsthand jobs
        firsthand jobs --run
        firsthand jobs --retry
        """,
    )  # fmt: skip
    two.add_argument("--run", action="store_true", help="do what is due, and record the calls that wait")
    two.add_argument("--retry", action="store_true", help="record the calls that were set aside too")


def add_pauses(commands: Any, command: Any) -> None:
    """Register the commands that take things off the record and put them on it again."""
    pausing = command(
        commands, "pause", "switching:pause_recording",
        "Record nothing of a project, a session or the next prompt.",
        """
        firsthand pause                       the project of this folder, until: firsthand resume
        firsthand pause --prompt              its next prompt, with the answer
        firsthand pause --session claude-code:5b0a6c1e-0000-4000-8000-000000000001
        """,
    )  # fmt: skip
    resuming = command(
        commands, "resume", "switching:resume_recording",
        "Record again what was paused.",
        """
        firsthand resume
        firsthand resume --session claude-code:5b0a6c1e-0000-4000-8000-000000000001
        """,
    )  # fmt: skip
    pausing.add_argument("--prompt", action="store_true", help="the next prompt in the project alone")
    for either in (pausing, resuming):
        whom = either.add_mutually_exclusive_group()
        whom.add_argument("--project", metavar="DIR", help="the project that this folder belongs to")
        whom.add_argument("--session", metavar="NAME", help="one session, by its name in the log")


def pause_recording(chosen: argparse.Namespace, out: Output) -> int:
    """Take what is named off the record."""
    store, session, project = _whose(chosen)
    pause(store, session=session, project=project, prompt=chosen.prompt)
    what = f"session {session}" if session else f"{'the next prompt in ' if chosen.prompt else ''}{project}"
    return _say(out, what, on=False)


def resume_recording(chosen: argparse.Namespace, out: Output) -> int:
    """Put what is named on the record again."""
    store, session, project = _whose(chosen)
    resume(store, session=session, project=project)
    return _say(out, f"session {session}" if session else str(project), on=True)


def _whose(chosen: argparse.Namespace) -> tuple[Path, str, Path | None]:
    store = Path(chosen.store) if chosen.store else environment.default_store()
    if chosen.session:
        return store, chosen.session, None
    project = Path(chosen.project).expanduser() if chosen.project else Path.cwd()
    if not project.is_dir():
        raise InvalidArgument(f"expected the folder of a project after --project; there is no folder {project}")
    return store, "", project.absolute()


def _say(out: Output, what: str, *, on: bool) -> int:
    if out.as_json:
        out.json({"what": what, "recorded": on})
    else:
        out.line(f"{'on' if on else 'off'} the record: {shown(what)}")
    return DONE


def turn(chosen: argparse.Namespace, out: Output) -> int:
    """Write a switch into the settings file of those it is for, and say which."""
    store = Path(chosen.store) if chosen.store else environment.default_store()
    place = session_file(store, chosen.session) if chosen.session else user_file(store)
    project = Path(chosen.project).expanduser() if chosen.project else None
    if project is not None and not project.is_dir():
        raise InvalidArgument(f"expected the folder of a project after --project; there is no folder {project}")
    switch(place, chosen.what, on=chosen.state == "on", project=project)
    if out.as_json:
        out.json({"file": str(place), "switch": chosen.what, "on": chosen.state == "on"})
    else:
        out.line(f"{chosen.what} is {chosen.state}: {shown(str(place))}")
    return DONE


def list_jobs(chosen: argparse.Namespace, out: Output) -> int:
    """List the jobs and the calls that wait; run and record them, or try those that were set aside again."""
    with to_write(chosen, create=True) as memory:
        kept = KeptCalls(memory.path)
        if chosen.retry:
            out.remark(f"{count(kept.retry(), 'call')} to be tried again")
        if chosen.run or chosen.retry:
            return _run(memory, out)
        waiting, calls, aside = pending(memory.path, memory.namespace), len(kept.waiting()), len(kept.set_aside())
    for job in waiting:
        words = f"{job.kind}  {shown(job.session or job.agent)}  tried {count(job.tries, 'time')}  {shown(job.why)}"
        out.json(_facts(job)) if out.as_json else out.line(words.rstrip())
    out.remark(f"{count(len(waiting), 'job')} to do")
    if calls:
        out.remark(f"{count(calls, 'call')} of hooks to record: {shown(str(kept.folder))}")
    if aside:
        out.remark(f"{count(aside, 'call')} set aside (--retry): {shown(str(kept.aside_folder))}")
    return DONE


def _run(memory: Memory, out: Output) -> int:
    """Record the calls that were kept, then run the jobs that are due, and tell what became of each."""
    from firsthand.server import spool
    from firsthand.server.hook_answers import answered

    calls = spool.record(memory, out.warn, time.monotonic() + RUN_SECONDS_MAX, answered)
    if calls.recorded or calls.failed or calls.busy:
        busy = "; another process holds the store" if calls.busy else ""
        out.remark(f"{count(calls.recorded, 'call')} recorded, {calls.failed:,} failed{busy}")
    done = run_due(memory, deadline_s=RUN_SECONDS_MAX)
    for outcome in done:
        facts = {**_facts(outcome.job), "fault": outcome.why, "dropped": outcome.dropped}
        words = f"{outcome.job.kind}  {shown(outcome.job.session or outcome.job.agent)}  {shown(outcome.why) or 'done'}"
        out.json(facts) if out.as_json else out.line(words)
    slept = [*_sleep(memory, out)]
    out.remark(f"{count(len(done) + len(slept), 'job')} done or tried")
    failed = calls.failed or calls.busy or any(outcome.why for outcome in done) or not all(slept)
    return STORE_FAILED if failed else DONE


def _sleep(memory: Memory, out: Output) -> Iterator[bool]:
    """Do the sleeps that are due, and yield of each whether it was finished."""
    from firsthand import sleep, sleeps_waiting

    for job in sleeps_waiting(memory.path, memory.namespace):
        if job.after_ms <= time.time() * 1000:
            slept = sleep(memory, job.agent, cwd=job.cwd)
            said = {**_facts(job), "finished": slept.finished, "pointer": slept.pointer}
            words = f"{job.kind}  {shown(job.agent)}  {'done' if slept.finished else 'not finished'}"
            out.json(said) if out.as_json else out.line(words)
            yield slept.finished


def _facts(job: Any) -> dict[str, Any]:
    told: dict[str, Any] = asdict(job)
    return told
