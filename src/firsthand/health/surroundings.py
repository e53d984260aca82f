"""Checks of what stands around a store: room, hooks, the daemon, jobs, settings.

The invariant: that something runs is read from what it left behind (the time a hook
last fired, the events that came of it), never from its being installed. An installed
hook that does not fire, and a hook that fires while nothing of its sessions is
written, are both found: the paper's pipeline was of the second kind for five days
(recall-problem 5.2).
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

from firsthand.agents import faults, health_line, jobs, settings
from firsthand.agents.pulse import Fired
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.environment import extra_command
from firsthand.event import Kind
from firsthand.health.report import Finding, Stage, broken, degraded, note
from firsthand.hosts.hook import HookEvent
from firsthand.hosts.installation import Installed
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.storage import over_budget
from firsthand.unasked import secret_library
from firsthand.value import value

DISK_BROKEN_BYTES, DISK_LOW_BYTES, WAL_LARGE_BYTES = 16 << 20, 256 << 20, 512 << 20
SILENT_S = 86_400
"""A hook that fired so long before the last event of its host's sessions does not fire any more."""
WRITTEN_WITHIN_S = 900
"""So long after a prompt something of its session stands in the log."""
OVERDUE_S = 3_600
FAULTS_RECENT_S = 86_400
SPOOL_OLD_S = 120
"""A transcript is waited for half as long."""
_WORDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)
_RUN = "firsthand agent jobs --run"


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


@value
class Look:
    """What a look is to look at.

    Attributes:
        agent: measure this one alone; empty for all.
        deep: verify the whole log and index, and test every episode.
        canary: send one through the pipeline.
        keep: keep the look for `health_line.line` and the history.
        measures: of each agent, by recalling its episodes.
        installed: what hosts are told of hooks; None: not looked at.
        daemon: what is known of it; None: not looked at.
        cwd: the folder whose project settings count.
        free_bytes: on the disk; None asks the system.
    """

    agent: str = ""
    deep: bool = False
    canary: bool = True
    keep: bool = True
    measures: bool = True
    installed: Sequence[Installed] | None = None
    daemon: DaemonState | None = None
    cwd: str = ""
    free_bytes: int | None = None


@value
class Around:
    """What stands around a store.

    Attributes:
        space: it opened; None where it cannot be.
        fired: when each hook fired last.
    """

    root: Path
    now: Moment
    look: Look = Look()
    namespace: str | None = None
    space: Space | None = None
    fired: Sequence[Fired] = ()

    @property
    def now_s(self) -> float:
        """The clock, in seconds since 1970."""
        return self.now.microseconds / 1e6

    def last_of_host(self, host: str) -> float | None:
        """Say when something of a host's sessions was last written, in seconds since 1970; None for never."""
        last = None if self.space is None else self.space.census().last_taken(f"{host}:", _WORDS)
        return None if last is None else last / 1e6


def free_bytes(seen: Around) -> int:
    """Say how much is left on the disk below a store."""
    return shutil.disk_usage(seen.root).free if seen.look.free_bytes is None else seen.look.free_bytes


def room(seen: Around) -> Iterator[Finding]:
    """Look at the disk below a store."""
    free = free_bytes(seen)
    full = over_budget(seen.root, settings.load(seen.root).disk_budget_mb)
    if full:
        yield note(Stage.STORE, full, "firsthand store prune")
    wal = seen.root / "firsthand.db-wal"
    if free < DISK_LOW_BYTES:
        finding = broken if free < DISK_BROKEN_BYTES else degraded
        yield finding(Stage.STORE, f"{free >> 20:,} MB are left on the disk of {seen.root}", "free some space")
    if wal.exists() and wal.stat().st_size > WAL_LARGE_BYTES:
        what = f"{wal.stat().st_size >> 20:,} MB wait to be moved into the database: a reader has it open for long"
        yield note(Stage.STORE, what, "end processes that were left over")


# hooks and the daemon ----------------------------------------------------------------------------------


def hooks(seen: Around) -> Iterator[Finding]:
    """Look at the settings of hosts that are to run hooks, and whether what they name is there."""
    places = seen.look.installed or ()
    if not any(place.events for place in places) and not seen.fired:
        yield note(
            Stage.HOOKS, "no host has hooks of Firsthand: nothing is recorded by itself", "firsthand install HOST"
        )
    for place in places:
        yield from _place(place, seen) if place.events or place.fault else ()
    of_project = {place.host for place in places if place.scope == "project" and place.events}
    if {"vscode", "copilot"} <= of_project:
        what = "VS Code runs the hooks of vscode and of copilot: what happens in it is recorded in two sessions"
        yield degraded(Stage.HOOKS, what, "firsthand uninstall copilot --project .")
    for host in dict.fromkeys(place.host for place in places):
        where = [str(place.where) for place in places if place.host == host and place.events]
        if len(where) > 1:
            what = f"every hook of {host} runs {len(where)} times, by {' and '.join(where)}; it is answered once"
            yield note(Stage.HOOKS, what, f"firsthand uninstall {host}, in one")


