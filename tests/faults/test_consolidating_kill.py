"""A process is killed at any moment of a consolidation: the memory is the old one, the new one, or one with less."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from consolidate_worlds import by_lines
from firsthand import Memory
from firsthand.ledger.consolidation import consolidate_in, consolidated_view, entries_known, episodes_of
from firsthand.ledger.entries import current
from firsthand.ledger.solver import Weak
from stores import SOAK

ROUNDS = 40 if SOAK else 5
PROCESS = Path(__file__).with_name("consolidating_process.py")


def test_a_kill_leaves_a_memory_that_answers_everything(tmp_path):
    """After kill -9 statements are untouched, whole entries alone stand, every question is answered, and it goes on."""
    store = tmp_path / "store"
    chance = random.Random(7)
    said = 0
    for _ in range(ROUNDS):
        with subprocess.Popen([sys.executable, str(PROCESS), str(store)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(chance.randint(1, 16)):  # the pipe says that it works: no clock decides where it is
                child.stdout.readline()
            time.sleep(chance.random() * 0.02)
            child.kill()
        with Memory.open(store, embedder="none") as memory:
            statements = [one.text for one in memory.events("s")]
            assert len(statements) >= said
            said = len(statements)
            known = entries_known(memory)
            assert all(one.report and one.sources for one in known)
            view = consolidated_view(memory)
            asked = current(episodes_of(memory)).values()
            assert [one for one in asked if Weak().answer(one.case, view.text) != one.answer] == []
            assert consolidate_in(memory, by_lines, "test", keep=True).report.lost == 0
            assert memory.verify().ok
    assert known
