"""The doctor: looks at every stage of a memory, names the one that is broken, and says what to type.

    around the store (room, hooks, jobs, settings) -> the store opens -> log -> index -> vectors -> recall
    -> a canary through all of it -> the measures of each agent

The invariant: it gives a report whatever is wrong, and never calls a stage healthy that it
could not look at: `HealthReport.looked_at` names those that it did. It writes nothing but
the canary and what is kept of the look: a line for whoever starts a session next, and a
line of figures for the history.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from firsthand import environment, moment
from firsthand.agents import health_line, pulse, small_files
from firsthand.agents.health_line import LINE_CHARACTERS_MAX
from firsthand.errors import FirsthandError
from firsthand.health import canary, measures, stages, surroundings
from firsthand.health.report import AgentHealth, Finding, HealthReport, Rate, Stage, broken, degraded, in_order, note
from firsthand.health.stages import Inside
from firsthand.health.surroundings import Around, Look
from firsthand.log.disk import STORE_FILES
from firsthand.log.sqlite.database import translating
from firsthand.log.sqlite.mark import Marks
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.storage import is_at_address
from firsthand.value import replace

EVERY_S, EVERY_DEGRADED_S, CANARY_EVERY_S = 3_600, 300, 86_400
"""How often a memory looks at itself: oftener while something is wrong, since somebody may have mended it."""
HISTORY_BYTES_MAX = 1 << 19
AROUND: tuple[tuple[Stage, Callable[[Around], Iterable[Finding]]], ...] = (
    (Stage.STORE, surroundings.room),
    (Stage.JOBS, surroundings.work),
    (Stage.JOBS, surroundings.calls),
    (Stage.SETTINGS, surroundings.switches),
    (Stage.HOOKS, surroundings.firing),
)
INSIDE: tuple[tuple[Stage, Callable[[Inside], Iterable[Finding]]], ...] = (
    (Stage.STORE, stages.clock),
    (Stage.STORE, stages.server),
    (Stage.LOG, stages.log),
    (Stage.LOG, stages.marks),
    (Stage.INDEX, stages.index),
    (Stage.VECTORS, stages.vectors),
    (Stage.RECALL, stages.asked),
    (Stage.FILES, stages.agents_files),
)


class _Runner:
    """Runs checks, and collects what they find and which stages they looked at."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.findings: list[Finding] = []
        self.stages: set[Stage] = set()

    def run(self, stage: Stage, check: Callable[[], Iterable[Finding]]) -> None:
        """Look at a stage; what cannot be looked at is broken itself."""
        try:
            with translating(self.store):  # a look reads tables itself, and any of them may be gone
                self.findings += check()
        except FirsthandError as error:
            self.findings.append(broken(stage, f"cannot be looked at: {error}", stages.VERIFY))
        except OSError as error:
            self.findings.append(broken(stage, f"cannot be looked at: {error}", "check the disk"))
        else:
            self.stages.add(stage)


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
    runner, figures, agents, silent = _Runner(root), dict[str, str](), list[AgentHealth](), Rate(0, 0)
    recorded = any((root / name).exists() for name in STORE_FILES)
    space = _opened(root, named, runner) if recorded else None
    if not recorded:
        runner.run(Stage.STORE, lambda: _no_store(root))
    try:
        _around(runner, Around(root, at, look, named, space), figures)
        if space is not None:
            inside = Inside(space, at, look, figures)
            for stage, check in INSIDE:
                runner.run(stage, lambda check=check: check(inside))  # type: ignore[misc]
            if look.measures:
                runner.run(Stage.EPISODES, lambda: measures.findings(inside, agents))
            recorded = figures.get("events") != "0"
    finally:
        if space is not None:
            space.close()
    if space is not None:
        if look.canary:
            runner.run(Stage.SHOWN, lambda: canary.findings(root, look.installed or (), at))
        silent = _silent(root, runner)
    report = HealthReport(
        str(root), named, at, in_order(runner.findings), tuple(stage for stage in Stage if stage in runner.stages),
        figures, tuple(agents), silent, int((time.monotonic() - begun) * 1000), recorded,
    )  # fmt: skip
    return _kept(root, report) if look.keep and space is not None else report


def _opened(root: Path, namespace: str, runner: _Runner) -> Space | None:
    """Open the store to read; None when it cannot be, which is then found."""
    try:
        space = Space(root, namespace=namespace, read_only=True, create=False)
    except FirsthandError as error:
        mend = "see that command, then again: firsthand doctor" if is_at_address(root) else stages.VERIFY
        runner.findings.append(broken(Stage.STORE, f"cannot be opened: {error}", mend))
        return None
    runner.stages.add(Stage.STORE)
    return space


