"""One call through a window at session lengths from 1,000 to 1,000,000 events: time, memory, and a cold first look.

Each length is measured in a process of its own (`window_process`), since peak memory
belongs to a process. The baseline of each is the shortest session of the same run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from setting import Setting
from table import Bound, Row, Target
from timing import say

LENGTHS = (1_000, 100_000, 1_000_000)
BUDGET_TOKENS = 8_000
CALLS = 200
ADDED_MS_MAX = 5.0
PROCESS = Path(__file__).with_name("window_process.py")


def measure(setting: Setting) -> list[Row]:
    """Measure calls on sessions of growing length."""
    lengths = LENGTHS[:-1] if setting.quick else LENGTHS
    found = {length: _one(setting, length) for length in lengths}
    first = found[lengths[0]]
    rows: list[Row] = []
    for length, now in found.items():
        where = f"a session of {length:,} events"
        note = (
            f"Budget {BUDGET_TOKENS:,} tokens, one process, {CALLS} calls: a user message is appended, then the window "
            "gives the request: follow the log, compose, record the anatomy with a sync. Compacting calls also plan, "
            "prove from the log, apply, recall and expand exact strings, and write the receipt. Baseline: one durable "
            "append of the same message by the same store."
        )
        base = now["append_p50"], "ms", "a durable append", True
        bound = Target(Bound.OURS_MAX, ADDED_MS_MAX)
        rows += [
            Row(f"window: request in {where}, p50", now["plain_p50"], *base, None, note),
            Row(f"window: request in {where}, p95", now["plain_p95"], *base, bound, note),
            Row(f"window: a request that compacts in {where}, p50", now["compacting_p50"], *base, None, note),
        ]
    for length, now in [*found.items()][1:]:
        rows += _beside(first, now, f"{length:,} events", f"{lengths[0]:,} events", length // lengths[0])
    return rows


def _beside(first: dict[str, Any], now: dict[str, Any], where: str, base: str, times: int) -> list[Row]:
    """Compare a long session with the shortest one."""
    opened = "A new handle on a session that was compacted before: it begins at the last receipt."
    linear = f"Linear in what leaves: {times:,} times the events in the same time for each."
    peak = "While the whole session is read for the first time and compacted."
    each, each_first = (1e6 * one["cold"] / one["left"] for one in (now, first))
    twice = Target(Bound.RATIO_MAX, 2.0)
    return [
        Row(f"window: opened on {where}, receipts there", now["open"], first["open"], "ms", base, True, None, opened),
        Row(f"window: first look at {where}, for each that leaves", each, each_first, "us", base, True, twice, linear),
        Row(
            f"window: peak memory of a first look at {where}", now["peak"], first["peak"], "MB", base, True, twice, peak
        ),
    ]


def _one(setting: Setting, length: int) -> dict[str, Any]:
    say(f"window: a session of {length:,} events")
    folder = setting.fresh(f"window-{length}")
    texts = folder / "texts.json"
    texts.write_text(json.dumps(setting.texts_between(100, 600, 5_000)), encoding="utf-8")
    given = [str(folder / "store"), str(length), str(BUDGET_TOKENS), str(CALLS), str(texts)]
    command = [sys.executable, str(PROCESS), *given]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    setting.drop(folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
