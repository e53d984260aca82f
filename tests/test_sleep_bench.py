"""The bench of sleep: each night goes over its own day alone, in a process that opens the store."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from firsthand import Memory, sleeps
from sleep_bench import AGENT, SESSION_EVENTS, nights


def test_a_night_goes_over_its_own_day(tmp_path):
    """The first sleep takes the whole store, the second begins where it ended and writes the day's episode alone."""
    rows = [*nights(tmp_path / "store", 200, SESSION_EVENTS, 1)]
    assert [row.split(" | ")[:2] for row in rows] == [["| 200", "the first"], ["| 300", "1"]]
    assert {row.count("|") for row in rows} == {10}
    with Memory.open(tmp_path / "store", read_only=True) as memory:
        agent = memory.agent(AGENT)
        second, first = sleeps(agent)
        assert (first.since, second.since) == (0, first.through)
        assert len(agent.episodes()) == 2
        assert memory.verify().ok
