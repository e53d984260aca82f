"""The text index: FTS5, one file a namespace (`firsthand.log.index_files`), written behind the log's commits.

What an event's append has committed is findable, from any process, in that
moment. Tenants share no table, so none of them moves another's ranking or is
found through it.

The invariant: the rows of ``text_<namespace>`` are the passages of the events of
that namespace that were not erased and that its ``reach`` says are reached, with
the words that `words` gives, and for a note one row more for each situation it was
learned in; nothing else. An event that only repeats others
(`Event.is_searchable`) has one row without words. Everything here can be dropped
and built again from the log.

It does not know how a query is planned or ranked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import apsw

from firsthand.event import Event
from firsthand.log.index_files import schema_of
from firsthand.log.port import ContentReader, Entry
from firsthand.log.rows import key_of
from firsthand.value import value

from . import words
from .passages import ROW_STEP, TRIGGER_FIRST, cut, row_of

NAME = "text"
VERSION = f"2.{words.WORDS_VERSION}"
TOKENIZER = "porter unicode61 remove_diacritics 2"
COMMON_TERMS_MAX = 4_000
COMMON_ROWS_MIN = 1_000
"""A smaller index has no common terms: asking it for a frequency costs nothing."""
_GROWTH = 1.5

_TABLES = """
-- One row: of the text index of this namespace.
CREATE TABLE IF NOT EXISTS {schema}.text_index (
  number  INTEGER PRIMARY KEY CHECK (number = 1),
  version TEXT NOT NULL,               -- of the rules its words were cut by
  counted INTEGER NOT NULL DEFAULT 0   -- its rows when term_df was last counted
);
-- In how many rows the commonest terms stand, as counted then: to plan a query without reading postings.
CREATE TABLE IF NOT EXISTS {schema}.term_df (
  term TEXT PRIMARY KEY,
  df   INTEGER NOT NULL
) WITHOUT ROWID;
"""


@value
class IndexSize:
    """How much an index holds: rows (passages), and tokens in all of them."""

    rows: int
    tokens: int

    @property
    def tokens_mean(self) -> float:
        """Tokens a row; 1 for an empty index."""
        return self.tokens / self.rows if self.rows and self.tokens else 1.0


class TextIndex:
    """Keeps the text index of a store; see `firsthand.log.port.TransactionIndex`."""

    name = NAME

    def __init__(self) -> None:
        self._open: set[int] = set()  # namespaces whose table was seen and is of this version

    # writing ---------------------------------------------------------------------------------------

    def apply(self, db: apsw.Connection, entries: Sequence[Entry], contents: ContentReader) -> None:
        """Add events, in order of position; those that are in already change nothing.

        Raises:
            apsw.SQLError: a table that should be there is not, or is of another version.
        """
        for namespace, group in itertools.groupby(entries, attrgetter("namespace_key")):
            events = [entry.event for entry in group]
            try:
                last = self._last(db, namespace, events[0].position)
            except apsw.SQLError:
                # The transaction that made the table may have been rolled back since: look again, once.
                self._open.discard(namespace)
                last = self._last(db, namespace, events[0].position)
            db.executemany(
                f"INSERT INTO text_{namespace} (rowid, text, exact) VALUES (?, ?, ?)",  # noqa: S608 - a number
                _rows((event for event in events if event.position > last), contents),
            )

    def purge(self, db: apsw.Connection, namespace: int) -> None:
        """Take out the events that the log has erased, and rewrite the file, so that no page of it holds their words.

        Time is linear in the namespace's index. A second time changes nothing.
        """
        table, schema = f"text_{namespace}", schema_of(namespace)
        if not _is_there(db, namespace):
            return
        with db:
            strays = db.execute(f"SELECT d.id {strays_of(namespace)}").fetchall()
            db.executemany(f"DELETE FROM {table} WHERE rowid = ?", strays)  # noqa: S608 - a number
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - a number
            db.execute(f"DELETE FROM {schema}.term_df")  # noqa: S608 - a number
            db.execute(f"UPDATE {schema}.text_index SET counted = 0")  # noqa: S608 - a number
        db.execute(f"VACUUM {schema}").fetchall()
        db.wal_checkpoint(dbname=schema, mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def begin(self, db: apsw.Connection, namespace: int) -> None:
        """Begin a namespace's index with empty tables; the caller then hands in its events, in order, by `apply`."""
        self._open.discard(namespace)
        for name in (f"text_{namespace}_terms", f"text_{namespace}", "text_index", "term_df"):
            db.execute(f'DROP TABLE IF EXISTS {schema_of(namespace)}."{name}"')
        self._create(db, namespace)

    def refresh(self, db: apsw.Connection, namespace: int) -> bool:
        """Count the commonest terms again if the index has grown by half; say whether it did.

        Costs one pass over the terms (80 ms for 100,000 events), so it is never part of an append.
        """
        if not version_of(db, namespace):
            return False
        size, counted = size_of(db, namespace), counted_of(db, namespace)
        if size.rows < max(COMMON_ROWS_MIN, counted * _GROWTH):
            return False
        common = db.execute(
            f"SELECT term, doc FROM text_{namespace}_terms ORDER BY doc DESC, term LIMIT ?",  # noqa: S608 - a number
            (COMMON_TERMS_MAX,),
        ).fetchall()
        schema = schema_of(namespace)
        db.execute(f"DELETE FROM {schema}.term_df")  # noqa: S608 - a number
        db.executemany(f"INSERT INTO {schema}.term_df VALUES (?, ?)", common)  # noqa: S608 - a number
        db.execute(f"UPDATE {schema}.text_index SET counted = ?", (size.rows,))  # noqa: S608 - a number
        return True

    def _last(self, db: apsw.Connection, namespace: int, first: int) -> int:
        if namespace not in self._open:
            self._look(db, namespace, first)
        last = db.execute(f"SELECT max(id) FROM text_{namespace}_docsize WHERE id < {ROW_STEP}").get  # noqa: S608
        return int(last or 0)

    def _look(self, db: apsw.Connection, namespace: int, first: int) -> None:
        """See that the namespace's table is there; make it only when its first event ever comes."""
        if not _is_there(db, namespace):
            # Erased ones, as a restore brings them, were never to be in it.
            earlier = db.execute(
                "SELECT EXISTS (SELECT 1 FROM event WHERE key > ? AND key < ? AND salt IS NOT NULL)",
                (key_of(namespace, 0), key_of(namespace, first)),
            ).get
            if earlier:
                raise apsw.SQLError(f"no text index of namespace {namespace}; run 'firsthand store rebuild'")
            self._create(db, namespace)
        version = version_of(db, namespace)
        if version != VERSION:
            raise apsw.SQLError(
                f"the text index of namespace {namespace} is of version {version}, not {VERSION}; "
                "run 'firsthand store rebuild'"
            )
        self._open.add(namespace)

    def _create(self, db: apsw.Connection, namespace: int) -> None:
        table, schema = f"text_{namespace}", schema_of(namespace)
        db.execute(_TABLES.format(schema=schema)).fetchall()
        db.execute(
            f"CREATE VIRTUAL TABLE {schema}.{table} USING fts5(text, exact, content='', contentless_delete=1, "
            f"tokenize='{TOKENIZER}')"
        )
        db.execute(f"CREATE VIRTUAL TABLE {schema}.{table}_terms USING fts5vocab({table}, row)")
        db.execute(f"INSERT OR REPLACE INTO {schema}.text_index VALUES (1, ?, 0)", (VERSION,))  # noqa: S608 - a number


