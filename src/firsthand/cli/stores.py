"""How a command opens its store, and walks through its events past damaged ones.

The invariant: a damaged event is named where it stands and hides no other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from firsthand import Event, InvalidArgument, Memory, StoreDamaged, StoreOlder
from firsthand.space import Space
from firsthand.value import value

POSITION_MAX = 1 << 48
DAMAGED_MAX = 10_000  # of one walk; beyond, the store is past being read event by event


def to_read(chosen: argparse.Namespace) -> Memory:
    """Open the store of a command that only reads; it must be there. One of an older version is migrated first."""
    try:
        return Memory.open(chosen.store, namespace=chosen.namespace, read_only=True, create=False)
    except StoreOlder:
        to_write(chosen, create=False).close()
        return Memory.open(chosen.store, namespace=chosen.namespace, read_only=True, create=False)


def position(memory: Space, as_of: int | None) -> int | None:
    """Give a position that was typed, when the store has come so far; None stays None, which is now."""
    head = int(memory.head().partition(":")[0])
    if as_of is not None and not 0 <= as_of <= head:
        raise InvalidArgument(
            f"expected a position from 0 to {head}, where this store is now; got {as_of}. `firsthand timeline` "
            "shows that of each event"
        )
    return as_of


def to_write(chosen: argparse.Namespace, *, create: bool) -> Memory:
    """Open the store of a command that writes."""
    return Memory.open(chosen.store, namespace=chosen.namespace, create=create)


@value
class Damaged:
    """Stands where an event cannot be read."""

    position: int
    why: str


def walk(
    memory: Memory,
    session: str | None = None,
    *,
    after: int = 0,
    before: int = POSITION_MAX,
    reverse: bool = False,
) -> Iterator[Event | Damaged]:
    """Yield events in order of position; one that is damaged is yielded as such, and the walk goes on.

    Args:
        after, before: exclusive bounds by position.

    Raises:
        StoreDamaged: the head cannot be read, or more than `DAMAGED_MAX` events cannot.
    """
    low, high = after, min(before, int(memory.head().partition(":")[0]) + 1)
    damaged = 0
    while True:
        try:
            for event in memory.events(session, after=low, before=high, newest_first=reverse):
                low, high = (low, event.position) if reverse else (event.position, high)
                yield event
        except StoreDamaged as error:
            edge = _edge(memory, session, low, high, reverse=reverse)
            # Good events that lie before the damaged one on its page were not handed out yet.
            left = (edge, high) if reverse else (low, edge)
            if left[1] - left[0] > 1:  # even a range without events cannot be asked for on an unreadable page
                yield from memory.events(session, after=left[0], before=left[1], newest_first=reverse)
            damaged += 1
            if damaged > DAMAGED_MAX:
                raise
            yield Damaged(edge, str(error))
            low, high = (low, edge) if reverse else (edge, high)
        else:
            return


def _edge(memory: Memory, session: str | None, low: int, high: int, *, reverse: bool) -> int:
    """Find the first position, in the direction of the walk, that cannot be read; low and high are exclusive."""
    first, last = low + 1, high - 1  # the damaged event lies between them, both included
    while first < last:
        middle = (first + last) // 2 + (1 if reverse else 0)
        bounds = (middle - 1, high) if reverse else (low, middle + 1)
        if _readable(memory, session, *bounds):
            first, last = (first, middle - 1) if reverse else (middle + 1, last)
        else:
            first, last = (middle, last) if reverse else (first, middle)
    return first


def _readable(memory: Memory, session: str | None, after: int, before: int) -> bool:
    """Say whether all events between two positions can be read."""
    try:
        for _ in memory.events(session, after=after, before=before):
            pass
    except StoreDamaged:
        return False
    return True
