"""The tables of a store: their version, and whose database it is."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from firsthand.errors import NotAStore, StoreNewer
from firsthand.log.sqlite import schema
from stores import open_log


def test_a_store_says_what_it_is(log):
    """The database carries the application id and the version, and every version up to it has a step."""
    db = log.reader.db
    assert (db.pragma("application_id"), db.pragma("user_version")) == (schema.APPLICATION_ID, schema.VERSION)
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION + 1))
    assert schema.version_of(db) == schema.VERSION


def test_version_of_what_is_no_store():
    """An empty database is of version 0; one with tables, a version or an id of its own belongs to somebody else."""
    db = apsw.Connection("")
    assert schema.version_of(db) == 0
    for sql in ("CREATE TABLE t (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 5"):
        other = apsw.Connection("")
        other.execute(sql)
        with pytest.raises(NotAStore, match="another program"):
            schema.version_of(other)


@pytest.mark.parametrize("reader_min", [None, "1", 2.5, schema.VERSION + 1])
def test_a_newer_store_must_say_that_it_can_be_read(reader_min):
    """A newer version whose least reader is missing, odd or newer than this one is refused."""
    db = apsw.Connection("")
    db.execute("CREATE TABLE store (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    if reader_min is not None:
        db.execute("INSERT INTO store VALUES ('reader_min', ?)", (reader_min,))
    schema.check_readable(db, schema.VERSION)
    with pytest.raises(StoreNewer, match="Upgrade"):
        schema.check_readable(db, schema.VERSION + 1)
    db.execute("INSERT OR REPLACE INTO store VALUES ('reader_min', ?)", (schema.VERSION,))
    schema.check_readable(db, schema.VERSION + 1)


def test_a_step_and_its_number_are_one_transaction():
    """A migration that fails in its first step leaves an empty database."""
    db = apsw.Connection("")
    db.execute("CREATE TABLE store (key)")  # in the way of the first step
    with pytest.raises(apsw.SQLError):
        schema.migrate(db, 0, bytes(16), 0, bytes(16))
    assert db.pragma("user_version") == 0
    assert db.execute("SELECT count(*) FROM sqlite_schema").get == 1


def test_a_reader_waits_for_a_store_that_is_being_made(tmp_path) -> None:
    """A store opened for reading while its maker is between making the file and its tables is there a moment later."""
    root = tmp_path / "store"
    root.mkdir()
    db = apsw.Connection(str(root / schema.DATABASE_FILE))
    db.pragma("journal_mode", "wal")  # the first thing that a maker writes
    db.close()
    with pytest.raises(NotAStore, match="began to make one"):
        open_log(root, read_only=True, timeout_ms=20)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(open_log, root, read_only=True)
        time.sleep(0.05)
        open_log(root).close()
        log = reading.result()
    assert log.reader.head("default") == (0, bytes(32))
    log.close()
