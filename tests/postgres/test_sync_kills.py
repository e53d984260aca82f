"""A sync whose client or server is killed in the middle goes on with the next one: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sync_suite import BIG, in_sync

from firsthand import Draft, Kind, Memory
from firsthand.errors import ServerFailed
from firsthand.sync.exchange import sync

KILLS = 8
EVENTS = 3_000


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start a server in a process of its own, at the port of the one before."""
    for name, setting in (("FIRSTHAND_STORE", "served"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(tmp_path / setting))
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    running = []

    def start_server(url: str = "http://127.0.0.1:0") -> tuple[subprocess.Popen, str]:
        command = [sys.executable, Path(__file__).with_name("serving_process.py"), url.rpartition(":")[2]]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        return process, process.stdout.readline().strip()

    yield start_server
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def desk(tmp_path):
    """A store with a few thousand events in some sessions, one of them large."""
    with Memory(tmp_path / "desk", namespace="team") as memory:
        for number in range(10):
            text = f"message of session {number}, which says little " * 12
            drafts = [Draft(Kind.USER_MESSAGE, f"{k} {text}".encode()) for k in range(EVENTS // 10)]
            memory.append(drafts, session=f"session {number}")
        memory.session("session 3").tool_result("c", BIG, tool="cat")
        yield memory


def test_a_client_that_is_killed_goes_on(start, desk, tmp_path):
    """Kill -9 of the command at any moment leaves both stores whole, and the last run has nothing left to push."""
    _, url = start()
    command = [sys.executable, "-m", "firsthand", "store", "sync", url, "--store", tmp_path / "desk"]
    made = random.Random(20)
    for _ in range(KILLS):
        client = subprocess.Popen([*command, "--namespace", "team"], stdout=subprocess.DEVNULL, env=os.environ)
        time.sleep(made.uniform(0.3, 2.5))
        client.kill()
        client.wait()
    sync(desk, url)
    with Memory(tmp_path / "served", namespace="team") as served:
        assert len([*served.events()]) == EVENTS + 1
        in_sync(desk, served)


def test_a_server_that_is_killed_goes_on(start, desk, tmp_path, monkeypatch):
    """Kill -9 of the server at any moment: what it acknowledged is there, and the next sync pushes the rest."""
    monkeypatch.setattr("firsthand.client.LOST_S", 0.2)
    process, url = start()
    made = random.Random(21)
    failed = 0
    for _ in range(KILLS):
        killer = subprocess.Popen(["sh", "-c", f"sleep {made.uniform(0.05, 0.8):.2f}; kill -9 {process.pid}"])
        try:
            assert sync(desk, url).ok  # nothing that was acknowledged is lost, which it would name
        except ServerFailed:
            failed += 1
        killer.wait()
        process.wait()
        process, url = start(url)
    assert failed > 0
    assert sync(desk, url).ok
    with Memory(tmp_path / "train", namespace="team") as train, Memory(tmp_path / "served", namespace="team") as served:
        sync(train, url)
        assert len([*served.events()]) == EVENTS + 1
        in_sync(desk, train, served)
