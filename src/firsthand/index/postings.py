"""The text index of one namespace as of one moment: columns and postings as arrays, for recall to rank by.

A moment is a read transaction in which log and index belong together. What the index does
not hold yet looks like further rows (`tail`). The invariant: what is not covered is said in
`IndexMoment.faults`, so that nobody takes an empty answer for an absence; and what is kept
in memory from one moment to the next is of the same generation of the index.

It does not rank.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.answer import Scope
from firsthand.log.sqlite.index_files import schema_of
from firsthand.log.sqlite.read import Reader
from firsthand.value import value

from .columns import Columns, ColumnStore
from .index_rows import MARK, TERM_CHARACTERS_MAX, TIMES, Stems, shortened
from .reach import reach
from .scopes import mask_of
from .tail import Tail, TailRows, terms_in
from .text import blocks_from, state_of
from .tokenizer import stems
from .vocabulary import Vocabulary, is_listed, shortest

Rows = NDArray[np.int64]
Times = NDArray[np.float32]
CACHE_POSTINGS_MAX = 2_000_000
"""Of the terms asked for last: nine bytes each."""
PART_CHARACTERS_MIN = 3
_TERM = re.compile(rf"[0-9a-z\u0080-\ud7ff\ue000-\U0010ffff]{{1,{TERM_CHARACTERS_MAX}}}[{MARK}]*")
_NO_ROWS = np.empty(0, np.int64)
_TIMES = np.array(TIMES, np.float32)


@value(eq=False)
class _Postings:
    """The postings of a term in the index, up to a row."""

    through: int
    rows: Rows
    marks: NDArray[np.uint8]


class _Generation:
    """What is kept in memory of an index as long as its rows stay what they are."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.columns = ColumnStore()
        self.vocabulary = Vocabulary()
        self.postings: OrderedDict[str, _Postings] = OrderedDict()
        self.size = 0  # of all postings
        self.agents: tuple[int, dict[int, str]] = (0, {})  # up to which row, and who they are