def _rows(events: Iterable[Event], contents: ContentReader) -> Iterator[tuple[int, str, str]]:
    """Give the index rows of events."""
    for event in events:
        if not event.is_searchable:  # an empty row, so that rows and events still tally
            yield event.position, "", ""
            continue
        if event.artifact is None:
            found = words.of_event(event)
            yield event.position, found.text, found.exact
        else:
            yield from _passage_rows(event, contents)
        for number, situation in enumerate(words.situations(event), TRIGGER_FIRST):
            found = words.of_text(situation)
            yield row_of(event.position, number), found.text, found.exact


def _passage_rows(event: Event, contents: ContentReader) -> Iterator[tuple[int, str, str]]:
    head, around = words.header(event), words.context(event)
    read = None
    for passage in cut(contents.pieces(event)):
        read = read or words.reading(passage.data, event.media, event.kind)
        found = words.of_text(read(passage.data), head, around)
        yield row_of(event.position, passage.number), found.text, found.exact


# reading -------------------------------------------------------------------------------------------


def _is_there(db: apsw.Connection, namespace: int) -> bool:
    sql = f"SELECT 1 FROM {schema_of(namespace)}.sqlite_schema WHERE name = ?"  # noqa: S608 - a number
    return bool(db.execute(sql, (f"text_{namespace}",)).get)


def version_of(db: apsw.Connection, namespace: int) -> str:
    """Read the version of a namespace's index; empty when it has none."""
    schema = schema_of(namespace)
    try:
        return str(db.execute(f"SELECT version FROM {schema}.text_index").get or "")  # noqa: S608 - a number
    except apsw.SQLError:  # no such file, or no such table in it
        return ""


def strays_of(namespace: int) -> str:
    """Write the rest of a SELECT over the index rows ``d`` whose event is not in the log, or was erased."""
    return (
        f"FROM text_{namespace}_docsize d LEFT JOIN event e "
        f"ON e.key = {key_of(namespace, 0)} + (d.id & {ROW_STEP - 1}) AND e.salt IS NOT NULL WHERE e.key IS NULL"
    )


def counted_of(db: apsw.Connection, namespace: int) -> int:
    """Read how many rows the index had when its common terms were last counted."""
    return int(db.execute(f"SELECT counted FROM {schema_of(namespace)}.text_index").get or 0)  # noqa: S608 - a number


def size_of(db: apsw.Connection, namespace: int) -> IndexSize:
    """Read the size of a namespace's index from FTS5's own totals (row 1 of its data table).

    Raises:
        apsw.CorruptError: the totals are missing or unreadable.
    """
    block = db.execute(f"SELECT block FROM text_{namespace}_data WHERE id = 1").get  # noqa: S608 - a number
    if block is None:
        raise apsw.CorruptError(f"text_{namespace}: the totals are missing")
    numbers = list(varints(block))
    return IndexSize(numbers[0], sum(numbers[1:])) if numbers else IndexSize(0, 0)


def varints(block: bytes) -> Iterator[int]:
    """Read SQLite's variable-length integers; none here reaches a ninth byte."""
    value = 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0
