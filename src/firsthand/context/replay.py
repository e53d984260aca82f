"""Puts the prompt of an earlier call together again, from the log alone, and compares it with its record.

The invariant: nothing is taken from what the log says later than the call; ``same`` is decided by the hash of
the bytes, nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from firsthand import tokens
from firsthand.context.anatomy import Anatomy, from_event
from firsthand.context.anatomy_diff import Difference, diff
from firsthand.context.session_lists import name_of
from firsthand.context.tools import TOOLS
from firsthand.event import Event, Kind
from firsthand.formats import canonical
from firsthand.ledger.effect import Effect
from firsthand.space import Space
from firsthand.tokens import TokenCounter
from firsthand.value import value
from firsthand.window import Budget, Window

from .fold import Fold
from .request import compose_from

ESTIMATES = (tokens.estimate, tokens.OPENAI, tokens.CLAUDE)


@value
class Replay:
    """A prompt, put together again from the log.

    Attributes:
        body: as it is sent to the provider.
        same: its canonical JSON is byte for byte the one that was recorded before the call.
        note: what differs, when it is not; else that it is.
        window: that it was composed from, to be compared with that of another call.
    """

    body: Mapping[str, Any]
    same: bool
    note: str
    window: Window


def replay(space: Space, event: Event, counter: TokenCounter | None = None) -> Replay:
    """Compose the prompt of a call again, from the event that holds its anatomy.

    Raises:
        FormatError: the event is no anatomy.
    """
    anatomy = from_event(event)
    counter = counter or next(
        (counter for counter in ESTIMATES if tokens.identity(counter) == anatomy.counter), tokens.estimate
    )
    budget = Budget(anatomy.budget_tokens, item_share=float(event.meta.get("item_share", 0.25)))
    reader = space.log.reader
    fold = Fold(reader, space.namespace, event.session, budget, counter, lambda _: None, name_of(event))
    fold.open(at=event.position - 1)
    offered = event.meta.get("pull", ())
    pull = [tool for tool in TOOLS if tool.name in offered]
    effect = Effect(space, int(event.meta.get("ledger", event.position - 1)))
    sent = canonical.dump(compose_from(fold, anatomy.format, pull, effect).body)
    return compared(anatomy, sent, fold.window, why=_why(space, event, counter, anatomy.counter))


def compared(anatomy: Anatomy, sent: bytes, window: Window, *, why: str = "") -> Replay:
    """Compare a prompt that was put together again with the record of the call.

    Args:
        sent: the body as canonical JSON (`formats.canonical.dump`).
        window: that it was composed from.
        why: what is known about why it may differ, such as an erased event.
    """
    body: dict[str, Any] = json.loads(sent.decode("utf-8", "surrogatepass"))
    digest = hashlib.sha256(sent).hexdigest()
    if digest == anatomy.sha256:
        return Replay(body, same=True, note=f"the same {len(sent):,} bytes as recorded, sha256 {digest}", window=window)
    change = f"{len(sent):,} bytes where {anatomy.bytes:,} were recorded" if len(sent) != anatomy.bytes else "same size"
    known = f"; {why}" if why else ""
    return Replay(
        body,
        same=False,
        note=f"not the recorded prompt: sha256 {digest}, recorded {anatomy.sha256}; {change}{known}",
        window=window,
    )


def difference(space: Space, before: str, after: str) -> Difference:
    """Say why one call was sent more or less than another; events too, when both prompts come out as they were.

    Args:
        before, after: pointers of their anatomies.

    Raises:
        FormatError: an event there is no anatomy.
    """
    events = [space.event(address) for address in (before, after)]
    calls = [from_event(call) for call in events]
    replays = [replay(space, call) for call in events]
    old, new = (replay.window if replay.same else None for replay in replays)
    return diff(*calls, window_before=old, window_after=new)


def _why(space: Space, event: Event, counter: TokenCounter, recorded: str) -> str:
    """Name what is known to make a prompt differ from its record."""
    identity = tokens.identity(counter)
    if identity != recorded:
        return f"its tokens were counted by {recorded}, and now by {identity}: give replay that counter"
    if any(space.events(event.session, kind=Kind.ERASURE, after=event.position, limit=1)):
        return "something of this session was erased since"
    return "the library that sent it may have been another version"
