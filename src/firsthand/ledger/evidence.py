"""Checks what a stated decision rests on: that its words stand in the log, in which order, and who said them.

    supersede   quote_old stands in the old event, quote_new in the new one, and the new one is later
    retract     the quote takes it back: it stands in an event after the target, or in the target itself
    assert      the quote stands in the event that is cited, or in one that is found

The invariants: a decision that passes cites events of this namespace that hold its quotes
byte for byte; what a user said is taken out only by what a user said later, else the
decision waits for the user. That the words mean it, nobody checks. Each fault says how to
mend it.
Source: total-recall 8.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.answer import Query, Scope
from firsthand.errors import Erased, FirsthandError, Unresolvable
from firsthand.event import INJECTED, Event, Kind, Trust, to_bytes, to_text
from firsthand.ledger.decision_events import from_event
from firsthand.ledger.decisions import Decision, State
from firsthand.notes.check import EVENT_BYTES_MAX, Quoted, check
from firsthand.notes.claim import POINTERS_MAX, Claim
from firsthand.pointer import Pointer, parse
from firsthand.recall.search import recall
from firsthand.space import Address, Space, pointer_of
from firsthand.value import replace, value

_ASKED_CHARACTERS = 500
USER = "user"


@value
class Evidence:
    """What a check found.

    Attributes:
        decision: with the pointers of the events that hold its quotes, and whether it waits for the user.
        quoted: its quotes, where they stand.
        faults: why it is refused, each with how to mend it; empty when it is not.
        may_come: True when nothing is wrong but that a quote for which no event is named stands nowhere yet.
    """

    decision: Decision
    quoted: tuple[Quoted, ...] = ()
    faults: tuple[str, ...] = ()
    may_come: bool = False


def examined(space: Space, decision: Decision, *, before: int | None = None, within: Sequence[str] = ()) -> Evidence:
    """Check a decision against the log; what it names no event for is looked for.

    Args:
        before: only events before this position count, and quotes are looked for in its own session alone.
        within: sessions in which quotes without an event are looked for; empty for all.

    Raises:
        MalformedPointer, Unresolvable: it names no event of this namespace; `Erased` when that was erased.
    """
    addresses = _addresses(decision)
    for address in filter(None, (decision.target, decision.by_fact)):
        cited(space, address)
    quoted = [
        _quoted(space, decision, quote, address, before, within)
        for quote, address in zip(decision.quotes, addresses, strict=False)
    ]  # fmt: skip
    names = ("quote_old", "quote_new") if decision.action == "supersede" else ("quote",)
    faults = tuple(f"{name}: {fault}" for name, (_, fault) in zip(names, quoted, strict=False) if fault)
    pieces = tuple(piece for piece, _ in quoted)
    if faults:
        may_come = all(piece.pointer or not address for piece, address in zip(pieces, addresses, strict=False))
        return Evidence(decision, pieces, faults, may_come)
    if decision.action == "assert":
        place = _lines(space, pieces[0])
        checked = replace(decision, target=place, sources=(_whole(place),))
        return Evidence(checked, pieces)
    return _ordered(space, decision, pieces)


def _addresses(decision: Decision) -> tuple[str, ...]:
    """Give the address that each quote must stand under; empty for one that is looked for."""
    match decision.action:
        case "supersede":
            return decision.target, decision.by_fact
        case "retract":
            return ("",)
        case _:
            return (decision.target,)


def _quoted(
    space: Space, decision: Decision, quote: str, address: str, before: int | None, within: Sequence[str]
) -> tuple[Quoted, str]:
    """Find a quote, and say what is wrong with it."""
    if not any(sign.isalnum() for sign in quote):
        return Quoted(quote), "it holds no word; quote what was said, word for word"
    places = (_whole(address),) if address else ()
    sessions = (decision.session,) if decision.session else ()
    piece, fault = _looked(space, quote, places, sessions, before)
    if fault and not places and before is None and (messages := _users_messages(space, quote, within)):
        elsewhere, why = _looked(space, quote, messages, (), None)
        piece, fault = (piece, fault) if why and "copy from" in fault else (elsewhere, why)
    if decision.action == "retract":  # its own words, where none that came later take it back
        old = cited(space, decision.target)
        if fault or not is_later(cited(space, piece.pointer), old):
            own, why = _looked(space, quote, _own(old), (), before)
            piece, fault = (piece, fault) if why else (own, "")
    return piece, fault


def _own(event: Event) -> tuple[str, ...]:
    """Name the events whose words are an event's own: itself, or what an assertion rests on."""
    decision = from_event(event) if event.kind is Kind.LEDGER else None
    return (f"fh:{event.id}",) if decision is None else (_whole(decision.target),)


def _looked(
    space: Space, quote: str, places: tuple[str, ...], sessions: tuple[str, ...], before: int | None
) -> tuple[Quoted, str]:
    (checked,) = check(space, [Claim("", (quote,), at=places, by=USER)], within=sessions, before=before)
    piece = checked.quoted[0]
    if piece.pointer:
        return piece, ""
    return piece, next(iter(checked.reasons), "not word for word").partition(": ")[2] or "too short"


