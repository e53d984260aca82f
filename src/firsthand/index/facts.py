"""The facts of a namespace as they were read last, in the store's own file, and which of them the ledger takes out.

Reading facts takes about a millisecond a message; a sweep each night must cost what
the day brought. So what was read stays here, a row a fact, with how far it was read and
what each session had spoken of by then. A second table says of which events recall is
to tell that something took their place, so that a recall asks one question of it.

The invariant: rows are what the rules of one version read of the log up to `Reach.facts`,
each with a checksum; everything here can be dropped and read again. An erasure takes
out the rows of what it erases, and makes all be read again by the next sweep: what was
said later may have been read otherwise for it.

It moves rows: what a fact is, and which one stands, it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any
from zlib import crc32

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import id_bytes, id_text
from firsthand.log.port import Entry
from firsthand.value import value

NAME = "facts"
LEDGER_SESSION = "ledger"
REPAIR = "'firsthand rebuild' drops them, and the next sweep reads them anew"
_TABLES = ("fact_reach", "fact", "fact_spoken", "fact_out")
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
-- One row a fact that the ledger takes out.
CREATE TABLE IF NOT EXISTS fact_out (
  namespace INTEGER NOT NULL,
  position  INTEGER NOT NULL,    -- of its event
  target    TEXT NOT NULL,       -- pointer of the fact
  name      TEXT NOT NULL,       -- its key
  by_fact   TEXT NOT NULL,       -- pointer of what took its place; empty for none
  decision  BLOB NOT NULL,       -- id of the decision
  PRIMARY KEY (namespace, position, target, name)
) WITHOUT ROWID;
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


@value
class Out:
    """One fact that the ledger takes out.

    Attributes:
        target: its pointer.
        name: its key, without the scope: the words of what it is about.
        by_fact: pointer of what took its place; empty for none.
        decision: id of the decision.
    """

    position: int
    target: str
    name: str
    by_fact: str
    decision: str

    @property
    def bytes(self) -> int:
        """How many bytes say it."""
        start, _, end = self.target.partition("@")[2].partition("-")
        return int(end) - int(start) if end.isdigit() and start.isdigit() else 0


class Facts:
    """The facts of a store as the log knows them; see `firsthand.log.port.FollowingIndex`."""

    name = NAME

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Take out what was read of events and decided by them; the rest is read again by the next sweep."""
        if not is_there(db):
            return
        for namespace, group in groupby(entries, attrgetter("namespace_key")):
            gone = [entry.event for entry in group]
            places = [(namespace, one.position) for one in gone]
            db.executemany("DELETE FROM fact WHERE namespace = ? AND position = ?", places)
            db.executemany("DELETE FROM fact_out WHERE namespace = ? AND position = ?", places)
            db.executemany(
                "DELETE FROM fact_out WHERE namespace = ? AND decision = ?",
                [(namespace, id_bytes(one.id)) for one in gone],
            )
            db.execute("DELETE FROM fact_spoken WHERE namespace = ?", (namespace,))
            db.execute("UPDATE fact_reach SET version = '', ledger = 0 WHERE namespace = ?", (namespace,))

    def purge(self, db: apsw.Connection, namespace: int) -> None:
        """Do nothing more: the log rewrites its file after an erasure."""

    def reset(self, db: apsw.Connection) -> None:
        """Drop everything."""
        for table in _TABLES:
            db.execute(f"DROP TABLE IF EXISTS {table}")


def is_there(db: apsw.Connection) -> bool:
    """Say whether facts were ever kept in this store."""
    return bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'fact_out'").get)


# facts -----------------------------------------------------------------------------------------------------


def reach(db: apsw.Connection, namespace: int) -> Reach:
    """Say how far a namespace was read."""
    rows: list[Any] = []
    if is_there(db):
        rows = db.execute("SELECT version, facts, ledger FROM fact_reach WHERE namespace = ?", (namespace,)).fetchall()
    return Reach(*rows[0]) if rows else Reach()


def decided(db: apsw.Connection, namespace: int) -> int:
    """Give the position of the newest decision of a namespace; 0 when it has none."""
    sql = "SELECT last_position FROM session WHERE namespace = ? AND name = ?"
    return int(db.execute(sql, (namespace, LEDGER_SESSION)).get or 0)


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


# what is out -----------------------------------------------------------------------------------------------


def out_of(db: apsw.Connection, namespace: int, positions: Iterable[int]) -> list[Out]:
    """Give the facts of some events that the ledger takes out; nothing where nobody ever swept.

    Raises:
        StoreDamaged: it cannot be read, or is not what was written.
    """
    try:
        return _out_of(db, namespace, positions)
    except (apsw.SQLError, apsw.CorruptError, ValueError, TypeError) as error:  # ValueError: bytes that are no text
        raise StoreDamaged(f"what the ledger takes out cannot be read ({error}); {REPAIR}") from error


def behind(db: apsw.Connection, namespace: int) -> int:
    """Give the position of the newest decision that does not count in what is out yet; 0 when all do."""
    newest = decided(db, namespace)
    return newest if newest and newest > reach(db, namespace).ledger else 0


def _out_of(db: apsw.Connection, namespace: int, positions: Iterable[int]) -> list[Out]:
    if not is_there(db):
        return []
    sql = (
        "SELECT position, target, name, by_fact, decision FROM fact_out "
        "WHERE namespace = ? AND position IN (SELECT value FROM json_each(?)) ORDER BY position, target"
    )
    found: list[Any] = db.execute(sql, (namespace, json.dumps([*positions]))).fetchall()
    return [
        Out(position, target, name, by_fact, id_text(decision)) for position, target, name, by_fact, decision in found
    ]


def keep_out(
    db: apsw.Connection, namespace: int, through: int, out: Iterable[Out], names: Collection[str] | None = None
) -> None:
    """Keep which facts are out as of a position of the ledger; the caller has a transaction open.

    Args:
        names: keys, without scope, whose facts these are; None for all of them.
    """
    db.execute(_SCHEMA)
    if names is None:
        db.execute("DELETE FROM fact_out WHERE namespace = ?", (namespace,))
    else:
        db.executemany(
            "DELETE FROM fact_out WHERE namespace = ? AND name = ?", [(namespace, one) for one in sorted(names)]
        )
    db.executemany(
        "INSERT OR REPLACE INTO fact_out VALUES (?, ?, ?, ?, ?, ?)",
        [(namespace, one.position, one.target, one.name, one.by_fact, id_bytes(one.decision)) for one in out],
    )
    db.execute("INSERT OR IGNORE INTO fact_reach VALUES (?, '', 0, 0)", (namespace,))
    db.execute("UPDATE fact_reach SET ledger = ? WHERE namespace = ?", (through, namespace))
