"""Compares the text index with the log: quickly by counting, or word for word.

Gives sentences, none when all is well. It changes nothing.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import apsw

from firsthand.log.engine import Entry
from firsthand.log.payload import ContentReader
from firsthand.log.rows import POSITION, key_of
from firsthand.log.sqlite.index_files import Reached, schema_of
from firsthand.log.sqlite.read import Reader

from . import vocabulary
from .blocks import COLUMNS, Row, numbers_of, parts_of, unpack
from .index_rows import ERASED
from .reach import reach
from .text import VERSION, TextIndex, blocks_from, state_of

_REBUILD = "run 'firsthand store rebuild'"
_POSITION, _FLAGS, _BEFORE = map(COLUMNS.index, ("position", "flags", "before"))

Place = tuple[int, int]
"""A row by what a rebuild does not change: its event's position, and its number in the event."""


def check(db: apsw.Connection, namespace: int, reached: Reached, damaged: Collection[int] = ()) -> list[str]:
    """Say what is wrong with a namespace's text index, by counting rows. Costs one pass over its events' rows.

    Args:
        db: in a read transaction, so that index and log are of one moment (`Reader.at_one_moment`).
        reached: how far the index reached then.
        damaged: positions of events that cannot be read: they may be in the index or not.
    """
    faults: list[str] = []
    head = _all(db, "SELECT head_position FROM namespace WHERE key = ?", (namespace,))[0][0]
    if reached.fault:
        faults.append(f"the text index reaches position {reached.position:,} of {head:,}: {reached.fault}")
    try:
        faults += _check_rows(db, namespace, reached.position, damaged)
    except (apsw.SQLError, apsw.CorruptError) as error:
        faults.append(f"the text index cannot be read ({error}); {_REBUILD}")
    return faults


def _check_rows(db: apsw.Connection, namespace: int, through: int, damaged: Collection[int]) -> Iterator[str]:
    base = key_of(namespace, 0)
    sql = f"SELECT {POSITION} FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL"  # noqa: S608 - a constant
    events = {position for (position,) in _all(db, sql, (base, base + through))}.difference(damaged)
    state = state_of(db, namespace)
    if state is None and not events:
        return
    if state is None or state.version != VERSION:
        version = "(none)" if state is None else state.version
        yield f"the text index is of version {version}, not {VERSION}; {_REBUILD}"
        return
    rows = [*columns_of(db, namespace)]
    if len(rows) != state.rows:
        yield f"the text index says it has {state.rows:,} rows and has columns of {len(rows):,}; {_REBUILD}"
    there = {row[_POSITION] for row in rows if not row[_FLAGS] & ERASED}.difference(damaged)
    if strays := there - events:
        yield f"{len(strays):,} events of the text index are not in the log or were erased; {_REBUILD}"
    if lacking := events - there:
        yield f"the text index lacks {len(lacking):,} events of the log, the first at {min(lacking):,}; {_REBUILD}"
    filled = sum(not row[_FLAGS] & ERASED for row in rows)
    counted = _all(db, f"SELECT count(*) FROM text_{namespace}_docsize")[0][0]  # noqa: S608 - a number
    if counted != filled:
        yield f"the text index has the words of {counted:,} rows, and columns of {filled:,}; {_REBUILD}"


def columns_of(db: apsw.Connection, namespace: int) -> Iterator[Row]:
    """Yield the columns of every row.

    Raises:
        apsw.CorruptError: they are damaged.
    """
    for _, data in blocks_from(db, schema_of(namespace), 0):
        yield from unpack(data)


def _without_rows(db: apsw.Connection, namespace: int, positions: Collection[int]) -> set[int]:
    """Give those of some events, none of them erased, that have no row with their words.

    Costs the positions of all rows, a tenth of what `check` does.
    """
    rows: dict[int, int] = {}
    for first, data in blocks_from(db, schema_of(namespace), 0):
        count, parts = parts_of(data)
        at = enumerate(numbers_of(parts[_POSITION], count), first)
        rows |= {row: position for row, position in at if position in positions}
    sql = f"SELECT id FROM text_{namespace}_docsize WHERE id IN carray(?)"  # noqa: S608 - a number
    filled = _all(db, sql, (apsw.carray(array("q", rows)),)) if rows else []
    return set(positions) - {rows[row] for (row,) in filled}


def lacking(reader: Reader, namespace: str, positions: Collection[int]) -> set[int]:
    """Give those of some events that the text index has no row for, though it has those around them.

    It asks for the very rows of events, never how far the index believes to reach. The newest few wait to be indexed
    together, and are found in the log meanwhile: they lack nothing, unless the index has stopped.
    """
    key = reader.namespace_key(namespace)
    at = reach(reader, key, reader.head(namespace)[0])
    if not at.fault:
        positions = {position for position in positions if position <= at.through}
    try:
        return _without_rows(reader.indexed(key), key, positions)
    except (apsw.SQLError, apsw.CorruptError):
        return set(positions)  # a table that cannot be read has no row that anybody finds


