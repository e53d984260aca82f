"""Loops that kill a part again and again while many write, and name what was acknowledged and lost, or is there twice.

Each takes how many events are to be acknowledged, and a fault of `kill_faults` that is planted in the part.
"""

from __future__ import annotations

import itertools
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from postgres_server import PostgresServer
from writer_loops import HERE, LOOP_S, Acknowledged, Process, ended, go_on, heads_watched, violations, writer

from firsthand.errors import StoreReplaced
from firsthand.index.text import TextIndex
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.replica_folder import notice_of
from firsthand.log.postgres.replicas import Replicas
from firsthand.log.sqlite.log import Log
from stores import assert_whole as assert_indexed
from stores import open_log


def reported(part: str, said: Sequence[Acknowledged], kills: int, began: float, violated: list[str]) -> list[str]:
    """Print what a loop came to, and give what it found."""
    counts = {name: sum(sentence.startswith(f"{name}:") for sentence in violated) for name in ("lost", "twice")}
    about = f"{counts['lost']} lost, {counts['twice']} twice, {time.monotonic() - began:.0f} s"
    print(f"{part}: {len(said):,} acknowledged, {kills} kills, {about}")
    return violated


def killed_postgresql(
    server: PostgresServer, dsn: str, events: int, fault: str = "none", kills_min: int = 8
) -> list[str]:
    """Kill every process of PostgreSQL under eight writing threads."""
    began, chance, kills = time.monotonic(), random.Random(1), 0
    with heads_watched(dsn) as heads:
        writers = [writer(dsn, f"w{number}", fault=fault) for number in range(2)]
        while go_on(writers, events, began + LOOP_S) or kills < kills_min:
            before = [len(each.lines) for each in writers]
            while kills % 2 and any(len(each.lines) == count for each, count in zip(writers, before, strict=True)):
                go_on(writers, events, began + LOOP_S)
                time.sleep(0.01)
            time.sleep(0.1 + chance.expovariate(1.0))  # sometimes before it is whole again, sometimes in full work
            server.kill()
            kills += 1
            server.start()
        said = ended(writers)
    return reported("PostgreSQL", said, kills, began, in_engine(dsn, said, heads))


def in_engine(dsn: str, said: list[Acknowledged], heads: Sequence[tuple[str, int, bytes]]) -> list[str]:
    """Name what does not hold of a store in PostgreSQL."""
    engine = PostgresLog(dsn)
    violated = violations(engine, said, heads)
    engine.close()
    return violated


def killed_committer(dsn: str, events: int, fault: str = "none", kills_min: int = 8) -> list[str]:
    """Kill and replace writers with four threads each."""
    began, chance, names = time.monotonic(), random.Random(2), itertools.count()
    said: list[Acknowledged] = []
    kills = 0
    with heads_watched(dsn) as heads:
        writers = [writer(dsn, f"w{next(names)}", fault=fault) for _ in range(2)]
        while go_on(writers, events - len(said), began + LOOP_S) or kills < kills_min:
            time.sleep(chance.random() * 0.4)
            said += ended([writers.pop(0)])
            kills += 1
            writers.append(writer(dsn, f"w{next(names)}", fault=fault))
        said += ended(writers)
    return reported("committer", said, kills + 2, began, in_engine(dsn, said, heads))


def killed_server(folder: Path, events: int, fault: str = "none", kills_min: int = 6) -> list[str]:
    """Kill the server of a store in a folder under six clients."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began, chance, kills, writers = time.monotonic(), random.Random(3), 0, list[Process]()
    while kills < kills_min or go_on(writers, events, began + LOOP_S):
        kills += 1
        with _serving(folder, port, fault) as server:
            _wait_for_port(port, server)
            writers = writers or [writer(f"http://127.0.0.1:{port}", "w", 6, **_home(folder))]
            time.sleep(0.5 + chance.random())
    said = ended(writers)
    log = open_log(folder / "store")
    violated = violations(log, said)
    log.close()
    return reported("server", said, kills, began, violated)


@contextmanager
def _serving(home: Path, port: int, fault: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server of a user, and kill it at the end."""
    program = ["-m", "firsthand"] if fault == "none" else [HERE / "kill_faults.py", fault]
    process = subprocess.Popen(
        [sys.executable, *program, "--quiet", "serve", "--foreground", f"--port={port}"],
        env=os.environ | _home(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _home(home: Path) -> dict[str, str]:
    """Give the environment of a user with a home of their own."""
    (home / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "XDG_STATE_HOME": str(home / "state"),
        "FIRSTHAND_STORE": str(home / "store"), "FIRSTHAND_EMBEDDER": "none",
    }  # fmt: skip


def _wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server listens."""
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"the server ended with {server.returncode}")


def killed_replica(dsn: str, folder: Path, events: int, fault: str = "none", kills_min: int = 6) -> list[str]:
    """Kill two processes that follow one namespace into one folder: what they leave is a prefix, and goes on."""
    began, chance, kills = time.monotonic(), random.Random(4), 0
    writers = [writer(dsn, "w")]
    while not writers[0].lines:
        time.sleep(0.01)
    followers = [_follower(dsn, folder, fault) for _ in range(2)]
    violated: list[str] = []
    while go_on(writers, events, began + LOOP_S) or kills < kills_min:
        kills += 1
        time.sleep(chance.random() * 0.5)
        violated += _ended(followers.pop(0))
        followers.append(_follower(dsn, folder, fault))
    said = ended(writers)
    violated += [sentence for follower in followers for sentence in _ended(follower)]
    engine = PostgresLog(dsn)
    texts = [event.text for event in engine.reader.events("left")]
    violated += _against(engine, texts, dsn, folder)
    engine.close()
    return reported("replica", said, kills, began, violated)


def _follower(dsn: str, folder: Path, fault: str) -> Process:
    return Process("following_process.py", dsn, "left", folder, fault)


def _ended(follower: Process) -> list[str]:
    """Kill a follower, and say what was wrong with it."""
    by_itself = follower.process.poll()
    follower.kill()
    reached = [int(line) for line in follower.lines if line.endswith(b"\n")]
    ended = [] if by_itself is None else [f"ended: a follower gave up with {by_itself}"]
    return ended if reached == sorted(reached) else [*ended, "back: a follower went back"]


def _against(engine: PostgresLog, texts: list[str], dsn: str, folder: Path) -> Iterator[str]:
    """Compare a folder with the engine, as it was left and when it has followed to the end."""
    left = Replicas(dsn, folder, folder, 10**12)
    replica = left.open_log("left", shared=False, indexes=(TextIndex(),))
    root = replica.root
    if notice := notice_of(root):
        yield f"anew: {notice}"
    local = Log(root, read_only=True)
    before = [event.text for event in local.reader.events("left")]
    local.close()
    if before != texts[: len(before)]:
        yield "prefix: what was left is no beginning of the namespace"
    try:
        if replica.reader.head("left") != engine.reader.head("left"):
            yield "head: the replica ends elsewhere"
        after = [event.text for event in replica.reader.events("left")]
        yield from (f"lost: {text}" for text in sorted({*texts} - {*after}))
        if len({*after}) < len(after):
            yield "twice: an event is in the replica twice"
        assert_indexed(replica.local)
    except StoreReplaced as error:
        yield f"anew: {error}"
    replica.close()
