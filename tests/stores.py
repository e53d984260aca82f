"""Opening stores in tests, and what must hold of one at the end."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import apsw

from firsthand.index.check import check
from firsthand.index.text import TextIndex
from firsthand.log.results import Verification
from firsthand.log.sqlite.index_files import namespaces_in, path_of
from firsthand.log.sqlite.log import Log

SOAK = bool(os.environ.get("FIRSTHAND_SOAK"))


def quick_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for one example of a property, in memory where the tests' own are."""
    return tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))


def open_log(root: Path, **options) -> Log:
    """Open a store as the library does, with its text index."""
    return Log(root, **{"indexes": (TextIndex(),)} | options)


def damage_index(root: Path, *statements: str, namespace: str = "default") -> None:
    """Index what waits, then run SQL on each index file, as damage would: without the guards that the library sets."""
    log = open_log(root)
    log.flush_indexes(namespace)
    log.close()
    for key in namespaces_in(root):
        db = apsw.Connection(str(path_of(root, key)))
        for statement in statements:
            with suppress(apsw.SQLError):  # its tables are named by its namespace
                db.execute(statement).fetchall()
        db.close()


def index_problems(log: Log, namespace: int = 1) -> list[str]:
    """Say what the check of a namespace's text index finds."""
    with log.reader.at_one_moment(namespace) as db:
        return check(db, namespace, log.reader.reached(namespace, "text"))


def assert_whole(log: Log) -> Verification:
    """Assert that the log verifies and that the text index holds the same events."""
    verified = log.verify()
    assert verified.problems == ()
    if log.reader.index_names:
        for (key,) in log.reader.db.execute("SELECT key FROM namespace").fetchall():
            assert index_problems(log, key) == []
    return verified