class IndexCache:
    """What is kept in memory of one namespace's index from one moment to the next. Threads may share it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.tail = Tail()
        self._generation = _Generation(0)

    def generation(self, number: int) -> _Generation:
        """Give what is kept of a generation of the index; what was kept of another one is dropped."""
        if self._generation.number != number:
            self._generation = _Generation(number)
        return self._generation


class IndexMoment:
    """The text index and the tail behind it, as of one moment.

    Attributes:
        columns: of all rows.
        through: the last position covered.
    """

    def __init__(self, reader: Reader, db: apsw.Connection, namespace: int, cache: IndexCache, head: int) -> None:
        self._db, self._namespace, self._cache = db, namespace, cache
        self._schema, self._table = schema_of(namespace), f"text_{namespace}"
        self._stems: Stems = stems(db)
        self.through = head
        reached = reach(reader, namespace, head)
        faults = (
            [f"the text index does not follow: {reached.fault}; run 'firsthand store rebuild'"] if reached.fault else []
        )
        state = state_of(db, namespace) if reached.through else None
        with cache.lock:
            generation = self._kept = cache.generation(state.generation if state is not None else 0)
            self._rows = state.rows if state is not None else 0  # in the index
            try:
                self._read_columns(generation.columns, 0 if state is None else state.position - reached.through)
            except (apsw.SQLError, apsw.CorruptError) as error:
                faults.append(_unreadable(error))
                generation = self._kept = cache.generation(-1)
                self._rows = 0
            through = reached.through if self._rows else 0
            tail = cache.tail.rows(reader, db, namespace, self._stems, through, head, self._rows)
            gap = tail.after > through
            if gap:
                faults.append(f"events {through + 1:,} to {tail.after:,} are not in the text index")
            faults += [f"event {position:,} is not in the text index as a whole" for position in tail.cut_short]
            faults += [f"event {position:,} cannot be read; run 'firsthand store verify'" for position in tail.damaged]
            self._tail: TailRows = tail
            self.columns: Columns = generation.columns.with_tail(
                self._rows, tail.columns, private=gap or bool(tail.cut_short)
            )
        self._faults = dict.fromkeys(faults)

    def doubt(self, what: str) -> None:
        """Have answers say something of what is looked at here, if there is anything to say."""
        if what:
            self._faults[what] = None

    @property
    def faults(self) -> tuple[str, ...]:
        """What is not covered, as far as it is known: damage shows when a term is asked for."""
        return tuple(self._faults)

    def _read_columns(self, columns: ColumnStore, beyond: int) -> None:
        if beyond > 0:
            raise apsw.CorruptError(f"it holds {beyond:,} events more than it says")
        if columns.count >= self._rows:
            return
        blocks = blocks_from(self._db, self._schema, columns.count + 1)
        first, data = next(blocks, (0, None))
        if not 0 < first <= columns.count + 1:
            raise apsw.CorruptError(f"the columns of rows from {columns.count + 1:,} on are missing")
        columns.add(chain((data,), (data for _, data in blocks)), self._rows, columns.count + 1 - first)

    @property
    def agents(self) -> Mapping[int, str]:
        """The names of those who spoke or acted in the namespace, by key."""
        generation = self._kept
        with self._cache.lock:
            through, names = generation.agents
        if through != len(self.columns):
            keys = np.flatnonzero(np.bincount(self.columns.agent[1:]))
            sql = "SELECT key, text FROM name WHERE key IN (SELECT value FROM carray(?))"
            new = [key for key in keys.tolist() if key and key not in names]
            rows: list[Any] = self._db.execute(sql, (apsw.carray(array("q", new)),)).fetchall() if new else []
            names = names | dict(rows)
            with self._cache.lock:
                generation.agents = (len(self.columns), names)
        return names

    # terms -----------------------------------------------------------------------------------------

    def stems(self, text: str) -> list[str]:
        """Cut a text into terms, as the index does."""
        return shortened(self._stems(text))

    def postings(self, term: str) -> tuple[Rows, Times]:
        """Give the rows that hold a term, ascending, and how often each of them does.

        Args:
            term: a stem, or `words.token` of an exact string.
        """
        if MARK in term:
            return _NO_ROWS, _TIMES[:0]
        cached = self._postings(term)
        rows, marks = cached.rows, cached.marks
        if tail := terms_in(self._tail.rows, term):
            at, levels = zip(*tail, strict=True)
            rows = np.concatenate((rows, np.array(at, np.int64) + (self._rows + 1)))
            marks = np.concatenate((marks, np.array(levels, np.uint8)))
        return rows, _TIMES[marks]

    def frequency(self, term: str) -> int:
        """Count the rows that hold a term: a seventieth of a microsecond each, a fifth of what they cost themselves."""
        if MARK in term:
            return 0
        with self._cache.lock:
            known = self._kept.postings.get(term)
        count = len(known.rows) if known is not None and known.through == self._rows else self._count(term)
        return count + len(terms_in(self._tail.rows, term))

    def words_with(self, part: str, limit: int) -> tuple[str, ...]:
        """Give indexed terms that hold a part of a word (three characters or more), the shortest first."""
        words: set[str] = set()
        for each in {part.casefold(): None, "".join(self._stems(part)): None}:  # what it ends in may have been stemmed
            if len(each) < PART_CHARACTERS_MIN:
                continue
            if self._rows:
                with self._cache.lock:
                    self._kept.vocabulary.read(self._db, self._schema)
                    words.update(self._kept.vocabulary.holding(each, limit))
            words.update(term for row in self._tail.rows for term in row.counts if each in term and is_listed(term))
        return tuple(shortest(words, limit))

    def scope_mask(self, scope: Scope) -> NDArray[np.bool_] | None:
        """Say of each row whether it is in a scope; None where all are."""
        return mask_of(self._db, self._namespace, scope, self.columns)

    def _postings(self, term: str) -> _Postings:
        generation = self._kept
        with self._cache.lock:
            known = generation.postings.get(term)
        if known is None or known.through > self._rows:
            through, rows, marks = 0, _NO_ROWS, np.empty(0, np.uint8)
        elif known.through == self._rows:
            return known
        else:
            through, rows, marks = known.through, known.rows, known.marks
        new = self._fetch(term, through)
        levels = np.zeros(self._rows + 1, np.uint8)
        holders = new
        for mark in range(1, len(TIMES)):
            if not len(holders):
                break
            holders = self._fetch(term + MARK * mark, through)
            levels[holders] += 1
        levels = levels[new]
        postings = _Postings(self._rows, np.concatenate((rows, new)), np.concatenate((marks, levels)))
        with self._cache.lock:
            self._keep(generation, term, postings)
        return postings

    @staticmethod
    def _keep(generation: _Generation, term: str, postings: _Postings) -> None:
        before = generation.postings.pop(term, None)
        generation.size += len(postings.rows) - (len(before.rows) if before is not None else 0)
        generation.postings[term] = postings
        while generation.size > CACHE_POSTINGS_MAX:
            _, oldest = generation.postings.popitem(last=False)
            generation.size -= len(oldest.rows)

    def _fetch(self, term: str, after: int) -> Rows:
        """Read the rows of a term from the index: as one text, since a row of SQLite's costs three times a number."""
        values: tuple[str | int, ...] = (f'"{term}"', after) if after else (f'"{term}"',)
        sql = (
            f"SELECT group_concat(rowid) FROM {self._schema}.{self._table} "  # noqa: S608 - a number
            f"WHERE {self._table} MATCH ?{' AND rowid > ?' if after else ''}"
        )
        row = self._one(term, sql, values)
        return _NO_ROWS if row is None else np.fromstring(row, np.int64, sep=",")

    def _count(self, term: str) -> int:
        sql = f"SELECT doc FROM {self._schema}.{self._table}_terms WHERE term = ?"  # noqa: S608 - a number
        return int(self._one(term, sql, (term,)) or 0)

    def _one(self, term: str, sql: str, values: tuple[str | int, ...]) -> Any:
        if not self._rows or not _TERM.fullmatch(term):
            return None
        try:
            return self._db.execute(sql, values).get
        except (apsw.SQLError, apsw.CorruptError) as error:
            self._faults[_unreadable(error)] = None
            return None


def _unreadable(error: apsw.Error) -> str:
    return f"the text index cannot be read ({error}); run 'firsthand store rebuild'"


@contextmanager
def open_moment(reader: Reader, namespace: str, cache: IndexCache) -> Iterator[IndexMoment]:
    """Read the text index of a namespace as of one moment, for the length of a block of this thread."""
    key = reader.namespace_key(namespace)
    with reader.at_one_moment(key) as db:
        yield IndexMoment(reader, db, key, cache, reader.head(namespace)[0])