def _place(place: Installed, seen: Around) -> Iterator[Finding]:
    """Look at one settings file; hooks that do not run are worse for a host whose sessions are in the log."""
    finding = note if seen.last_of_host(place.host) is None else degraded
    if place.fault:
        yield degraded(Stage.HOOKS, place.fault, "mend the file by hand")
    elif gone := missing(place.command):
        what = f"{place.where} runs {gone}, which is not there: no hook of {place.host} can run"
        yield broken(Stage.HOOKS, what, place.mend)
    elif not place.current:
        yield degraded(Stage.HOOKS, f"{place.where} has hooks of another version of Firsthand", place.mend)
    elif _is_held(place, seen.fired):
        what = f"{place.host} holds back hooks of firsthand in {place.where}: {place.waits}"
        yield finding(Stage.HOOKS, what, f"open {place.host}, type /hooks and trust those of firsthand")
    elif not any(hook.host == place.host for hook in seen.fired):
        written, installed_s = seen.last_of_host(place.host), place.where.stat().st_mtime
        # What was imported right after an installation is of sessions before it.
        finding = degraded if written is not None and written - installed_s > SILENT_S else note
        what = f"hooks of {place.host} are installed in {place.where} and have never fired"
        yield finding(Stage.HOOKS, what, f"begin a session of {place.host}; it may ask to trust them")


def _is_held(place: Installed, fired: Sequence[Fired]) -> bool:
    """Say whether a host holds hooks back; of one that fires, how it knows a changed hook may have changed."""
    if place.held.untrusted or place.held.off or not place.held.changed:
        return bool(place.held.untrusted or place.held.off)
    written_s = place.where.stat().st_mtime
    return not any(hook.host == place.host and hook.moment.microseconds / 1e6 > written_s for hook in fired)


def missing(command: str) -> str:
    """Name the program or script of a command that is not there; empty when all are."""
    parts = commands(command)
    paths = [word for words in parts for at, word in enumerate(words) if at == 0 or word.endswith(".py")]
    gone = [path for path in paths if not (Path(path).exists() if "/" in path else which(path))]
    return next(iter(gone), "") if parts else command


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


def firing(seen: Around) -> Iterator[Finding]:
    """Compare when hooks last fired with what was written of their hosts' sessions."""
    for host in sorted({hook.host for hook in seen.fired}) if seen.space is not None else ():
        times = {hook.event: hook.moment.microseconds / 1e6 for hook in seen.fired if hook.host == host}
        newest, prompt, written = max(times.values()), times.get(HookEvent.PROMPT), seen.last_of_host(host)
        again = f"firsthand install {host}"
        if written is not None and written - newest > SILENT_S:
            what = f"no hook of {host} has fired since {_at(newest)}, but its sessions go on: {_at(written)}"
            yield broken(Stage.HOOKS, what, again)
        elif prompt is not None and newest - prompt > SILENT_S:
            what = f"the prompt hook of {host} fired last at {_at(prompt)}, others since: nothing is recalled unasked"
            yield degraded(Stage.HOOKS, what, again)
        if prompt is None or seen.now_s - prompt < WRITTEN_WITHIN_S:
            continue
        if written is None or prompt - written > WRITTEN_WITHIN_S:
            since = "ever" if written is None else f"since {_at(written)}"
            what = f"hooks of {host} fire (last {_at(prompt)}), but nothing of its sessions was written {since}"
            yield broken(Stage.LOG, what, "firsthand agent jobs --run; firsthand import")


def _at(seconds: float) -> Moment:
    return Moment(int(seconds * 1e6))


def daemon(seen: Around) -> Iterator[Finding]:
    """Look at the server of hooks. One that does not run is no fault: the next hook starts it."""
    state = seen.look.daemon
    if state is None or not state.wanted:
        return
    for what in state.broken:
        yield broken(Stage.HOOKS, what, "firsthand install HOST")
    if state.alone:
        what = f"no server answers hooks ({state.alone}): each is answered by a process of its own, and slower"
        yield note(Stage.DAEMON, what, "firsthand serve")
    stop = "firsthand serve --stop; the next hook starts another"
    if state.version not in ("", state.expected):
        yield degraded(Stage.DAEMON, f"the server is of version {state.version}, this is {state.expected}", stop)
    if state.fault:
        yield degraded(Stage.DAEMON, state.fault, stop)


