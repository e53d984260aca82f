"""A disk that takes 2 ms for a sync, or fails one: what is acknowledged was synced before, and is there afterwards."""

from __future__ import annotations

import shutil
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator

import pytest
from postgres_server import FAIL_SYNC, SYNCS, PostgresServer, installations
from writer_loops import LOOP_S, ended, go_on, heads_watched, violations, writer

from firsthand.event import Draft, Kind
from firsthand.log.postgres.connection import Connections
from firsthand.log.postgres.log import PostgresLog
from stores import SOAK

THREADS = 6
APPENDS = 2_000 if SOAK else 60
FAILURES = 40 if SOAK else 3
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to build the slow disk with")


@pytest.fixture(scope="module", params=list(installations()))
def server(request) -> Iterator[PostgresServer]:
    """A server on a slow disk, which would also let an acknowledgement come first, if it were asked to."""
    started = PostgresServer(
        installations()[request.param], sync_delay_us=2_000, synchronous_commit="off", wal_writer_delay="'10s'"
    )
    yield started
    started.close()


def appended(log: PostgresLog) -> list[tuple[int, int]]:
    """Append from several threads; give when each append was begun and when it was acknowledged."""
    times: list[tuple[int, int]] = []

    def write(name: str) -> None:
        for number in range(APPENDS):
            begun = time.monotonic_ns()
            log.append([Draft(Kind.NOTE, f"{name} {number}".encode())], namespace="shop", session=name)
            times.append((begun, time.monotonic_ns()))

    threads = [threading.Thread(target=write, args=(f"w{number}",)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def unsynced(server: PostgresServer, times: list[tuple[int, int]]) -> int:
    """Count what was acknowledged although no sync of the write-ahead log began and ended since it was asked for."""
    lines = (server.folder / SYNCS).read_text(encoding="ascii").splitlines()
    syncs = sorted(tuple(map(int, line.split())) for line in lines)
    begins = [begun for begun, _ in syncs]
    count = 0
    for begun, acknowledged in times:
        at = bisect_left(begins, begun)
        count += not any(end <= acknowledged for _, end in syncs[at : at + 50])
    return count


def test_an_append_is_acknowledged_after_its_sync(server, dsn):
    """Between an append's call and its return lies a whole sync of the write-ahead log, whatever the server's default.

    Fails on: synchronous_commit that is left to the server, an acknowledgement before the commit.
    """
    log = PostgresLog(dsn)
    times = appended(log)
    assert len(times) == THREADS * APPENDS
    assert unsynced(server, times) == 0
    lasted = sorted(end - begun for begun, end in times)
    assert lasted[0] >= 2_000_000
    assert log.verify(namespace="shop").problems == ()
    log.close()


def test_an_append_that_does_not_wait_for_its_sync_is_found(server, dsn, monkeypatch):
    """With the wait for the sync taken out, the same look at the same syncs finds most appends."""
    configure = Connections._configure

    def hasty(self, db) -> None:
        configure(self, db)
        db.execute("SET synchronous_commit = off")

    monkeypatch.setattr(Connections, "_configure", hasty)
    log = PostgresLog(dsn)
    times = appended(log)
    assert unsynced(server, times) > len(times) / 2
    log.close()


def test_a_sync_that_fails_loses_nothing_acknowledged(server, dsn):
    """Syncs of the write-ahead log fail with EIO, one after the other, under eight writing threads.

    PostgreSQL stops all its processes and recovers; nothing that was acknowledged is lost, or there twice.
    Fails on: an error of a commit that is taken for an acknowledgement, a retry that is a second append.
    """
    PostgresLog(dsn).close()
    flag, until = server.folder / FAIL_SYNC, time.monotonic() + LOOP_S
    with heads_watched(dsn) as heads:
        writers = [writer(dsn, f"w{number}") for number in range(2)]
        for _ in range(FAILURES):
            count = sum(len(each.lines) for each in writers)
            while go_on(writers, count + 100, until):
                time.sleep(0.05)
            flag.touch()
            while flag.exists():
                assert time.monotonic() < until
                time.sleep(0.01)
        count = sum(len(each.lines) for each in writers)
        while go_on(writers, count + 100, until):
            time.sleep(0.05)
        said = ended(writers)
    print(f"slow syncs: {len(said):,} acknowledged, {FAILURES} failed syncs")
    assert (server.folder / "log").read_text(encoding="utf-8").count("PANIC:") >= FAILURES
    log = PostgresLog(dsn)
    assert violations(log, said, heads) == []
    log.close()
