"""A server for teams goes on: over a replica that was discarded, a namespace that moved, an issuer that hangs."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import httpx
import psycopg
import pytest
from empty_stores import make_database
from full_disk import full_disk
from postgres_server import PostgresServer, installations
from team_server import EVERY, Team
from test_move import Primaries, append

from firsthand import Draft, Kind, Memory
from firsthand.errors import StoreBusy, StoreFailed, StoreReadOnly, StoreReplaced
from firsthand.log.postgres.connection import translated
from firsthand.server.connections import HEAD_S
from firsthand.server.mcp_doors import DOORS_MAX
from firsthand.server.teams.gateway import LOOKUPS_MAX, Terms
from firsthand.server.teams.grants import AUDIT
from firsthand.server.teams.service import CONNECTIONS_MAX, TeamServer


@pytest.fixture(scope="module")
def server():
    """One PostgreSQL for the tests of this file."""
    started = PostgresServer(installations()["embedded"], fsync="off")
    yield started
    started.close()


def test_a_replica_that_was_discarded_is_begun_anew(server, tmp_path):
    """After the replica of a namespace was discarded, by whichever thread, the next request is answered as before."""
    with Team(server, make_database(server), tmp_path) as team:
        key, spaces = team.key("alice", shop=EVERY), team.gateway._spaces
        team.client(key).session("s").user("the crate is at dock 7")
        for number in range(2, 4):
            with spaces.of(spaces.named("shop")) as memory, pytest.raises(StoreReplaced):
                memory.log._replica.discard("of this test")
            answer = team.ask(key, "POST", "/v1/recall", {"query": "crate dock"})
            assert (answer.status_code, "dock 7" in answer.text) == (200, True)
            assert team.client(key).session("s").user("more").position == number
            assert team.client(key).verify().ok
        assert team.verify("shop").ok


def test_an_export_is_of_the_primary_that_has_the_namespace(server, tmp_path):
    """Whichever primary has a namespace its export is whole, and it is still after a move of which no file says."""
    primaries = Primaries(server)
    old, new = primaries.open(0), primaries.open(1)
    append(old, "first", "second")
    file = tmp_path / "primaries.json"
    dsns = {f"p{number}": primaries.application(number) for number in range(2)}
    file.write_text(json.dumps({"primaries": dsns, "buckets": {"0-4095": "p0"}}))
    with Team(server, primaries.names[0], tmp_path) as team:
        key = team.key("alice", shop=EVERY)
        over = TeamServer(f"postgresql:///?primaries={file}", terms=Terms(), replicas=tmp_path / "others")
        thread = threading.Thread(target=over.run)
        thread.start()
        try:
            opened = over.gateway._spaces._replicas.open_log("shop")
            before = team.ask(key, "GET", "/v1/export", url=over.url).content
            primaries.move()
            after = io.BytesIO()
            with closing(opened):
                opened.export(after, namespace="shop")
            for exported in (before, after.getvalue(), team.ask(key, "GET", "/v1/export", url=over.url).content):
                assert (b"first" in exported, b"second" in exported) == (True, True)
        finally:
            over.stop()
            thread.join()
    assert new.verify(namespace="shop").ok
    for log in primaries.opened:
        log.close()


def test_a_key_does_not_wait_for_an_issuer_that_hangs(server, tmp_path):
    """While strangers' tokens wait for an issuer that says nothing, a key is looked at as ever."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        issuer = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Team(server, make_database(server), tmp_path, issuer=issuer) as team:
            key = team.key("alice", shop=EVERY)
            strangers = [
                threading.Thread(target=team.ask, args=(f"a.b.{number}", "GET", "/v1/head"))
                for number in range(2 * LOOKUPS_MAX)
            ]
            for stranger in strangers:
                stranger.start()
            time.sleep(0.5)
            assert team.ask(key, "GET", "/v1/head").status_code == 200
            assert any(stranger.is_alive() for stranger in strangers)
            for stranger in strangers:
                stranger.join()
            assert team.ask("a.b.c", "GET", "/v1/head").status_code == 503
            assert team.verify("shop").ok


def test_silent_connections_keep_no_tenant_out(server, tmp_path):
    """Beside more silent connections than a server takes, a tenant's client is answered before their time is over."""
    with Team(server, make_database(server), tmp_path) as team, ExitStack() as until:
        key, port = team.key("alice", shop=EVERY), int(team.url.rpartition(":")[2])
        team.client(key).session("s").user("the crate is at dock 7")
        client = until.enter_context(httpx.Client(base_url=team.url, headers={"authorization": f"Bearer {key}"}))
        for _ in range(CONNECTIONS_MAX + 88):
            until.enter_context(socket.create_connection(("127.0.0.1", port)))
        begun = time.monotonic()
        assert client.get("/v1/head").status_code == 200
        assert time.monotonic() - begun < HEAD_S
        assert team.verify("shop").ok


