"""The doctor: looks at every stage of a memory, names the one that is broken, and says what to type.

    around the store (hooks, jobs, settings) -> the store opens -> log -> index -> vectors -> recall
    -> a canary through all of it -> the measures of each agent

The invariant: it gives a report whatever is wrong, and never calls a stage healthy that it
could not look at: `HealthReport.looked_at` names those that it did. It writes nothing but
the canary and the status that is kept of the look.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from firsthand import environment, moment
from firsthand.agent_space import AgentSpace
from firsthand.agents import health_line, pulse
from firsthand.agents.installation import Installed
from firsthand.errors import FirsthandError
from firsthand.health import canary, measures, rows, stages, status, surroundings
from firsthand.health.folders import of_files
from firsthand.health.report import AgentHealth, Finding, HealthReport, Rate, Severity, Stage, in_order
from firsthand.health.surroundings import DaemonState
from firsthand.index.reach import reach
from firsthand.log.database import translating
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.value import field, replace, value

AGENTS_MAX = 20
MEASURE_S = 4.0
"""For the measures of agents, in a look that is not deep."""
FILES_S = 2.0
"""For the folders of agents."""
ENOUGH_EPISODES = 3
LOW = 0.5
"""Of SRR and effective ATR: below it a name is more often missed than found."""
Check = Callable[[], list[Finding]]


@value
class Look:
    """What a look is to look at.

    Attributes:
        agent: measure this one alone; empty for all.
        deep: verify the whole log and index, and test every episode.
        canary: send one through the pipeline.
        keep: keep the look for `health_line.line` and the history.
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


@value(frozen=False)
class _Seen:
    """What a look has found so far."""

    store: Path
    findings: list[Finding] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    agents: list[AgentHealth] = field(default_factory=list)

    def check(self, stage: Stage, look: Check) -> None:
        """Look at a stage; what cannot be looked at is broken itself."""
        try:
            with translating(self.store):  # a look reads tables itself, and any of them may be gone
                self.findings += look()
        except FirsthandError as error:
            self.findings.append(Finding(stage, Severity.BROKEN, f"cannot be looked at: {error}", stages.VERIFY))
            return
        except OSError as error:
            self.findings.append(Finding(stage, Severity.BROKEN, f"cannot be looked at: {error}", "check the disk"))
            return
        if stage not in self.stages:
            self.stages.append(stage)


def examine(
    store: Path | None = None, *, namespace: str | None = None, look: Look | None = None, now: Moment | None = None
) -> HealthReport:
    """Look at a store's memory; see `Look` for what at.

    Args:
        store: its folder; None is the default store.
        now: of the clock; None reads it.

    Raises:
        InvalidArgument: the namespace is no name.
    """
    look = look or Look()
    begun, at = time.monotonic(), now or moment.now()
    root = (store or environment.default_store()).absolute()
    named = namespace if namespace is not None else environment.default_namespace()
    seen = _Seen(root)
    space = _opened(root, named, seen)
    try:
        _around(seen, root, named, look, space, at)
        if space is not None:
            _inside(seen, space, look, at)
    finally:
        if space is not None:
            space.close()
    silent = Rate(0, 0)
    if space is not None:
        if look.canary:
            seen.check(Stage.SHOWN, lambda: canary.findings(root, look.installed or (), at))
        silent = _silent(seen, root)
    took = int((time.monotonic() - begun) * 1000)
    report = HealthReport(
        str(root), named, at, in_order(seen.findings), tuple(stage for stage in Stage if stage in seen.stages),
        seen.figures, tuple(seen.agents), silent, took,
    )  # fmt: skip
    return _kept(root, report) if look.keep and space is not None else report


