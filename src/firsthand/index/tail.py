"""The tail: the newest events, which the text index does not hold yet, cut in memory into the rows that they will be.

Events do not change, so that what was cut once is remembered; what was erased since is
not read again. The invariant: the rows of the tail are those that the index will have.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import Event
from firsthand.log.rows import key_of
from firsthand.log.sqlite.index_files import schema_of
from firsthand.log.sqlite.read import Reader
from firsthand.value import value

from .blocks import Row
from .index_rows import SAID, IndexRow, Stems, marks_of, rows_of
from .text import EventFacts, SessionEnds, keys_of

EVENTS_MAX = 2_000
"""Of a tail: some hundred milliseconds the first time. Further events are left out, which the answer says."""
ROWS_EVENT_MAX = 512
"""Of one event of the tail: a megabyte."""
_PAGE = 128


@value(eq=False)
class TailRows:
    """The rows of a tail, in order.

    Attributes:
        columns: of each row, as in `blocks.COLUMNS`.
        rows: with their terms.
        after: every later event is in it, or among these two.
        cut_short: positions of events of which only the first rows are there.
        damaged: positions of events that cannot be read.
    """

    columns: list[Row]
    rows: list[IndexRow]
    after: int
    cut_short: tuple[int, ...]
    damaged: tuple[int, ...]


@value(eq=False)
class _CutEvent:
    facts: EventFacts
    rows: tuple[IndexRow, ...]
    whole: bool


class Tail:
    """Cuts tails of one namespace and remembers the events that it cut. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cut: dict[int, _CutEvent] = {}

    def rows(
        self, reader: Reader, db: apsw.Connection, namespace: int, stems: Stems, reached: int, head: int, count: int
    ) -> TailRows:
        """Cut the events behind the index, the newest of them where there are too many.

        Args:
            reached: the last position in the index.
            count: rows in the index.
        """
        after = reached
        if head - reached > EVENTS_MAX:
            after = head - EVENTS_MAX
        with self._lock:
            there, events = self._events(reader, db, namespace, stems, after, head)
        columns: list[Row] = []
        rows: list[IndexRow] = []
        ends = SessionEnds(db if reached else None, schema_of(namespace))
        for event in events:
            first, session = count + len(rows) + 1, event.facts.session
            end = ends.of(session)
            for row in event.rows:
                rows.append(row)
                columns.append(event.facts.columns(row, count + len(rows), end))
            ends.add(session, first, said=event.rows[-1].flags & SAID > 0 and event.rows[-1].tokens > 0)
        short = tuple(event.facts.event.position for event in events if not event.whole)
        damaged = set(there).difference(event.facts.event.position for event in events)
        return TailRows(columns, rows, after, short, tuple(sorted(damaged)))

    def _events(
        self, reader: Reader, db: apsw.Connection, namespace: int, stems: Stems, after: int, head: int
    ) -> tuple[list[int], list[_CutEvent]]:
        """Give the positions of the events that are there, and those events, cut, that can be read."""
        base = key_of(namespace, 0)
        sql = "SELECT key - ? FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL ORDER BY key"
        positions: list[Any] = db.execute(sql, (base, base + after, base + head)).fetchall()
        there: list[int] = [position for (position,) in positions]
        self._cut = {position: cut for position in there if (cut := self._cut.get(position)) is not None}
        new = [position for position in there if position not in self._cut]
        while new:
            read = reader.entries(namespace, new[0] - 1, _PAGE)
            events = [entry.event for entry in read.entries if entry.event.position <= head]
            keys = keys_of(db, namespace, events) if events else {}
            for event in events:
                if event.position not in self._cut:
                    with suppress(StoreDamaged):  # of its payload: it is left out, as it is of the index
                        self._cut[event.position] = _cut_event(reader, event, keys[event.position], stems)
            new = [position for position in new if position > read.through]
        return there, [self._cut[position] for position in there if position in self._cut]


def _cut_event(reader: Reader, event: Event, keys: tuple[int, int], stems: Stems) -> _CutEvent:
    rows = tuple(islice(rows_of(event, reader, stems), ROWS_EVENT_MAX + 1))
    return _CutEvent(EventFacts(event, *keys), rows[:ROWS_EVENT_MAX], len(rows) <= ROWS_EVENT_MAX)


def terms_in(rows: Sequence[IndexRow], term: str) -> list[tuple[int, int]]:
    """Give the rows that hold a term, from 0, and the number of its marks there."""
    return [(at, marks_of(row.counts[term])) for at, row in enumerate(rows) if term in row.counts]
