"""The promises of the log, kept by SQLite in a folder and by every PostgreSQL that is there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import psycopg
import pytest
from log_suite import LogSuite
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from firsthand.log.postgres.log import PostgresLog, make
from stores import open_log

_names = itertools.count()


class TestSqlite(LogSuite):
    @pytest.fixture
    def again(self, tmp_path) -> Iterator:
        opened = []

        def open_again():
            opened.append(open_log(tmp_path / "store"))
            return opened[-1]

        yield open_again
        for log in opened:
            log.close()

    @pytest.fixture
    def log(self, again):
        log = again()
        yield log
        assert log.verify().ok


@pytest.fixture(scope="module", params=list(installations()))
def server(request) -> Iterator[PostgresServer]:
    """A server for the tests of this file."""
    started = PostgresServer(installations()[request.param])
    yield started
    started.close()


class TestPostgres(LogSuite):
    @pytest.fixture
    def again(self, server) -> Iterator:
        database, opened = f"store{next(_names)}", []
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {database} OWNER {OWNER}")
        make(server.dsn(OWNER, database))
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            db.execute(f"GRANT firsthand_application TO {APPLICATION}")

        def open_again():
            opened.append(PostgresLog(server.dsn(database=database)))
            return opened[-1]

        yield open_again
        for log in opened:
            log.close()

    @pytest.fixture
    def log(self, again):
        return again()
