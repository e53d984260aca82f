"""The event that says which acknowledged events a namespace has lost.

A loss takes the position behind the last one that was acknowledged, so no position is
used twice; the namespace's head goes on from the one that was marked there. What stands
between the marked head and the events that are left cannot be derived again, and the
loss says so for good.

    {"loss":1,"missing":[[first position,last position]...],"ids":[those that are known...],
     "head":"position:hash" that was marked last}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from firsthand.errors import StoreDamaged
from firsthand.event import Kind, decode_body
from firsthand.value import value

from .rows import body_of

SESSION = "losses"
MEDIA = "application/vnd.firsthand.loss+json"
IDS_MAX = 1_000


@value
class Loss:
    """What is missing up to a position.

    Attributes:
        missing: ranges of positions; none when another history stands in their place.
        position, head: what was acknowledged last.
        ids: of missing events, as far as they are known.
    """

    missing: tuple[range, ...]
    position: int
    head: bytes
    ids: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many events are missing."""
        return sum(map(len, self.missing))

    def content(self) -> bytes:
        """Write the event's content."""
        missing = [[each[0], each[-1]] for each in self.missing]
        head = f"{self.position}:{self.head.hex()}"
        return json.dumps({"loss": 1, "missing": missing, "ids": list(self.ids), "head": head}).encode()


def parse_loss(content: bytes) -> Loss | None:
    """Read the content of a loss; None when it is not of its form."""
    try:
        fields = json.loads(content)
        position, _, head = fields["head"].partition(":")
        missing = tuple(range(int(first), int(last) + 1) for first, last in fields["missing"])
        loss = Loss(missing, int(position), bytes.fromhex(head), tuple(map(str, fields["ids"])))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    sound = len(loss.head) == 32 and all(len(each) > 0 and 0 < each[0] <= each[-1] <= loss.position for each in missing)
    return loss if fields.get("loss") == 1 and sound else None


def loss_of(row: tuple[Any, ...]) -> Loss | None:
    """Read what an event's row (`rows.STORED`) says was lost; None when it is no loss, or a damaged one."""
    if row[7] != Kind.LOSS.number:
        return None
    try:
        body = body_of(row)
    except StoreDamaged:
        return None
    payload = decode_body(body).payload if body is not None else b""
    return parse_loss(payload) if isinstance(payload, bytes) else None


def sentence(namespace: str, missing: Sequence[range]) -> str:
    """Say what a namespace lacks, for people."""
    count = sum(map(len, missing))
    places = ", ".join(f"{each[0]} to {each[-1]}" if len(each) > 1 else str(each[0]) for each in missing[:5])
    more = f" and {len(missing) - 5} further ranges" if len(missing) > 5 else ""
    events = "1 acknowledged event" if count == 1 else f"{count:,} acknowledged events"
    verb = "is" if count == 1 else "are"
    position = "position" if count == 1 else "positions"
    return f"{events} of namespace {namespace} {verb} missing: {position} {places}{more}"