def _opened(root: Path, namespace: str, seen: _Seen) -> Space | None:
    """Open the store to read; None when it cannot be, which is then found."""
    if not (root / "firsthand.db").exists():
        what = f"there is no store in {root}: nothing was ever recorded"
        seen.findings.append(Finding(Stage.STORE, Severity.BROKEN, what, "firsthand import, or firsthand install HOST"))
        return None
    try:
        space = Space(root, namespace=namespace, read_only=True, create=False)
    except FirsthandError as error:
        seen.findings.append(Finding(Stage.STORE, Severity.BROKEN, f"cannot be opened: {error}", stages.VERIFY))
        return None
    seen.stages.append(Stage.STORE)
    return space


def _around(seen: _Seen, root: Path, namespace: str, look: Look, space: Space | None, at: Moment) -> None:
    """Look at what stands around the store, whether it opens or not."""
    places = look.installed
    if root.is_dir():
        seen.check(Stage.STORE, lambda: stages.of_room(root, look.free_bytes))
        seen.check(Stage.JOBS, lambda: surroundings.of_jobs(root, at, namespace))
    seen.check(Stage.SETTINGS, lambda: surroundings.of_settings(root, look.cwd))
    fired = _fired(seen, root)
    if places is not None:
        seen.check(Stage.HOOKS, lambda: surroundings.of_installed(places, fired, space))
    if space is not None and fired:
        seen.check(Stage.HOOKS, lambda: surroundings.of_firing(space, fired, at))
    for hook in fired:
        seen.figures[f"fired {hook.host} {hook.event.value}"] = str(hook.moment)
    if look.daemon is not None:
        seen.check(Stage.DAEMON, lambda: surroundings.of_daemon(look.daemon))


def _fired(seen: _Seen, root: Path) -> tuple[pulse.Fired, ...]:
    """Read when hooks last fired; that it cannot be read is found."""
    try:
        return pulse.fired(root)
    except FirsthandError as error:
        seen.findings.append(Finding(Stage.HOOKS, Severity.BROKEN, f"cannot be looked at: {error}", "check the disk"))
        return ()


def _inside(seen: _Seen, space: Space, look: Look, at: Moment) -> None:
    """Look at the stages inside the store, in the order of an event's way."""
    seen.check(Stage.STORE, lambda: stages.of_clock(space, at))
    seen.check(Stage.LOG, lambda: stages.of_whole_log(space) if look.deep else stages.of_log(space))
    seen.check(Stage.LOG, lambda: stages.of_marks(space))
    seen.check(Stage.INDEX, lambda: stages.of_index(space))
    seen.check(Stage.VECTORS, lambda: stages.of_vectors(space))
    seen.check(Stage.RECALL, lambda: stages.of_recall(space))
    seen.check(Stage.RECALL, lambda: _figures(seen, space, look, at))
    seen.check(Stage.FILES, lambda: _files(space, look, at))
    if look.measures:
        seen.check(Stage.EPISODES, lambda: _measured(seen, space, look))


def _figures(seen: _Seen, space: Space, look: Look, at: Moment) -> list[Finding]:
    """Note sizes, ages and reach, which are no findings."""
    reader = space.log.reader
    head, key = reader.head(space.namespace)[0], reader.namespace_key(space.namespace)
    last = rows.last_taken_in(space)
    seen.figures["events"] = f"{head:,}"
    ago = "" if last is None else f" ({health_line.age((at.microseconds - last) / 1e6)} ago)"
    seen.figures["last event"] = "none lately" if last is None else f"{Moment(last)}{ago}"
    seen.figures["text index"] = f"through {reach(reader, key, head).through if key else 0:,} of {head:,}"
    free = shutil.disk_usage(space.path).free if look.free_bytes is None else look.free_bytes
    seen.figures["free on the disk"] = f"{free >> 20:,} MB"
    for vector in space.vectors():
        seen.figures[f"vectors by {vector.embedder}"] = f"through {vector.through:,} of {head:,}"
    return []


def _files(space: Space, look: Look, at: Moment) -> list[Finding]:
    """Look at the agents' folders, as many as the time allows; those that did something last first."""
    begun, findings = time.monotonic(), []
    for name in [look.agent] if look.agent else rows.agents(space)[:AGENTS_MAX]:
        findings += of_files(AgentSpace(space, name), at)
        if time.monotonic() - begun > FILES_S:
            break
    return findings


