"""What stands beside the hits: what the user said on the question, and what belongs with a hit.

Where a user took something back, or gave another value later, both statements are on the
question, and a reader who sees them with their dates knows which is the last. A call
belongs with its result, and a mail with the one it answers, by the log's own word.

The invariant: what stands here takes no place of a hit, and nothing of it is decided or
marked as right; a companion is in the scope that was asked for, at most one a hit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from firsthand.answer import Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind
from firsthand.value import value

from .contents import Contents
from .page import Asked, Place, is_echo

SAID_MAX = 5
SAID_WORTH_MIN = 0.3
"""Of the best message's score, what another one has at the least."""
COMPANIONS_OF = 3
"""The first hits that a companion is looked for."""
NEAR_EVENTS = 12
"""Events of the kind that is looked for, from the hit on: a result mostly comes next."""


@value
class Entry:
    """An event that is shown.

    Attributes:
        place: in the ranking; None for a companion.
        of: the event that a companion belongs with.
    """

    event: Event
    place: Place | None = None
    of: Event | None = None


def said(places: Sequence[Place], asked: Asked, contents: Contents) -> list[Entry]:
    """Choose a few messages of the user, the best of the ranking, in order of date; those of no date come first.

    Left out are earlier questions in nearly the same words, and texts that are there already.
    """
    worth = [place for place in places if place.score >= SAID_WORTH_MIN * places[0].score]
    contents.load(place.position for place in worth[:SAID_MAX])
    chosen: list[Entry] = []
    texts: set[str] = set()
    for place in worth:
        event = contents.event(place.position)
        if event is None:
            continue
        text = " ".join(event.text.casefold().split())
        if text in texts or (place.question and is_echo(event.text, asked)):
            continue
        texts.add(text)
        chosen.append(Entry(event, place))
        if len(chosen) == SAID_MAX:
            break
    return sorted(chosen, key=_date)


def _date(entry: Entry) -> tuple[int, int]:
    time = entry.event.time
    return (time.microseconds if time is not None else -(1 << 62), entry.event.position)


def companions(
    hits: Sequence[Event], shown_positions: Collection[int], scope: Scope, near: Callable[..., Iterator[Event]]
) -> list[Entry]:
    """Give the companions of the first hits.

    Args:
        shown: positions of events that are shown already.
        near: yields events of a session, as `Space.events` does.
    """
    known = {*shown_positions}
    chosen: list[Entry] = []
    for hit in hits[:COMPANIONS_OF]:
        partner = _partner(hit, near)
        if partner is not None and partner.position not in known and within(partner, scope):
            known.add(partner.position)
            chosen.append(Entry(partner, of=hit))
    return chosen


def _partner(hit: Event, near: Callable[..., Iterator[Event]]) -> Event | None:
    """Find a call's result, a result's call, or what a mail answers; None when it is not near, or cannot be read."""
    is_call, is_result = hit.kind is Kind.TOOL_CALL, hit.kind is Kind.TOOL_RESULT
    key, name = ("call_id", "call_id") if is_call or is_result else ("in_reply_to", "message_id")
    wanted = hit.meta.get(key)
    if not isinstance(wanted, str) or not wanted:
        return None
    kind = Kind.TOOL_RESULT if is_call else Kind.TOOL_CALL if is_result else hit.kind
    bounds = {"after": hit.position} if is_call else {"before": hit.position, "newest_first": True}
    try:
        for event in near(hit.session, kind=kind, limit=NEAR_EVENTS, **bounds):
            if event.meta.get(name) == wanted and event.is_searchable and not event.erased:
                return event
    except StoreDamaged:
        return None
    return None


def within(event: Event, scope: Scope) -> bool:
    """Say whether an event is in a scope."""
    time = None if event.time is None else event.time.microseconds
    return (
        (_is_named(event.session, scope.sessions) or not scope.sessions)
        and not _is_named(event.session, scope.without_sessions)
        and (event.agent in scope.agents or not scope.agents)
        and (event.kind in scope.kinds or not scope.kinds)
        and (scope.since is None or (time is not None and time >= scope.since.microseconds))
        and (scope.until is None or (time is not None and time <= scope.until.microseconds))
        and (scope.trust_max is None or event.trust <= scope.trust_max)
        and (scope.after_position is None or event.position > scope.after_position)
        and (scope.before_position is None or event.position < scope.before_position)
    )


def _is_named(session: str, names: Collection[str]) -> bool:
    return any(session == name or (name.endswith("*") and session.startswith(name[:-1])) for name in names)
