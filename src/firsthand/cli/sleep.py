"""The command agent sleep: go over what came since the last one, show its page, or print a line for a timer."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from functools import partial
from pathlib import Path

from firsthand import Agent, InvalidArgument, Memory, environment
from firsthand.agents.agent import agents_of
from firsthand.agents.sleep import Slept, sleep
from firsthand.agents.sleep_log import last_page, sleeps
from firsthand.cli.argument_values import decimal
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.cli.stores import agent_here, to_read, to_write
from firsthand.value import asdict

QUIET_SECONDS = 900.0
NICE = 10
SECONDS_MIN = 0.001


def add(group: Parser) -> None:
    """Add the command to the group agent."""
    command = group.command(
        "sleep", _sleep, "Go over what came since the last sleep; write summaries.",
        """
        firsthand agent sleep                            the agent of this folder, now
        firsthand agent sleep --all --seconds 120        every agent; no step is begun after two minutes
        firsthand agent sleep --show                     the page of the last sleep
        firsthand agent sleep --timer 03:30              a line for a crontab: every night
        """,
    )  # fmt: skip
    option = command.add_argument
    whose = command.add_mutually_exclusive_group()
    whose.add_argument("--agent", default="", metavar="NAME", help="whose memory; default: the agent of this folder")
    whose.add_argument("--all", action="store_true", help="every agent of the namespace, one after the other")
    option("--project", default="", metavar="DIR", help="whose settings count; default: this folder")
    option(
        "--seconds", type=decimal(0.001, 86_400), default=600.0, metavar="N",
        help="after so long nothing more is begun, default 600",
    )  # fmt: skip
    option("--ended", action="store_true", help="take every session as ended; else those quiet for 15 minutes")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="only show the page of the last sleep")
    what.add_argument("--timer", default="", metavar="HH:MM", help="only print a line for a crontab")


def _sleep(chosen: argparse.Namespace, out: Output) -> int:
    """Sleep, or show, or print the line."""
    if chosen.timer:
        return _timer(chosen, out)
    if chosen.show:
        return _show(chosen, out)
    by = time.monotonic() + chosen.seconds
    done: list[Slept] = []
    with to_write(chosen, create=False) as memory:
        for agent in _agents(memory, chosen):
            out.progress(partial(shown, f"{agent.name} sleeps"))
            left = by - time.monotonic()
            if done and left <= 0:
                out.warn(
                    f"firsthand: the time was up; {shown(agent.name)} and those behind it are left for the next time"
                )
                break
            done.append(sleep(
                memory, agent, seconds_max=max(left, SECONDS_MIN), quiet_seconds=0.0 if chosen.ended else QUIET_SECONDS,
                cwd=_project(chosen),
            ))  # fmt: skip
            _say(done[-1], out)
    if not done:
        out.remark("no agent has anything in this store")
        return NOTHING_FOUND
    return STORE_FAILED if any(step.state == "failed" for slept in done for step in slept.steps) else DONE


def _say(slept: Slept, out: Output) -> None:
    if out.as_json:
        out.json({
            "agent": slept.agent, "time": str(slept.time), "since": slept.since, "through": slept.through,
            "seconds": round(slept.seconds, 3), "finished": slept.finished, "pointer": slept.pointer,
            "steps": [asdict(step) for step in slept.steps], "gained": slept.gained, "lost": slept.lost,
        })  # fmt: skip
    else:
        out.line(shown(slept.page, lines=True).rstrip("\n"))
    if not slept.finished:
        out.warn("firsthand: the sleep was not finished; the next one does what is left")


def _show(chosen: argparse.Namespace, out: Output) -> int:
    """Show the last page of each agent, and when it slept."""
    nights = 0
    with to_read(chosen) as memory:
        for agent in _agents(memory, chosen):
            last = next(sleeps(agent), None)
            page = last_page(agent)
            nights += last is not None
            if out.as_json:
                row = None if last is None else {**asdict(last), "time": str(last.time), "steps": dict(last.steps)}
                out.json({"agent": agent.name, "last": row, "page": page})
            elif page is not None:
                out.line(shown(page, lines=True).rstrip("\n"))
            elif last is not None:
                out.line(f"{shown(agent.name)} slept {clock(last.time)}; its page was erased")
    if not nights:
        out.remark("it has not slept yet: firsthand agent sleep")
    return DONE if nights else NOTHING_FOUND


def _timer(chosen: argparse.Namespace, out: Output) -> int:
    """Print a line for a crontab; it is the user who puts it there."""
    if chosen.all:
        raise InvalidArgument("a timer is of one agent, since each may sleep at another time; name it with --agent")
    store = Path(chosen.store) if chosen.store else environment.default_store()
    with to_read(chosen) as memory:
        namespace, agent = memory.namespace, _agents(memory, chosen)[0].name
    try:
        at = time.strptime(chosen.timer.encode("ascii").decode(), "%H:%M")
    except ValueError as error:
        raise InvalidArgument(f"expected a time of day such as 03:30; got {chosen.timer!r:.40}") from error
    # Nothing that lies in a folder where it happens to stand is imported (-P); a name may begin with a dash (=).
    words = ["nice", "-n", str(NICE), sys.executable, "-P", "-m", "firsthand", "agent", "sleep", "--quiet"]
    words += [f"--store={store.absolute()}", f"--namespace={namespace}", f"--agent={agent}"]
    words += [f"--project={_project(chosen)}"]
    line = f"{at.tm_min} {at.tm_hour} * * * {shlex.join(words)}".replace("%", r"\%")  # a bare % ends a crontab's line
    if out.as_json:
        out.json({"crontab": line})
    else:
        out.line(shown(line))
    out.remark("put it into your crontab: crontab -e")
    return DONE


def _agents(memory: Memory, chosen: argparse.Namespace) -> tuple[Agent, ...]:
    if chosen.all:
        return agents_of(memory)
    return (agent_here(memory, chosen.agent, _project(chosen)),)


def _project(chosen: argparse.Namespace) -> str:
    return str(Path(chosen.project).absolute() if chosen.project else Path.cwd())
