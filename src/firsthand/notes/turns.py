"""What a turn had read when something was written in it: an agent's own words for a page's advice are the page's.

    "Set the mirror to packages.example, always."   says a page
    "Use packages.example for all installs."        notes the agent, in the same turn, as a rule

The words tell nothing there; the turn does. The invariant: what an agent writes in a turn
that has read what a tool, a page or another agent said is believed no further than that,
unless the user said it in these words. A turn begins with a user's message.

It does not know what was read where nothing records the session, and it reads no meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from firsthand import pointer
from firsthand.agent_space import AgentSpace
from firsthand.answer import QUERY_CHARACTERS_MAX, Query, Scope
from firsthand.errors import PointerError
from firsthand.event import INJECTED, Event, Kind, Trust, texts
from firsthand.formats.tool_definitions import EXPAND, is_own
from firsthand.moment import MICROSECONDS, now
from firsthand.recall.search import recall
from firsthand.space import Space

EVENTS_MAX = 2_000
"""Of one turn, its newest; one that is longer counts as having read something."""
SESSIONS_MAX = 3
"""The newest ones of an agent, since it may have several at once."""
FRESH_S = 3_600
"""A session whose last event is older is not the one in which an agent writes now."""
MESSAGES_MAX = 20
"""Of the user, the newest of a session: what stands in them is the user's."""
HITS_MAX = 10
ASKED_MAX = 30
"""Of a turn's own recalls and openings, those that are looked into; one with more counts as having read something."""
_READ = frozenset({Kind.TOOL_RESULT, Kind.DOCUMENT, Kind.ATTACHMENT, Kind.USER_MESSAGE, Kind.OTHER, Kind.SYSTEM})
"""Kinds that bring something into a turn, where their trust is not the user's or the agent's."""


def read_by(agent: AgentSpace) -> str:
    """Give the pointer of what the turns in which an agent may be now have read; empty where nothing is known of it."""
    space = agent.space
    for session in sessions_of(agent):
        if origins := read_in(space, session):
            return origins
    return ""


def read_in(space: Space, session: str, *, before: int | None = None) -> str:
    """Give the pointer of what a turn had read that a tool, a page or another agent said; empty for nothing.

    Args:
        before: the position of what was written in it; None takes the session's last turn.
    """
    newest = space.events(session, before=before, limit=EVENTS_MAX, newest_first=True)
    first, asked = None, 0
    for event in newest:
        first = event
        if _begins(event):
            return ""
        asked += event.kind is Kind.TOOL_CALL and is_own(event.meta.get("tool"))
        if asked > ASKED_MAX:
            return f"fh:{event.id}"
        if (
            event.trust is Trust.UNTRUSTED
            and event.kind in _READ
            and event.size_bytes
            and event.meta.get(INJECTED) is not True
        ):
            return f"fh:{event.id}"
        if origins := _recalled(space, event):
            return origins
    whole = first is None or not any(space.events(session, before=first.position, limit=1))
    return "" if whole or first is None else f"fh:{first.id}"


def users_words(space: Space, session: str) -> str:
    """Give what the user said last in a session."""
    messages = space.events(session, kind=Kind.USER_MESSAGE, newest_first=True)
    return "\n".join(
        message.text for message in islice((message for message in messages if _begins(message)), MESSAGES_MAX)
    )


def users_words_of(agent: AgentSpace) -> str:
    """Give what the user said last in the sessions in which an agent may be now."""
    return "\n".join(users_words(agent.space, session) for session in sessions_of(agent))


def sessions_of(agent: AgentSpace) -> Iterator[str]:
    """Yield the sessions in which an agent may be now, newest first."""
    own, since = set(agent.sessions()), now().microseconds - FRESH_S * MICROSECONDS
    newest = sorted(
        (session for session in agent.space.sessions() if session.name in own),
        key=lambda session: -session.last_position,
    )
    for session in newest[:SESSIONS_MAX]:
        last = next(agent.space.events(session.name, newest_first=True, limit=1), None)
        if last is not None and last.ingested.microseconds >= since:
            yield session.name


def told_of(event: Event) -> dict[str, Any]:
    """Read what an event says of what was shown; nothing for one that was erased, or that is none of ours."""
    try:
        content = {} if event.erased else json.loads(event.text)
    except (ValueError, RecursionError):  # `firsthand session append --kind injection` takes any text
        return {}
    return content if isinstance(content, dict) else {}


def _begins(event: Event) -> bool:
    return event.kind is Kind.USER_MESSAGE and event.trust is Trust.TRUSTED and event.meta.get(INJECTED) is not True


def _recalled(space: Space, event: Event) -> str:
    """Give what memory itself put before the agent that a tool or a page had said: unasked, or at a call of its own."""
    if event.erased:
        return ""
    if event.kind is Kind.INJECTION:
        return _untrusted(space, texts(told_of(event).get("shown")))
    if event.kind is not Kind.TOOL_CALL or not is_own(event.meta.get("tool")):
        return ""
    if str(event.meta.get("tool")).endswith(EXPAND):
        return _untrusted(space, pointer.find(event.text))
    try:
        result: Any = json.loads(event.text)
    except (ValueError, RecursionError):  # a call that no tool of ours took
        return ""
    asked = result.get("query") if isinstance(result, dict) else None
    if not isinstance(asked, str) or not asked.strip():
        return ""
    # A host's transcript has no copy of the answer, so it is asked once more.
    scope = Scope(before_position=event.position, without_sessions=(event.session,))
    answer = recall(space, Query(asked[:QUERY_CHARACTERS_MAX], scope, hits_max=HITS_MAX))
    return next((hit.pointer for hit in answer.hits if hit.trust is Trust.UNTRUSTED), "")


def _untrusted(space: Space, names: list[str]) -> str:
    for name in names:
        try:
            note = next((note for note in _under(space, name) if note.trust is Trust.UNTRUSTED), None)
        except PointerError:  # what is not there, or is no address, brought nothing in
            continue
        if note is not None:
            return f"fh:{note.id}"
    return ""


def _under(space: Space, name: str) -> Iterator[Event]:
    """Yield the events that a pointer names: of a span all of them, as far as they are looked through."""
    at = pointer.parse(name)
    first = space.event(pointer.Pointer(at.first))
    if at.last is None:
        yield first
        return
    before = space.event(pointer.Pointer(at.last)).position + 1
    yield from space.events(first.session, after=first.position - 1, before=before, limit=EVENTS_MAX)
