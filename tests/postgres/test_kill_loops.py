"""Processes killed with -9 again and again while many write: nothing acknowledged is lost, nothing is there twice."""

from __future__ import annotations

import itertools
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from writer_loops import LOOP_S, Acknowledged, Process, assert_whole, ended, go_on, heads_watched, writer

from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.postgres.replicas import Replicas
from stores import SOAK, open_log
from stores import assert_whole as assert_indexed

ACKNOWLEDGED = 50_000 if SOAK else 2_500
"""Events of each of the two loops around PostgreSQL; the others make a fifth of it."""


def test_a_killed_postgresql_loses_nothing_acknowledged(server, dsn, engine):
    """Every process of PostgreSQL is killed in a loop under eight writing threads: all that was acknowledged is there.

    Fails on: an acknowledgement before the commit, a retry that is appended twice, a head that goes back.
    """
    chance, kills, until = random.Random(1), 0, time.monotonic() + LOOP_S
    with heads_watched(dsn) as heads:
        writers = [writer(dsn, f"w{number}") for number in range(2)]
        while go_on(writers, ACKNOWLEDGED, until) or kills < 8:
            time.sleep(0.1 + chance.expovariate(1.0))  # sometimes before it is whole again, sometimes in full work
            server.kill()
            kills += 1
            server.start()
        said = ended(writers)
    assert_whole(engine, said, heads)


def test_a_killed_committer_loses_nothing_acknowledged(dsn, engine):
    """Writers with four threads each are killed and replaced in a loop: all that they said is there, once.

    Fails on: an acknowledgement before the commit, a transaction that stays open after its client is gone.
    """
    chance, names, until = random.Random(2), itertools.count(), time.monotonic() + LOOP_S
    said: list[Acknowledged] = []
    with heads_watched(dsn) as heads:
        writers = [writer(dsn, f"w{next(names)}") for _ in range(2)]
        while go_on(writers, ACKNOWLEDGED - len(said), until) or next(names) < 10:
            time.sleep(chance.random() * 0.4)
            said += ended([writers.pop(0)])
            writers.append(writer(dsn, f"w{next(names)}"))
        said += ended(writers)
    assert_whole(engine, said, heads)


@contextmanager
def serving(home: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server of a user, and kill it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "firsthand", "--quiet", "serve", "--foreground", f"--port={port}"],
        env=os.environ | home_of(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def home_of(home: Path) -> dict[str, str]:
    """Give the environment of a user with a home of their own."""
    (home / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "XDG_STATE_HOME": str(home / "state"),
        "FIRSTHAND_STORE": str(home / "store"), "FIRSTHAND_EMBEDDER": "none",
    }  # fmt: skip


def test_a_killed_server_loses_nothing_acknowledged(tmp_path):
    """The server of a store in a folder is killed in a loop under six clients: all that they were told is there, once.

    Fails on: an answer before the append, a client whose second try is a second append.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    chance, kills, until, writers = random.Random(3), 0, time.monotonic() + LOOP_S, list[Process]()
    while kills < 6 or go_on(writers, ACKNOWLEDGED // 5, until):
        kills += 1
        with serving(tmp_path, port) as server:
            wait_for_port(port, server)
            writers = writers or [writer(f"http://127.0.0.1:{port}", "w", 6, **home_of(tmp_path))]
            time.sleep(0.5 + chance.random())
    said = ended(writers)
    log = open_log(tmp_path / "store")
    assert_whole(log, said)
    log.close()


def wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server listens."""
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"the server ended with {server.returncode}")


def test_a_killed_replica_is_a_prefix_that_goes_on(dsn, engine, tmp_path):
    """Two processes that follow one namespace into one folder are killed in a loop: it ends as the engine has it.

    Fails on: an event that is taken twice or left out, a folder that the next process cannot open.
    """
    chance, kills, until = random.Random(4), 0, time.monotonic() + LOOP_S
    writers = [writer(dsn, "w")]
    engine.append([Draft(Kind.NOTE, b"first")], namespace="left", session="s")
    followers = [Process("following_process.py", dsn, "left", tmp_path) for _ in range(2)]
    while go_on(writers, ACKNOWLEDGED // 5, until) or kills < 6:
        kills += 1
        time.sleep(chance.random() * 0.5)
        killed = followers.pop(0)
        killed.kill()
        reached = [int(line) for line in killed.lines if line.endswith(b"\n")]
        assert reached == sorted(reached)
        followers.append(Process("following_process.py", dsn, "left", tmp_path))
    ended(writers)
    for each in followers:
        each.kill()
    replica = Replicas(dsn, tmp_path, tmp_path, 10**12).open_log("left", shared=False, indexes=(TextIndex(),))
    assert replica.reader.head("left") == engine.reader.head("left")
    assert [event.text for event in replica.reader.events("left")] == [
        event.text for event in engine.reader.events("left")
    ]
    assert_indexed(replica.local)
    replica.close()
