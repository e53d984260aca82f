"""Opening stores in tests, and what must hold of one at the end."""

from __future__ import annotations

import os
from pathlib import Path

from firsthand.index.check import check
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.log.verify import Verification

SOAK = bool(os.environ.get("FIRSTHAND_SOAK"))


def open_log(root: Path, **options) -> Log:
    """Open a store as the library does, with its text index."""
    return Log(root, **{"indexes": (TextIndex(),)} | options)


def assert_whole(log: Log) -> Verification:
    """Assert that the log verifies and that the text index holds the same events."""
    verified = log.verify()
    assert verified.problems == ()
    db = log.reader.db
    for (key,) in db.execute("SELECT DISTINCT namespace FROM index_reach").fetchall():
        assert check(db, key) == []
    return verified
