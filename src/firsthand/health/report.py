"""What a look at a memory found: what is wrong, in which stage, how bad, and what to type.

An event's way is a row of stages (DESIGN 2.12): a hook fires, the event is written,
indexed, retrievable, shown. The invariant: each finding names one stage, says what
was seen there and what mends it; a report with no finding above a note is healthy.

Pure: it knows no storage.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from firsthand.moment import Moment
from firsthand.value import field, value


class Stage(StrEnum):
    """Where on its way to the agent an event is lost, in the order of that way."""

    STORE = "store"  # it opens, can be written, has room and a clock
    HOOKS = "hooks"  # installed, runnable, firing
    DAEMON = "daemon"
    JOBS = "jobs"  # what hooks left to do
    LOG = "log"  # written, whole
    INDEX = "index"  # indexed by its words
    VECTORS = "vectors"  # indexed by its meaning
    RECALL = "recall"  # retrievable
    SHOWN = "shown"  # put before the agent unasked
    EPISODES = "episodes"
    FILES = "files"  # of the agent's folder
    SETTINGS = "settings"


class Severity(StrEnum):
    """How bad a finding is, the worst first."""

    BROKEN = "broken"  # something is lost, or nothing of it reaches the agent
    DEGRADED = "degraded"  # less, later or less surely than it should
    NOTE = "note"  # worth knowing; nothing is wrong


@value
class Finding:
    """One thing that a look at the memory found.

    Attributes:
        stage: where.
        severity: how bad it is.
        what: a sentence on what was seen.
        mend: what to type or do; empty for a note that asks for nothing.
        agent: whose memory it is about; empty for the whole store.
    """

    stage: Stage
    severity: Severity
    what: str
    mend: str = ""
    agent: str = ""

    def __str__(self) -> str:
        whose = f" of {self.agent}" if self.agent else ""
        return f"{self.stage}{whose}: {self.what}" + (f" ({self.mend})" if self.mend else "")


def broken(stage: Stage, what: str, mend: str, agent: str = "") -> Finding:
    """Make a finding of something that is lost."""
    return Finding(stage, Severity.BROKEN, what, mend, agent)


def degraded(stage: Stage, what: str, mend: str, agent: str = "") -> Finding:
    """Make a finding of something that works less than it should."""
    return Finding(stage, Severity.DEGRADED, what, mend, agent)


def note(stage: Stage, what: str, mend: str = "", agent: str = "") -> Finding:
    """Make a finding that is worth knowing, and no fault."""
    return Finding(stage, Severity.NOTE, what, mend, agent)


@value
class Rate:
    """A share of things that went well: hits of so many."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None when there was nothing to look at."""
        return self.hits / self.of if self.of else None

    def __str__(self) -> str:
        return f"{100 * self.hits / self.of:.0f} % ({self.hits:,}/{self.of:,})" if self.of else "- (0/0)"


@value
class AgentHealth:
    """The measures of one agent's memory (recall-problem 8.2), as `measures` defines them.

    Attributes:
        coverage, recall, ambient, effective, contradiction: PC, SRR, ATR, effective ATR and contradiction rate.
        aliases: groups of names too alike to tell apart.
        missed: names that were not found, of coverage or of recall.
    """

    agent: str
    episodes: int
    coverage: Rate
    recall: Rate
    ambient: Rate
    effective: Rate
    contradiction: Rate
    aliases: tuple[tuple[str, ...], ...] = ()
    missed: tuple[str, ...] = ()


@value
class HealthReport:
    """A whole look at one store and namespace.

    Attributes:
        findings: the worst first, and of these the one that comes first on an event's way.
        looked_at: the stages that were looked at.
        figures: what was measured, by name.
        agents: measures of each agent looked at.
        silent: SFR, canaries that were lost without a word to anybody, of those sent.
        recorded: False where nothing was ever recorded, as after an installation.
    """

    store: str
    namespace: str
    time: Moment
    findings: tuple[Finding, ...]
    looked_at: tuple[Stage, ...] = ()
    figures: dict[str, str] = field(default_factory=dict)
    agents: tuple[AgentHealth, ...] = ()
    silent: Rate = Rate(0, 0)
    milliseconds: int = 0
    recorded: bool = True

    @property
    def severity(self) -> Severity:
        """The worst of its findings; a note when there is none."""
        return self.findings[0].severity if self.findings else Severity.NOTE

    @property
    def ok(self) -> bool:
        """True when nothing is broken or degraded."""
        return self.severity is Severity.NOTE

    @property
    def state(self) -> str:
        """How the memory is, in a word or a sentence for people."""
        if not self.ok:
            return str(self.severity)
        return "healthy" if self.recorded else "ready; nothing recorded yet: start your agent"

    @property
    def line(self) -> str:
        """What the agent and the user are told: empty when all is well, else the worst in one line."""
        bad = [finding for finding in self.findings if finding.severity is not Severity.NOTE]
        more = f"; and {len(bad) - 1} more: firsthand doctor" if len(bad) > 1 else ""
        return f"memory is {self.severity}: {bad[0]}{more}" if bad else ""


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put the worst first, and of these what comes first on an event's way; each once."""
    severities, stages = [*Severity], [*Stage]
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda finding: (severities.index(finding.severity), stages.index(finding.stage), finding.agent),
        )
    )