def test_a_further_tenant_has_a_door_of_mcp(server, tmp_path, monkeypatch):
    """While calls of as many tenants as doors stay open are under way, one more tenant is answered like them."""
    with Team(server, make_database(server), tmp_path) as team:
        spaces, go_on, at_work = team.gateway._spaces, threading.Event(), threading.Semaphore(0)
        keys = [team.key(f"principal {number}", **{f"shop {number}": EVERY}) for number in range(DOORS_MAX + 1)]
        opened = spaces.of

        @contextmanager
        def slowly(call):
            if call.namespace != f"shop {DOORS_MAX}":
                at_work.release()
                assert go_on.wait(30)
            with opened(call) as memory:
                yield memory

        monkeypatch.setattr(spaces, "of", slowly)
        asked = {"name": "health", "arguments": {}}
        with ThreadPoolExecutor(DOORS_MAX) as threads:
            calls = [threads.submit(team.mcp, key, "tools/call", asked) for key in keys[:-1]]
            for _ in calls:
                assert at_work.acquire(timeout=30)
            answers = [team.mcp(keys[-1], "tools/call", asked)]
            go_on.set()
            answers += [call.result() for call in calls]
        assert [answer.status_code for answer in answers] == [200] * (DOORS_MAX + 1)
        assert len(team.gateway._doors._doors) == DOORS_MAX
        assert team.verify("shop 0").ok


def test_a_store_that_fails_shows_no_other_one_and_no_address(server, tmp_path, monkeypatch):
    """While PostgreSQL takes no writes, MCP shows nothing of the store of the server's own user, nor where it is."""
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "own"))
    with Memory(tmp_path / "own", namespace="shop", embedder="none") as own:
        own.session("s").user("the crate of the server's own user is at dock 9")
    with Team(server, make_database(server), tmp_path) as team:
        key, spaces = team.key("alice", shop=EVERY), team.gateway._spaces
        for kind in (StoreReadOnly, StoreFailed):

            def fails(_call, kind=kind):
                raise kind("PostgreSQL: 10.0.0.5 at /srv/replicas")

            monkeypatch.setattr(spaces, "_opened", fails)
            asked = {"name": "recall", "arguments": {"query": "crate dock"}}
            for answer in (
                team.mcp(key, "tools/call", asked),
                team.ask(key, "POST", "/v1/recall", {"query": "crate"}),
            ):
                assert not any(word in answer.text for word in ("dock 9", "10.0.0.5", "/srv", str(tmp_path)))
        monkeypatch.undo()
        assert team.client(key).session("s").user("the crate is at dock 7").position == 1
        assert team.verify("shop").ok


def test_a_store_that_cannot_be_read_is_called_so(server, tmp_path):
    """When PostgreSQL lets nobody read, the API and MCP say so, and the log alone says which table and why."""
    database = make_database(server)
    with Team(server, database, tmp_path) as team:
        key = team.key("alice", shop=EVERY)
        team.client(key).session("s").user("the crate is at dock 7")
        with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
            db.execute("REVOKE SELECT ON firsthand.event FROM firsthand_application")
            asked = {"query": "crate dock"}
            for answer in (
                team.ask(key, "POST", "/v1/recall", asked),
                team.mcp(key, "tools/call", {"name": "recall", "arguments": asked}),
            ):
                assert "the store could not be read; the server's log says how" in answer.text
                assert not any(word in answer.text for word in ("StoreReadOnly", "writes", "event", "127.0.0.1"))
            assert ["permission denied for table event" in line for line in team.logged] == [True, True]
            db.execute("GRANT SELECT ON firsthand.event TO firsthand_application")
        assert team.verify("shop").ok


def test_a_server_whose_disk_is_full_hands_over_to_others(server, tmp_path):
    """A server whose replicas can not grow is not ready, answers 503, and names their folder in its log alone, once."""
    with Team(server, make_database(server), tmp_path) as team:
        key = team.key("alice", shop=EVERY, yard=EVERY)
        for namespace in ("shop", "yard"):
            team.client(key, namespace).session("s").user("the crate is at dock 7")
        assert team.ask("", "GET", "/readyz").status_code == 200
        with Memory(team.gateway._spaces._replicas, namespace="shop", embedder="none") as memory:
            memory.log.engine.append([Draft(Kind.USER_MESSAGE, b"more")], namespace="shop", session="s")
        with full_disk():
            answers = [
                team.ask(key, "POST", "/v1/recall", {"query": "crate"}, firsthand_namespace="shop") for _ in range(3)
            ]
            ready = team.ask("", "GET", "/readyz").status_code
        assert [(answer.status_code, str(tmp_path) in answer.text) for answer in answers] == [(503, False)] * 3
        assert ready == 503
        assert [str(tmp_path / "replicas") in line for line in team.logged] == [True]
        assert "dock 7" in team.ask(key, "POST", "/v1/recall", {"query": "crate"}, firsthand_namespace="shop").text


