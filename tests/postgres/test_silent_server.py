"""A server that stops answering while its connections stay open: nobody waits for it without end, nothing is lost."""

from __future__ import annotations

import io
import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import psycopg
import pytest
from postgres_server import APPLICATION, OWNER, PostgresServer

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.cli.cli import main
from firsthand.environment import store_folder
from firsthand.errors import StoreBusy
from firsthand.event import Draft, Kind
from firsthand.health.doctor import examine
from firsthand.log.postgres import access, deadline
from firsthand.log.postgres.connection import POOL_MAX
from firsthand.log.postgres.log import MOMENTS_MAX, PostgresLog
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.roles import owner_connection
from firsthand.log.prepare import Batch

TIMEOUT_S = 2
WITHIN_S = 40.0
"""Far under what a machine that is busy elsewhere takes, and over any wait that ends."""


@contextmanager
def silent(server: PostgresServer) -> Iterator[None]:
    """Stop every process of a server for the length of a block."""
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def draft(text: str) -> Draft:
    return Draft(Kind.NOTE, text.encode())


def refused(work, *arguments) -> StoreBusy:
    """Do what cannot be done now, and give what was said."""
    begun = time.monotonic()
    with pytest.raises(StoreBusy) as caught:
        work(*arguments)
    assert time.monotonic() - begun < WITHIN_S
    return caught.value


def test_an_append_to_a_silent_server_can_be_made_again(server, dsn):
    """Appends and reads of a stopped server fail in time; made again when it goes on, each event is there once.

    Fails on: a wait without a limit, a connection that is used again, a pool that does not heal.
    """
    log = PostgresLog(dsn, timeout_s=TIMEOUT_S)
    log.append([draft("first")], namespace="n", session="s")

    def append(number: int) -> StoreBusy:
        return refused(lambda: log.append([draft(f"late {number}")], namespace=f"n{number % 2}", session="s"))

    with silent(server), ThreadPoolExecutor(4) as pool:
        errors = [*pool.map(append, range(4))]
        unknown = "sent nothing for 2 s", "was kept is not known", "with the same ids"
        assert any(all(words in str(error) for words in unknown) for error in errors)
        refused(lambda: log.reader.head("n"))
    for error in errors * 2:
        for batch in error.batch:
            again(log, batch)
    texts = [event.text for name in ("n", "n0", "n1") for event in log.reader.events(name)]
    assert sorted(texts) == ["first", *(f"late {number}" for number in range(4))]
    assert all(log.verify(namespace=name).problems == () for name in ("n", "n0", "n1"))
    log.close()


def again(log: PostgresLog, batch: Batch) -> None:
    """Submit a batch as often as it takes until the pool has healed."""
    until = time.monotonic() + WITHIN_S
    while True:
        try:
            log.submit((batch,))
        except StoreBusy:
            assert time.monotonic() < until
        else:
            return


def test_what_takes_long_is_waited_for(server, dsn):
    """A server that works on a large erasure, or a page of an export, is not taken for a silent one.

    Fails on: one limit for every verb.
    """
    log = PostgresLog(dsn, timeout_s=1)
    slow = "SELECT pg_sleep(1.5)"
    log.append_with(lambda db: db.execute(slow), draft("done"), namespace="n", session="s")
    with log.connections.reading(1, at_one_moment=True) as db:
        db.execute(slow)
    refused(lambda: ask(log, slow))
    assert [event.text for event in log.reader.events("n")] == ["done"]
    assert log.verify(namespace="n").problems == ()
    log.close()


def test_an_owners_work_may_be_silent_for_hours(server, database, monkeypatch):
    """A statement of a migration or a move is waited for while its server works, by whatever clock.

    Fails on: a limit on silence, which would cut off a migration that takes longer at each try.
    """
    with owner_connection(server.dsn(OWNER, database)) as db:
        monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=itertools.count(0, 3_600).__next__))
        assert db.execute("SELECT 1 FROM pg_sleep(0.5)").fetchone() == (1,)
        named = {option.keyword for option in db.pgconn.info if option.val}
    assert {b"keepalives_idle", b"keepalives_interval", b"keepalives_count"} <= named


