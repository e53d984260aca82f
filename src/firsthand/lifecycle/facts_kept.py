"""The facts of a namespace, read from the log once and kept beside it (`index.facts`).

The invariant: what is given is what reading the whole log would give, message by
message. Where nothing may be written, what was not kept yet is read and forgotten again;
where somebody else read on at the same time, what they kept counts.

It decides nothing: which fact takes the place of which is the sweep's, which one
stands the ledger's.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from firsthand.consolidate.arranged import Spoken
from firsthand.consolidate.keys import READING, TELLING, Fact, Reading
from firsthand.consolidate.ledger import Decision, Ledger, ledger_difference
from firsthand.errors import StoreDamaged
from firsthand.event import Kind, Trust
from firsthand.index import fact_rows as kept
from firsthand.index.fact_rows import Reach, Row
from firsthand.index.facts import LEDGER_SESSION as SESSION
from firsthand.index.facts import REPAIR, Out, decided
from firsthand.moment import Moment
from firsthand.noting import NOTES
from firsthand.value import replace

if TYPE_CHECKING:
    import apsw

    from firsthand.consolidate.conflicts import Conflict
    from firsthand.event import Event
    from firsthand.memory import Memory

VERSION = str(READING)
DECISIONS_OF_A_CHUNK = 1_000
ATTEMPTS_MAX = 5
"""To keep which facts are out, while others decide or erase."""
EVENTS_OF_A_STEP = 2_000
"""Messages that are read between two writes: others write in between, and a stopped sweep loses no more than these."""


def facts(memory: Memory, as_of: int | None = None) -> Iterator[Fact]:
    """Yield the facts of a namespace in order of position, their keys without a scope.

    Args:
        as_of: none of events behind this position; None takes all.

    Raises:
        StoreDamaged: what was kept is not what was written.
    """
    reader = memory._log.reader  # noqa: SLF001 - Memory and lifecycle are one room
    head, namespace = reader.head()[0], reader.namespace_key(memory.namespace)
    if not memory.read_only and namespace:
        _read_on(memory, namespace, head)
    through = head if as_of is None else min(as_of, head)
    found = kept.reach(reader.db, namespace)
    known = found.facts if found.version == VERSION else 0
    if known:
        for row in kept.rows(reader.db, namespace, min(known, through)):
            yield _fact(row)
    if known < through:  # where nothing may be written, or somebody erased something a moment ago
        reading = Reading("", _spoken(reader.db, namespace) if known else {})
        yield from reading.read(_telling(memory, known, through))


def is_followed(memory: Memory) -> bool:
    """Say whether recall tells of every decision that there is."""
    reader = memory._log.reader  # noqa: SLF001 - one room
    namespace = reader.namespace_key(memory.namespace)
    return kept.reach(reader.db, namespace).ledger >= decided(reader.db, namespace)


def follow_ledger(memory: Memory, before: Ledger | None, at: Callable[[], Ledger]) -> None:
    """Keep which facts are out by the ledger, for recall to tell of.

    Args:
        before: the ledger that recall tells of already; None keeps all anew.
        at: gives the ledger as it is.
    """
    namespace = memory._log.namespace_key(memory.namespace)  # noqa: SLF001 - one room
    for _ in range(ATTEMPTS_MAX):  # what others do in the meantime is rare; recall says when it does not know all
        if _follow(memory, namespace, before, at):
            return
        before = None


def _follow(memory: Memory, namespace: int, before: Ledger | None, at: Callable[[], Ledger]) -> bool:
    reader = memory._log.reader  # noqa: SLF001 - one room
    _read_on(memory, namespace, reader.head()[0])
    reached = kept.reach(reader.db, namespace)
    through = decided(reader.db, namespace)  # read before the ledger is: that knows at least as much
    after = at()
    changed = {one.key for one in ledger_difference(before, after)} if before is not None else set()
    quarantined = any(key.startswith("fh:") for key in changed)  # of any key
    names = None if before is None or quarantined else frozenset(map(_name, changed))
    if names is None:
        rows = kept.rows(reader.db, namespace, reader.head()[0])
    else:
        rows = kept.named(reader.db, namespace, sorted(names))
    out = [*_out(memory, map(_fact, rows), after)]
    done: list[bool] = []

    def keep(db: apsw.Connection) -> None:
        with db:
            done.append(kept.keep_out(db, namespace, reached, through, out, names))

    memory._log.exclusively(keep)  # noqa: SLF001 - one room
    return done[0]


def keep_open(memory: Memory, told: Sequence[Fact], found: Sequence[Conflict]) -> None:
    """Keep which facts contradict each other, for recall to tell of; the newest conflict of a fact counts.

    Args:
        told: all facts that were looked at.
    """
    namespace = memory._log.namespace_key(memory.namespace)  # noqa: SLF001 - one room
    sides = [
        Out(one.position, one.pointer, one.name, other.pointer, "")
        for each in reversed(found)
        for one, other in ((each.earlier, each.later), (each.later, each.earlier))
    ]
    done: list[bool] = []
    for _ in range(ATTEMPTS_MAX):  # else recall tells of those that it knew; the next sweep keeps what is found then
        before = kept.reach(memory._log.reader.db, namespace)  # noqa: SLF001 - one room

        def keep(db: apsw.Connection, before: Reach = before) -> None:
            with db:
                done.append(kept.keep_open(db, namespace, before, {one.position for one in told}, sides))

        memory._log.exclusively(keep)  # noqa: SLF001 - one room
        if done[-1]:
            return


def sessions_of(memory: Memory, agent: str) -> frozenset[str] | None:
    """Name the sessions whose facts are an agent's; None for all, where no agent is named."""
    if not agent:
        return None
    one = memory.agent(agent)
    return frozenset((*one.sessions(), one.session, NOTES))


