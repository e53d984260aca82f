"""The command doctor: what is wrong with a memory, which stage it is, and what to type; and why one event was not used.

The invariant: what is broken comes first and in one screen; the exit code says it too:
0 when nothing is broken or degraded, 3 when a stage is, 5 when the namespace is no name.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from firsthand import InvalidArgument, Unresolvable, __version__, environment
from firsthand.agents.agent import agents_of
from firsthand.cli.arguments import Parser
from firsthand.cli.display import shown, table
from firsthand.cli.exits import DAMAGED, DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import store_of, to_read
from firsthand.health.doctor import examine
from firsthand.health.modes import name_failure
from firsthand.health.report import Finding, HealthReport
from firsthand.health.surroundings import DaemonState, Look
from firsthand.hosts.installation import installed
from firsthand.json_codec import to_json
from firsthand.server import hook_client, launcher

NAMES_SHOWN_MAX = 5
_COLOURS = {"broken": "bad", "degraded": "warn", "note": "faint"}
_MEASURES = ("PC", "SRR", "ATR", "effective", "contradiction")


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _doctor, "Check the memory; say what is broken and what to type.",
        """
        firsthand doctor                        exit code 3 when a stage is broken or degraded
        firsthand doctor --json --no-canary     for a script; nothing is written but the report itself
        firsthand doctor --agent web-3f2a1c --deep
        firsthand doctor --missed fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --session claude-code:5b0a6c1e
        """,
    )  # fmt: skip
    parser.add_argument("--agent", default="", metavar="NAME", help="measure this agent alone")
    parser.add_argument("--deep", action="store_true", help="verify the whole log and index, test every episode")
    parser.add_argument("--no-canary", action="store_true", help="send nothing through the hooks")
    parser.add_argument("--missed", metavar="POINTER", help="name why an agent did not use this event, with --session")
    parser.add_argument("--session", default="", metavar="NAME", help="with --missed: where it should have")


def _doctor(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.missed or chosen.session:
        return _missed(chosen, out)
    cwd = Path.cwd()
    places = installed(environment.home(), cwd, environment.host_folders())
    look = Look(
        agent=chosen.agent, deep=chosen.deep, canary=not chosen.no_canary, installed=places, cwd=str(cwd),
        daemon=_daemon(wanted=any(place.events for place in places)),
    )  # fmt: skip
    out.progress(lambda: f"looking at {store_of(chosen)}")
    report = examine(store_of(chosen), namespace=chosen.namespace, look=look)
    if out.as_json:
        out.json(to_json(report) | {"severity": report.severity, "line": report.line, "state": report.state})
    else:
        _say(report, out)
    return DONE if report.ok else DAMAGED


def _say(report: HealthReport, out: Output) -> None:
    """Say what was found, for people: the broken stage first, then what was measured."""
    looked = ", ".join(report.looked_at) or "nothing"
    out.line(f"memory is {out.style(report.state, 'good' if report.ok else 'bad')}  {shown(report.store)}")
    out.line(f"looked at {looked} ({report.milliseconds / 1000:.1f} s)")
    for finding in report.findings:
        _say_finding(finding, out)
    if report.agents:
        out.line()
        for line in table([("agent", "episodes", *_MEASURES), *_rows(report)], frozenset(range(1, 7))):
            out.line(line)
    lost = report.silent
    if lost.of:
        out.line(f"canaries lost in silence  {lost}")
    fired = [f"{name.removeprefix('fired ')} {at}" for name, at in report.figures.items() if name.startswith("fired ")]
    for name, figure in report.figures.items():
        if not name.startswith("fired "):
            out.line(f"{name}  {shown(figure)}")
    for line in fired[:NAMES_SHOWN_MAX]:
        out.line(f"last fired  {shown(line)}")
    if len(fired) > NAMES_SHOWN_MAX:
        out.line(f"... {len(fired) - NAMES_SHOWN_MAX} further hooks: --json")


def _say_finding(finding: Finding, out: Output) -> None:
    whose = f" {shown(finding.agent)}" if finding.agent else ""
    severity = out.style(str(finding.severity), _COLOURS[str(finding.severity)])
    out.line(f"{severity}  {finding.stage}{whose}: {shown(finding.what)}")
    if finding.mend:
        out.line(f"    -> {shown(finding.mend)}")


def _rows(report: HealthReport) -> Sequence[tuple[str, ...]]:
    return [
        (
            shown(agent.agent), str(agent.episodes),
            *map(str, (agent.coverage, agent.recall, agent.ambient, agent.effective, agent.contradiction)),
        )
        for agent in report.agents
    ]  # fmt: skip


def _missed(chosen: argparse.Namespace, out: Output) -> int:
    """Name the mode in which an agent failed to use an event in a session."""
    if not (chosen.missed and chosen.session):
        raise InvalidArgument("expected both --missed POINTER and --session NAME: what was not used, and where")
    with to_read(chosen) as memory:
        agents = [
            agent
            for agent in agents_of(memory)
            if chosen.agent in ("", agent.name) and chosen.session in agent.sessions()
        ]
        if not agents:
            whose = f"agent {chosen.agent!r}" if chosen.agent else "any agent"
            raise Unresolvable(f"expected a session of {whose}; {chosen.session!r} is none. See: firsthand agent list")
        failure = name_failure(agents[0], chosen.session, chosen.missed)
    if out.as_json:
        out.json({"mode": str(failure.mode), "sign": failure.sign, "mend": failure.mend, "agent": agents[0].name})
        return DONE
    out.line(f"{failure.mode}: {shown(failure.sign)}")
    out.line(f"    -> {shown(failure.mend)}")
    return DONE


def _daemon(*, wanted: bool) -> DaemonState:
    """Ask the server how it is; one that does not run is no fault, since the next hook starts one."""
    folder = environment.runtime_folder()
    answer = None
    with suppress(ConnectionError):  # none runs
        call = hook_client.Call(operation="status", version=__version__)
        answer = hook_client.ask(call, b"", folder, time.monotonic() + hook_client.LIMIT_MS / 1000)
    state = json.loads(answer) if answer is not None else {}
    alone = ""
    if not hook_client.server_wanted():
        alone = "FIRSTHAND_DAEMON=off"
    elif answer is None and len(hook_client.recent_starts(folder)) >= hook_client.STARTS_MAX:
        alone = f"{hook_client.STARTS_MAX} servers were started within an hour and none lived on; {folder}/hooks.log"
    return DaemonState(
        wanted=wanted, version=str(state.get("version", "")), expected=__version__,
        fault=str(state.get("fault", "")), alone=alone, broken=launcher.faults(),
    )  # fmt: skip
