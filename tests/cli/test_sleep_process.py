"""Sleep in a process of its own: begun when nobody asks, one at a time, and never in a hook's way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from firsthand import Memory
from firsthand.agents import jobs
from firsthand.agents.sleep_jobs import sleeps_waiting
from firsthand.agents.sleep_log import sleeps
from firsthand.server.daemon_jobs import Jobs
from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_client import Call
from firsthand.server.sleep_process import LOOK_MAX_S, LOOK_S, NICE, Sleeper

WAIT_S = 60.0


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store with an agent whose sleep is due."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        memory.agent("-shop").enrol("one")
        memory.session("one").user("The port is 80.")
    (path / "settings.json").write_text('{"sleep": true}')
    jobs.leave(path, jobs.Job(jobs.SLEEP, "default", "-shop", cwd=str(tmp_path)))
    yield str(path)
    with Memory.open(path, read_only=True) as memory:
        assert memory.verify().ok


def ended(sleeper: Sleeper, store: str) -> None:
    by = time.monotonic() + WAIT_S
    while sleeper.look(store, "default", 0.0) == LOOK_S and time.monotonic() < by:
        time.sleep(0.02)


def test_a_due_sleep_is_begun_when_nobody_asks(store):
    """While somebody asks it waits for the rest of the pause; then a niced process sleeps, and nothing is left."""
    told = []
    sleeper = Sleeper(told.append, idle_s=300.0)
    assert sleeper.look(store, "default", 40.0) == 260.0
    assert sleeper.look(store, "default", 301.0) == LOOK_S
    process = sleeper._process
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == NICE
    assert sleeper.look(store, "default", 301.0) == LOOK_S  # it is not begun twice
    assert sleeper._process is process
    ended(sleeper, store)
    assert (told, sleeps_waiting(Path(store), "default")) == ([], ())
    with Memory.open(store, read_only=True) as memory:
        assert [one.finished for one in sleeps(memory.agent("-shop"))] == [True]
    assert sleeper.look(store, "default", 301.0) is None


def test_what_is_due_tomorrow_is_looked_at_within_the_hour(store):
    """The clock may be set meanwhile."""
    (file,) = jobs.folder(Path(store)).glob("*sleep*")
    file.unlink()
    ahead = int((time.time() + 30_000) * 1000)
    jobs.leave(Path(store), jobs.Job(jobs.SLEEP, "default", "-shop", after_ms=ahead))
    assert Sleeper(print, idle_s=0.0).look(store, "default", 1.0) == LOOK_MAX_S


def test_a_process_that_ends_badly_is_named_and_its_sleep_stays(store):
    """Who cannot sleep is in the log of hooks with what to type, and is tried again."""
    told = []
    sleeper = Sleeper(told.append, idle_s=0.0)
    jobs.leave(Path(store), jobs.Job(jobs.SLEEP, "default", "-nobody", after_ms=1))
    for _ in range(2):
        sleeper.look(store, "default", 1.0)
        sleeper._process.wait(WAIT_S)
    sleeper.look(store, "default", 1.0)
    assert told == ["a sleep of -nobody ended with exit code 5: firsthand agent sleep --agent -nobody"]
    (left,) = sleeps_waiting(Path(store), "default")
    assert (left.agent, left.tries) == ("-nobody", 1)


def test_the_daemon_begins_it_at_a_pause_and_goes_on(store):
    """Its thread of jobs looks again when the pause is long enough, begins the sleep, and is free meanwhile."""
    told: list[str] = []
    stores = Stores()
    thread = Jobs(stores, told.append, told.append, lambda: None)
    thread._sleeper = Sleeper(told.append, idle_s=0.5)
    try:
        thread.look(Call(store=store, namespace="default", embedder="none"), left=True)
        by = time.monotonic() + WAIT_S
        while sleeps_waiting(Path(store), "default") and time.monotonic() < by:
            time.sleep(0.05)
        assert sleeps_waiting(Path(store), "default") == ()
        assert not thread.busy
    finally:
        thread.stop(5.0)
        ended(thread._sleeper, store)
        stores.close()
    assert told == []
