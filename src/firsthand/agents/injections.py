"""What was put before an agent unasked: INJECTION events in the host's session, which hold pointers and no words.

They say what not to show again, let a call that comes twice be known (Cursor runs
Claude's hooks too), and are what `doctor` reads. The invariant: what is shown is kept
before it is shown, by exactly one of several hooks for the same thing. Of a session that
the user does not let record there is no event: the server's handle remembers its pointers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2s
from typing import Any

from firsthand import event
from firsthand.errors import IdConflict, Unresolvable
from firsthand.event import Draft, Event, Kind, Trust
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.moment import Moment
from firsthand.pointer import Pointer
from firsthand.space import Space

INJECTIONS_READ_MAX = 500
SESSIONS_KEPT = 1_000
"""Of so many sessions a handle remembers what was shown; then it reads again."""
SAME_S = 30
"""Two calls for the same thing within this time are one thing told twice."""
ANEW = ("compact", "clear")
"""Why a session starts with an empty window: what was shown before is no longer in it."""


def shown(space: Space, session: str) -> frozenset[str]:
    """Give the pointers that were shown in a session since its window was last emptied.

    A handle reads each event once: a daemon asks at every prompt.
    """
    read_once = space.read_once
    through, before = read_once.get(("shown", session), (0, frozenset[str]()))
    new = [*space.events(session, kind=Kind.INJECTION, after=through, newest_first=True, limit=INJECTIONS_READ_MAX)]
    pointers: set[str] = set()
    for new_event in new:
        pointers.update(event.texts(fields_of(new_event).get("shown")))
        if new_event.meta.get("event") == HookEvent.SESSION_START.value and new_event.meta.get("source") in ANEW:
            break
    else:
        pointers |= before
    if len(read_once) >= SESSIONS_KEPT:
        read_once.clear()
    read_once["shown", session] = (new[0].position if new else through, frozenset(pointers))
    return frozenset(pointers)


def fields_of(event: Event) -> dict[str, Any]:
    """Read what an event says of what was shown; nothing for one that was erased, or that is none of ours."""
    try:
        content = {} if event.erased else json.loads(event.text)
    except (ValueError, RecursionError):  # `firsthand session append --kind injection` takes any text
        return {}
    return content if isinstance(content, dict) else {}


def left_window_before(space: Space, session: str) -> int | None:
    """Give the position before which a session's events have left its window; None while it was never compacted."""
    for summary in space.events(session, kind=Kind.SUMMARY, newest_first=True, limit=1):
        return summary.position
    return None


def remember(space: Space, session: str, call: HookCall, pointers: Iterable[str]) -> None:
    """Note in this handle alone what a session that is not recorded is about to be shown: nothing of it is written."""
    anew = call.event is HookEvent.SESSION_START and call.source in ANEW
    through, before = space.read_once.get(("shown", session), (0, frozenset[str]()))
    space.read_once["shown", session] = (through, frozenset(pointers).union(() if anew else before))


def keep(space: Space, session: str, call: HookCall, fields: dict[str, Any], *, nonce: str, now: Moment) -> bool:
    """Keep what is about to be shown; False when another hook has shown it for the same call.

    Args:
        told: ``shown`` (pointers) and facts without words.

    Raises:
        StoreError: it cannot be kept; then it must not be shown as if it had been.
    """
    meta = {"event": call.event.value, "source": call.source, "host": call.host, "nonce": nonce}
    about = f"{call.event.value}\0{call.key}\0{call.source}\0{call.prompt}\0{call.call_id}\0{call.tool_input}"
    digest = blake2s(about.encode("utf-8", "surrogatepass")).digest()
    bucket = now.microseconds // (SAME_S * 1_000_000)
    ids = [
        event.derived_id(None, b"injection", space.namespace.encode(), session.encode(), digest, b"%d" % number)
        for number in (bucket, bucket - 1)
    ]
    if (before := _first(space, ids)) is not None:
        return _is_by(before, nonce)
    draft = Draft(
        Kind.INJECTION, json.dumps(fields).encode(), "application/json", meta,
        origin="firsthand", trust=Trust.TRUSTED, time=now, id=ids[0],
    )  # fmt: skip
    with suppress(IdConflict):  # the other was quicker by a moment
        if space.append([draft], session=session)[0].new:
            return True
    before = _first(space, ids)
    return before is not None and _is_by(before, nonce)


def _first(space: Space, ids: Iterable[str]) -> Event | None:
    """Give the first of these events that is in the log."""
    for identity in ids:
        with suppress(Unresolvable):
            return space.event(Pointer(identity))
    return None


def _is_by(before: Event, nonce: str) -> bool:
    """Say whether this very call kept it: the server answers it from the disk while its hook asks."""
    return bool(nonce) and before.meta.get("nonce") == nonce
