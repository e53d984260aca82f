"""Consolidation of what users said in a store: proposed, tried by the gate, and kept only where it stands (DESIGN 2.8).

    facts of users -> episodes (case, answer, pointer) -> consolidator -> gate -> entries in the log

Nothing calls it unasked: it is off by default. The invariants: what is consolidated is
read from the log anew, raw statements alone (no entry, no note of an agent, nothing
that Firsthand wrote); entries come into the log all or none; what is shown is checked
once more when it is read, so that an entry whose ground has changed is not shown.

It decides nothing itself: who writes is the consolidator, who lets in is the gate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from firsthand.consolidate.consolidators import Consolidator, propose, rules_plus_exceptions
from firsthand.consolidate.entries import Entry, Episode, Proposal, View, current, shown
from firsthand.consolidate.gate import GateReport, GateSettings, check
from firsthand.consolidate.ledger import Decision, surviving
from firsthand.consolidate.solve import Solver, Weak, shape_of
from firsthand.errors import Unresolvable
from firsthand.event import Trust
from firsthand.lifecycle.entries_log import GATE, EntriesLog
from firsthand.lifecycle.ledger_log import LedgerLog
from firsthand.lifecycle.sweeping import facts_of
from firsthand.noting import OURS
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.consolidate.keys import Fact
    from firsthand.memory import Memory

_PLAIN = "number:"


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
    memory: Memory,
    agent: str = "",
    *,
    consolidator: Consolidator = rules_plus_exceptions,
    solver: Solver | None = None,
    settings: GateSettings | None = None,
    approved: Collection[str] = (),
    keep: bool = False,
) -> Consolidated:
    """Propose entries of what users said, try them, and keep those that the gate lets in.

    Args:
        agent: whose sessions are read; empty takes all of the namespace.
        solver: answers from the memory; None is `Weak`, which makes no rules of its own.
        approved: ids of proposed entries, or their ends, that the user lets in although they stand on untrusted text.
        keep: without it nothing is written.

    Raises:
        ModelError: the consolidator is a model, and gave no reply; nothing is written.
        Unresolvable: what is approved is the id of none that is proposed, or of several.
    """
    episodes = episodes_of(memory, agent)
    log = EntriesLog(memory, agent)
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
        one for name in report.quarantined for one in log.quarantine(name, reason="it fails its replay", by=GATE)
    )
    return Consolidated(proposal, report, log.keep(report), fallen)


def _named(proposal: Proposal, approved: Collection[str]) -> frozenset[str]:
    """Give the ids of proposed entries that are named by them or by their ends."""
    found = set()
    for name in approved:
        plain = name.removeprefix("fh:").upper()
        ids = {one.id for one in proposal.written if plain and one.id.endswith(plain)}
        if len(ids) != 1:
            raise Unresolvable(
                f"expected the id of one proposed entry, or its end; {name!r:.40} fits {len(ids)}. "
                "`firsthand consolidate propose` lists them."
            )
        found |= ids
    return frozenset(found)


def consolidated_view(memory: Memory, agent: str = "", *, as_of: int | None = None) -> View:
    """Give what stands, entries first and then the raw statements that none of them covers, as of a position."""
    episodes = episodes_of(memory, agent, as_of=as_of)
    view = _view(EntriesLog(memory, agent).standing(as_of), episodes)
    return check(Proposal(), view, episodes, Weak()).view


def episodes_of(memory: Memory, agent: str = "", *, as_of: int | None = None) -> tuple[Episode, ...]:
    """Give what users said and what stands of it, as cases with answers, in order of position."""
    facts = surviving(facts_of(memory, agent, as_of=as_of), LedgerLog(memory).at(as_of))
    return tuple(_episode(one) for one in facts if one.value and not _is_own(one))


def _is_own(one: Fact) -> bool:
    """Say whether a fact is our own output or an agent's: it is no case, and takes the place of none."""
    return one.origin == OURS or one.trust is Trust.AGENT


def _episode(one: Fact) -> Episode:
    answer = one.value.removeprefix(_PLAIN) if one.value.startswith(_PLAIN) else one.shown or one.value
    scope = shape_of(one.name)[0]
    return Episode(one.pointer, scope, one.name, answer, one.position, one.origin, one.trust)


def _view(entries: Sequence[Entry], episodes: Sequence[Episode]) -> View:
    """Give the view in which an entry stands for what it gives of its scope, and a later answer for an earlier one."""
    now = current(episodes)
    reader = Weak()
    demoted = {one.pointer: "" for one in episodes if now[one.question] is not one}
    for one in entries:
        sources = set(one.sources)
        for case in now.values():
            is_its = case.pointer in sources or (case.scope == one.scope and case.counts)
            if is_its and reader.answer(case.case, one.line) == case.answer:
                demoted[case.pointer] = one.id
    return shown(entries, episodes, demoted)
