"""The rows of facts: what was read of a namespace, how far, and what each session had spoken of there.

The invariant: rows are what the rules of one version read of the log up to `Reach.facts`,
each with a checksum; what was read in one step comes in whole or not at all.

It moves rows: what a fact is, and which one stands, it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import id_bytes
from firsthand.index.facts import REPAIR, Out, is_there
from firsthand.value import value

_SCHEMA = """
-- One row a namespace: how far its facts were read.
CREATE TABLE IF NOT EXISTS fact_reach (
  namespace INTEGER PRIMARY KEY,
  version   TEXT NOT NULL,       -- of the rules they were read by; empty when all is to be read again
  facts     INTEGER NOT NULL,    -- every event up to here was read
  ledger    INTEGER NOT NULL     -- every decision up to here counts in fact_out
);
-- One row a fact, without the scope of its key.
CREATE TABLE IF NOT EXISTS fact (
  namespace INTEGER NOT NULL,
  position  INTEGER NOT NULL,    -- of its event
  number    INTEGER NOT NULL,    -- among the facts of its event
  name      TEXT NOT NULL,       -- its key
  checksum  INTEGER NOT NULL,    -- CRC-32 of position, number, name and body
  body      TEXT NOT NULL,       -- the rest of it, a JSON list
  PRIMARY KEY (namespace, position, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS fact_by_name ON fact (namespace, name);
-- What each session had spoken of where its reading stopped.
CREATE TABLE IF NOT EXISTS fact_spoken (
  namespace INTEGER NOT NULL,
  session   TEXT NOT NULL,
  body      TEXT NOT NULL,       -- a JSON list
  PRIMARY KEY (namespace, session)
) WITHOUT ROWID;
-- One row a fact that the ledger takes out, and one a side of an open conflict.
CREATE TABLE IF NOT EXISTS fact_out (
  namespace INTEGER NOT NULL,
  position  INTEGER NOT NULL,    -- of its event
  target    TEXT NOT NULL,       -- pointer of the fact
  name      TEXT NOT NULL,       -- its key
  by_fact   TEXT NOT NULL,       -- pointer of what took its place, empty for none; or of the other side
  decision  BLOB NOT NULL,       -- id of the decision; empty of an open conflict
  PRIMARY KEY (namespace, position, target, name)
) WITHOUT ROWID;
-- Decisions of the ledger as they were read, many to a row: a long ledger is read at once.
CREATE TABLE IF NOT EXISTS fact_decisions (
  namespace INTEGER NOT NULL,
  first     INTEGER NOT NULL,    -- positions of the first decision in it and
  last      INTEGER NOT NULL,    -- of the last one
  checksum  INTEGER NOT NULL,    -- CRC-32 of body
  body      TEXT NOT NULL,       -- a JSON list of lists
  PRIMARY KEY (namespace, first)
) WITHOUT ROWID;
-- An erasure by a version that does not know these tables takes their rows out as well.
CREATE TRIGGER IF NOT EXISTS fact_erased AFTER UPDATE OF salt ON event WHEN NEW.salt IS NULL BEGIN
  DELETE FROM fact WHERE namespace = NEW.namespace;
  DELETE FROM fact_spoken WHERE namespace = NEW.namespace;
  DELETE FROM fact_out WHERE namespace = NEW.namespace;
  DELETE FROM fact_decisions WHERE namespace = NEW.namespace;
  UPDATE fact_reach SET version = '', ledger = 0 WHERE namespace = NEW.namespace;
END;
"""


@value
class Reach:
    """How far a namespace was read.

    Attributes:
        version: of the rules; empty when all is to be read again.
        facts: every event up to this position was read.
        ledger: every decision up to this position counts in what is out.
    """

    version: str = ""
    facts: int = 0
    ledger: int = 0


@value
class Row:
    """One fact as it is kept: where it stands, its key without the scope, and the rest of it."""

    position: int
    number: int
    name: str
    body: list[Any]


def reach(db: apsw.Connection, namespace: int) -> Reach:
    """Say how far a namespace was read."""
    rows: list[Any] = []
    if is_there(db):
        rows = db.execute("SELECT version, facts, ledger FROM fact_reach WHERE namespace = ?", (namespace,)).fetchall()
    return Reach(*rows[0]) if rows else Reach()


def spoken(db: apsw.Connection, namespace: int) -> dict[str, list[Any]]:
    """Give what each session had spoken of where its reading stopped."""
    if not is_there(db):
        return {}
    sql = "SELECT session, body FROM fact_spoken WHERE namespace = ?"
    return {str(session): _loaded(body) for session, body in db.execute(sql, (namespace,)).fetchall()}


def rows(db: apsw.Connection, namespace: int, through: int) -> Iterator[Row]:
    """Yield the facts up to a position, in order.

    Raises:
        StoreDamaged: one of them is not what was written.
    """
    if is_there(db):
        sql = "SELECT position, number, name, checksum, body FROM fact WHERE namespace = ? AND position <= ? "
        yield from _read(db, sql + "ORDER BY position, number", (namespace, through))


def named(db: apsw.Connection, namespace: int, names: Iterable[str]) -> Iterator[Row]:
    """Yield the facts of some keys, key by key."""
    sql = "SELECT position, number, name, checksum, body FROM fact WHERE namespace = ? AND name = ? "
    for name in names:
        yield from _read(db, sql + "ORDER BY position, number", (namespace, name))


def write(
    db: apsw.Connection, namespace: int, before: Reach, after: Reach, new: Iterable[Row], said: Mapping[str, list[Any]]
) -> bool:
    """Keep what was read between two reaches; False, and nothing, when somebody else read on in the meantime.

    The caller has a transaction open.
    """
    db.execute(_SCHEMA)
    if reach(db, namespace) != before:
        return False
    if before.version != after.version:
        for table in ("fact", "fact_spoken"):
            db.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))  # noqa: S608 - a constant
    db.executemany(
        "INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?)",
        [(namespace, one.position, one.number, one.name, *_sealed(one)) for one in new],
    )
    db.executemany(
        "INSERT OR REPLACE INTO fact_spoken VALUES (?, ?, ?)",
        [(namespace, session, json.dumps(body)) for session, body in said.items()],
    )
    db.execute("INSERT OR REPLACE INTO fact_reach VALUES (?, ?, ?, ?)",
               (namespace, after.version, after.facts, after.ledger))  # fmt: skip
    return True


def _sealed(one: Row) -> tuple[int, str]:
    body = json.dumps(one.body)
    return _checksum(one.position, one.number, one.name, body), body


def _checksum(position: int, number: int, name: str, body: str) -> int:
    return crc32(f"{position} {number} {name} {body}".encode("utf-8", "surrogatepass"))


def _read(db: apsw.Connection, sql: str, bound: tuple[Any, ...]) -> Iterator[Row]:
    try:
        found: list[Any] = db.execute(sql, bound).fetchall()
    except (apsw.SQLError, apsw.CorruptError, UnicodeDecodeError) as error:  # the last: bytes that are no text any more
        raise StoreDamaged(f"the facts of this store cannot be read ({error}); {REPAIR}") from error
    for position, number, name, checksum, body in found:
        if checksum != _checksum(position, number, name, body):
            raise StoreDamaged(f"a fact at position {position:,} is not what was written; {REPAIR}")
        yield Row(position, number, name, _loaded(body))


def _loaded(body: Any) -> list[Any]:
    try:
        told = json.loads(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"a fact of this store is not what was written ({error}); {REPAIR}") from error
    if not isinstance(told, list):
        raise StoreDamaged(f"a fact of this store is not what was written; {REPAIR}")
    return told


def keep_out(
    db: apsw.Connection,
    namespace: int,
    before: Reach,
    through: int,
    out: Iterable[Out],
    names: Collection[str] | None = None,
) -> bool:
    """Keep which facts are out as of a position of the ledger; the caller has a transaction open.

    Args:
        before: the reach that they were worked out at.
        names: keys, without scope, whose facts these are; None for all of them.

    Returns:
        False, and nothing is kept, when somebody read on, decided or erased in the meantime.
    """
    db.execute(_SCHEMA)
    if reach(db, namespace) != before:
        return False
    if names is None:
        db.execute("DELETE FROM fact_out WHERE namespace = ?", (namespace,))
    else:
        db.executemany(
            "DELETE FROM fact_out WHERE namespace = ? AND name = ?", [(namespace, one) for one in sorted(names)]
        )
        out = [*out]
        db.execute(  # they contradict nothing any more
            "DELETE FROM fact_out WHERE namespace = ? AND decision = x'' "
            "AND by_fact IN (SELECT value FROM json_each(?))",
            (namespace, json.dumps([one.target for one in out])),
        )  # fmt: skip
    db.executemany(
        "INSERT OR REPLACE INTO fact_out VALUES (?, ?, ?, ?, ?, ?)",
        [(namespace, one.position, one.target, one.name, one.by_fact, id_bytes(one.decision)) for one in out],
    )
    db.execute("INSERT OR IGNORE INTO fact_reach VALUES (?, '', 0, 0)", (namespace,))
    db.execute("UPDATE fact_reach SET ledger = ? WHERE namespace = ?", (through, namespace))
    return True


def keep_open(db: apsw.Connection, namespace: int, before: Reach, scope: Iterable[int], sides: Iterable[Out]) -> bool:
    """Keep which facts contradict each other in the place of what was kept of these; a transaction is open.

    Args:
        before: the reach that they were worked out at.
        scope: positions of all facts that were looked at.
        sides: both sides of each open conflict.

    Returns:
        False, and nothing is kept, when somebody read on, decided or erased in the meantime.
    """
    db.execute(_SCHEMA)
    if reach(db, namespace) != before:
        return False
    db.execute(
        "DELETE FROM fact_out WHERE namespace = ? AND decision = x'' "
        "AND position IN (SELECT value FROM json_each(?))",
        (namespace, json.dumps([*scope])),
    )  # fmt: skip
    db.executemany(
        "INSERT OR IGNORE INTO fact_out VALUES (?, ?, ?, ?, ?, x'')",
        [(namespace, one.position, one.target, one.name, one.by_fact) for one in sides],
    )
    return True


# decisions -------------------------------------------------------------------------------------------------


def chunks(db: apsw.Connection, namespace: int) -> Iterator[list[Any]]:
    """Yield the decisions that are kept, a list each, in order.

    Raises:
        StoreDamaged: they are not what was written.
    """
    if not is_there(db):
        return
    sql = "SELECT checksum, body FROM fact_decisions WHERE namespace = ? ORDER BY first"
    try:
        found: list[Any] = db.execute(sql, (namespace,)).fetchall()
    except (apsw.SQLError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreDamaged(f"the decisions that are kept cannot be read ({error}); {REPAIR}") from error
    for checksum, body in found:
        if not isinstance(body, str) or checksum != crc32(body.encode("utf-8", "surrogatepass")):
            raise StoreDamaged(f"the decisions that are kept are not what was written; {REPAIR}")
        yield from _loaded(body)


def keep_chunk(db: apsw.Connection, namespace: int, positions: list[int], decisions: list[list[Any]]) -> bool:
    """Keep decisions beside those before them; the caller has a transaction open.

    Args:
        positions: of their events, in order.

    Returns:
        False, and nothing is kept, when one of them was erased in the meantime.
    """
    db.execute(_SCHEMA)
    sql = "SELECT count(*) FROM event WHERE position IN (SELECT value FROM json_each(?)) AND salt IS NOT NULL"
    if db.execute(sql, (str(positions),)).get != len(positions):
        return False
    body = json.dumps(decisions)
    db.execute("INSERT OR REPLACE INTO fact_decisions VALUES (?, ?, ?, ?, ?)",
               (namespace, positions[0], positions[-1], crc32(body.encode()), body))  # fmt: skip
    return True
