"""The sweep: reads what users said, and decides which fact takes the place of which (total-recall 8.3, A.3).

The invariant: a sweep decides on all facts of a scope, so that two sweeps make the
decisions of one, whenever each of them ran; what is read from the log is what came since
the last one (`facts_kept`), so that a night costs what the day brought. All decisions of a
sweep come into the log at once or not at all; the log's other events are not touched.

It decides nothing itself: that is the reconciler, by default by rule and without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from firsthand.consolidate.conflicts import Conflict, conflicts
from firsthand.consolidate.keys import DEEDS, Fact
from firsthand.consolidate.ledger import SOURCES_MAX, Decision
from firsthand.consolidate.reconcile import AddAll, Reconciler
from firsthand.consolidate.sweep import counts, named_by
from firsthand.consolidate.sweep_by_model import SweepByModel
from firsthand.lifecycle import facts_kept
from firsthand.lifecycle.ledger_log import DECISIONS_MAX, LedgerLog
from firsthand.value import replace, value

if TYPE_CHECKING:
    from firsthand.memory import Memory


@value
class Swept:
    """What a sweep did.

    Attributes:
        facts: how many there are up to where it read, those that do not count among them.
        decided: the decisions that are new, in order.
        through: the position of the last event that it read.
        left_out: sentences on what was not done.
        open: what contradicts each other and is for the user to decide, the newest last.
        whole: False when decisions are left for the next sweep; what a model did not answer rightly is not.
    """

    facts: int
    decided: tuple[Decision, ...]
    through: int
    left_out: tuple[str, ...] = ()
    open: tuple[Conflict, ...] = ()
    whole: bool = True


def sweep(memory: Memory, agent: str = "", *, reconciler: Reconciler | None = None, as_of: int | None = None) -> Swept:
    """Decide which facts of an agent take the place of which, and keep the decisions.

    Args:
        agent: whose sessions are read; empty takes all of the namespace, as of one project.
        reconciler: decides; None is `AddAll`, by rule.
        as_of: read no event behind this position.
    """
    log = LedgerLog(memory)
    every = said_of(memory, agent, as_of=as_of)
    told = [one for one in every if one.sort not in DEEDS]
    ledger = log.at()
    decided = (reconciler or AddAll()).sweep([one for one in told if counts(one)], {}, ledger)
    there = {one.id for one in log.decisions()}
    named = named_by(told)
    new = [_with_names(one, named) for one in decided if one.id not in there]
    left_out: tuple[str, ...] = ()
    if len(new) > DECISIONS_MAX:
        left_out = (f"{len(new) - DECISIONS_MAX:,} more decisions are due; sweep again",)
    kept = log.keep(new[:DECISIONS_MAX])
    log.followed()
    left_out += reconciler.told if isinstance(reconciler, SweepByModel) else ()
    found = conflicts(said_last(every), log.at())
    if every:
        facts_kept.keep_open(memory, every, found)
    through = told[-1].position if told else 0
    return Swept(len(told), kept, through, left_out, found, len(new) <= DECISIONS_MAX)


def said_last(told: Iterable[Fact]) -> list[Fact]:
    """Give facts without those that their session says again later: a decision names where it was said last."""
    every = [*told]
    last = {(one.key, one.value, one.session): one for one in every}
    kept = {id(one) for one in last.values()}
    return [one for one in every if id(one) in kept or one.sort in DEEDS]  # two stories may hold one amount


def _with_names(one: Decision, named: Mapping[str, str]) -> Decision:
    """Let a decision rest on what named its facts, too: its key is made of these words."""
    names = dict.fromkeys(named[fact] for fact in (one.target, one.by_fact) if fact in named)
    more = tuple(name for name in names if name not in one.sources)[: SOURCES_MAX - len(one.sources)]
    return replace(one, sources=(*one.sources, *more)) if more else one


def facts_of(memory: Memory, agent: str = "", *, as_of: int | None = None) -> tuple[Fact, ...]:
    """Give the facts of an agent's sessions, or of all of the namespace, in order of position."""
    return tuple(one for one in said_of(memory, agent, as_of=as_of) if one.sort not in DEEDS)


def conflicts_of(memory: Memory, agent: str = "", *, as_of: int | None = None) -> tuple[Conflict, ...]:
    """Give what a user said that contradicts each other, while both stand: for the user to decide, the newest last."""
    return conflicts(said_last(said_of(memory, agent, as_of=as_of)), LedgerLog(memory).at(as_of))


def said_of(memory: Memory, agent: str = "", *, as_of: int | None = None) -> tuple[Fact, ...]:
    """Give the facts of an agent's sessions, and what was done or never done there, in order of position."""
    told = facts_kept.facts(memory, as_of)
    sessions = facts_kept.sessions_of(memory, agent)
    if sessions is None:
        return tuple(told)
    return tuple(replace(fact, key=f"{agent}/{fact.key}") for fact in told if fact.session in sessions)
