"""A 100 MB tool result, appended from a stream and expanded again: memory at its highest, and time."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from artifact_process import Log
from setting import Setting, run
from table import Bound, Row, Target
from timing import median, say

SIZE_BYTES = 100_000_000
ROUNDS = 3
PEAK_MEGABYTES_MAX = 150
PIECE_BYTES = 1 << 20


def measure(setting: Setting) -> list[Row]:
    """Compare a process that does nothing with one that appends and expands the payload."""
    size = setting.scaled(SIZE_BYTES)
    results: dict[str, list[dict[str, Any]]] = {"idle": [], "append": []}
    written: list[float] = []
    for number in range(1 if setting.quick else ROUNDS):
        say(f"artifact: round {number + 1}, {size / 1e6:.0f} MB")
        folder = setting.fresh("artifact")
        for what, found in results.items():
            found.append(_child(what, folder / what, size))
        written.append(_plain_write(folder / "plain.log", size))
        setting.drop(folder)
    assert all(result["same_bytes"] for result in results["append"]), "expand gave other bytes than were appended"
    return _rows(results, written, size / 1e6)


def _rows(results: dict[str, list[dict[str, Any]]], written: list[float], megabytes: float) -> list[Row]:
    idle, peak = (median([result["peak_megabytes"] for result in found]) for found in results.values())
    seconds = [median([r[name] for r in results["append"]]) for name in ("append_seconds", "expand_seconds")]
    note = (
        "The payload is a log of lines that all differ, made while it is read. Appending hashes, compresses, syncs and "
        "indexes every line of it; the SHA-256 of what expand gives is compared with what went in."
    )
    label = f"{megabytes:.0f} MB tool result"
    target = Target(Bound.OURS_MAX, PEAK_MEGABYTES_MAX)
    return [
        Row(f"{label}: peak memory", peak, idle, "MB", "an open store, nothing appended", True, target, note),
        Row(f"{label}: append", seconds[0], median(written), "s", "write to a file and fsync", True, None, note),
        Row(f"{label}: expand", seconds[1], median(written), "s", "write to a file and fsync", True, None, note),
    ]


def _child(what: str, store: Path, size: int) -> dict[str, Any]:
    script = Path(__file__).with_name("artifact_process.py")
    return dict(json.loads(run([sys.executable, str(script), what, str(store), str(size)])))


def _plain_write(path: Path, size: int) -> float:
    """Time the same payload, made and hashed the same way, into a plain file."""
    source, digest = Log(size), hashlib.sha256()
    before = time.perf_counter()
    with path.open("wb") as file:
        while piece := source.read(PIECE_BYTES):
            file.write(piece)
            digest.update(piece)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - before
