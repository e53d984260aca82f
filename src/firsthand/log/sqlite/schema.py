"""The tables of a store, their versions, and how an older store becomes a newer one.

Migrations run forward only, each in one transaction with the version number it
leads to: a crash leaves the old store or the new one. A store of a newer
version is never rewritten: it is opened for reading where it says that this
version can read it, and refused otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import apsw

from firsthand.errors import NotAStore, StoreDamaged, StoreNewer, StoreOlder
from firsthand.event import roll

from .database import read_map

APPLICATION_ID = 0x46_48_4E_44  # "FHND"
VERSION = 2
DATABASE_FILE = "firsthand.db"

_V1 = """
-- Facts about the store as a whole: uuid, created, reader_min (the least version that can read it),
-- fence_key (16 random bytes, see fence.py), head (32 bytes rolled over every event in order of
-- position) and head_position.
CREATE TABLE store (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- The tenants.
CREATE TABLE namespace (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- Agents and origins, each text once.
CREATE TABLE name (key INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

CREATE TABLE session (
  key            INTEGER PRIMARY KEY,
  namespace      INTEGER NOT NULL REFERENCES namespace,
  name           TEXT NOT NULL,
  length         INTEGER NOT NULL,   -- events in it; the next event's sequence
  turn           INTEGER NOT NULL,   -- user messages so far
  first_position INTEGER NOT NULL,
  last_position  INTEGER NOT NULL,
  first_time     INTEGER,            -- least event time, microseconds since 1970; NULL when none is known
  last_time      INTEGER,            -- greatest event time
  head           BLOB NOT NULL,      -- chain hash of its last event
  UNIQUE (namespace, name)
);

CREATE TABLE event (
  position      INTEGER PRIMARY KEY, -- 1, 2, 3 ... the store's one total order
  id            BLOB NOT NULL,       -- 16 bytes, sortable by time
  namespace     INTEGER NOT NULL,
  session       INTEGER NOT NULL,
  sequence      INTEGER NOT NULL,    -- 0, 1, 2 ... in its session
  part          INTEGER NOT NULL,    -- k-th event of its source record
  turn          INTEGER NOT NULL,
  kind          INTEGER NOT NULL,
  trust         INTEGER NOT NULL,
  agent         INTEGER NOT NULL,    -- name
  origin        INTEGER NOT NULL,    -- name
  time          INTEGER,             -- when it happened, microseconds since 1970; NULL unknown
  time_offset   INTEGER,             -- minutes
  ingested      INTEGER NOT NULL,    -- when the log took it
  ingested_offset INTEGER NOT NULL,
  chain         BLOB NOT NULL,       -- 32 bytes
  commitment    BLOB NOT NULL,       -- 32 bytes
  salt          BLOB,                -- 16 bytes; NULL when erased
  body          BLOB                 -- codec byte and compressed body; NULL when erased
);
CREATE UNIQUE INDEX event_by_id ON event (id, namespace);
CREATE UNIQUE INDEX event_by_session ON event (session, sequence);

-- Which events hold which artifact: the file goes when its last holder is erased.
CREATE TABLE artifact_use (
  namespace INTEGER NOT NULL,
  digest    BLOB NOT NULL,
  position  INTEGER NOT NULL,
  PRIMARY KEY (namespace, digest, position)
) WITHOUT ROWID;

-- How far each source file was read. Only saves work: an import without it finds the same events.
CREATE TABLE source (
  namespace INTEGER NOT NULL,
  key       TEXT NOT NULL,
  cursor    TEXT NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;

-- How far each index that is written with the log reaches; why it stopped, if it did.
CREATE TABLE index_reach (
  name     TEXT PRIMARY KEY,
  position INTEGER NOT NULL,         -- every event up to here is in the index
  fault    TEXT NOT NULL DEFAULT ''  -- empty while it follows
) WITHOUT ROWID;
"""


def _to_1(db: apsw.Connection) -> None:
    db.execute(_V1).fetchall()


_V2 = f"""
-- Each namespace has an order and a head of its own.
ALTER TABLE namespace ADD COLUMN head_position INTEGER NOT NULL DEFAULT 0;  -- of its last event
ALTER TABLE namespace ADD COLUMN head BLOB NOT NULL DEFAULT x'{"00" * 32}'; -- 32 bytes rolled over its events
-- Up to this position it was counted over all namespaces of a store of version 1, so there are gaps.
ALTER TABLE namespace ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
-- (namespace - 1) << 40 | position: the events of a namespace lie together, in its order.
ALTER TABLE event RENAME COLUMN position TO key;
"""


def _to_2(db: apsw.Connection) -> None:
    """Give each namespace an order and a head of its own.

    Every event keeps its position: receipts, decisions and anatomies name positions, and what is hashed cannot
    be rewritten; heads that were kept elsewhere stay good. So the positions of namespaces that shared a store
    have gaps: `namespace.shared` says up to where, and the head rolled over all of them stays in `store`.
    """
    facts = read_map(db, "SELECT key, value FROM store WHERE key IN ('head', 'head_position')")
    if not isinstance(facts.get("head"), bytes) or not isinstance(facts.get("head_position"), int):
        raise StoreDamaged(
            "the head of the store is missing or no head, so it cannot be migrated; restore it from a backup"
        )
    db.execute(_V2).fetchall()
    namespaces = [int(str(key)) for (key,) in db.execute("SELECT DISTINCT namespace FROM session").fetchall()]
    for key in namespaces:
        head, last = facts["head"], facts["head_position"]
        if len(namespaces) > 1:
            head, last = bytes(32), 0
            for position, chain in db.execute("SELECT key, chain FROM event WHERE namespace = ? ORDER BY key", (key,)):
                head, last = roll(head, position, chain), position
            db.execute("UPDATE namespace SET shared = ? WHERE key = ?", (last, key))
        db.execute("UPDATE namespace SET head = ?, head_position = ? WHERE key = ?", (head, last, key))
    if len(namespaces) > 1:
        db.execute("UPDATE store SET key = 'shared_' || key WHERE key IN ('head', 'head_position')")
    db.execute("DELETE FROM store WHERE key IN ('head', 'head_position')")
    db.execute("UPDATE event SET key = key + ((namespace - 1) << 40) WHERE namespace > 1")
    # The text index is in a file a namespace now, and is made anew there.
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'text_[0-9]*' ORDER BY length(name) DESC"
    names = [str(name) for (name,) in db.execute(sql).fetchall()]
    names = [name for name in names if name[5:].removesuffix("_terms").isdigit()]
    for name in (*names, "text_index", "term_df", "index_reach"):
        db.execute(f'DROP TABLE IF EXISTS "{name}"')
    db.execute("UPDATE store SET value = 2 WHERE key = 'reader_min'")


MIGRATIONS: dict[int, Callable[[apsw.Connection], None]] = {1: _to_1, 2: _to_2}
"""The step that leads to each version; a step is never changed once a version with it was released."""


def version_of(db: apsw.Connection) -> int:
    """Read the version of a store; 0 for an empty database.

    Raises:
        NotAStore: the database belongs to another program.
    """
    with db:  # as of one moment
        application = db.pragma("application_id")
        version = int(db.pragma("user_version"))
        tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    if application == APPLICATION_ID:
        return version
    if application == 0 and version == 0 and not tables:
        return 0
    raise NotAStore(
        f"expected a Firsthand store; the database belongs to another program (application id {application:#x}, "
        f"{tables} tables). Choose another folder."
    )


def check_readable(db: apsw.Connection, version: int, *, read_only: bool = False) -> None:
    """Refuse a store whose version cannot be read.

    Raises:
        StoreNewer: it is newer, and says that this version cannot read it.
        StoreOlder: it is older, and may not be brought to this version, since it is opened for reading.
    """
    if version == VERSION:
        return
    if version == 0 and read_only:
        raise NotAStore(
            "the database holds no store yet: another process began to make one and has not finished. Try again; if "
            "it never does, open the folder once for writing."
        )
    if 0 < version < VERSION and read_only:
        raise StoreOlder(
            f"the store is of version {version}, this library reads version {VERSION}. Open it once for writing, which "
            "brings it to this version; copy it first if an older Firsthand is to read it again."
        )
    if version < VERSION:
        return
    reader_min = db.execute("SELECT value FROM store WHERE key = 'reader_min'").get
    if not isinstance(reader_min, int) or reader_min > VERSION:
        raise StoreNewer(
            f"the store is of version {version}, this library reads up to {VERSION}. Upgrade Firsthand, or export the "
            "store with the version that wrote it (firsthand store export)."
        )


def migrate(db: apsw.Connection, version: int, uuid: bytes, created: int, fence_key: bytes) -> None:
    """Bring a store from ``version`` to the present one; the caller holds the write lock.

    Each step commits with its version number, so a crash leaves a whole version; those of a new store commit as one,
    so that nobody reads it half made.
    """
    with db if version == 0 else nullcontext():
        for step in range(version + 1, VERSION + 1):
            with db:
                MIGRATIONS[step](db)
                if step == 1:
                    rows = [("uuid", uuid), ("created", created), ("head", bytes(32)), ("head_position", 0)]
                    rows += [("reader_min", 1), ("fence_key", fence_key)]
                    db.executemany("INSERT INTO store VALUES (?, ?)", rows)
                    db.pragma("application_id", APPLICATION_ID)
                db.pragma("user_version", step)
