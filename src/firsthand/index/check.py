"""Compares the text index with the log: quickly by counting, or word for word.

Gives sentences, none when all is well. It changes nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import apsw

from firsthand.log.index_files import Reached, schema_of
from firsthand.log.port import ContentReader, Entry
from firsthand.log.rows import POSITION, key_of

from .passages import ROW_STEP, position_of
from .text import VERSION, TextIndex, size_of, strays_of, version_of


def check(db: apsw.Connection, namespace: int, reached: Reached, damaged: Collection[int] = ()) -> list[str]:
    """Say what is wrong with a namespace's text index, by counting rows. Costs one pass over its events' rows.

    Args:
        db: in a read transaction, so that index and log are of one moment (`Reader.at_one_moment`).
        reached: how far the index reached then.
        damaged: positions of events that cannot be read: they may be in the index or not.
    """
    found: list[str] = []
    head = _all(db, "SELECT head_position FROM namespace WHERE key = ?", (namespace,))[0][0]
    if reached.fault:
        found.append(f"the text index reaches position {reached.position:,} of {head:,}: {reached.fault}")
    try:
        found += _check_rows(db, namespace, reached.position, damaged)
    except (apsw.SQLError, apsw.CorruptError) as error:
        found.append(f"the text index cannot be read ({error}); run 'firsthand store rebuild'")
    return found


def _check_rows(db: apsw.Connection, namespace: int, through: int, damaged: Collection[int]) -> Iterator[str]:
    left_out = json.dumps(sorted(damaged))
    events = _all(
        db,
        f"SELECT count(*) FROM event WHERE key > ? AND key <= ? AND salt IS NOT NULL "  # noqa: S608 - a constant
        f"AND {POSITION} NOT IN (SELECT value FROM json_each(?))",
        (key_of(namespace, 0), key_of(namespace, through), left_out),
    )[0][0]
    version = version_of(db, namespace)
    if not version and not events:
        return
    if version != VERSION:
        yield f"the text index is of version {version or '(none)'}, not {VERSION}; run 'firsthand store rebuild'"
        return
    docsize = f"text_{namespace}_docsize"
    whole = f"id < {ROW_STEP} AND id NOT IN (SELECT value FROM json_each(?))"  # noqa: S608 - a number
    rows = _all(db, f"SELECT count(*), coalesce(sum({whole}), 0) FROM {docsize}", (left_out,))[0]  # noqa: S608
    if rows[1] != events:
        yield f"the text index holds {rows[1]:,} events, the log {events:,}; run 'firsthand store rebuild'"
    size = size_of(db, namespace)
    if size.rows != rows[0]:
        yield f"the text index says it has {size.rows:,} rows and has {rows[0]:,}; run 'firsthand store rebuild'"
    strays = _all(db, f"SELECT count(*) {strays_of(namespace)}")[0][0]
    if strays:
        yield f"{strays:,} rows of the text index belong to no event; run 'firsthand store rebuild'"


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
        again.execute("CREATE TABLE event (key, salt)")
        again.execute(f"ATTACH '' AS {schema_of(namespace)}")
        again.execute("BEGIN")
        fresh = TextIndex()
        for batch in batches:
            fresh.apply(again, [entry for entry in batch if entry.event.position not in damaged], contents)
        again.execute("COMMIT")
        if not version_of(again, namespace):
            return []
        return list(_differences(db, again, namespace, damaged))
    finally:
        again.close()


def _differences(
    there: apsw.Connection, derived: apsw.Connection, namespace: int, damaged: Collection[int]
) -> Iterator[str]:
    def instances(db: apsw.Connection) -> Iterator[Any]:
        found = _instances(db, namespace)
        return (one for one in found if position_of(one[1]) not in damaged) if damaged else found

    def sizes(db: apsw.Connection) -> Iterator[Any]:
        return (one for one in _sizes(db, namespace) if position_of(one[0]) not in damaged)

    try:
        for mine, theirs in itertools.zip_longest(instances(derived), instances(there)):
            if mine != theirs:
                yield f"the text index differs from the log: expected {_place(mine)}, found {_place(theirs)}"
                return  # from here on the two run apart: one difference is proof, a thousand are noise
        for mine, theirs in itertools.zip_longest(sizes(derived), sizes(there)):
            if mine != theirs:
                yield f"the text index differs from the log in the length of a row: expected {mine}, found {theirs}"
                return
    except (apsw.SQLError, apsw.CorruptError) as error:
        yield f"the text index cannot be read ({error})"


def _instances(db: apsw.Connection, namespace: int) -> Iterator[Any]:
    name = f"text_{namespace}"
    db.execute(f"CREATE VIRTUAL TABLE temp.{name}_instances USING fts5vocab({schema_of(namespace)}, {name}, instance)")
    try:
        yield from db.execute(f"SELECT term, doc, col, offset FROM temp.{name}_instances")  # noqa: S608 - a number
    finally:
        db.execute(f"DROP TABLE temp.{name}_instances")


def _sizes(db: apsw.Connection, namespace: int) -> Iterator[Any]:
    yield from db.execute(f"SELECT id, sz FROM text_{namespace}_docsize ORDER BY id")  # noqa: S608 - a number


def _place(instance: Any) -> str:
    if instance is None:
        return "nothing more"
    term, row, column, offset = instance
    return f"{term!r} in row {row}, column {column}, word {offset}"


def _all(db: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
    return db.execute(sql, values).fetchall()