def test_a_limit_of_the_role_ends_nothing_that_waits(server, dsn, database):
    """What a role or a provider allows a statement or a transaction does not count for ours, nor for an owner's.

    Fails on: a session that keeps it: what waits for a head ends as a server that went away.
    """
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        names = "name IN ('statement_timeout', 'transaction_timeout')"
        for (name,) in db.execute(f"SELECT name FROM pg_settings WHERE {names}").fetchall():
            db.execute(f"ALTER DATABASE {database} SET {name} = '200ms'")
    log = PostgresLog(dsn)
    (event,) = log.append([draft("a secret")], namespace="n", session="s")
    with psycopg.connect(server.dsn("postgres", database)) as db, ThreadPoolExecutor(2) as pool:
        db.execute("SET LOCAL statement_timeout = 0")
        db.execute("SELECT FROM firsthand.namespace FOR UPDATE")
        work = [
            pool.submit(log.erase, "n", [event.id]), pool.submit(log.append, [draft("b")], namespace="n", session="s"),
        ]  # fmt: skip
        time.sleep(0.15)
        assert not any(each.done() for each in work)
        db.commit()
        for each in work:
            each.result(30)
    with log.connections.reading(1, at_one_moment=True) as db:
        db.execute("SELECT pg_sleep(0.3)")
    with owner_connection(server.dsn(OWNER, database)) as db:
        db.execute("SELECT pg_sleep(0.3)")
    log.close()


def test_a_statement_that_is_cancelled_fails_its_own_append(server, dsn, database):
    """An append whose statement is cancelled says that, and those that were to share its commit are taken.

    Fails on: a group that fails as a whole, and a server that is said to have gone away.
    """
    log = PostgresLog(dsn)
    log.append([draft("a")], namespace="a", session="s")
    with psycopg.connect(server.dsn("postgres", database)) as db:
        db.execute(
            "CREATE FUNCTION cancelled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE query_canceled USING MESSAGE = 'canceling statement due to user request'; END $$"
        )
        db.execute(
            "CREATE TRIGGER cancelled BEFORE INSERT ON firsthand.event FOR EACH ROW "
            f"WHEN (NEW.namespace = {number_of('a')}) EXECUTE FUNCTION cancelled()"
        )

    def write(number: int) -> str:
        name = f"b{number}" if number % 2 else "a"
        try:
            log.append([draft(str(number))], namespace=name, session="s")
        except StoreBusy as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(16) as pool:
        refusals = list(pool.map(write, range(64)))
    log.close()
    assert all("canceling statement" in each and "cannot be reached" not in each for each in refusals[::2])
    assert not any(refusals[1::2])


def test_what_takes_long_delays_nobody_elses_append(server, dsn):
    """While an erasure waits for a server, or for its own work, appends to other namespaces go on, or fail in time.

    Fails on: an append that waits behind an erasure, or as long as that may.
    """
    log = PostgresLog(dsn, timeout_s=TIMEOUT_S)
    log.append([draft("first")], namespace="n", session="s")
    begun, gate = threading.Event(), threading.Event()

    def work(db: psycopg.Connection) -> None:
        begun.set()
        gate.wait(WITHIN_S)
        db.execute("SELECT 1")

    with ThreadPoolExecutor(9) as pool:  # more than there are connections
        erasing = [
            pool.submit(log.append_with, work, draft("x"), namespace=f"e{number}", session="s") for number in range(9)
        ]
        begun.wait(WITHIN_S)
        log.append([draft("second")], namespace="n", session="s")
        assert not any(each.done() for each in erasing)
        with silent(server):
            gate.set()
            error = refused(lambda: log.append([draft("third")], namespace="n", session="s"))
            assert not any(each.done() for each in erasing)
        for each in erasing:
            assert each.result(WITHIN_S)
    for batch in error.batch:
        again(log, batch)
    assert [event.text for event in log.reader.events("n")] == ["first", "second", "third"]
    assert all(log.verify(namespace=name).problems == () for name in ("n", "e0", "e8"))
    log.close()


def ask(log: PostgresLog, sql: str) -> None:
    with log.connections.use() as db:
        db.execute(sql)


