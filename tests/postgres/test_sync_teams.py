"""Laptops and a server for teams: the same promises as with a server over files, and the rights that a sync takes."""

from __future__ import annotations

import base64
from hashlib import sha256
from random import Random

import psycopg
import pytest
from empty_stores import make_database
from postgres_server import PostgresServer, installations
from sync_suite import SyncSuite, heads, whats
from team_server import Team

from firsthand import Memory
from firsthand.errors import FirsthandError
from firsthand.sync.exchange import sync
from firsthand.sync.verbs import PARTS_MAX


@pytest.fixture(scope="module")
def server():
    """One PostgreSQL for the tests of this file."""
    started = PostgresServer(installations()["embedded"], fsync="off")
    yield started
    started.close()


@pytest.fixture
def team(server, tmp_path, monkeypatch):
    """A server for teams over an empty store, each namespace of which is verified at the end."""
    for name in ("STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    with Team(server, make_database(server), tmp_path) as team:
        yield team
        for row in team.owner.usage():
            assert (row["name"], team.verify(row["name"]).problems) == (row["name"], ())


@pytest.fixture
def url(team):
    return team.url


@pytest.fixture
def served(team):
    """The server's namespace, as another machine opens it."""
    place = dict(part.split("=", 1) for part in team.dsn.split())
    address = f"postgresql://{place['user']}@/{place['dbname']}?host={place['host']}"
    with Memory(address, namespace="team", embedder="none") as memory:
        yield memory


class TestSyncWithATeam(SyncSuite):
    @pytest.fixture(autouse=True)
    def key(self, team):
        self.token = team.key("alice", team=["read", "append", "ledger", "erase"])


def test_a_sync_takes_the_rights_of_what_it_does(team, laptop, served):
    """Reading pulls, appending pushes, and an erasure or a decision is pushed by whoever may erase or decide."""
    reader, writer = team.key("reader", team=["read"]), team.key("writer", team=["read", "append"])
    desk, train = laptop("desk"), laptop("train")
    first = desk.session("deploy").user("the port is 5433")
    desk.session("deploy").user("the port is 6543")
    with pytest.raises(FirsthandError, match="append"):
        sync(desk, team.url, token=reader)
    assert heads(served) == {}
    assert whats(sync(desk, team.url, token=writer)) == {"deploy": ("pushed", 2)}
    assert whats(sync(train, team.url, token=reader)) == {"deploy": ("pulled", 2)}
    desk.erase([first])
    desk.session("a").user("before it by name")
    desk.session("z").user("after it by name")
    for _ in range(2):  # what may not be pushed keeps no other session back
        synced = sync(desk, team.url, token=writer)
        (refused,) = (outcome for outcome in synced.outcomes if not outcome.is_well)
        assert (refused.session, refused.what, refused.sequence) == ("deploy", "refused", 2)
        assert ("erase" in refused.why, synced.ok) == (True, False)
    assert (heads(served).keys(), served.expand(first)) == ({"a", "deploy", "z"}, b"the port is 5433")
    eraser = team.key("eraser", team=["read", "append", "erase"])
    assert whats(sync(desk, team.url, token=eraser))["deploy"] == ("pushed", 1)
    assert served.event(first).erased
    train.retract(f"fh:{[*train.events('deploy')][1].id}", "the port is 6543", by="user")
    refused = [outcome for outcome in sync(train, team.url, token=eraser).outcomes if not outcome.is_well]
    assert [("ledger" in outcome.why, outcome.what) for outcome in refused] == [(True, "refused")]
    stranger = team.key("stranger", other=["read", "append"])
    with pytest.raises(FirsthandError, match="namespace"):
        sync(desk, team.url, token=stranger)


def test_payloads_whose_events_never_come_are_bounded(team):
    """Payloads that are pushed without events take the room of their namespace, and few are on their way at once."""
    key = team.key("alice", team=["read", "append"])
    team.owner.limit("team", {"bytes_max": 100_000})

    def push(payload: bytes, size: int) -> tuple[int, str]:
        piece = base64.b64encode(payload[:size]).decode()
        fields = {"digest": sha256(payload).hexdigest(), "size": len(payload), "bytes": piece}
        answer = team.ask(key, "POST", "/v1/sync/artifact", fields)
        return answer.status_code, answer.text

    payloads = [Random(number).randbytes(60_000) for number in range(PARTS_MAX + 3)]
    assert push(payloads[0], 60_000)[0] == 200
    status, why = push(payloads[1], 60_000)
    assert (status, "its limit of 100000 bytes in all" in why) == (429, True)
    statuses = [push(payload, 10)[0] for payload in payloads[2:]]
    assert statuses == [200] * (PARTS_MAX - 1) + [503] * 2
    with psycopg.connect(team.owner_dsn, autocommit=True) as db:
        db.execute("UPDATE firsthand.artifact SET stored = now() - interval '25 hours'")
        assert team.ask(key, "POST", "/v1/sync/heads", {}).status_code == 200
        assert db.execute("SELECT FROM firsthand.artifact").fetchall() == []