# what hooks left to do ---------------------------------------------------------------------------------


def work(seen: Around) -> Iterator[Finding]:
    """Look at what hooks left to do: overdue, failing, given up; and at what waits to be recorded."""
    waiting = jobs.pending(seen.root, seen.namespace)
    failing = [job for job in waiting if job.tries and job.why]
    overdue = [job for job in waiting if _late_s(seen, job) > OVERDUE_S]
    if failing:
        what = f"{len(failing):,} of {len(waiting):,} jobs fail, such as {failing[0].kind}: {failing[0].why}"
        yield degraded(Stage.JOBS, what, _RUN)
    elif overdue:
        what = f"{len(overdue):,} jobs should have run an hour ago, the first is {overdue[0].kind}"
        yield degraded(Stage.JOBS, what, _RUN)
    recent = [
        fault for fault in faults.faults(seen.root, seen.namespace)
        if fault.time is None or seen.now_s - fault.time.microseconds / 1e6 < FAULTS_RECENT_S
    ]  # fmt: skip
    dropped = [fault for fault in recent if faults.GIVEN_UP in fault.text]
    if dropped:
        what = f"{len(dropped):,} jobs were given up within a day, the last: {dropped[-1].where}: {dropped[-1].text}"
        yield broken(Stage.JOBS, what, "firsthand agent jobs shows what is left")
    elif recent:
        what = f"{len(recent):,} faults of hooks within a day, the last: {recent[-1].where}: {recent[-1].text}"
        yield degraded(Stage.HOOKS, what, "firsthand agent jobs")


def _late_s(seen: Around, job: jobs.Job) -> float:
    """Say how long a job could have been done: since it was left, or may run; -1 for one that is gone meanwhile."""
    folder = jobs.folder(seen.root)
    left = [_written_s(folder / f"{job.name}{ends}", 0.0) for ends in (jobs.WAITS, jobs.RUNS)]
    return seen.now_s - max(job.after_ms / 1000, *left) if any(left) else -1.0


def _written_s(path: Path, gone: float) -> float:
    """Say when a file was written, in seconds since 1970; ``gone`` for one that is gone meanwhile."""
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return gone


def calls(seen: Around) -> Iterator[Finding]:
    """Look for calls of hooks that are not in the log: those that wait, however short, and those set aside."""
    kept = KeptCalls(seen.root)
    waiting, aside = kept.waiting(), kept.set_aside()
    if waiting:
        oldest = health_line.age(seen.now_s - min(_written_s(path, time.time()) for path in waiting))
        what = f"{len(waiting):,} calls of hooks wait in {kept.folder} to be recorded, the oldest for {oldest}"
        yield degraded(Stage.LOG, what, _RUN)
    if aside:
        what = f"{len(aside):,} calls of hooks could not be recorded and are set aside in {kept.aside_folder}"
        yield broken(Stage.LOG, what, "firsthand agent jobs --retry")
    folder = seen.root / "hooks" / "waiting"
    spools = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    old = [path for path in spools if seen.now_s - _written_s(path, time.time()) > SPOOL_OLD_S]
    if old:
        what = f"what hooks were told of {len(old):,} sessions waits in {folder} for a transcript that did not come"
        yield degraded(Stage.LOG, what, _RUN)


def switches(seen: Around) -> Iterator[Finding]:
    """Look at the switches: files that cannot be read, and mechanisms that are off."""
    chosen = settings.load(seen.root, seen.look.cwd)
    for fault in chosen.faults:
        yield degraded(Stage.SETTINGS, fault, "mend the file")
    names = ("record", "preamble", "cues", "recall", "actions", "episodes")
    off = [name for name in names if not getattr(chosen, name)]
    if off:
        what = f"switched off: {', '.join(off)}"
        if "cues" in off and "recall" in off:
            what += "; nothing reminds the agent of what it does not think of itself (recognition failure)"
        yield note(Stage.SETTINGS, what, f"firsthand agent switch {off[0]} on")
    if chosen.redact and not secret_library.is_installed():
        what = "secrets are replaced by their shape alone; more vendors' keys are known with the extra"
        yield note(Stage.SETTINGS, what, extra_command("secrets"))