def _out(memory: Memory, told: Iterable[Fact], ledger: Ledger) -> Iterator[Out]:
    """Yield the facts that a ledger takes out, each by a decision of a scope that it is of."""
    by_name: dict[str, list[tuple[str, frozenset[str] | None]]] = {}
    decided = {*ledger.latest, *(key for key, _ in ledger.replaced)}
    scopes = {scope: sessions_of(memory, scope) for scope in {key.rpartition("/")[0] for key in decided}}
    for key in sorted(decided):
        by_name.setdefault(_name(key), []).append((key, scopes[key.rpartition("/")[0]]))
    for one in told:
        held = one.pointer in ledger.held or one.event in ledger.held
        keys = [key for key, of in by_name.get(one.key, ()) if of is None or one.session in of]
        for key in keys or ([one.key] if held else []):
            decision = ledger.taken_out_by(replace(one, key=key))
            if decision is not None:
                by_fact = decision.by_fact if decision.action != "restore" else decision.target
                yield Out(one.position, one.pointer, one.key, by_fact, decision.id)


def _name(key: str) -> str:
    return key.rpartition("/")[2]


# reading on ------------------------------------------------------------------------------------------------


def _read_on(memory: Memory, namespace: int, head: int) -> None:
    """Read what came since it was read last, in steps; each is kept whole or not at all."""
    reader = memory._log.reader  # noqa: SLF001 - one room
    while True:
        before = kept.reach(reader.db, namespace)
        through = before.facts if before.version == VERSION else 0
        if through >= head and before.version == VERSION:
            return
        reading = Reading("", _spoken(reader.db, namespace) if through else {})
        events = [*islice(_telling(memory, through, head), EVENTS_OF_A_STEP)]
        after = Reach(VERSION, events[-1].position if len(events) == EVENTS_OF_A_STEP else head, before.ledger)
        new = [*_rows(reading.read(events))]
        sessions = {event.session for event in events} & reading.spoken.keys()
        said = {one: _listed(reading.spoken[one]) for one in sessions}

        def keep(
            db: apsw.Connection, before: Reach = before, after: Reach = after,
            new: list[Row] = new, said: dict[str, list[Any]] = said,
        ) -> None:  # fmt: skip
            with db:
                kept.write(db, namespace, before, after, new, said)

        memory._log.exclusively(keep)  # noqa: SLF001 - one room


def _telling(memory: Memory, after: int, through: int) -> Iterator[Event]:
    """Yield the events that facts are taken from, in order of position."""
    return heapq.merge(
        *(memory.events(kind=one, after=after, before=through + 1) for one in sorted(TELLING)),
        key=lambda one: one.position,
    )


def _rows(told: Iterable[Fact]) -> Iterator[Row]:
    position, number = 0, 0
    for one in told:
        number = number + 1 if one.position == position else 0
        position = one.position
        yield Row(position, number, one.key, [
            one.value, one.pointer, one.text, one.sort, one.shown, one.before, one.importance, one.origin,
            int(one.trust), one.session, one.possessive, one.changes, one.about, one.near,
        ])  # fmt: skip