def deep_check(
    db: apsw.Connection,
    namespace: int,
    batches: Iterable[list[Entry]],
    contents: ContentReader,
    damaged: Collection[int] = (),
) -> list[str]:
    """Derive a namespace's index again and compare it word for word with the one that is there.

    Args:
        batches: the namespace's events that the index reaches, in order of position.
        damaged: positions of events that cannot be read: they are compared on neither side.
    """
    again = apsw.Connection("")  # a file of its own that SQLite deletes
    try:
        again.execute("CREATE TABLE event (key INTEGER PRIMARY KEY, session, agent, salt)")
        again.execute(f"ATTACH '' AS {schema_of(namespace)}")
        again.execute("BEGIN")
        fresh = TextIndex()
        for batch in batches:
            entries = [entry for entry in batch if entry.event.position not in damaged]
            keys = array("q", [key_of(namespace, entry.event.position) for entry in entries])
            sql = "SELECT key, session, agent, 1 FROM event WHERE key IN carray(?)"
            rows = _all(db, sql, (apsw.carray(keys),)) if keys else []
            again.executemany("INSERT INTO event VALUES (?, ?, ?, ?)", rows)
            fresh.apply(again, entries, contents)
        again.execute("COMMIT")
        if state_of(again, namespace) is None:
            return []
        return list(_differences(db, again, namespace, damaged))
    except (apsw.SQLError, apsw.CorruptError) as error:
        return [f"the text index cannot be read ({error})"]
    finally:
        again.close()


def _differences(
    there: apsw.Connection, derived: apsw.Connection, namespace: int, damaged: Collection[int]
) -> Iterator[str]:
    rows = [_placed(db, namespace) for db in (derived, there)]
    for mine, theirs in itertools.zip_longest(*(_compared(placed, damaged) for placed in rows)):
        if mine != theirs:
            yield f"the text index differs from the log: expected {_row(mine)}, found {_row(theirs)}"
            return  # from here on the two run apart: one difference is proof, a thousand are noise
    terms = (
        _instances(db, namespace, [place for place, _ in placed], damaged)
        for db, placed in zip((derived, there), rows, strict=True)
    )
    for mine, theirs in itertools.zip_longest(*terms):
        if mine != theirs:
            yield f"the text index differs from the log: expected {_term(mine)}, found {_term(theirs)}"
            return
    lacking = vocabulary.words_of(derived, namespace) - vocabulary.words_of(there, namespace)
    if lacking:
        yield f"the vocabulary of the text index lacks {len(lacking):,} words, {min(lacking)!r} for one; {_REBUILD}"


def _placed(db: apsw.Connection, namespace: int) -> list[tuple[Place, Row]]:
    """Give each row with its place; those of erased events lead nowhere and are a row of position 0."""
    rows = [*columns_of(db, namespace)]
    places: list[Place] = [(0, 0)]
    for row in rows:
        position, number = places[-1]
        places.append((row[_POSITION], number + 1 if position == row[_POSITION] else 0))
    placed: list[tuple[Place, Row]] = []
    for number, row in enumerate(rows, 1):
        # Where the row leads is told by the event there: of erased events a rebuild has no rows.
        around = [places[number - distance][0] if distance else 0 for distance in row[_BEFORE:]]
        place = (0, 0) if row[_FLAGS] & ERASED else places[number]
        placed.append((place, (*row[:_BEFORE], *around)))
    return placed


def _compared(placed: list[tuple[Place, Row]], damaged: Collection[int]) -> Iterator[tuple[Place, Row]]:
    for place, row in placed:
        if place[0] and place[0] not in damaged:
            yield place, row[:_BEFORE] if damaged else row


def _instances(
    db: apsw.Connection, namespace: int, places: list[Place], damaged: Collection[int]
) -> Iterator[tuple[str, Place]]:
    """Yield each term and the place of a row that holds it, in order."""
    name = f"text_{namespace}"
    db.execute(f"CREATE VIRTUAL TABLE temp.{name}_instances USING fts5vocab({schema_of(namespace)}, {name}, instance)")
    try:
        for term, row in db.execute(f"SELECT term, doc FROM temp.{name}_instances"):  # noqa: S608 - a number
            place = places[row - 1] if 0 < row <= len(places) else (-row, 0)
            if place[0] not in damaged:
                yield str(term), place
    finally:
        db.execute(f"DROP TABLE temp.{name}_instances")


def _row(compared: tuple[Place, Row] | None) -> str:
    if compared is None:
        return "nothing more"
    (position, number), columns = compared
    return f"passage {number} of event {position:,} as {columns}"


def _term(instance: tuple[str, Place] | None) -> str:
    if instance is None:
        return "nothing more"
    term, (position, number) = instance
    return f"{term!r} in passage {number} of event {position:,}"


def _all(db: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
    return db.execute(sql, values).fetchall()
