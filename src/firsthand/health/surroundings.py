"""Looks at what stands around a store: hooks, the daemon, jobs, settings.

The invariant: that something runs is read from what it left behind (the time a hook
last fired, the events that came of it), never from its being installed. An installed
hook that does not fire, and a hook that fires while nothing of its sessions is
written, are both found: the paper's pipeline was of the second kind for five days
(recall-problem 5.2).
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which

from firsthand.agents import faults, health_line, jobs, settings
from firsthand.agents.installation import Installed
from firsthand.agents.pulse import Fired
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.health import rows
from firsthand.health.report import Finding, Severity, Stage
from firsthand.hosts.hook import HookEvent
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.unasked import secret_library
from firsthand.value import value

SILENT_S = 86_400
"""A hook that fired so long before the last event of its host's sessions does not fire any more."""
WRITTEN_WITHIN_S = 900
"""So long after a prompt something of its session stands in the log."""
OVERDUE_S = 3_600
SLEEP_OVERDUE_S = 86_400
"""A machine that is off at night sleeps at the next pause of the day."""
FAULTS_RECENT_S = 86_400
SPOOL_OLD_S = 120
"""A transcript is waited for half as long."""
_MICROSECONDS = 1_000_000
_NEVER_MS = 1 << 62


@value
class DaemonState:
    """What is known of the daemon, from whoever can ask it.

    Attributes:
        wanted: True when hooks are installed, which ask it first.
        version, expected: which it says it is (empty if it did not answer), and which this is.
        fault: what it said last went wrong; empty for nothing.
        alone: why each hook is answered by a process of its own; empty when they ask it.
        broken: what is wrong with the program that hosts run.
    """

    wanted: bool = False
    version: str = ""
    expected: str = ""
    fault: str = ""
    alone: str = ""
    broken: tuple[str, ...] = ()


def of_installed(places: Sequence[Installed], at: Sequence[Fired], space: Space | None) -> list[Finding]:
    """Look at the settings of hosts that are to run hooks, and whether what they name is there."""
    findings: list[Finding] = []
    ours = [place for place in places if place.events or place.fault]
    if not any(place.events for place in places) and not at:
        what = "no host has hooks of Firsthand: nothing is recorded or shown by itself"
        return [Finding(Stage.HOOKS, Severity.NOTE, what, "firsthand install HOST")]
    for place in ours:
        if place.fault:
            findings.append(Finding(Stage.HOOKS, Severity.DEGRADED, place.fault, "mend the file by hand"))
        elif gone := missing(place.command):
            what = f"{place.where} runs {gone}, which is not there: no hook of {place.host} can run"
            findings.append(Finding(Stage.HOOKS, Severity.BROKEN, what, place.mend))
        elif not place.current:
            what = f"{place.where} has hooks of another version of Firsthand"
            findings.append(Finding(Stage.HOOKS, Severity.DEGRADED, what, place.mend))
        elif _is_held(place, at):
            what = f"{place.host} holds back hooks of firsthand in {place.where}: {place.waits}"
            mend = f"open {place.host}, type /hooks and trust those of firsthand"
            findings.append(Finding(Stage.HOOKS, _severity(place.host, space), what, mend))
        elif not any(fired.host == place.host for fired in at):
            severity = _severity(place.host, space)
            what = f"hooks of {place.host} are installed in {place.where} and have never fired"
            findings.append(
                Finding(Stage.HOOKS, severity, what, f"begin a session of {place.host}; it may ask to trust them")
            )
    return findings + _of_doubles([place for place in ours if place.events])


def _of_doubles(places: Sequence[Installed]) -> list[Finding]:
    """Look for hosts that are told of our hooks twice."""
    findings = []
    for host in dict.fromkeys(place.host for place in places):
        where = [str(place.where) for place in places if place.host == host]
        if len(where) > 1:
            what = f"every hook of {host} runs {len(where)} times, by {' and '.join(where)}; it is answered once"
            findings.append(Finding(Stage.HOOKS, Severity.NOTE, what, f"firsthand install {host} --remove, in one"))
    of_project = {place.host for place in places if place.scope == "project"}
    if {"vscode", "copilot"} <= of_project:
        what = "VS Code runs the hooks of vscode and of copilot: what happens in it is recorded in two sessions"
        findings.append(Finding(Stage.HOOKS, Severity.DEGRADED, what, "firsthand install copilot --remove --project ."))
    return findings


def _is_held(installed: Installed, at: Sequence[Fired]) -> bool:
    """Say whether a host holds hooks back; of one that fires, how it knows a changed hook may have changed."""
    if installed.held.untrusted or installed.held.off:
        return True
    written_s = installed.where.stat().st_mtime if installed.held.changed else 0.0
    fires = any(fired.host == installed.host and fired.moment.microseconds / 1e6 > written_s for fired in at)
    return bool(installed.held.changed) and not fires


