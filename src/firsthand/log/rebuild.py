"""Building the indexes anew from the log, in steps between which others may write.

The invariant: a damaged event hides no good one. It cannot be indexed, so it is
left out, and its position is told. This module knows no index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.value import value

from .port import Entry, TransactionIndex

if TYPE_CHECKING:
    from .read import Reader

REBUILD_EVENTS = 1_000


@value
class Rebuilt:
    """What a rebuild did.

    Attributes:
        events: indexed anew.
        damaged: positions of the events that were left out, since they cannot be read; `verify` says why.
    """

    events: int
    damaged: tuple[int, ...] = ()


def rebuild(
    index: TransactionIndex,
    reader: Reader,
    exclusively: Callable[[Callable[[apsw.Connection], Any]], Any],
    progress: Callable[[int, int], None] | None,
) -> Rebuilt:
    """Build one index anew; cut short, it is begun again by the next rebuild.

    Args:
        exclusively: does something with the write connection under the write lock.
    """

    def begin(db: apsw.Connection) -> None:
        with db:
            index.reset(db)
            db.execute("INSERT OR REPLACE INTO index_reach VALUES (?, 0, 'is being rebuilt')", (index.name,))

    def step(db: apsw.Connection) -> tuple[int, list[int], int]:
        read = reader.entries(position, REBUILD_EVENTS)
        with db:
            refused = _apply(index, reader, read.entries, db)
            db.execute(
                "UPDATE index_reach SET position = ?, fault = ? WHERE name = ?",
                (read.through, "is being rebuilt" if read.through > position else "", index.name),
            )
        return len(read.entries) - len(refused), [*read.damaged, *refused], read.through

    exclusively(begin)
    damaged: list[int] = []
    events = position = 0
    while True:
        taken, left_out, through = exclusively(step)
        if through == position:
            return Rebuilt(events, tuple(sorted(damaged)))
        events, position = events + taken, through
        damaged += left_out
        if progress is not None:
            progress(position, reader.head()[0])


def _apply(index: TransactionIndex, reader: Reader, entries: Sequence[Entry], db: apsw.Connection) -> list[int]:
    """Index events; give the positions of those whose payload is damaged."""
    if not entries:
        return []
    try:
        with db:  # a savepoint: what was added before the damage is taken back
            index.apply(db, entries, reader)
    except StoreDamaged:
        if len(entries) == 1:
            return [entries[0].event.position]
    else:
        return []
    return [position for entry in entries for position in _apply(index, reader, [entry], db)]
