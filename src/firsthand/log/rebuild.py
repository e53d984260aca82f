"""Building the indexes anew from the log, in steps between which others may write.

The invariant: a damaged event hides no good one. It cannot be indexed, so it is
left out, and its position is told. This module knows no index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.value import value

from .index_files import IndexFiles, Reached, keep_reach
from .port import Entry, TransactionIndex
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
    files: IndexFiles,
    exclusively: Callable[[Callable[[apsw.Connection], Any]], Any],
    progress: Callable[[int, int], None] | None,
) -> Rebuilt:
    """Build one index of every namespace anew; cut short, it is begun again by the next rebuild.

    Args:
        files: of the write connection.
        exclusively: does something with the write connection under the write lock.
    """
    sql = "SELECT key FROM namespace WHERE head_position > 0 ORDER BY key"
    keys = [int(str(key)) for (key,) in exclusively(lambda db: db.execute(sql).fetchall())]
    damaged: list[int] = []
    done, base, total = 0, 0, reader.events_in_store()
    for key in keys:
        step = _Step(index, reader, files, key)
        exclusively(step.begin)
        while exclusively(step):
            if progress is not None:
                progress(min(base + step.through, total), total)
        done, base = done + step.events, base + step.through
        damaged += step.damaged
    return Rebuilt(done, tuple(sorted(damaged)))


class _Step:
    """Indexes the next events of a namespace, each time it is called."""

    def __init__(self, index: TransactionIndex, reader: Reader, files: IndexFiles, namespace_key: int) -> None:
        self._index, self._reader, self._files, self._key = index, reader, files, namespace_key
        self.through = self.events = 0
        self.damaged: list[int] = []

    def begin(self, db: apsw.Connection) -> None:
        """Put an empty index in the place of what is there."""
        self._files.renew(self._key)
        with db:
            self._index.begin(db, self._key)
            keep_reach(db, self._key, self._index.name, Reached(0, "is being rebuilt"))

    def __call__(self, db: apsw.Connection) -> bool:
        """Index some; False at the end."""
        read = self._reader.entries(self._key, self.through, REBUILD_EVENTS)
        more = read.through > self.through
        self._files.made(self._key)
        with db:
            refused = _apply(self._index, self._reader, read.entries, db)
            reached = Reached(read.through, "is being rebuilt" if more else "")
            keep_reach(db, self._key, self._index.name, reached)
        self.through = read.through
        self.events += len(read.entries) - len(refused)
        self.damaged += [*read.damaged, *refused]
        return more


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
