"""Building the indexes from the log: one step behind an append, or all anew, between which others may write.

The invariant: each step goes on from where the index file says that it is, whoever took
the one before. A damaged event hides no good one: it cannot be indexed, so it is left
out, and its position is told. This module knows no index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.log.engine import Entry
from firsthand.log.results import Rebuilt
from firsthand.value import value

from .index_files import LEFT_OUT, IndexFiles, Reached, keep_reach, transaction
from .index_port import TransactionIndex
from .read import Reader
from .recent import RecentEvents

REBUILD_EVENTS = 1_000


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
        advanced = partial(advance, index, reader, files, key, REBUILD_EVENTS)
        exclusively(partial(lambda key, _: files.renew(key), key))
        while (step := exclusively(advanced)).more:
            done += step.events
            damaged += step.damaged
            if progress is not None:
                progress(min(base + step.through, total), total)
        base += step.through
    return Rebuilt(done, tuple(sorted(damaged)))


@value
class Step:
    """What a step indexed: how many events, up to which position, without which ones; and whether the log goes on."""

    through: int
    events: int
    damaged: tuple[int, ...]
    more: bool


def advance(
    index: TransactionIndex,
    reader: Reader,
    files: IndexFiles,
    key: int,
    events_max: int,
    db: apsw.Connection,
    recent: RecentEvents | None = None,
) -> Step:
    """Index a namespace's next events, under the write lock and outside a transaction of the log's.

    Args:
        recent: the newest events, which need not be read.

    Raises:
        apsw.Error: the index cannot be written; it is as it was before.
    """
    files.made(key)
    before = files.reached(key, index.name).position
    read = (recent.after(key, before) if recent is not None else None) or reader.entries(key, before, events_max)
    with transaction(db):
        if not before:
            index.begin(db, key)
        left_out = (*read.damaged, *_apply(index, reader, read.entries, db))
        if left_out and not files.reached(key, LEFT_OUT).position:
            keep_reach(db, key, LEFT_OUT, Reached(min(left_out), ""))
        keep_reach(db, key, index.name, Reached(read.through, ""))
        db.execute("COMMIT")
    return Step(read.through, len(read.entries) + len(read.damaged) - len(left_out), left_out, read.through > before)


def _apply(index: TransactionIndex, reader: Reader, entries: Sequence[Entry], db: apsw.Connection) -> list[int]:
    """Index events; give the positions of those whose payload is damaged."""
    if not entries:
        return []
    db.execute("SAVEPOINT damage")
    try:
        index.apply(db, entries, reader)
    except StoreDamaged:  # what was added before the damage is taken back
        db.execute("ROLLBACK TO damage")
        if len(entries) == 1:
            return [entries[0].event.position]
    else:
        return []
    return [position for entry in entries for position in _apply(index, reader, [entry], db)]
