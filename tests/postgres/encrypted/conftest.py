"""Encrypted stores on a server of a file's own: backups of it are taken whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from log_suite import NAMESPACE
from postgres_server import OWNER, PostgresServer, installations

from firsthand.log.postgres.log import PostgresLog, make


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server for the tests of a file."""
    started = PostgresServer(installations()["embedded"], fsync="off")
    yield started
    started.close()


@pytest.fixture
def keys(tmp_path) -> Path:
    """The folder of the keys."""
    return tmp_path / "keys"


@pytest.fixture
def again(server, database, keys) -> Iterator[Callable[..., PostgresLog]]:
    """Open the store once more, with its keys or with others."""
    make(server.dsn(OWNER, database), encrypted=True)
    opened = []

    def open_again(spec: str | None = None, dsn: str = "") -> PostgresLog:
        opened.append(PostgresLog(dsn or server.dsn(database=database), keys=str(keys) if spec is None else spec))
        return opened[-1]

    yield open_again
    for log in opened:
        log.close()


@pytest.fixture
def log(again) -> Iterator[PostgresLog]:
    """An encrypted store, empty."""
    log = again()
    yield log
    assert log.verify(namespace=NAMESPACE).ok


@pytest.fixture
def as_owner(server, database) -> Callable[..., None]:
    """Run a statement as the owner of the database."""

    def run(statement: str) -> None:
        with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
            db.execute("SET search_path = firsthand")
            db.execute(statement)

    return run
