"""The promises of the log, kept by SQLite in a folder and by every PostgreSQL that is there."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from log_suite import NAMESPACE, LogSuite, user
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from firsthand.event import Draft, IdMaker
from firsthand.log.postgres.committer import APART_MAX
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.tenant import Ticket
from firsthand.log.prepare import Batch
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
            opened[-1].database = database
            return opened[-1]

        yield open_again
        for log in opened:
            log.close()

    @pytest.fixture
    def log(self, again):
        return again()

    def test_what_waits_is_committed_together(self, server, log) -> None:
        """Appends that come while the head is held by another process are committed in one transaction, in order."""
        self._append(log, "first")
        with psycopg.connect(server.dsn(OWNER, log.database), autocommit=True) as other, ThreadPoolExecutor(21) as pool:
            with other.transaction():
                other.execute("SELECT firsthand.hold_1(%s)", (log.namespace_key(NAMESPACE),))
                submitted = [pool.submit(self._append, log, str(number)) for number in range(20)]
                _wait_for(lambda: len(log._committer._waiting) == 19)
            positions = sorted(each.result()[0].position for each in submitted)
        assert positions == [*range(2, 22)]
        with psycopg.connect(server.dsn("postgres", log.database), autocommit=True) as db:
            rows = db.execute("SELECT xmin::text, count(*) FROM firsthand.event GROUP BY 1 ORDER BY min(position)")
            assert [row[1] for row in rows.fetchall()] == [1, 1, 19]

    def test_a_writer_waits_for_its_own_commit_alone(self, log) -> None:
        """An append returns when its events are on disk, while further work of another one is still under way."""
        working, gate = threading.Event(), threading.Event()
        with ThreadPoolExecutor(1) as pool:
            slow = _ticket(log, "a", lambda _db: (working.set(), gate.wait(60)))
            last = pool.submit(log._committer.submit, slow)
            working.wait(60)
            assert self._append(log, "b", namespace="b")[0].position == 1
            assert not last.done()
            gate.set()
            last.result(timeout=60)

    def test_a_fault_in_a_commit_leaves_nobody_waiting(self, log) -> None:
        """Further work that fails is raised by its owner, nothing of it is there, and the next commit goes on."""

        def fault(_db: psycopg.Connection) -> None:
            raise ZeroDivisionError

        for _ in range(APART_MAX + 1):
            with pytest.raises(ZeroDivisionError):
                log._committer.submit(_ticket(log, NAMESPACE, fault))
        assert self._append(log, "y")[0].position == 1

    def test_one_that_does_not_fit_leaves_the_others_in_their_transaction(self, log, again) -> None:
        """Of several namespaces in a group, one moved by another process and a retry in a second one cost no event."""
        names, other, retry = "abcdef", again(), user("known", id=IdMaker()())
        for name in names:
            self._append(log, "first", namespace=name)
        self._append(other, "moved", namespace="b")
        log.append([retry], namespace="e", session="s")
        tickets = [_ticket(log, name) for name in names]
        tickets.append(Ticket(number_of("e"), _batches(log, "e", retry)))
        log._committer._commit(tickets)
        assert [ticket.result[0].position for ticket in tickets] == [2, 3, 2, 2, 3, 2, 2]
        assert [log.verify(namespace=name).ok for name in names] == [True] * 6


def _batches(log: PostgresLog, namespace: str, draft: Draft) -> tuple[Batch, ...]:
    return (Batch(namespace, "s", log._prepared([draft], namespace)),)


def _ticket(log: PostgresLog, namespace: str, also=None) -> Ticket:
    return Ticket(number_of(namespace), _batches(log, namespace, user("x")), also)


def _wait_for(condition) -> None:
    for _ in range(6_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("waited for a minute")
