"""What a look at a memory found: what is wrong, in which stage, how bad, and what to type.

An event's way is a row of stages (DESIGN 2.6): a hook fires, the event is written,
indexed, retrievable, shown. The invariant: each finding names one stage, says what
was seen there and what mends it; a report with no finding above a note is healthy.

Pure: it knows no storage.
"""

from __future__ import annotations

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
    """How bad a finding is."""

    BROKEN = "broken"  # something is lost, or nothing of it reaches the agent
    DEGRADED = "degraded"  # less, later or less surely than it should
    NOTE = "note"  # worth knowing; nothing is wrong


_WEIGHT = {Severity.BROKEN: 0, Severity.DEGRADED: 1, Severity.NOTE: 2}
_WAY = {stage: number for number, stage in enumerate(Stage)}


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
    """The measures of one agent's memory (recall-problem 8.2).

    Attributes:
        episodes: how many it has.
        coverage: PC, episodes that are indexed and retrievable of those that were written.
        recall: SRR, episodes found by their own name among the first three hits of an answer that would be shown,
            of those tested.
        ambient: ATR of a window of the newest ten names.
        effective: of the cues that are chosen for a message about an episode, those that name it.
        contradiction: keys of which an older value stands above the current one, of those with both.
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
        time: when.
        findings: the worst first, and of these the one that comes first on an event's way.
        looked_at: the stages that were looked at.
        figures: what was measured, by name.
        agents: measures of each agent looked at.
        silent: SFR, canaries that were lost without a word to anybody, of those sent.
        milliseconds: how long it took.
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

    @property
    def severity(self) -> Severity:
        """The worst of its findings; a note when there is none."""
        return self.findings[0].severity if self.findings else Severity.NOTE

    @property
    def ok(self) -> bool:
        """True when nothing is broken or degraded."""
        return self.severity is Severity.NOTE

    @property
    def line(self) -> str:
        """What the agent and the user are told: empty when all is well, else the worst in one line."""
        bad = [finding for finding in self.findings if finding.severity is not Severity.NOTE]
        if not bad:
            return ""
        more = f"; and {len(bad) - 1} more: firsthand doctor" if len(bad) > 1 else ""
        return f"memory is {self.severity}: {bad[0]}{more}"


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Put the worst first, and of these what comes first on an event's way; each once."""
    return tuple(
        sorted(
            dict.fromkeys(findings), key=lambda finding: (_WEIGHT[finding.severity], _WAY[finding.stage], finding.agent)
        )
    )
