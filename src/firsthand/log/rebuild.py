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

    def begin(db: apsw.Connection) -> list[int]:
        with db:
            index.reset(db)
            db.execute(
                "INSERT OR REPLACE INTO index_reach "
                "SELECT key, ?, 0, 'is being rebuilt' FROM namespace WHERE head_position > 0",
                (index.name,),
            )
        keys = db.execute("SELECT key FROM namespace WHERE head_position > 0 ORDER BY key").fetchall()
        return [int(str(key)) for (key,) in keys]

    damaged: list[int] = []
    done, base, total = 0, 0, reader.events_in_store()
    for namespace_key in exclusively(begin):
        position, through = -1, 0
        while through > position:
            position = through
            step = _Step(index, reader, namespace_key, position)
            taken, left_out, through = exclusively(step)
            done += taken
            damaged += left_out
            if progress is not None and through > position:
                progress(min(base + through, total), total)
        base += through
    return Rebuilt(done, tuple(sorted(damaged)))


@value
class _Step:
    """Indexes the next events of a namespace after a position."""

    index: TransactionIndex
    reader: Reader
    namespace_key: int
    position: int

    def __call__(self, db: apsw.Connection) -> tuple[int, list[int], int]:
        read = self.reader.entries(self.namespace_key, self.position, REBUILD_EVENTS)
        with db:
            refused = _apply(self.index, self.reader, read.entries, db)
            db.execute(
                "UPDATE index_reach SET position = ?, fault = ? WHERE namespace = ? AND name = ?",
                (
                    read.through,
                    "is being rebuilt" if read.through > self.position else "",
                    self.namespace_key,
                    self.index.name,
                ),
            )
        return len(read.entries) - len(refused), [*read.damaged, *refused], read.through


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
