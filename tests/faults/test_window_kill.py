"""A process is killed at any moment of a compaction: the window is the old one or the new one."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from firsthand import Budget, Kind, Memory
from stores import SOAK

ROUNDS = 60 if SOAK else 6
PROCESS = Path(__file__).with_name("window_process.py")


def test_a_kill_leaves_the_old_window_or_the_new_one(tmp_path):
    """After kill -9 a new handle has the window of the last receipt; markers tile what left, bytes expand."""
    store = tmp_path / "store"
    chance = random.Random(7)
    for _ in range(ROUNDS):
        with subprocess.Popen([sys.executable, str(PROCESS), str(store)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(chance.randint(1, 12)):  # the pipe says that it works: no clock decides where it is
                child.stdout.readline()
            time.sleep(chance.random() * 0.01)
            child.kill()
            said = child.stdout.read().split()
        with Memory.open(store) as memory:
            session = memory.session("s")
            receipts = [one for one in session.events() if one.kind is Kind.RECEIPT]
            window = session.window(Budget(1_500, hot_turns=1), pull=False)
            state = window.state
            assert state.cycle == len(receipts)
            if said:
                last = int(said[-1]) if said[-1].isdigit() else int(said[-2])
                assert state.cycle in {last, last + 1, last + 2}
            shown = {item.id for item in state.items}
            for event in session.events():
                if event.kind not in {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE}:
                    continue
                covering = [m for m in state.markers if m.first_position <= event.position <= m.last_position]
                assert event.id in shown or len(covering) == 1
                assert memory.expand(f"fh:{event.id}") == event.content
            assert memory.verify().ok


def test_a_receipt_without_its_task_state_was_never_written(tmp_path):
    """Task state and receipt are one append: whichever of them is in the log, the other one is."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        window = session.window(Budget(600, hot_turns=1), pull=False)
        for number in range(20):
            window.add([{"role": "user", "content": f"{number} " + "word " * 60}])
            window.request()
        kinds = [event.kind for event in session.events()]
        for place, kind in enumerate(kinds):
            if kind is Kind.RECEIPT:
                assert kinds[place - 1] is Kind.TASK_STATE
        assert kinds.count(Kind.RECEIPT) == kinds.count(Kind.TASK_STATE) > 0
        assert memory.verify().ok
