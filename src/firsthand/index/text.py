"""The text index: FTS5, written in the log's own transaction, one table a namespace.

What an event's append has committed is findable, from any process, in that
moment. Tenants share no table, so none of them moves another's ranking or is
found through it.

The invariant: the rows of ``text_<namespace>`` are the passages of the events of
that namespace that were not erased and that the log's ``index_reach`` says are
reached, with the words that `words` gives, and for a note one row more for each
situation it was learned in; nothing else. An event that only repeats others
(`Event.is_searchable`) has one row without words. Everything here can be dropped
and built again from the log.

It does not know how a query is planned or ranked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import apsw

from firsthand.event import Event
from firsthand.log.port import ContentReader, Entry
from firsthand.log.rows import key_of
from firsthand.value import value

from . import words
from .passages import ROW_STEP, TRIGGER_FIRST, count, cut, row_of

NAME = "text"
VERSION = f"1.{words.WORDS_VERSION}"
TOKENIZER = "porter unicode61 remove_diacritics 2"
COMMON_TERMS_MAX = 4_000
COMMON_ROWS_MIN = 1_000
"""A smaller index has no common terms: asking it for a frequency costs nothing."""
_GROWTH = 1.5

_TABLES = """
-- One row a namespace that has a text index.
CREATE TABLE IF NOT EXISTS text_index (
  namespace INTEGER PRIMARY KEY,
  version   TEXT NOT NULL,               -- of the rules its words were cut by
  counted   INTEGER NOT NULL DEFAULT 0   -- its rows when term_df was last counted
);
-- In how many rows the commonest terms stand, as counted then: to plan a query without reading postings.
CREATE TABLE IF NOT EXISTS term_df (
  namespace INTEGER NOT NULL,
  term      TEXT NOT NULL,
  df        INTEGER NOT NULL,
  PRIMARY KEY (namespace, term)
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

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Remove events; `purge` then takes their words out of the file."""
        for entry in entries:
            event = entry.event
            triggers = range(TRIGGER_FIRST, TRIGGER_FIRST + len(words.situations(event)))
            db.executemany(
                f"DELETE FROM text_{entry.namespace_key} WHERE rowid = ?",  # noqa: S608 - a number
                ((row_of(event.position, number),) for number in (*range(count(event.size_bytes)), *triggers)),
            )

    def purge(self, db: apsw.Connection, namespace: int) -> None:
        """Rewrite the index without what was forgotten, so that no page of it holds a forgotten word.

        Time is linear in the namespace's index. The pages it gives back are the log's to wipe.
        """
        db.execute(f"INSERT INTO text_{namespace} (text_{namespace}) VALUES ('optimize')")  # noqa: S608 - a number
        db.execute("DELETE FROM term_df WHERE namespace = ?", (namespace,))
        db.execute("UPDATE text_index SET counted = 0 WHERE namespace = ?", (namespace,))

    def reset(self, db: apsw.Connection) -> None:
        """Drop everything and begin with empty tables for every namespace of the log.

        The caller then hands in all events again, in order, by `apply`.
        """
        self._open.clear()
        for name in tables(db):
            db.execute(f'DROP TABLE IF EXISTS "{name}"')
        namespaces: list[Any] = db.execute("SELECT key FROM namespace").fetchall()
        for (namespace,) in namespaces:
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
        db.execute("DELETE FROM term_df WHERE namespace = ?", (namespace,))
        db.executemany("INSERT INTO term_df VALUES (?, ?, ?)", ((namespace, term, df) for term, df in common))
        db.execute("UPDATE text_index SET counted = ? WHERE namespace = ?", (size.rows, namespace))
        return True

    def _last(self, db: apsw.Connection, namespace: int, first: int) -> int:
        if namespace not in self._open:
            self._look(db, namespace, first)
        last = db.execute(f"SELECT max(id) FROM text_{namespace}_docsize WHERE id < {ROW_STEP}").get  # noqa: S608
        return int(last or 0)

    def _look(self, db: apsw.Connection, namespace: int, first: int) -> None:
        """See that the namespace's table is there; make it only when its first event ever comes."""
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"text_{namespace}",)).get:
            # Erased ones, as a restore brings them, were never to be in it.
            earlier = db.execute(
                "SELECT EXISTS (SELECT 1 FROM event WHERE key > ? AND key < ? AND salt IS NOT NULL)",
                (key_of(namespace, 0), key_of(namespace, first)),
            ).get
            if earlier:
                raise apsw.SQLError(f"the text index of namespace {namespace} is missing; run 'firsthand rebuild'")
            self._create(db, namespace)
        version = version_of(db, namespace)
        if version != VERSION:
            raise apsw.SQLError(
                f"the text index of namespace {namespace} is of version {version}, not {VERSION}; "
                "run 'firsthand rebuild'"
            )
        self._open.add(namespace)

    def _create(self, db: apsw.Connection, namespace: int) -> None:
        table = f"text_{namespace}"
        db.execute(_TABLES).fetchall()
        db.execute(
            f"CREATE VIRTUAL TABLE {table} USING fts5(text, exact, content='', contentless_delete=1, "
            f"tokenize='{TOKENIZER}')"
        )
        db.execute(f"CREATE VIRTUAL TABLE {table}_terms USING fts5vocab({table}, row)")
        db.execute("INSERT OR REPLACE INTO text_index (namespace, version) VALUES (?, ?)", (namespace, VERSION))


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


def tables(db: apsw.Connection) -> list[str]:
    """List the tables of the index, those to drop first at the front."""
    made = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'text_[0-9]*'").fetchall()
    names = [name for name in map(str, itertools.chain(*made)) if name[5:].removesuffix("_terms").isdigit()]
    return [*sorted(names, key=lambda name: not name.endswith("_terms")), "text_index", "term_df"]


def version_of(db: apsw.Connection, namespace: int) -> str:
    """Read the version of a namespace's index; empty when it has none."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'text_index'").get:
        return ""
    return str(db.execute("SELECT version FROM text_index WHERE namespace = ?", (namespace,)).get or "")


def counted_of(db: apsw.Connection, namespace: int) -> int:
    """Read how many rows the index had when its common terms were last counted."""
    return int(db.execute("SELECT counted FROM text_index WHERE namespace = ?", (namespace,)).get or 0)


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