def test_an_outage_is_logged_once_a_minute(server, tmp_path, monkeypatch):
    """Of requests that PostgreSQL keeps waiting the log says why, once a minute, and the answers do not."""
    with Team(server, make_database(server), tmp_path) as team:
        key, spaces = team.key("alice", shop=EVERY), team.gateway._spaces

        def fails(_call):
            try:
                psycopg.connect("host=/nowhere dbname=shop")
            except psycopg.Error as error:
                raise translated(error) from error

        monkeypatch.setattr(spaces, "_identity", fails)
        for seconds, lines in ((60.0, 1), (60.0, 1), (0.0, 2)):
            monkeypatch.setattr("firsthand.server.teams.spaces.SAID_S", seconds)
            answer = team.ask(key, "GET", "/v1/sessions")
            assert (answer.status_code, "nowhere" in answer.text) == (503, False)
            assert ["No such file" in line for line in team.logged] == [True] * lines
        monkeypatch.undo()


def test_a_server_whose_database_takes_no_writes_is_not_ready(server, tmp_path):
    """Where PostgreSQL is a standby, or set to take no writes, requests are to go to another server, or wait.

    Fails on: a server that is ready there, and answers as if it had a fault.
    """
    database = make_database(server)
    with Team(server, database, tmp_path) as team, psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        key = team.key("alice", shop=EVERY)
        team.client(key).session("s").user("the crate is at dock 7")
        ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        event = {"kind": "user_message", "content": "now at dock 8"}
        for state, code in (("on", 503), ("off", 200)):
            db.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = {state}")
            db.execute(ending, (database,))
            assert team.ask("", "GET", "/readyz").status_code == code
            answer = team.ask(key, "POST", "/v1/append", {"session": "s", "events": [event]})
            assert answer.status_code == code
        assert team.verify("shop").ok


def test_a_store_that_takes_no_writes_is_called_so(server, tmp_path, monkeypatch):
    """When PostgreSQL refuses writes, MCP and the API say so; what it quotes of a tenant is not logged."""
    database = make_database(server)
    with Team(server, database, tmp_path) as team, psycopg.connect(server.dsn("postgres", database)) as db:
        key, spaces = team.key("alice", shop=EVERY), team.gateway._spaces
        team.client(key).session("s").user("the crate is at dock 7")
        for statement, words in (
            ("SET TRANSACTION READ ONLY; CREATE TABLE sesame ()", "the store takes no writes"),
            ("SELECT 'sesame'::int", "the store could not be read"),
            ('SELECT "sesame"', "the store could not be read"),
            ("DO $$ BEGIN RAISE 'sesame'; END $$", "the store could not be read"),
        ):

            def fails(_call, statement=statement):
                try:
                    db.execute(statement)
                except psycopg.Error as error:
                    db.rollback()
                    raise translated(error) from error

            monkeypatch.setattr(spaces, "_identity", fails)
            asked = {"name": "recall", "arguments": {"query": "crate dock"}}
            for answer in (team.mcp(key, "tools/call", asked), team.ask(key, "GET", "/v1/sessions")):
                assert (words in answer.text, "PostgreSQL" in answer.text) == (True, False)
            assert ["sesame" in line for line in team.logged] == [False, False]
            team.logged.clear()
        monkeypatch.undo()
        assert team.verify("shop").ok


def test_counted_refusals_outlast_a_busy_store(server, tmp_path, monkeypatch):
    """Refusals that could not be recorded stay counted, and are recorded when the store takes them again."""
    with Team(server, make_database(server), tmp_path) as team:
        audit, busy = team.gateway._audit, True
        append = audit._log.append

        def appended(*arguments, **options):
            if busy:
                raise StoreBusy("of this test")
            return append(*arguments, **options)

        for number in range(9):
            audit.refusal(f"name {number % 3}", "head", "read")
        monkeypatch.setattr(audit._log, "append", appended)
        with pytest.raises(StoreBusy):
            audit.flush(now=True)
        busy = False
        audit.flush(now=True)
        counts = {record["principal"]: record["count"] for record in team.audit() if "count" in record}
        assert counts == {f"name {number}": 2 for number in range(3)}
        assert team.verify(AUDIT).ok


def test_erasures_that_come_by_sync_are_recorded(server, tmp_path):
    """An erasure by either verb of sync is in the audit log before it is done, as one by `erase` is."""
    with Team(server, make_database(server), tmp_path) as team:
        key = team.key("alice", shop=EVERY)
        team.ask(key, "POST", "/v1/sync/erase", {})
        team.ask(key, "POST", "/v1/sync/push", {"events": [{"kind": "erasure"}]})
        team.ask(key, "POST", "/v1/sync/push", {"events": [{"kind": "note"}]})
        acts = [(record["act"], record.get("route")) for record in team.audit()]
        assert [act for act in acts if act[0] == "erase"] == [("erase", "sync/erase"), ("erase", "sync/push")]
        assert team.verify(AUDIT).ok