def _users_messages(space: Space, quote: str, within: Sequence[str]) -> tuple[str, ...]:
    """Give the user messages and notes that are most like a quote, the newest first."""
    scope = Scope(tuple(within), kinds=(Kind.USER_MESSAGE, Kind.NOTE))
    hits = recall(space, Query(quote[:_ASKED_CHARACTERS], scope, hits_max=POINTERS_MAX)).hits
    events = [space.event(hit.pointer) for hit in hits]
    return tuple(f"fh:{event.id}" for event in sorted(events, key=lambda event: -event.position))


# order, and who said it ------------------------------------------------------------------------------


def _ordered(space: Space, decision: Decision, pieces: tuple[Quoted, ...]) -> Evidence:
    """Hold a decision that takes something out to its order and to who said it."""
    old = cited(space, decision.target or pieces[0].pointer)
    new = cited(space, decision.by_fact or pieces[-1].pointer) if decision.by_fact or pieces else None
    names = dict.fromkeys(f"fh:{event.id}" for event in (old, new) if event is not None)
    checked = replace(decision, target=_target(space, decision, old, pieces), sources=tuple(names))
    if decision.action == "supersede":
        if new is None or new.id == old.id:
            return Evidence(checked, pieces, (f"fh:{old.id} does not take its own place; cite two events",))
        checked = replace(checked, by_fact=decision.by_fact or f"fh:{new.id}")
    if decision.by == USER:  # who says so is the user, whatever came first
        return Evidence(checked, pieces)
    assert new is not None
    is_own = f"fh:{new.id}" in _own(old)
    if not is_own and not is_later(new, old):
        early = f"fh:{new.id} was said before fh:{old.id}; what is decided rests on what was said later"
        return Evidence(checked, pieces, (early,))
    if is_users(space, old) and (is_own or not is_users(space, new)):
        why = f"a user said fh:{old.id}, and what takes it out is no later word of a user"
        checked = replace(checked, state=State.WAITS, why=why)
    return Evidence(checked, pieces)


def _target(space: Space, decision: Decision, old: Event, pieces: tuple[Quoted, ...]) -> str:
    """Give what is taken out: the part that was named, the lines that are quoted, or all of the event."""
    if parse(decision.target or f"fh:{old.id}").unit == "bytes":
        return str(parse(decision.target))
    if decision.action == "supersede" and pieces:
        return _lines(space, replace(pieces[0], pointer=f"fh:{old.id}"))
    return f"fh:{old.id}"


def cited(space: Space, address: Address) -> Event:
    """Read the event that a decision cites.

    Raises:
        MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
    """
    named = pointer_of(address)
    if named.last is not None:
        raise Unresolvable(f"expected the pointer of one event; {str(named)!r:.80} is a span. Name its events.")
    event = space.event(Pointer(named.first))
    if event.erased:
        raise Erased(f"fh:{event.id} was erased, and all that was made of it")
    return event


def is_later(new: Event, old: Event) -> bool:
    """Say whether an event is later: by when both happened, else by when they came into the log."""
    if new.time is not None and old.time is not None and new.time != old.time:
        return new.time > old.time
    return new.position > old.position


def is_users(space: Space, event: Event) -> bool:
    """Say whether a user wrote an event, or an assertion rests on the words of one."""
    if event.kind is Kind.LEDGER:
        decision = from_event(event)
        try:
            return decision is not None and (decision.by == USER or is_users(space, cited(space, decision.target)))
        except FirsthandError:  # what it rests on is gone, and it with it
            return True
    if event.meta.get(INJECTED) is True:
        return False
    return event.trust is Trust.TRUSTED and event.kind in (Kind.USER_MESSAGE, Kind.NOTE)


# lines -----------------------------------------------------------------------------------------------


def _lines(space: Space, piece: Quoted) -> str:
    """Give the pointer of the whole lines that a quote stands in; of the event where they are all that it says."""
    data = bytearray()
    for block in space.stream(Pointer(parse(piece.pointer).first)):
        data += block
        if len(data) > EVENT_BYTES_MAX:
            return piece.pointer
    text = to_text(bytes(data))
    at = text.find(piece.line)
    if at < 0 or to_bytes(text) != data:  # bytes that are no text have no lines to be named by
        return piece.pointer
    low, end = text.rfind("\n", 0, at) + 1, text.find("\n", at + len(piece.line))
    high = len(text) if end < 0 else end
    if not (text[:low] + text[high:]).strip():
        return piece.pointer
    start = len(to_bytes(text[:low]))
    return f"{piece.pointer}@{start}-{start + len(to_bytes(text[low:high]))}"


def _whole(address: str) -> str:
    named = parse(address)
    return str(named) if named.last is not None else f"fh:{named.first}"
