"""Eight processes writing to one store together, against one process alone, in turns."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from engines import RowsAndIndex
from firsthand import Memory
from setting import Setting
from table import Bound, Row, Target
from timing import median, say

PROCESSES = 8
SECONDS = 6
ROUNDS = 4
START_DELAY_SECONDS = 2.5  # eight interpreters have started by then
TEXTS = 2_000
RATIO_MIN = 0.8


def measure(setting: Setting) -> list[Row]:
    """Count events a second, together and alone, and the least that any process got in any full second."""
    seconds = max(2, setting.scaled(SECONDS, at_least=2))
    rounds = 1 if setting.quick else ROUNDS
    folder = setting.fresh("writers")
    texts = folder / "texts.json"
    texts.write_text(json.dumps(setting.texts_between(150, 1_000, TEXTS)), encoding="utf-8")
    alone: list[float] = []
    together: list[list[list[int]]] = []
    bare: list[list[list[int]]] = []
    for number in range(rounds):
        say(f"writers: round {number + 1} of {rounds}, {seconds} s each")
        alone.append(_total(_run("ours", folder / f"alone-{number}", 1, seconds, texts)) / seconds)
        together.append(_run("ours", folder / f"together-{number}", PROCESSES, seconds, texts))
        bare.append(_run("bare", folder / f"bare-{number}.db", PROCESSES, seconds, texts))
    setting.drop(folder)
    return _rows(alone, together, bare, seconds)


def _run(engine: str, path: Path, processes: int, seconds: int, texts: Path) -> list[list[int]]:
    """Start the writers at one instant; give the events of each process in each second."""
    if engine == "ours":
        Memory(path).close()
    else:
        RowsAndIndex(path).close()
    start = time.time() + START_DELAY_SECONDS
    script = Path(__file__).with_name("writer_process.py")
    running = [
        subprocess.Popen(
            [sys.executable, str(script), engine, str(path), f"writer-{k}", repr(start), str(seconds), str(texts)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(processes)
    ]
    outputs = [process.communicate()[0] for process in running]
    failed = [process.returncode for process in running if process.returncode]
    if failed:
        raise RuntimeError(f"expected {processes} writers of {engine} to end well; {len(failed)} failed: see above")
    return [json.loads(output) for output in outputs]


def _rows(alone: list[float], together: list[list[list[int]]], bare: list[list[list[int]]], seconds: int) -> list[Row]:
    rates = [_total(counts) / seconds for counts in together]
    least = min(min(counts) for run in together for counts in run)
    least_bare = min(min(counts) for run in bare for counts in run)
    shares = sorted(sum(counts) for run in together for counts in run)
    note = (
        f"{PROCESSES} processes on one store for {seconds} s, rounds: {len(together)}, one event a call; one process "
        f"got {shares[0]:,} events in its whole time, another {shares[-1]:,}. The bare baseline is a table with FTS5 "
        f"behind SQLite's own busy timeout of 30 s; the least of any of its processes in any second was {least_bare}."
    )
    share = Target(Bound.RATIO_MIN, RATIO_MIN)
    starved = Target(Bound.OURS_MIN, 0)
    bare_rate = median([_total(counts) / seconds for counts in bare])
    label = f"{PROCESSES} processes together"
    fair = f"{label}: least events of any process in any second"
    return [
        Row(label, median(rates), median(alone), "events/s", "one process of ours", False, share, note),
        Row(label, median(rates), bare_rate, "events/s", "8 processes, bare insert with FTS5", False, None, note),
        Row(fair, least, median(rates) / PROCESSES, "events", "an eighth of all", False, starved, note),
    ]


def _total(counts: list[list[int]]) -> int:
    return sum(map(sum, counts))
