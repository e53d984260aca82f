"""Processes killed with -9 again and again while many write: nothing acknowledged is lost, nothing is there twice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from empty_stores import make_database
from kill_loops import killed_committer, killed_postgresql, killed_replica, killed_server
from postgres_server import PostgresServer, installations

from stores import SOAK

ACKNOWLEDGED = 50_000 if SOAK else 2_500
"""Events of each of the two loops around PostgreSQL; the others make a fifth of it."""
newest = pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)


def test_a_killed_postgresql_loses_nothing_acknowledged(server, dsn):
    """Every process of PostgreSQL is killed in a loop under eight writing threads: all that was acknowledged is there.

    Fails on: an acknowledgement before the commit, a retry that is appended twice, a head that goes back.
    """
    assert killed_postgresql(server, dsn, ACKNOWLEDGED) == []


def test_a_killed_committer_loses_nothing_acknowledged(dsn):
    """Writers with four threads each are killed and replaced in a loop: all that they said is there, once.

    Fails on: an acknowledgement before the commit, a transaction that stays open after its client is gone.
    """
    assert killed_committer(dsn, ACKNOWLEDGED) == []


def test_a_killed_server_loses_nothing_acknowledged(tmp_path):
    """The server of a store in a folder is killed in a loop under six clients: all that they were told is there, once.

    Fails on: an answer before the append, a client whose second try is a second append.
    """
    assert killed_server(tmp_path, ACKNOWLEDGED // 5) == []


def test_a_killed_replica_is_a_prefix_that_goes_on(dsn, tmp_path):
    """Two processes that follow one namespace into one folder are killed in a loop: it ends as the engine has it.

    Fails on: an event that is taken twice or left out, a folder that the next process cannot open.
    """
    assert killed_replica(dsn, tmp_path, ACKNOWLEDGED // 5) == []


@pytest.fixture
def slow() -> Iterator[PostgresServer]:
    """A server whose syncs take so long that most kills come between a commit and its answer."""
    started = PostgresServer(
        installations()[[*installations()][-1]], sync_delay_us=20_000, recovery_init_sync_method="syncfs"
    )
    yield started
    started.close()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to build the slow disk with")
@pytest.mark.parametrize(("fault", "named"), [("acknowledge before the commit", "lost"), ("ids are ignored", "twice")])
def test_a_loop_around_postgresql_finds_a_planted_fault(slow, fault, named):
    """What a committer answered too early is named as lost, and what it appended at each try as there twice."""
    dsn = slow.dsn(database=make_database(slow))
    assert named in _names(killed_postgresql(slow, dsn, 50, fault, kills_min=6))


@newest
def test_a_loop_around_the_committer_finds_a_planted_fault(dsn):
    """What a committer answered before its commit is lost with it, and named."""
    assert "lost" in _names(killed_committer(dsn, 50, "acknowledge before the commit", kills_min=3))


@pytest.mark.parametrize(("fault", "named"), [("answer before the append", "lost"), ("ids are ignored", "twice")])
def test_a_loop_around_a_server_finds_a_planted_fault(tmp_path, fault, named):
    """What a server answered too early is named as lost, and what it took anew at each try as there twice."""
    assert named in _names(killed_server(tmp_path, 30, fault, kills_min=3))


@newest
@pytest.mark.parametrize("fault", ["an event is left out", "an event is taken twice"])
def test_a_loop_around_a_replica_finds_a_planted_fault(dsn, tmp_path, fault):
    """A replica that left an event out, or has it twice, gives up by itself, and the loop says so."""
    assert {"ended", "anew"} & _names(killed_replica(dsn, tmp_path, 50, fault, kills_min=2))


def _names(violated: list[str]) -> set[str]:
    return {sentence.partition(":")[0] for sentence in violated}