def _severity(host: str, space: Space | None) -> Severity:
    """Rate hooks that do not run: a host whose sessions are in the log is one that is used."""
    active = space is not None and rows.last_of_host(space, host) is not None
    return Severity.DEGRADED if active else Severity.NOTE


def missing(command: str) -> str:
    """Name the program or script of a command that is not there; empty when all are."""
    parts = commands(command)
    if not parts:
        return command
    for words in parts:
        paths = [word for number, word in enumerate(words) if number == 0 or word.endswith(".py")]
        gone = [path for path in paths if not (Path(path).exists() if "/" in path else which(path))]
        if gone:
            return gone[0]
    return ""


def commands(text: str) -> list[list[str]]:
    """Take apart what a settings file runs, several joined by ``; ``; nothing for what no shell could read."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    split: list[list[str]] = [[]]
    for word in words:
        split[-1].append(word.removesuffix(";"))
        if word.endswith(";"):
            split.append([])
    return [command for command in split if command]


def of_firing(space: Space, at: Sequence[Fired], now: Moment) -> list[Finding]:
    """Compare when hooks last fired with what was written of their hosts' sessions."""
    findings: list[Finding] = []
    for host in sorted({hook.host for hook in at}):
        times = {hook.event: hook.moment.microseconds for hook in at if hook.host == host}
        newest, prompt = max(times.values()), times.get(HookEvent.PROMPT)
        written = rows.last_of_host(space, host)
        again = f"firsthand install {host}"
        if written is not None and written - newest > SILENT_S * _MICROSECONDS:
            what = f"no hook of {host} has fired since {Moment(newest)}, but its sessions go on: {Moment(written)}"
            findings.append(Finding(Stage.HOOKS, Severity.BROKEN, what, again))
        elif prompt is not None and newest - prompt > SILENT_S * _MICROSECONDS:
            what = (
                f"the prompt hook of {host} fired last at {Moment(prompt)}, others since: nothing is recalled unasked"
            )
            findings.append(Finding(Stage.HOOKS, Severity.DEGRADED, what, again))
        if prompt is None or (now.microseconds - prompt) < WRITTEN_WITHIN_S * _MICROSECONDS:
            continue
        if written is None or prompt - written > WRITTEN_WITHIN_S * _MICROSECONDS:
            since = "ever" if written is None else f"since {Moment(written)}"
            what = f"hooks of {host} fire (last {Moment(prompt)}), but nothing of its sessions was written {since}"
            findings.append(Finding(Stage.LOG, Severity.BROKEN, what, "firsthand agent jobs --run; firsthand import"))
    return findings


def of_jobs(store: Path, now: Moment, namespace: str | None = None) -> list[Finding]:
    """Look at what hooks left to do (in a namespace): overdue, failing, given up; and at what waits to be recorded."""
    findings: list[Finding] = []
    waiting = jobs.pending(store, namespace)
    failing = [job for job in waiting if job.tries and job.why]
    others = [job for job in waiting if job.kind != jobs.SLEEP]
    overdue = [job for job in others if now.milliseconds - _due_ms(store, job) > OVERDUE_S * 1000]
    findings += _of_sleeps(waiting, now)
    if failing:
        what = f"{len(failing):,} of {len(waiting):,} jobs fail, such as {failing[0].kind}: {failing[0].why}"
        findings.append(Finding(Stage.JOBS, Severity.DEGRADED, what, "firsthand agent jobs --run"))
    elif overdue:
        what = f"{len(overdue):,} jobs should have run an hour ago, the first is {overdue[0].kind}"
        findings.append(Finding(Stage.JOBS, Severity.DEGRADED, what, "firsthand agent jobs --run"))
    recent = [
        fault
        for fault in faults.faults(store, namespace)
        if fault.time is None or now.microseconds - fault.time.microseconds < FAULTS_RECENT_S * _MICROSECONDS
    ]
    dropped = [fault for fault in recent if faults.GIVEN_UP in fault.text]
    if dropped:
        what = f"{len(dropped):,} jobs were given up within a day, the last: {dropped[-1].where}: {dropped[-1].text}"
        findings.append(Finding(Stage.JOBS, Severity.BROKEN, what, "firsthand agent jobs shows what is left"))
    elif recent:
        what = f"{len(recent):,} faults of hooks within a day, the last: {recent[-1].where}: {recent[-1].text}"
        findings.append(Finding(Stage.HOOKS, Severity.DEGRADED, what, "firsthand agent jobs"))
    return findings + _of_calls(store, now) + _of_waiting(store / "hooks" / "waiting", now)


