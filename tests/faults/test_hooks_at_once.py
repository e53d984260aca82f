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
from firsthand.doors.hook_asking import LIMIT_MS
from stores import SOAK

SESSIONS, ROUNDS = (50, 6) if SOAK else (20, 2)
AT_ONCE = 50 if SOAK else 8
KILL_SECONDS = (0.05, 0.6)
BARE_EVERY = 4
"""So often a bare interpreter is run among the hooks, to see how long they wait for a processor here."""
STARTS = 3
"""A hook waits for its interpreter, its limit, and to be let go: each of both at most as a bare interpreter does."""
SLACK_S = 3.0


@pytest.fixture
def hooked(tmp_path):
    """Make a user whose daemon is stopped at the end, however the test ends."""
    made: list[Hooked] = []

    def make() -> Hooked:
        made.append(Hooked(tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.end()


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
    """Hooks of many sessions in parallel, the daemon killed at random: every prompt is in the log exactly once."""
    user = hooked()
    user.hook(prompt(0, "first"))
    user.daemon()  # on a busy machine it may come only after all calls, and there would be none to kill
    stop, killed = threading.Event(), []
    killing = threading.Thread(target=killer, args=(user, stop, killed, seed))
    killing.start()
    calls = [(number, f"session {one}") for number in range(ROUNDS) for one in range(SESSIONS)]
    waits: list[float] = []

    def run(call):
        if call[1].endswith(tuple(map(str, range(0, 10, BARE_EVERY)))):
            waits.append(user.bare())
        return user.hook(prompt(*call))

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(run, calls))
    finally:
        stop.set()
        killing.join()
    assert killed
    assert {one.code for one in answers} == {0}
    assert all(not one.out or isinstance(json.loads(one.out), dict) for one in answers)
    slowest = max(one.seconds for one in answers)
    print(f"{len(answers)} hooks, {AT_ONCE} at once: slowest {slowest:.2f} s, bare interpreter {max(waits):.2f} s")
    assert slowest < LIMIT_MS / 1000 + SLACK_S + STARTS * max(waits)

    late = user.store / "hooks" / "late"
    user.hook(prompt(1, "last"))  # calls that were kept are recorded by the daemon that runs now
    user.daemon()
    user.hook(prompt(2, "last"))
    assert until(lambda: not late.exists() or not any(late.iterdir()), 60)
    user.end()
    expected = Counter({f"prompt number {number} of {session}": 1 for number, session in calls})
    expected |= Counter({"prompt number 0 of first": 1, "prompt number 1 of last": 1, "prompt number 2 of last": 1})
    with Memory.open(user.store) as memory:
        assert Counter(one.text for one in memory.events(kind=Kind.USER_MESSAGE)) == expected
        assert memory.verify().ok


def test_a_full_disk_holds_no_host(tmp_path):
    """With no room for a single byte, a hook ends with 0 and in time; with room again, later ones are recorded."""
    user = Hooked(tmp_path, FIRSTHAND_DAEMON="off")
    user.hook(prompt(1))
    begun = time.monotonic()
    process = user.start(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    process.communicate(json.dumps(prompt(2)).encode(), timeout=60)
    assert process.returncode == 0
    assert time.monotonic() - begun < LIMIT_MS / 1000 + SLACK_S + STARTS * user.bare()
    user.hook(prompt(3))
    with Memory.open(user.store) as memory:
        said = {one.text for one in memory.events(kind=Kind.USER_MESSAGE)}
        assert {"prompt number 1 of s", "prompt number 3 of s"} <= said
        assert memory.verify().ok
