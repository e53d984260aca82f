"""How a store in PostgreSQL comes to be and to its present version: the numbered files of ``migrations/``.

Every table, key and function begins with the namespace, so that a cluster can be distributed by it. The owner
makes tables and functions; the role of the application may read rows of the namespace that it has named
(`firsthand.namespace`), and call the functions. Nothing of an event can be changed but by ``erase``.

The invariant: migrations run forward only, each in one transaction with its number. One that expands adds tables,
columns with a default, and functions of a new name (``append_2``); one that contracts takes away what only older
versions use, and raises `reader_min` or `writer_min`. So a server one version older goes on until the contraction.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

import psycopg
from psycopg import errors, sql

from firsthand.errors import InvalidArgument, StoreBusy, StoreNewer, StoreOlder
from firsthand.value import value

from .roles import SCHEMA, check_member, owner_address

REFERENCE = ("access", "api_key", "store", "version")
"""The tables that are of no namespace: the same on every node of a cluster. It is the first column of all others."""
LOCK_TIMEOUT_MS = 1_000
"""A migration waits so long for a table, then lets the appends go that wait behind it, and tries again."""
TRIES_MAX = 60
_PAUSE_S = 0.5
_LOCK = 0x46_48_4E_44


@value
class Migration:
    """One step, which leads to the version of its number."""

    number: int
    name: str
    sql: str


def migrations() -> tuple[Migration, ...]:
    """Read the steps, in order; one is never changed once a version with it was released."""
    files = sorted(resources.files(__package__).joinpath("migrations").iterdir(), key=lambda file: file.name)
    steps = [
        Migration(int(file.name[:4]), file.name[5:-4], file.read_text(encoding="utf-8"))
        for file in files
        if file.name.endswith(".sql")
    ]
    if [step.number for step in steps] != [*range(1, len(steps) + 1)]:
        raise ValueError(f"migrations are numbered 1, 2, 3 ...; got {[file.name for file in files]}")
    return tuple(steps)


MIGRATIONS = migrations()
VERSION = len(MIGRATIONS)


def version_of(db: psycopg.Connection) -> int:
    """Read the version of a store; 0 where there is none."""
    row = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.version",)).fetchone()
    if row is None or row[0] is None:
        return 0
    row = db.execute(sql.SQL("SELECT max(number) FROM {}.version").format(sql.Identifier(SCHEMA))).fetchone()
    return int(row[0] or 0) if row is not None else 0


def check_version(db: psycopg.Connection, version: int = VERSION) -> bool:
    """Refuse a store that a program of a version cannot read; say whether it can only read it.

    Raises:
        StoreReadOnly: the role may not use the store.
        StoreOlder: the store has to be migrated by its owner first.
        StoreNewer: it says that this version cannot read it.
    """
    check_member(db)
    stored = version_of(db)
    if stored < version:
        there = f"a store of version {stored}" if stored else "no store"
        raise StoreOlder(
            f"expected a store of version {version} in the database {db.info.dbname!r}; it holds {there}. As its "
            f"owner, run: firsthand store migrate {shlex.quote(owner_address(db))}"
        )
    facts = sql.SQL("SELECT key, value FROM {}.store WHERE key IN ('reader_min', 'writer_min')")
    least = {key: int.from_bytes(fact, "big") for key, fact in db.execute(facts.format(sql.Identifier(SCHEMA)))}
    if least.get("reader_min", stored) > version:
        raise StoreNewer(
            f"expected a store that version {version} can read; this one, of version {stored}, wants version "
            f"{least['reader_min']} or newer. Upgrade Firsthand on this machine: pip install --upgrade "
            "'firsthand[postgres]'"
        )
    return least.get("writer_min", stored) > version


def migrate(
    db: psycopg.Connection, facts: Mapping[str, bytes], steps: Sequence[Migration] = MIGRATIONS
) -> Iterator[Migration]:
    """Bring a store to the last of some steps, and yield each when it is done; as its owner.

    Several at once wait for each other. Servers go on meanwhile: a step that does not get its tables within
    `LOCK_TIMEOUT_MS` is undone and tried again.

    Args:
        facts: what a new store says of itself.

    Raises:
        StoreBusy: the tables were in use at each attempt; what was done before stays.
    """
    tries = 0
    while True:
        try:
            step = _step(db, facts, steps)
        except errors.LockNotAvailable as error:
            tries += 1
            if tries == TRIES_MAX:
                raise StoreBusy(
                    f"PostgreSQL: a table was in use at each of {tries} attempts to migrate; end long transactions, "
                    "then run it again"
                ) from error
            time.sleep(_PAUSE_S)
            continue
        if step is None:
            return
        tries = 0
        yield step


def choose(db: psycopg.Connection, *, encrypted: bool, retention_days: int | None) -> None:
    """Record what an owner chooses for a store; a choice that is not made leaves what was chosen.

    Raises:
        InvalidArgument: it is to be encrypted, and holds events that are not.
    """
    facts = {} if retention_days is None else {"retention_days": str(retention_days).encode()}
    with db.transaction():
        db.execute(sql.SQL("SET LOCAL search_path = {}, pg_temp").format(sql.Identifier(SCHEMA)))
        if encrypted and db.execute("SELECT FROM store WHERE key = 'encrypted'").fetchone() is None:
            if db.execute("SELECT FROM namespace LIMIT 1").fetchone() is not None:
                raise InvalidArgument(
                    "a store is encrypted from its first event on, and this one holds events; make a new one, and "
                    "restore an export of this one into it"
                )
            facts["encrypted"] = b"1"
        for fact in facts.items():
            db.execute("INSERT INTO store VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value", fact)


def _step(db: psycopg.Connection, facts: Mapping[str, bytes], steps: Sequence[Migration]) -> Migration | None:
    """Do the next step of those that are left; None without any."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # whoever comes second sees the first one's number
        version = version_of(db)
        step = next((step for step in steps if step.number == version + 1), None)
        if step is None:
            return None
        db.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(LOCK_TIMEOUT_MS))
        schema = sql.Identifier(SCHEMA)
        if version == 0:
            db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        db.execute(sql.SQL("SET LOCAL search_path = {}, pg_temp").format(schema))
        db.execute(step.sql.encode())
        db.execute("INSERT INTO version VALUES (%s, now())", (step.number,))
        if version == 0:
            db.cursor().executemany("INSERT INTO store VALUES (%s, %s)", list(facts.items()))
    return step
