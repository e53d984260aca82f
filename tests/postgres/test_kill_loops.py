"""Processes killed with -9 again and again while many write: nothing acknowledged is lost, nothing is there twice."""

from __future__ import annotations

import itertools
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acknowledging_writer import NAMESPACES

from firsthand.errors import StoreBusy
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.replicas import Replicas
from stores import SOAK, open_log
from stores import assert_whole as assert_indexed

HERE = Path(__file__).parent
ACKNOWLEDGED = 50_000 if SOAK else 2_500
"""Events of each of the two loops around PostgreSQL; the others make a fifth of it."""
LOOP_S = 3_600 if SOAK else 300


@dataclass(frozen=True)
class Acknowledged:
    """One line of a writer."""

    namespace: str
    id: str
    position: int
    text: str


class Process:
    """A program of this folder as a process, and the lines that it has said so far."""

    def __init__(self, program: str, *arguments: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / program, *map(str, arguments)], stdout=subprocess.PIPE,
            env=os.environ | environment,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        self.lines: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)

    def kill(self) -> None:
        """End it as nothing else could."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def acknowledged(self) -> list[Acknowledged]:
        """Give what a writer said."""
        words = [line.decode().split() for line in self.lines if line.endswith(b"\n")]
        return [Acknowledged(space, name, int(position), text) for space, name, position, text in words]


def writer(where: str, name: str, threads: int = 4, **environment: str) -> Process:
    """Start a writer."""
    return Process("acknowledging_writer.py", where, name, threads, **environment)


@contextmanager
def heads_watched(dsn: str) -> Iterator[list[tuple[str, int, bytes]]]:
    """Read the heads of all namespaces again and again, and give them in the order in which they were read."""
    seen: list[tuple[str, int, bytes]] = []
    ended = threading.Event()

    def watch() -> None:
        log = None
        while not ended.wait(0.02):
            try:
                log = log or PostgresLog(dsn)
                seen.extend((namespace, *log.reader.head(namespace)) for namespace in NAMESPACES)
            except StoreBusy:  # the server was killed
                continue
        if log is not None:
            log.close()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def assert_whole(log: Any, said: list[Acknowledged], heads: Sequence[tuple[str, int, bytes]] = ()) -> None:
    """Assert that each acknowledged event is there once, at its position, and that heads only ever grew."""
    assert len({each.id for each in said}) == len(said)
    for namespace in NAMESPACES:
        events = list(log.reader.events(namespace))
        assert [event.position for event in events] == list(range(1, len(events) + 1))
        assert max(Counter(event.text for event in events).values()) == 1
        stored = {event.id: (event.position, event.text) for event in events}
        mine = {each.id: (each.position, each.text) for each in said if each.namespace == namespace}
        assert {name: stored.get(name) for name in mine} == mine
        grown = [(position, head) for name, position, head in heads if name == namespace]
        assert [position for position, _ in grown] == sorted(position for position, _ in grown)
        kept = [f"{position}:{head.hex()}" for position, head in dict.fromkeys(grown) if position]
        assert log.verify(namespace=namespace, heads=kept).problems == ()


def go_on(writers: list[Process], events: int, until: float) -> bool:
    """Say whether fewer events than so many were acknowledged yet."""
    count = sum(len(each.lines) for each in writers)
    assert time.monotonic() < until, f"only {count} events in {LOOP_S} s"
    assert all(each.process.poll() is None for each in writers), "a writer ended by itself"
    return count < events


def ended(writers: list[Process]) -> list[Acknowledged]:
    """End writers, and give all that they said."""
    for each in writers:
        each.kill()
    return [line for each in writers for line in each.acknowledged()]


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
    chance, until, writers = random.Random(3), time.monotonic() + LOOP_S, list[Process]()
    while not writers or go_on(writers, ACKNOWLEDGED // 5, until):
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
    chance, until = random.Random(4), time.monotonic() + LOOP_S
    writers = [writer(dsn, "w")]
    engine.append([Draft(Kind.NOTE, b"first")], namespace="left", session="s")
    followers = [Process("following_process.py", dsn, "left", tmp_path) for _ in range(2)]
    while go_on(writers, ACKNOWLEDGED // 5, until):
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
