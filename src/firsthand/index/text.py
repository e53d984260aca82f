"""The text index: which terms stand in which rows, one file a namespace (`firsthand.log.sqlite.index_files`).

It is written behind the log's commits. Rows (`index_rows`) are numbered 1 to n in order
of position; FTS5 keeps their terms and nothing of where in a row these stand; beside
it stand the columns of the rows (`blocks`) and the distinct words (`vocabulary`).
Tenants share no table, so none of them moves another's ranking or is found through it.

The invariant: the rows are those of the events of the namespace up to the position that
``text_index`` names, and nothing else; of an event that was erased since its rows are
left, without a term. Everything here can be dropped and built again from the log.

It does not know how a query is planned or ranked.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any

import apsw

from firsthand.event import Event
from firsthand.log.engine import Entry
from firsthand.log.payload import ContentReader
from firsthand.log.rows import key_of
from firsthand.log.sqlite.index_files import schema_of
from firsthand.value import replace, value

from . import vocabulary, words
from .blocks import COLUMNS, TIME_UNKNOWN, Row, pack, unpack
from .index_rows import ERASED, SAID, IndexRow, Stems, rows_of
from .tokenizer import stems

NAME = "text"
VERSION = f"3.{words.WORDS_VERSION}"
BLOCK_ROWS = 4_096
"""Rows in a block of columns that is not changed any more; those behind them stand in blocks of a batch each."""
_TERMS_TOKENIZER = "ascii tokenchars ''+''"  # the terms are cut already: it parts them at spaces
_POSITION, _FLAGS, _BEFORE, _PREVIOUS = map(COLUMNS.index, ("position", "flags", "before", "previous"))

_TABLES = """
-- One row: of the text index of this namespace.
CREATE TABLE {schema}.text_index (
  number     INTEGER PRIMARY KEY CHECK (number = 1),
  version    TEXT NOT NULL,      -- of the rules its rows were cut by
  generation INTEGER NOT NULL,   -- a random number: another one where rows were made anew or emptied
  stamp      INTEGER NOT NULL,   -- a random number, another one with each change
  position   INTEGER NOT NULL,   -- of the last event in it
  rows       INTEGER NOT NULL,   -- how many there are
  sealed     INTEGER NOT NULL    -- of those, how many are in full blocks
);
-- The columns of rows, some thousand a block.
CREATE TABLE {schema}.text_block (
  first INTEGER PRIMARY KEY,     -- row
  data  BLOB NOT NULL            -- see `blocks`
);
-- Where each session ends.
CREATE TABLE {schema}.text_session (
  session  INTEGER PRIMARY KEY,
  last     INTEGER NOT NULL,     -- first row of its last event; 0 for none
  previous INTEGER NOT NULL      -- first row of the last message in it that somebody said; 0 for none
);
"""


@value
class IndexState:
    """How far the text index of a namespace is; see its table."""

    version: str
    generation: int
    stamp: int
    position: int
    rows: int
    sealed: int


class TextIndex:
    """Keeps the text index of a store; see `firsthand.log.sqlite.index_port.TransactionIndex`."""

    name = NAME

    def __init__(self) -> None:
        self._stems: Stems | None = None
        self._seen: dict[int, tuple[int, set[str]]] = {}  # by namespace: the stamp that this process left, its words

    # writing ---------------------------------------------------------------------------------------

    def apply(self, db: apsw.Connection, entries: Sequence[Entry], contents: ContentReader) -> None:
        """Add events, in order of position; those that are in already change nothing.

        Raises:
            apsw.SQLError: a table that should be there is not, or is of another version.
        """
        self._stems = self._stems or stems(db)
        for namespace, group in itertools.groupby(entries, attrgetter("namespace_key")):
            events = [entry.event for entry in group]
            before = _opened(db, namespace, events[0].position)
            events = [event for event in events if event.position > before.position]
            if not events:
                continue
            # What a transaction wrote that was undone is not in: then the stamp is not the one that was left.
            stamp, seen = self._seen.pop(namespace, (0, set()))
            seen = seen if stamp == before.stamp else set()
            after = _Writer(db, namespace, before, self._stems, seen).write(events, contents)
            self._seen[namespace] = after.stamp, seen

    def begin(self, db: apsw.Connection, namespace: int) -> None:
        """Begin a namespace's index with empty tables; the caller then hands in its events, in order, by `apply`."""
        self._seen.pop(namespace, None)
        schema = schema_of(namespace)
        for name in (
            f"text_{namespace}_terms", f"text_{namespace}", "text_index", "text_block", "text_session", "word",
            "vocabulary", "term_df",
        ):  # fmt: skip
            db.execute(f'DROP TABLE IF EXISTS {schema}."{name}"')
        _create(db, namespace)

    def purge(self, db: apsw.Connection, namespace: int) -> None:
        """Take out the events that the log has erased, and rewrite the file, so that no page of it holds their words.

        Their rows stay, empty. Time is linear in the namespace's index. A second time changes nothing.
        """
        table, schema = f"text_{namespace}", schema_of(namespace)
        state = state_of(db, namespace)
        if state is None:
            return
        if state.version != VERSION:
            raise apsw.SQLError(f"the text index is of version {state.version}, not {VERSION}")
        self._seen.pop(namespace, None)
        with db:
            gone = erased_in(db, namespace, state.position)
            empty = _emptied(db, schema, gone)
            db.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((row,) for row in empty))  # noqa: S608 - a number
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - a number
            vocabulary.renew(db, schema, f"{table}_terms")
            _keep(db, schema, replace(state, generation=_random(), stamp=_random()))
        db.execute(f"VACUUM {schema}").fetchall()
        db.wal_checkpoint(dbname=schema, mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


class _Writer:
    """Adds the rows of some events to an index, inside a transaction."""

    def __init__(self, db: apsw.Connection, namespace: int, state: IndexState, stems: Stems, seen: set[str]) -> None:
        self._db, self._namespace, self._state, self._stems, self._seen = db, namespace, state, stems, seen
        self._schema = schema_of(namespace)
        self._rows = state.rows
        self._block: list[Row] = []
        self._fresh: set[str] = set()
        self._ends = SessionEnds(db, self._schema)

    def write(self, events: Sequence[Event], contents: ContentReader) -> IndexState:
        """Write the rows of events; give how far the index is then."""
        table = f"text_{self._namespace}"
        sql = f"INSERT INTO {self._schema}.{table} (rowid, terms) VALUES (?, ?)"  # noqa: S608 - a number
        self._db.executemany(sql, self._numbered(events, contents))  # one row at a time is in memory
        self._flush()
        self._ends.save()
        after = replace(self._state, stamp=_random(), position=events[-1].position, rows=self._rows)
        if self._rows - after.sealed >= BLOCK_ROWS:
            _seal(self._db, self._schema, after.sealed)
            after = replace(after, sealed=self._rows)
        _keep(self._db, self._schema, after)
        return after

    def _numbered(self, events: Sequence[Event], contents: ContentReader) -> Iterator[tuple[int, str]]:
        """Yield each row's number and its terms; its columns and the words that are not known yet are noted."""
        keys, seen = keys_of(self._db, self._namespace, events), self._seen
        for event in events:
            session, agent = keys[event.position]
            facts = EventFacts(event, session, agent)
            first = self._rows + 1
            end = self._ends.of(session)
            for row in rows_of(event, contents, self._stems):
                self._rows += 1
                self._block.append(facts.columns(row, self._rows, end))
                self._fresh.update(set(row.counts).difference(seen))
                if len(self._block) >= BLOCK_ROWS or len(self._fresh) > vocabulary.SEEN_MAX:
                    self._flush()
                yield self._rows, row.marked()
            self._ends.add(session, first, said=row.flags & SAID > 0 and row.tokens > 0)

    def _flush(self) -> None:
        """Write the columns and the new words of the rows so far."""
        if self._block:
            first = self._rows - len(self._block) + 1
            _write_block(self._db, self._schema, first, self._block)
            vocabulary.add(self._db, self._schema, self._fresh, self._seen)
            self._block, self._fresh = [], set()


@value
class EventFacts:
    """What the columns have of an event: who said it when, as numbers."""

    event: Event
    session: int
    agent: int

    def columns(self, row: IndexRow, number: int, end: SessionEnd) -> Row:
        """Give the numbers of a row in the columns.

        Args:
            number: of the row.
            end: where its session ended before it.
        """
        event = self.event
        return (
            event.position, row.start, row.size, row.tokens, self.session, self.agent,
            TIME_UNKNOWN if event.time is None else event.time.microseconds,
            event.kind.number, event.trust.number, row.flags,
            number - end.last if end.last else 0, number - end.previous if end.previous else 0,
        )  # fmt: skip


@value
class SessionEnd:
    """The first row of a session's last event, and of its last message that somebody said; 0 for none."""

    last: int = 0
    previous: int = 0


class SessionEnds:
    """Where each session ends, as the rows of its events come.

    Args:
        db: None where there is no index yet.
    """

    def __init__(self, db: apsw.Connection | None, schema: str) -> None:
        self._db, self._schema = db, schema
        self._ends: dict[int, SessionEnd] = {}

    def of(self, session: int) -> SessionEnd:
        """Give the end of a session."""
        if session not in self._ends:
            sql = f"SELECT last, previous FROM {self._schema}.text_session WHERE session = ?"  # noqa: S608 - a number
            rows: list[Any] = [] if self._db is None else self._db.execute(sql, (session,)).fetchall()
            self._ends[session] = SessionEnd(*rows[0]) if rows else SessionEnd()
        return self._ends[session]

    def add(self, session: int, row: int, *, said: bool) -> None:
        """Note an event by its first row."""
        self._ends[session] = SessionEnd(row, row if said else self.of(session).previous)

    def save(self) -> None:
        """Write what was noted."""
        assert self._db is not None
        sql = f"INSERT OR REPLACE INTO {self._schema}.text_session VALUES (?, ?, ?)"  # noqa: S608 - a number
        self._db.executemany(sql, [(session, end.last, end.previous) for session, end in self._ends.items()])


def keys_of(db: apsw.Connection, namespace: int, events: Sequence[Event]) -> dict[int, tuple[int, int]]:
    """Give the keys of session and agent of events, by position; nobody's is 0."""
    base = key_of(namespace, 0)
    sql = "SELECT key, session, agent FROM event WHERE key >= ? AND key <= ?"
    rows: list[Any] = db.execute(sql, (base + events[0].position, base + events[-1].position)).fetchall()
    by_position = {key - base: (session, agent) for key, session, agent in rows}
    return {
        event.position: (by_position[event.position][0], by_position[event.position][1] if event.agent else 0)
        for event in events
    }


def _opened(db: apsw.Connection, namespace: int, first: int) -> IndexState:
    """See that the tables of a namespace are there and of this version; make them only when its first event comes."""
    if (state := state_of(db, namespace)) is None:
        # Erased ones, as a restore brings them, were never to be in it.
        earlier = db.execute(
            "SELECT EXISTS (SELECT 1 FROM event WHERE key > ? AND key < ? AND salt IS NOT NULL)",
            (key_of(namespace, 0), key_of(namespace, first)),
        ).get
        if earlier:
            raise apsw.SQLError(f"no text index of namespace {namespace}; run 'firsthand store rebuild'")
        _create(db, namespace)
        state = state_of(db, namespace)
        assert state is not None
    if state.version != VERSION:
        raise apsw.SQLError(
            f"the text index of namespace {namespace} is of version {state.version}, not {VERSION}; "
            "run 'firsthand store rebuild'"
        )
    return state


def _create(db: apsw.Connection, namespace: int) -> None:
    table, schema = f"text_{namespace}", schema_of(namespace)
    db.execute(_TABLES.format(schema=schema)).fetchall()
    db.execute(vocabulary.TABLES.format(schema=schema)).fetchall()
    db.execute(
        f"CREATE VIRTUAL TABLE {schema}.{table} USING fts5(terms, content='', contentless_delete=1, detail=none, "
        f"tokenize='{_TERMS_TOKENIZER}')"
    )
    db.execute(f"CREATE VIRTUAL TABLE {schema}.{table}_terms USING fts5vocab({table}, row)")
    sql = f"INSERT INTO {schema}.text_index VALUES (1, ?, ?, ?, 0, 0, 0)"  # noqa: S608 - a number
    db.execute(sql, (VERSION, _random(), _random()))


def _keep(db: apsw.Connection, schema: str, state: IndexState) -> None:
    db.execute(
        f"UPDATE {schema}.text_index SET generation = ?, stamp = ?, position = ?, rows = ?, sealed = ?",  # noqa: S608
        (state.generation, state.stamp, state.position, state.rows, state.sealed),
    )


def _random() -> int:
    return int.from_bytes(os.urandom(6))


# blocks --------------------------------------------------------------------------------------------


def _write_block(db: apsw.Connection, schema: str, first: int, rows: Sequence[Row]) -> None:
    db.execute(f"INSERT OR REPLACE INTO {schema}.text_block VALUES (?, ?)", (first, pack(rows)))  # noqa: S608


def blocks_from(db: apsw.Connection, schema: str, first: int) -> Iterator[tuple[int, Any]]:
    """Yield the blocks of columns that hold rows from one on: the first row of each, and its bytes."""
    sql = (
        f"SELECT first, data FROM {schema}.text_block WHERE first >= coalesce("  # noqa: S608 - a number
        f"(SELECT max(first) FROM {schema}.text_block WHERE first <= ?), 0) ORDER BY first"
    )
    yield from db.execute(sql, (first,))


def _seal(db: apsw.Connection, schema: str, sealed: int) -> None:
    """Put the blocks behind the full ones together into one."""
    blocks = [data for _, data in blocks_from(db, schema, sealed + 1)]
    rows = [row for data in blocks for row in unpack(data)]
    db.execute(f"DELETE FROM {schema}.text_block WHERE first > ?", (sealed,))  # noqa: S608 - a number
    _write_block(db, schema, sealed + 1, rows)


def erased_in(db: apsw.Connection, namespace: int, through: int) -> set[int]:
    """Give the positions up to one whose events were erased."""
    base = key_of(namespace, 0)
    sql = "SELECT key - ? FROM event WHERE key > ? AND key <= ? AND salt IS NULL"
    positions: list[Any] = db.execute(sql, (base, base, base + through)).fetchall()
    return {position for (position,) in positions}


def _emptied(db: apsw.Connection, schema: str, gone: Collection[int]) -> list[int]:
    """Empty the rows of events in the columns, and lead what led to them past them; give those that were not empty."""
    ends: dict[int, SessionEnd] = {}  # by the rows of events that are gone: what was before each
    empty: list[int] = []

    def past(row: int, *, said: bool) -> int:
        return row if row not in ends else ends[row].previous if said else ends[row].last

    for first, data in [*blocks_from(db, schema, 0)]:
        rows = list(unpack(data))
        changed = False
        for number, row in enumerate(rows, first):
            last, previous = number - row[_BEFORE], number - row[_PREVIOUS]  # themselves where there is none before
            erased = row[_POSITION] in gone
            if not (erased or last in ends or previous in ends):
                continue
            end = SessionEnd(past(last, said=False) % number, past(previous, said=True) % number)
            values, flags = row[:_FLAGS], row[_FLAGS]
            if erased:
                ends[number] = end
                if not flags & ERASED:
                    empty.append(number)
                values, flags = (row[_POSITION], 0, 0, 0, *row[4:_FLAGS]), ERASED
            distances = (number - end.last if end.last else 0, number - end.previous if end.previous else 0)
            rows[number - first] = (*values, flags, *distances)
            changed = True
        if changed:
            _write_block(db, schema, first, rows)
    ended: list[Any] = db.execute(f"SELECT session, last, previous FROM {schema}.text_session").fetchall()  # noqa: S608
    moved = [(past(last, said=False), past(previous, said=True), session) for session, last, previous in ended]
    db.executemany(f"UPDATE {schema}.text_session SET last = ?, previous = ? WHERE session = ?", moved)  # noqa: S608
    return empty


# reading -------------------------------------------------------------------------------------------


def state_of(db: apsw.Connection, namespace: int) -> IndexState | None:
    """Read how far a namespace's index is; None when it has none. One of another version has nothing but that."""
    schema = schema_of(namespace)
    try:
        columns = "version, generation, stamp, position, rows, sealed"
        rows: list[Any] = db.execute(f"SELECT {columns} FROM {schema}.text_index").fetchall()  # noqa: S608 - a number
        return IndexState(*rows[0]) if rows else None
    except apsw.SQLError:  # no such file, no such table in it, or no such columns
        pass
    try:
        version = db.execute(f"SELECT version FROM {schema}.text_index").get  # noqa: S608 - a number
    except apsw.SQLError:
        return None
    return None if version is None else IndexState(str(version), 0, 0, 0, 0, 0)


def version_of(db: apsw.Connection, namespace: int) -> str:
    """Read the version of a namespace's index; empty when it has none."""
    state = state_of(db, namespace)
    return "" if state is None else state.version