def _no_store(root: Path) -> Iterable[Finding]:
    """Say whether nothing was ever recorded in a folder, or what was is gone."""
    marks = Marks(root, bytes(16), environment.heads_folder(), write=False)
    gone = marks.earlier()
    marks.close()
    if gone:
        yield broken(Stage.STORE, f"there is no store in {root} any more: {gone[0]}", "restore a backup of the folder")
    else:
        yield note(Stage.STORE, f"nothing is recorded in {root} yet", "start your agent; or: firsthand import")


def _around(runner: _Runner, seen: Around, figures: dict[str, str]) -> None:
    """Look at what stands around the store, whether it opens or not."""
    try:
        seen = replace(seen, fired=pulse.fired(seen.root))
    except FirsthandError as error:
        runner.findings.append(broken(Stage.HOOKS, f"cannot be looked at: {error}", "check the disk"))
    for hook in seen.fired:
        figures[f"fired {hook.host} {hook.event.value}"] = str(hook.moment)
    if seen.root.is_dir():
        figures["free on the disk"] = f"{surroundings.free_bytes(seen) >> 20:,} MB"
    for stage, check in AROUND if seen.root.is_dir() else ():
        runner.run(stage, lambda check=check: check(seen))  # type: ignore[misc]
    if seen.look.installed is not None:
        runner.run(Stage.HOOKS, lambda: surroundings.hooks(seen))
    if seen.look.daemon is not None:
        runner.run(Stage.DAEMON, lambda: surroundings.daemon(seen))


def _silent(root: Path, runner: _Runner) -> Rate:
    """Read the silent failure rate from the canaries that were sent; nothing of it where they cannot be read."""
    try:
        return canary.silent(root)
    except FirsthandError as error:
        runner.findings.append(degraded(Stage.SHOWN, f"canaries cannot be read: {error}", "remove it"))
        return Rate(0, 0)


# what is kept of a look ----------------------------------------------------------------------------------


def keep(store: Path, report: HealthReport) -> None:
    """Keep a look: its line for who starts a session, and its figures at the end of the history.

    Raises:
        StoreError: it cannot be written.
    """
    findings = [[finding.stage, finding.severity, str(finding)[:LINE_CHARACTERS_MAX]] for finding in report.findings]
    line = report.line[:LINE_CHARACTERS_MAX]
    status = {"time_s": report.time.microseconds / 1e6, "severity": report.severity, "line": line, "findings": findings}
    small_files.put_table(health_line.status_file(store), status)
    pairs = {"PC": "coverage", "SRR": "recall", "ATR": "ambient", "effective": "effective",
             "contradiction": "contradiction"}  # fmt: skip
    row = {
        "time": str(report.time), "severity": report.severity, "namespace": report.namespace,
        "stages": sorted({finding.stage for finding in report.findings if finding.severity != "note"}),
        "silent": _pair(report.silent), "figures": report.figures,
        "agents": {
            agent.agent: {name: _pair(getattr(agent, rate)) for name, rate in pairs.items()} for agent in report.agents
        },
    }  # fmt: skip
    small_files.add_row(health_line.history_file(store), row, bytes_max=HISTORY_BYTES_MAX)


def _pair(rate: Rate) -> list[int]:
    return [rate.hits, rate.of]


def _kept(root: Path, report: HealthReport) -> HealthReport:
    """Keep the look; where it cannot be kept, the report says so: a store that takes no file takes no event."""
    try:
        keep(root, report)
    except FirsthandError as error:
        what = f"the store's folder cannot be written, so nothing can be recorded: {error}"
        more = broken(Stage.STORE, what, "mend the rights or the disk of that folder")
        return replace(report, findings=in_order([*report.findings, more]))
    return report


def due(store: Path, *, now_s: float | None = None) -> bool:
    """Say whether it is time for a look that the memory takes at itself; one that cannot be read is due.

    Raises:
        StoreError: the folder cannot be read.
    """
    last = health_line.looked_at_s(store)
    if last is None:
        return True
    age_s = (time.time() if now_s is None else now_s) - last
    return age_s < 0 or age_s >= (EVERY_S if health_line.is_good(store) else EVERY_DEGRADED_S)


def watch(space: Space) -> HealthReport:
    """Look at a memory's stages, with a canary once a day, and keep what was found.

    Raises:
        StoreError: what is kept of canaries cannot be read.
    """
    now = moment.now()
    last = canary.last_sent(space.path)
    send = last is None or (now.microseconds - last.microseconds) / 1e6 >= CANARY_EVERY_S
    return examine(space.path, namespace=space.namespace, look=Look(canary=send, measures=False), now=now)
