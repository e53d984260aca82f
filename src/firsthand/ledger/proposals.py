"""When a decision that was stated within a turn takes effect: with the end of the turn, as the log tells it.

    a later message of the user in that session     by its own time, since transcripts are read in late
    the session's close, or a host's stop mark      an event of kind session, or the message of a stop hook
    an event of the namespace an hour younger       for a session of which nothing more is recorded

The invariant: what has become of a proposal at a position is a function of the log up to
there. Quotes that the log lacked when it was stated are looked for once, when the turn is
over, in that session and before that position.

It decides nothing of evidence: that is `evidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firsthand import moment
from firsthand.errors import PointerError
from firsthand.event import BEHIND, INJECTED, Draft, Event, IdMaker, Kind, Trust
from firsthand.ledger.decision_events import from_event
from firsthand.ledger.decisions import Decision, State
from firsthand.ledger.evidence import examined
from firsthand.moment import MICROSECONDS
from firsthand.notes.sources import readable
from firsthand.space import Space
from firsthand.value import replace

PROPOSALS = "proposals"
STALE_S = 3_600
MARK = "event"
"""The fact in the meta of a session event that says what its host told: the end of a turn, or of the session."""
TURN_OVER, SESSION_OVER = "stop", "session end"
_HOOK = "hook"
_MARKS = (Kind.USER_MESSAGE, Kind.SESSION, Kind.AGENT_MESSAGE)
_OPEN = frozenset({State.OPEN, State.PENDING})


def settled(space: Space, decisions: Iterable[Decision], as_of: int | None = None) -> tuple[Decision, ...]:
    """Give decisions as they stand at a position: in force, refused, or still what they were when they were stated."""
    return tuple(
        _settled(space, decision, as_of) if decision.state in _OPEN else decision for decision in decisions
    )  # fmt: skip


def _settled(space: Space, decision: Decision, as_of: int | None) -> Decision:
    key = PROPOSALS, decision.id
    known: Decision
    scanned, known = space.read_once.get(key, (decision.position, decision))
    if known.state not in _OPEN and (as_of is None or known.since <= as_of):
        return known
    head = space.position  # read before what is looked through: what comes in meanwhile is looked through next time
    end = _turn_end(space, decision, decision.position if as_of is not None else scanned, as_of)
    if not end:
        if as_of is None:
            space.read_once[key] = (head, decision)
        return decision
    after = replace(_after(space, decision, end), since=end)
    space.read_once[key] = (end, after)
    return after


def _after(space: Space, decision: Decision, end: int) -> Decision:
    """Give a decision as it stands when its turn is over."""
    if decision.state is State.OPEN:
        return replace(decision, state=State.IN_FORCE)
    try:
        evidence = examined(space, decision, before=end)
    except PointerError as error:  # what it names was erased meanwhile
        return replace(decision, state=State.REFUSED, why=str(error))
    if evidence.faults:
        return replace(decision, state=State.REFUSED, why="; ".join(evidence.faults))
    waits = evidence.decision.state is State.WAITS
    return evidence.decision if waits else replace(evidence.decision, state=State.IN_FORCE)


def _turn_end(space: Space, decision: Decision, scanned: int, as_of: int | None) -> int:
    """Give the position of the first event that ends the turn of a decision; 0 while it goes on."""
    before = None if as_of is None else as_of + 1
    ends = []
    for kind in _MARKS:
        marks = space.events(decision.session, kind=kind, after=scanned, before=before)
        ends += [next((mark.position for mark in marks if _ends(mark, decision)), 0)]
    first = min(filter(None, ends), default=0)
    newest = next(space.events(before=before, newest_first=True, limit=1), None)
    if newest is None or not _is_stale(newest, decision):
        return first
    within = space.events(after=decision.position, before=first or before)
    return next((event.position for event in within if _is_stale(event, decision)), first)


def _ends(event: Event, decision: Decision) -> bool:
    if event.time is not None and decision.time is not None and event.time <= decision.time:
        return False
    match event.kind:
        case Kind.USER_MESSAGE:
            return event.trust is Trust.TRUSTED and event.meta.get(INJECTED) is not True and BEHIND not in event.meta
        case Kind.SESSION:
            return event.meta.get(MARK) in (TURN_OVER, SESSION_OVER)
        case _:
            return _HOOK in event.meta


def _is_stale(event: Event, decision: Decision) -> bool:
    stated = decision.time
    return stated is not None and event.ingested.microseconds >= stated.microseconds + STALE_S * MICROSECONDS


def pending_on(space: Space, events: Iterable[Event]) -> Iterator[str]:
    """Yield the ids of decisions that waited for words of some events, and name none of them as their source."""
    texts = [event.text for event in events]
    for event in readable(space, "ledger", 0, Kind.LEDGER) if texts else ():
        decision = from_event(event)
        pending = () if decision is None or decision.state is not State.PENDING else decision.quotes
        if any(quote in text for quote in pending for text in texts):
            yield event.id


def open_in(decisions: Iterable[Decision], session: str) -> Iterator[Decision]:
    """Yield the decisions that take effect with a session's turn."""
    return (decision for decision in decisions if decision.state in _OPEN and decision.session == session)


def end_turn(space: Space, session: str) -> None:
    """Mark in the log that a host has said that a turn is over."""
    draft = Draft(Kind.SESSION, b"", meta={MARK: TURN_OVER}, origin="firsthand", trust=Trust.TRUSTED,
                  time=moment.now(), id=IdMaker()())  # fmt: skip
    space.append([draft], session=session)
    space.decided()
