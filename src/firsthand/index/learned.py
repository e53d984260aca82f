"""What was learned of a namespace and is worth keeping: small values, one a name, in the store's own file.

The gate of recall is one. The invariant: a value says at which position and by
which version of its rules it was learned; a value is replaced whole; everything
here can be dropped and learned again. An erasure drops all that was learned of the
namespace, since it was learned of the erased too.

It does not know what the values mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.log.port import Entry
from firsthand.value import value

NAME = "learned"
JSON_CHARACTERS_MAX = 100_000
REPAIR = "'firsthand store rebuild' drops it, and it is learned anew"

_TABLE = """
-- One row for each thing that was learned of a namespace.
CREATE TABLE IF NOT EXISTS learned (
  namespace INTEGER NOT NULL,
  name      TEXT NOT NULL,      -- of what was learned
  position  INTEGER NOT NULL,   -- the namespace's head then
  version   TEXT NOT NULL,      -- of the rules it was learned by, and what it rests on
  json      TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID
"""


@value
class Lesson:
    """One thing that was learned.

    Attributes:
        position: the namespace's head when it was.
        version: of the rules it was learned by, and of what it rests on.
        json: the value.
    """

    position: int
    version: str
    json: str


class Learned:
    """What was learned, as the log knows it; see `firsthand.log.port.FollowingIndex`."""

    name = NAME

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Drop all that was learned of the namespaces of events."""
        if _is_there(db):
            for namespace, _ in groupby(entries, attrgetter("namespace_key")):
                db.execute("DELETE FROM learned WHERE namespace = ?", (namespace,))

    def reset(self, db: apsw.Connection) -> None:
        """Drop everything."""
        db.execute("DROP TABLE IF EXISTS learned")


def write(db: apsw.Connection, namespace: int, name: str, lesson: Lesson) -> None:
    """Keep what was learned, in the place of what was there; the caller has a transaction open."""
    assert len(lesson.json) <= JSON_CHARACTERS_MAX, "what is learned is small"
    db.execute(_TABLE)
    row = (namespace, name, lesson.position, lesson.version, lesson.json)
    db.execute("INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?)", row)


def read(db: apsw.Connection, namespace: int, name: str) -> Lesson | None:
    """Read what was learned; None when it was not, or was dropped.

    Raises:
        StoreDamaged: it cannot be read, or is not what was written.
    """
    sql = "SELECT position, version, json FROM learned WHERE namespace = ? AND name = ?"
    try:
        rows: list[Any] = db.execute(sql, (namespace, name)).fetchall() if _is_there(db) else []
    except (apsw.SQLError, apsw.CorruptError, UnicodeDecodeError) as error:  # the last: bytes that are no text any more
        raise StoreDamaged(f"what was learned of this store cannot be read ({error}); {REPAIR}") from error
    if not rows:
        return None
    lesson = Lesson(*rows[0])
    if not (isinstance(lesson.position, int) and isinstance(lesson.version, str) and isinstance(lesson.json, str)):
        raise StoreDamaged(f"what was learned of this store is not what was written; {REPAIR}")
    return lesson


def _is_there(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'learned'").get)
