"""How SQLite is opened, and what its errors become."""

from __future__ import annotations

import errno

import apsw
import pytest

from firsthand.errors import (
    NotAStore,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)
from firsthand.log.sqlite.database import translated, translating
from stores import open_log


def test_the_settings_that_the_promises_need(log):
    """The write connection runs in WAL mode with full syncs, leaves checkpoints to the queue and trusts no schema."""
    db = log.writer
    assert (db.pragma("journal_mode"), db.pragma("synchronous")) == ("wal", 2)
    assert (db.pragma("trusted_schema"), db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1)) == (0, 1)
    assert db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1) == 1
    assert log.reader.db.readonly("main")


@pytest.mark.parametrize(
    ("code", "number", "expected"),
    [
        (apsw.SQLITE_FULL, 0, StoreFull),
        (apsw.SQLITE_IOERR_WRITE, errno.ENOSPC, StoreFull),
        (apsw.SQLITE_IOERR_WRITE, errno.EDQUOT, StoreFull),
        (apsw.SQLITE_IOERR_WRITE, errno.EFBIG, StoreFull),
        (apsw.SQLITE_IOERR_WRITE, errno.EIO, StoreFailed),
        (apsw.SQLITE_IOERR_FSYNC, errno.EIO, StoreFailed),
        (apsw.SQLITE_IOERR_FSYNC, errno.ENOSPC, StoreFailed),
        (apsw.SQLITE_BUSY, 0, StoreBusy),
        (apsw.SQLITE_LOCKED, 0, StoreBusy),
        (apsw.SQLITE_READONLY, 0, StoreReadOnly),
        (apsw.SQLITE_PERM, 0, StoreReadOnly),
        (apsw.SQLITE_NOTADB, 0, NotAStore),
        (apsw.SQLITE_CORRUPT, 0, StoreDamaged),
        (apsw.SQLITE_FORMAT, 0, StoreDamaged),
        (apsw.SQLITE_CANTOPEN, errno.EMFILE, StoreFailed),
        (apsw.SQLITE_ERROR, 0, StoreFailed),
        (apsw.SQLITE_NOMEM, 0, StoreFailed),
    ],
)
def test_every_error_becomes_one_of_ours(code, number, expected):
    """Each of SQLite's errors is one class of ours, says what to do next, and names the store."""
    ours = translated(apsw.exception_for(code), "the/store", number)
    assert type(ours) is expected
    assert str(ours).startswith("the/store: ")
    assert len(str(ours).split(". ")) > 1


def test_errors_of_a_block_are_translated(tmp_path):
    """What leaves a translated block is of our tree, with SQLite's error as its cause; other errors pass."""
    db = apsw.Connection("")
    with pytest.raises(StoreError) as caught, translating(tmp_path, db):
        db.execute("SELECT * FROM nowhere")
    assert isinstance(caught.value.__cause__, apsw.SQLError)
    with pytest.raises(StoreDamaged, match="a text is damaged"), translating(tmp_path, db):
        db.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()
    db.close()
    with pytest.raises(StoreClosed), translating(tmp_path, db):
        db.execute("SELECT 1")
    with pytest.raises(KeyError), translating(tmp_path):
        raise KeyError


def test_a_path_with_odd_signs(tmp_path):
    """A store lies in any folder: signs that mean something in an address of SQLite are part of the name."""
    for name in ("a b", "100%", "a?mode=memory", "a#b", "ünï", "%41", "'"):
        log = open_log(tmp_path / name)
        assert log.reader.head("default")[0] == 0
        assert (tmp_path / name / "firsthand.db").exists()
        log.close()