def _measured(seen: _Seen, space: Space, look: Look) -> list[Finding]:
    """Measure the agents, as many as the time allows."""
    named = [look.agent] if look.agent else rows.agents(space)
    begun = time.monotonic()
    findings: list[Finding] = []
    for number, name in enumerate(named):
        over = number >= AGENTS_MAX or time.monotonic() - begun > MEASURE_S
        if over and not look.deep:
            what = f"{len(named) - number:,} of {len(named):,} agents were not measured"
            findings.append(Finding(Stage.EPISODES, Severity.NOTE, what, "firsthand doctor --deep, or --agent NAME"))
            break
        agent = AgentSpace(space, name)
        health = measures.measure(agent, sample_max=None if look.deep else measures.SAMPLE_MAX)
        seen.agents.append(health)
        findings += of_agent(health, measures.unverified(agent))
    return findings


def of_agent(health: AgentHealth, unverified: Sequence[str] = ()) -> list[Finding]:
    """Say what the measures of an agent mean."""
    findings = []

    def add(stage: Stage, severity: Severity, what: str, mend: str) -> None:
        findings.append(Finding(stage, severity, what, mend, health.agent))

    missed = ", ".join(health.missed[:3]) + (" ..." if len(health.missed) > 3 else "")
    if health.coverage.hits < health.coverage.of:
        severity = Severity.DEGRADED if health.coverage.hits else Severity.BROKEN
        what = f"PC {health.coverage}: episodes were written that nobody can find: {missed}"
        add(Stage.EPISODES, severity, what, "firsthand store rebuild; firsthand agent close --all")
    elif health.recall.of >= ENOUGH_EPISODES and health.recall.hits < LOW * health.recall.of:
        what = f"SRR {health.recall}: episodes are not found by their own names: {missed}"
        mend = "name episodes by what they are about, so that their names tell them apart: firsthand agent close"
        add(Stage.RECALL, Severity.DEGRADED, what, mend)
    if health.effective.of >= ENOUGH_EPISODES and health.effective.hits < LOW * health.effective.of:
        what = f"effective ATR {health.effective}: the cues of a message seldom name the episode it is about"
        add(Stage.SHOWN, Severity.DEGRADED, what, "firsthand agent cues TEXT shows what is chosen")
    if health.contradiction.hits:
        what = f"{health.contradiction} of its files are recalled in an older version first"
        add(Stage.RECALL, Severity.DEGRADED, what, "firsthand store rebuild")
    if unverified:
        what = f"{len(unverified):,} episodes were written and not found again: {', '.join(unverified[:3])}"
        add(Stage.EPISODES, Severity.DEGRADED, what, "firsthand agent close SESSION tries again")
    if health.aliases:
        alike = " = ".join(health.aliases[0][:3])
        what = f"{len(health.aliases):,} groups of names are too alike (temporal aliasing): {alike}"
        add(Stage.EPISODES, Severity.NOTE, what, "name what tells the sessions apart in their first message")
    return findings


def _silent(seen: _Seen, root: Path) -> Rate:
    """Read the silent failure rate from the canaries that were sent; nothing of it where they cannot be read."""
    rate = Rate(0, 0)
    try:
        rate = canary.silent(root)
    except FirsthandError as error:
        seen.findings.append(Finding(Stage.SHOWN, Severity.DEGRADED, f"canaries cannot be read: {error}", "remove it"))
    return rate


def _kept(root: Path, report: HealthReport) -> HealthReport:
    """Keep the look; where it cannot be kept, the report says so: a store that takes no file takes no event."""
    try:
        status.keep(root, report)
    except FirsthandError as error:
        what = f"the store's folder cannot be written, so nothing can be recorded: {error}"
        more = Finding(Stage.STORE, Severity.BROKEN, what, "mend the rights or the disk of that folder")
        return replace(report, findings=in_order([*report.findings, more]))
    return report
