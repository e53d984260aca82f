"""Consolidation of cases in a store: proposed, tried by the gate, and kept only where it stands (DESIGN 2.8).

    lines that were written as cases -> episodes (case, answer, pointer) -> consolidator -> gate -> entries in the log

Nothing calls it unasked: it is off by default. The invariants: what is consolidated is
read from the log anew, raw cases alone (no entry, no note of an agent, nothing
that Firsthand wrote); entries come into the log all or none; what is shown is checked
once more when it is read, so that an entry whose ground has changed is not shown.

It decides nothing itself: who writes is the consolidator, who lets in is the gate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from firsthand.agent_space import NOTES, AgentSpace
from firsthand.errors import Unresolvable
from firsthand.event import Kind, Trust
from firsthand.ledger.cases import cases
from firsthand.ledger.consolidators import Consolidator, propose, rules_plus_exceptions
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.decisions import Decision
from firsthand.ledger.entries import Entry, Episode, Proposal, View, current, shown
from firsthand.ledger.entry_gate import GateReport, GateSettings, check
from firsthand.ledger.entry_log import GATE, EntriesLog
from firsthand.ledger.solver import Solver, Weak
from firsthand.notes.writer import OURS
from firsthand.space import Space
from firsthand.value import value

TELLING = (Kind.USER_MESSAGE, Kind.NOTE)
"""Kinds that cases are taken from; whether one counts is a matter of its trust."""


@value
class Consolidated:
    """What a consolidation did, or would do.

    Attributes:
        proposal: what was written.
        report: what the gate says of it.
        kept: entries that are new in the log.
        quarantined: decisions about entries that stood, and fail now.
    """

    proposal: Proposal
    report: GateReport
    kept: tuple[Entry, ...] = ()
    quarantined: tuple[Decision, ...] = ()


def consolidate_in(
    space: Space,
    agent: str = "",
    *,
    consolidator: Consolidator = rules_plus_exceptions,
    solver: Solver | None = None,
    settings: GateSettings | None = None,
    approved: Collection[str] = (),
    keep: bool = False,
) -> Consolidated:
    """Propose entries of cases, try them, and keep those that the gate lets in.

    Args:
        agent: whose sessions are read; empty takes all of the namespace.
        solver: answers from the memory; None is `Weak`, which makes no rules of its own.
        approved: ids of proposed entries, or their ends, that the user lets in although they stand on untrusted text.
        keep: without it nothing is written.

    Raises:
        ModelError: the consolidator is a model, and gave no reply; nothing is written.
        Unresolvable: what is approved is the id of none that is proposed, or of several.
    """
    episodes = episodes_of(space, agent)
    log = EntriesLog(space, agent)
    view = _view(log.standing(), episodes)
    proposal = propose(consolidator, view, episodes)
    approved = _named(proposal, approved)
    report = check(
        proposal, view, episodes, solver or Weak(), settings=settings, approved=approved, barred=log.barred()
    )
    if not keep:
        return Consolidated(proposal, report)
    # Who fails goes first: a process that ends in between leaves fewer entries, and none that fails.
    fallen = tuple(
        decision
        for name in report.quarantined
        for decision in log.quarantine(name, reason="it fails its replay", by=GATE)
    )
    return Consolidated(proposal, report, log.keep(report), fallen)


def _named(proposal: Proposal, approved: Collection[str]) -> frozenset[str]:
    """Give the ids of proposed entries that are named by them or by their ends."""
    named_ids = set()
    for name in approved:
        plain = name.removeprefix("fh:").upper()
        ids = {entry.id for entry in proposal.written if plain and entry.id.endswith(plain)}
        if len(ids) != 1:
            raise Unresolvable(
                f"expected the id of one proposed entry, or its end; {name!r:.40} fits {len(ids)}. "
                "`firsthand ledger propose` lists them."
            )
        named_ids |= ids
    return frozenset(named_ids)


def consolidated_view(space: Space, agent: str = "", *, as_of: int | None = None) -> View:
    """Give what stands, entries first and then the raw cases that none of them covers, as of a position."""
    episodes = episodes_of(space, agent, as_of=as_of)
    view = _view(EntriesLog(space, agent).standing(as_of), episodes)
    return check(Proposal(), view, episodes, Weak()).view


def episodes_of(space: Space, agent: str = "", *, as_of: int | None = None) -> tuple[Episode, ...]:
    """Give the cases of users and notes that stand, in order of position."""
    ledger, own = LedgerLog(space).at(as_of), None
    if agent:
        of = AgentSpace(space, agent)
        own = {*of.sessions(), of.session, NOTES}
    before = None if as_of is None else as_of + 1
    episodes: list[Episode] = []
    for kind in TELLING:
        for event in space.events(kind=kind, before=before):
            is_ours = event.origin == OURS or event.trust is Trust.AGENT  # no case, and takes the place of none
            if (own is None or event.session in own) and event.is_searchable and not event.erased and not is_ours:
                episodes += [case for case in cases(event) if ledger.stands(case.pointer)]
    return tuple(sorted(episodes, key=lambda case: case.position))


def _view(entries: Sequence[Entry], episodes: Sequence[Episode]) -> View:
    """Give the view in which an entry stands for what it gives of its scope, and a later answer for an earlier one."""
    now = current(episodes)
    reader = Weak()
    demoted = {episode.pointer: "" for episode in episodes if now[episode.question] is not episode}
    for entry in entries:
        sources = set(entry.sources)
        for case in now.values():
            is_its = case.pointer in sources or (case.scope == entry.scope and case.counts)
            if is_its and reader.answer(case.case, entry.line) == case.answer:
                demoted[case.pointer] = entry.id
    return shown(entries, episodes, demoted)
