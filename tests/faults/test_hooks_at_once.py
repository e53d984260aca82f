"""Many sessions whose hooks fire at once, while the daemon is killed: each event in the log once, no host held."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hook_runs import Hooked, prompt, until

from firsthand import Kind, Memory
from firsthand.server.hook_client import PROMISE_MS
from stores import SOAK

SESSIONS, ROUNDS = 50, 6 if SOAK else 2
KILL_SECONDS = (0.05, 0.6)


@pytest.fixture
def hooked(tmp_path):
    """Make a user whose daemon is stopped at the end, however the test ends."""
    made: list[Hooked] = []

    def make() -> Hooked:
        made.append(Hooked(tmp_path))
        return made[-1]

    yield make
    for user in made:
        user.end()


def killer(user: Hooked, stop: threading.Event, killed: list[int], seed: int) -> None:
    """Kill whatever daemon there is, again and again."""
    chance = random.Random(seed)
    while not stop.wait(chance.uniform(*KILL_SECONDS)):
        lock = user.run_folder / "daemon.lock"
        try:
            pid = int(lock.read_text())
            os.kill(pid, signal.SIGKILL)
        except (OSError, ValueError):  # none yet, or gone already
            continue
        killed.append(pid)
        (user.run_folder / "starts").unlink(missing_ok=True)  # let the next hook start another at once


@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
def test_every_event_once_while_the_daemon_is_killed(hooked, seed):
    """50 hooks at once, the daemon killed at random: each ends as promised, every prompt is recorded once."""
    user = hooked()
    user.hook(prompt(0, "first"))
    user.daemon()  # on a busy machine it may come only after all calls, and there would be none to kill
    stop, killed = threading.Event(), []
    killing = threading.Thread(target=killer, args=(user, stop, killed, seed))
    killing.start()
    calls = [(number, f"session {one}") for number in range(ROUNDS) for one in range(SESSIONS)]
    waits: list[float] = []  # of bare interpreters among the hooks: how long one waits for a processor here

    def run(call):
        if call[1].endswith(("0", "5")):
            waits.append(user.bare())
        return user.hook(prompt(*call))

    try:
        with ThreadPoolExecutor(SESSIONS) as pool:
            answers = list(pool.map(run, calls))
    finally:
        stop.set()
        killing.join()
    assert killed
    assert {one.code for one in answers} == {0}
    assert all(not one.out or isinstance(json.loads(one.out), dict) for one in answers)
    slowest = max(one.seconds for one in answers)
    print(f"{len(answers)} hooks, {SESSIONS} at once: slowest {slowest:.2f} s, bare interpreter {max(waits):.2f} s")
    assert slowest < PROMISE_MS / 1000 + 2 * max(waits)  # one for its interpreter, one for what it does itself

    user.hook(prompt(1, "last"))  # calls that were kept are recorded by the daemon that runs now
    user.daemon()
    user.hook(prompt(2, "last"))
    assert until(lambda: not user.kept(), 60), (user.kept(), user.log()[-2_000:])
    user.end()
    expected = Counter({f"prompt number {number} of {session}": 1 for number, session in calls})
    expected |= Counter({"prompt number 0 of first": 1, "prompt number 1 of last": 1, "prompt number 2 of last": 1})
    with Memory.open(user.store) as memory:
        assert Counter(one.text for one in memory.events(kind=Kind.USER_MESSAGE)) == expected
        assert memory.verify().ok


def test_a_full_disk_holds_no_host(tmp_path):
    """With no room for a single byte, a hook ends with 0, in time, and names what is lost; others are recorded."""
    user = Hooked(tmp_path, FIRSTHAND_DAEMON="off")
    user.hook(prompt(1))
    begun = time.monotonic()
    process = user.start(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    _, error = process.communicate(json.dumps(prompt(2)).encode(), timeout=60)
    assert process.returncode == 0
    assert b"the call could not be kept either and is lost" in error
    assert time.monotonic() - begun < user.promised()
    user.hook(prompt(3))
    assert user.command("agent", "jobs", "--run").returncode == 0
    assert user.said() == ["prompt number 1 of s", "prompt number 3 of s"]
    with Memory.open(user.store) as memory:
        assert memory.verify().ok
