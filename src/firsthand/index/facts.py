"""The facts of a namespace beside the log, as the log knows them, and which of them the ledger takes out.

Reading facts takes its time for each message; a sweep each night must cost what the day
brought. So what was read stays in the store's own file (`fact_rows`). A table says of which
events recall is to tell that something took their place, or that something else that stands
contradicts them, so that a recall asks one question.

The invariant: everything here can be dropped and made again. An erasure takes out all rows
of its namespace, and makes all be read again by the next sweep: what was said later may
have been read otherwise for what is erased, and be kept in its words.

It moves rows: what a fact is, and which one stands, it does not know. Every process that
recalls imports this module: what only a sweep needs is in `fact_rows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import id_text
from firsthand.log.port import Entry
from firsthand.value import value

NAME = "facts"
LEDGER_SESSION = "ledger"
REPAIR = "'firsthand rebuild' drops them, and the next sweep reads them anew"
_TABLES = ("fact_reach", "fact", "fact_spoken", "fact_out", "fact_decisions")


@value
class Out:
    """One fact that the ledger takes out, or one side of an open conflict.

    Attributes:
        target: its pointer.
        name: its key, without the scope: the words of what it is about.
        by_fact: pointer of what took its place, empty for none; of an open conflict, of the other side.
        decision: id of the decision; empty of an open conflict.
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
        """Take out what was read of a namespace whose events these are; it is read again by the next sweep."""
        if not is_there(db):
            return
        for namespace in {entry.namespace_key for entry in entries}:
            for table in _TABLES[1:]:  # "change it to 9000" is kept in words of another message, which may be erased
                db.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))  # noqa: S608 - a constant
            db.execute("UPDATE fact_reach SET version = '', ledger = 0 WHERE namespace = ?", (namespace,))

    def purge(self, db: apsw.Connection, namespace: int) -> None:
        """Do nothing more: the log rewrites its file after an erasure."""

    def reset(self, db: apsw.Connection) -> None:
        """Drop everything."""
        db.execute("DROP TRIGGER IF EXISTS fact_erased")  # it names the tables
        for table in _TABLES:
            db.execute(f"DROP TABLE IF EXISTS {table}")


def is_there(db: apsw.Connection) -> bool:
    """Say whether facts were ever kept in this store."""
    return bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'fact_decisions'").get)


def decided(db: apsw.Connection, namespace: int) -> int:
    """Give the position of the newest decision of a namespace; 0 when it has none."""
    sql = "SELECT last_position FROM session WHERE namespace = ? AND name = ?"
    return int(db.execute(sql, (namespace, LEDGER_SESSION)).get or 0)


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
    if not newest or not is_there(db):
        return newest
    reached = db.execute("SELECT ledger FROM fact_reach WHERE namespace = ?", (namespace,)).get
    return newest if newest > int(reached or 0) else 0


def _out_of(db: apsw.Connection, namespace: int, positions: Iterable[int]) -> list[Out]:
    if not is_there(db):
        return []
    sql = (
        "SELECT position, target, name, by_fact, decision FROM fact_out "
        "WHERE namespace = ? AND position IN (SELECT value FROM json_each(?)) ORDER BY position, target"
    )
    found: list[Any] = db.execute(sql, (namespace, str([*positions]))).fetchall()
    return [
        Out(position, target, name, by_fact, id_text(decision) if decision else "")
        for position, target, name, by_fact, decision in found
    ]