def _fact(row: Row) -> Fact:
    try:
        value, pointer, text, sort, shown, before, importance, origin, trust, *rest = row.body
        return Fact(
            row.name, value, pointer, row.position, text, sort, shown, before, importance, origin, Trust(trust), *rest
        )
    except (ValueError, TypeError) as error:
        raise StoreDamaged(
            f"a fact at position {row.position:,} is not what was written ({error}); {REPAIR}"
        ) from error


def _listed(one: Spoken) -> list[Any]:
    return [one.key, one.about, one.thing, one.since]


def _spoken(db: Any, namespace: int) -> dict[str, Spoken]:
    return {session: Spoken(*body) for session, body in kept.spoken(db, namespace).items()}


# decisions -------------------------------------------------------------------------------------------------


def decisions(memory: Memory) -> tuple[Decision, ...]:
    """Give the decisions that are kept, the oldest ones; what came behind them stands in the log.

    Raises:
        StoreDamaged: they are not what was written.
    """
    reader = memory._log.reader  # noqa: SLF001 - one room
    return tuple(map(_decision, kept.chunks(reader.db, reader.namespace_key(memory.namespace))))


def keep_decisions(memory: Memory, known: Sequence[Decision]) -> None:
    """Keep what is whole chunks of the ledger, so that a long one is read at once."""
    reader, namespace = memory._log.reader, memory._log.namespace_key(memory.namespace)  # noqa: SLF001 - one room
    done = sum(1 for _ in kept.chunks(reader.db, namespace)) if len(known) >= DECISIONS_OF_A_CHUNK else 0
    for at in range(done, len(known) - DECISIONS_OF_A_CHUNK + 1, DECISIONS_OF_A_CHUNK):
        part = known[at : at + DECISIONS_OF_A_CHUNK]

        def keep(db: apsw.Connection, part: Sequence[Decision] = part) -> None:
            with db:
                kept.keep_chunk(db, namespace, [one.position for one in part], [*map(_plain, part)])

        memory._log.exclusively(keep)  # noqa: SLF001 - one room


def _plain(one: Decision) -> list[Any]:
    time = None if one.time is None else [one.time.microseconds, one.time.offset_minutes]
    return [one.id, one.action, one.key, one.target, one.by_fact, one.reason, [*one.sources], one.by, one.through,
            one.undoes, one.position, time]  # fmt: skip


def _decision(row: list[Any]) -> Decision:
    try:
        identity, action, key, target, by_fact, reason, sources, by, through, undoes, position, time = row
        when = None if time is None else Moment(*time)
        return Decision(
            identity, action, key, target, by_fact, reason, tuple(sources), by, through, undoes, position, when
        )
    except (ValueError, TypeError) as error:
        raise StoreDamaged(f"a decision that is kept is not what was written ({error}); {REPAIR}") from error


# proof -----------------------------------------------------------------------------------------------------


def check(
    db: apsw.Connection, namespace: int, decision_of: Callable[[Event], Decision | None],
    events: Iterable[Event] | None = None,
) -> list[str]:  # fmt: skip
    """Compare what is kept with its checksums, and with what reading the log gives now; empty when all is well.

    Args:
        decision_of: reads a decision of an event; None for what is none.
        events: of the namespace, in order of position, up to what is kept at the least; None looks at checksums alone.
    """
    try:
        found = kept.reach(db, namespace)
        there = [_fact(row) for row in kept.rows(db, namespace, found.facts)]
        decided = [_decision(row) for row in kept.chunks(db, namespace)]
    except StoreDamaged as error:
        return [str(error)]
    if events is None:
        return []
    faults: list[str] = []
    every = [one for one in events if one.kind in TELLING or (one.kind is Kind.LEDGER and one.session == SESSION)]
    made = [*filter(None, (decision_of(one) for one in every if one.kind is Kind.LEDGER))]
    if made[: len(decided)] != decided:
        faults.append(f"the decisions that are kept are not those of the log; {REPAIR}")
    telling = (one for one in every if one.kind in TELLING and one.position <= found.facts)
    # what another version read, or an erasure left, is read anew
    if found.version == VERSION and [*Reading("").read(telling)] != there:
        faults.append(f"the facts that are kept are not those of the log; {REPAIR}")
    return faults
