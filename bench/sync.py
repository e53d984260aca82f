"""Processor time to push and to pull an event on each side, and a sync with nothing new beside a bare request.

python bench/sync.py [--events 4000] [--store postgresql://...]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from firsthand import Client, Draft, Kind, Memory
from firsthand.sync.exchange import sync

SESSIONS, ROUNDS, NAMESPACE = 20, 30, "team"


def serve() -> None:
    """Answer until the end of input; for each line of it print this process's processor time."""
    from firsthand.server.daemon_stores import Stores
    from firsthand.server.http_server import HttpServer

    http = HttpServer(Stores(timeout_ms=30_000), print, port=0)
    http.start()
    print(http.url, flush=True)
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


class Server:
    """A server in a process of its own."""

    def __init__(self, store: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "FIRSTHAND_STORE": store},
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def processor_s(self) -> float:
        """Give its processor time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def fill(memory: Memory, events: int) -> None:
    """Append events of about 600 bytes to some sessions."""
    for number in range(SESSIONS):
        drafts = [
            Draft(Kind.USER_MESSAGE, f"message {number} {k}: ship the invoice service to db-{k} ".encode() * 10)
            for k in range(events // SESSIONS)
        ]
        memory.append(drafts, session=f"session {number}")


def one_way(memory: Memory, server: Server, events: int, way: str) -> None:
    """Sync once, and print what an event cost on each side."""
    ours, theirs = time.process_time(), server.processor_s()
    synced = sync(memory, server.url)
    assert sum(outcome.events for outcome in synced.outcomes if outcome.what == way) == events
    ours, theirs = time.process_time() - ours, server.processor_s() - theirs
    print(f"{way}: {ours / events * 1e6:.0f} us of processor an event here, {theirs / events * 1e6:.0f} on the server")


def nothing_new(memory: Memory, server: Server) -> None:
    """Print a sync with nothing new beside a bare request, in turns."""
    bare, whole = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with Client(server.url, namespace=NAMESPACE) as client:
            client.head()
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert sync(memory, server.url).outcomes == ()
        whole.append(time.perf_counter() - began)
    before, after = (statistics.median(seconds) * 1_000 for seconds in (bare, whole))
    print(f"nothing new: {after:.1f} ms, a bare request {before:.1f} ms: {after - before:+.1f} ms")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4_000)
    parser.add_argument("--store", default="", help="of the server: a folder, or the address of one in PostgreSQL")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve()
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": f"{folder}/state", "FIRSTHAND_EMBEDDER": "none"}
        os.environ |= {"XDG_DATA_HOME": f"{folder}/data", "XDG_CACHE_HOME": f"{folder}/cache"}
        server = Server(chosen.store or f"{folder}/served")
        try:
            with Memory(Path(folder) / "desk", namespace=NAMESPACE) as desk:
                fill(desk, chosen.events)
                one_way(desk, server, chosen.events, "pushed")
                nothing_new(desk, server)
            with Memory(Path(folder) / "train", namespace=NAMESPACE) as train:
                one_way(train, server, chosen.events, "pulled")
        finally:
            server.close()


if __name__ == "__main__":
    main()
