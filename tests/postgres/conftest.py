"""Servers and stores in PostgreSQL for the tests of this folder, which `make test-postgres` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from empty_stores import make_database
from postgres_server import PostgresServer, installations

from firsthand.log.postgres.log import PostgresLog


@pytest.fixture(scope="module", params=list(installations()))
def server(request) -> Iterator[PostgresServer]:
    """A server of each PostgreSQL that is there, one for the tests of a file."""
    started = PostgresServer(installations()[request.param])
    yield started
    started.close()


@pytest.fixture
def database(server) -> str:
    """The name of a database with an empty store, which the application may use."""
    return make_database(server)


@pytest.fixture
def dsn(server, database) -> str:
    """How the application reaches that database."""
    return server.dsn(database=database)


@pytest.fixture
def other_dsn(server) -> str:
    """How the application reaches a store of its own beside that one."""
    return server.dsn(database=make_database(server))


@pytest.fixture
def open_engine(dsn) -> Iterator[Callable[[], PostgresLog]]:
    """Open that store, as often as it is called."""
    opened: list[PostgresLog] = []

    def open_one() -> PostgresLog:
        opened.append(PostgresLog(dsn))
        return opened[-1]

    yield open_one
    for log in opened:
        log.close()


@pytest.fixture
def engine(open_engine) -> PostgresLog:
    """One handle of that store."""
    return open_engine()