def test_recall_answers_from_the_replica_of_a_silent_server(server, database, tmp_path, monkeypatch):
    """Recall and health answer while the server is stopped, and say so; then all goes on, with nothing twice.

    Fails on: a recall that waits as long as an append, one that is not `degraded`.
    """
    for name in ("CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path))
    monkeypatch.setenv("FIRSTHAND_POSTGRES_TIMEOUT", "9")
    monkeypatch.setattr("firsthand.log.postgres.replica.QUIET_S", 1)
    monkeypatch.setitem(deadline._NETWORK, "connect_timeout", 2)
    address = f"postgresql://{APPLICATION}@/{database}?host={server.folder}"
    with Memory(address, namespace="n", embedder="none") as memory:
        memory.log.append([draft("the port is 4711")], namespace="n", session="s")
        assert memory.recall("port").hits
        with silent(server):
            begun = time.monotonic()
            answer = memory.recall("port")
            assert time.monotonic() - begun < 8
            assert (answer.outcome, [hit.preview for hit in answer.hits]) == (Outcome.DEGRADED, ["the port is 4711"])
            assert "replica holds the store up to position 1" in "".join(answer.notes)
            report = examine(store_folder(address), namespace="n")
            assert "cannot be opened: PostgreSQL: connection timeout" in report.findings[0].what
            error = refused(lambda: memory.log.append([draft("late")], namespace="n", session="s"))
        for batch in error.batch * 2:
            again(memory.log.engine, batch)
        assert [event.text for event in memory.log.reader.events("n")] == ["the port is 4711", "late"]
        assert memory.verify().ok


def test_a_recall_that_begins_in_an_outage_reads_the_replica(server, database, tmp_path, monkeypatch, capsys):
    """The command answers from what this machine has, as `degraded`; other reads, and namespaces without, are refused.

    Fails on: a recall that wants the server to open, one that says `absent`, a read that is stale and says nothing.
    """
    for name in ("CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path))
    with TemporaryDirectory() as folder:  # a socket's path is short
        place = Path(folder) / "s"
        place.symlink_to(server.folder)
        address = f"postgresql://{APPLICATION}@/{database}?host={place}"

        def run(*words: str) -> tuple[int, str]:
            code = main(["--store", address, *words])
            said = capsys.readouterr()
            return code, said.out + said.err

        with Memory(address, embedder="none") as memory:
            memory.session("s").user("the port is 4711")
            assert memory.recall("port").hits
        place.unlink()
        code, said = run("recall", "port")
        assert code == 0
        assert "the port is 4711" in said
        assert "degraded" in said
        assert "replica holds the store up to position 1, and not what came after it: PostgreSQL" in said
        assert (run("recall", "lamp")[0], "absent" in run("recall", "lamp")[1]) == (3, False)
        for words in (
            ("timeline",),
            ("--namespace", "other", "recall", "port"),
            ("session", "append", "x", "--session", "s"),
        ):
            code, said = run(*words)
            assert code == 4
            assert "4711" not in said
        place.symlink_to(server.folder)
        assert "found: " in run("recall", "port")[1]
        assert run("store", "verify")[0] == 0


def test_an_address_of_a_silent_server_is_refused_in_time(server, dsn):
    """Opening a store whose server does not answer ends, and what an address says of the network holds."""
    with silent(server):
        refused(lambda: PostgresLog(f"{dsn} connect_timeout=2"))
    with deadline.connect(f"{dsn} keepalives_count=7") as db:
        parameters = {option.keyword: option.val for option in db.pgconn.info if option.val}
    assert (parameters[b"keepalives_count"], parameters[b"tcp_user_timeout"]) == (b"7", b"30000")
    assert parameters[b"connect_timeout"] == b"10"
    assert isinstance(db, psycopg.Connection)


def test_who_asks_is_known_in_time_or_refused(server, dsn, monkeypatch):
    """The questions that a server for teams asks for each request end sooner than an append would.

    Fails on: a question about a key or rights that waits as long as an append.
    """
    monkeypatch.setattr(access, "QUIET_S", 0.5)
    log = PostgresLog(dsn, timeout_s=60)
    assert (access.key_of(log.connections, "none"), access.rights_of(log.connections, "nobody")) == (None, {})
    with silent(server):
        refused(access.key_of, log.connections, "none")
        refused(access.rights_of, log.connections, "nobody")
    log.close()


def test_proofs_and_copies_leave_connections_to_others(server, dsn):
    """As many exports at once as the pool has connections, each half done: appends go on, and then each export ends.

    Fails on: a connection for each of them, and another for each of their payloads.
    """
    log, go, begun = PostgresLog(dsn, timeout_s=6), threading.Event(), threading.Semaphore(0)
    for number in range(POOL_MAX):
        log.append([Draft(Kind.TOOL_RESULT, os.urandom(100_000))], namespace=f"n{number}", session="s")

    class Slow(io.BytesIO):
        def write(self, content) -> int:
            begun.release()
            go.wait(60)
            return super().write(content)

    with ThreadPoolExecutor(POOL_MAX) as threads:
        exports = [threads.submit(log.export, Slow(), namespace=f"n{number}") for number in range(POOL_MAX)]
        assert all(begun.acquire(timeout=20) for _ in range(MOMENTS_MAX))
        time.sleep(0.5)
        try:
            log.append([draft("x")], namespace="shop", session="s")
        finally:
            go.set()
        assert [export.result(60).artifacts for export in exports] == [1] * POOL_MAX
    assert log.verify(namespace="n0").ok
    log.close()