def _of_sleeps(waiting: Sequence[jobs.Job], now: Moment) -> list[Finding]:
    """Look for agents whose sleep is switched on and did not happen for a day."""
    findings = []
    for job in waiting:
        late_s = (now.milliseconds - job.after_ms) / 1000
        if job.kind != jobs.SLEEP or late_s < SLEEP_OVERDUE_S:
            continue
        tried = f"; it was begun {job.tries} times and not finished" if job.tries else "; nothing was idle enough"
        what = f"a sleep was due {health_line.age(late_s)} ago and is not done{tried}"
        mend = f"firsthand agent sleep --agent {shlex.quote(job.agent)}"
        findings.append(Finding(Stage.JOBS, Severity.DEGRADED, what, mend, job.agent))
    return findings


def _due_ms(store: Path, job: jobs.Job) -> int:
    """Say since when a job should be done: since it was left, or from when on it may be; gone ones are not due."""
    left = []
    for ends in (jobs.WAITS, jobs.RUNS):
        with suppress(FileNotFoundError):
            left.append(int((jobs.folder(store) / f"{job.name}{ends}").stat().st_mtime * 1000))
    return max(job.after_ms, *left) if left else _NEVER_MS


def _of_calls(store: Path, now: Moment) -> list[Finding]:
    """Look for calls of hooks that are not in the log: those that wait, however short, and those set aside."""
    calls = KeptCalls(store)
    waiting, aside, findings = calls.waiting(), calls.set_aside(), []
    if waiting:
        oldest = health_line.age(now.microseconds / 1e6 - min(map(_kept_s, waiting)))
        what = f"{len(waiting):,} calls of hooks wait in {calls.folder} to be recorded, the oldest for {oldest}"
        findings.append(Finding(Stage.LOG, Severity.DEGRADED, what, "firsthand agent jobs --run"))
    if aside:
        what = f"{len(aside):,} calls of hooks could not be recorded and are set aside in {calls.aside_folder}"
        findings.append(Finding(Stage.LOG, Severity.BROKEN, what, "firsthand agent jobs --retry"))
    return findings


def _kept_s(path: Path) -> float:
    """Say when a call was kept, in seconds since 1970; now for one that was recorded meanwhile."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return time.time()


def _of_waiting(folder: Path, now: Moment) -> list[Finding]:
    """Look for sessions whose transcript did not come, and what hooks were told of them was not recorded instead."""
    files = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    old = [path for path in files if now.microseconds / 1e6 - path.stat().st_mtime > SPOOL_OLD_S]
    if not old:
        return []
    what = f"what hooks were told of {len(old):,} sessions waits in {folder} for a transcript that did not come"
    return [Finding(Stage.LOG, Severity.DEGRADED, what, "firsthand agent jobs --run")]


def of_settings(store: Path, cwd: str) -> list[Finding]:
    """Look at the switches: files that cannot be read, and mechanisms that are off."""
    chosen = settings.load(store, cwd)
    findings = [Finding(Stage.SETTINGS, Severity.DEGRADED, fault, "mend the file") for fault in chosen.faults]
    off = [
        name for name in ("record", "preamble", "cues", "recall", "actions", "episodes") if not getattr(chosen, name)
    ]
    if off:
        what = f"switched off: {', '.join(off)}"
        if "cues" in off and "recall" in off:
            what += "; nothing reminds the agent of what it does not think of itself (recognition failure)"
        findings.append(Finding(Stage.SETTINGS, Severity.NOTE, what, f"firsthand agent switch {off[0]} on"))
    if chosen.redact and not secret_library.is_installed():
        what = "secrets are replaced by their shape alone; more vendors' keys are known with the extra"
        findings.append(Finding(Stage.SETTINGS, Severity.NOTE, what, f"pip install '{secret_library.EXTRA}'"))
    return findings


def of_daemon(seen: DaemonState | None) -> list[Finding]:
    """Look at the server of hooks. One that does not run is no fault: the next hook starts it."""
    if seen is None or not seen.wanted:
        return []
    findings = [Finding(Stage.HOOKS, Severity.BROKEN, what, "firsthand install HOST") for what in seen.broken]
    if seen.alone:
        what = f"no server answers hooks ({seen.alone}): each is answered by a process of its own, and slower"
        findings.append(Finding(Stage.DAEMON, Severity.NOTE, what, "firsthand serve"))
    stop = "firsthand serve --stop; the next hook starts another"
    if seen.version not in ("", seen.expected):
        what = f"the server is of version {seen.version}, this is {seen.expected}"
        findings.append(Finding(Stage.DAEMON, Severity.DEGRADED, what, stop))
    if seen.fault:
        findings.append(Finding(Stage.DAEMON, Severity.DEGRADED, seen.fault, stop))
    return findings
