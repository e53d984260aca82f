"""What is kept of each look at a memory: one line for whoever starts a session, and a history for trends.

``<store>/health/status.json`` holds the last look, ``history.jsonl`` a line a look. The
invariant: `line` costs the read of one small file (under a millisecond), for a
hook reads it at each session start; a status that is old, or cannot be read, says so
instead of passing for good news.

It does not know how the look was taken.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from firsthand.agents import small_files

STATUS_OLD_S = 7 * 86_400
"""After so long a status says nothing about today."""
LINE_CHARACTERS_MAX = 400
HISTORY_SHOWN_MAX = 1_000
_DOCTOR = "firsthand doctor"


def line(store: Path, *, now_s: float | None = None) -> str:
    """Say in one line what is wrong with a store's memory, as last looked at; empty when nothing is.

    Args:
        now_s: of the clock, in seconds since 1970; None reads it.

    Raises:
        StoreError: the folder cannot be read.
    """
    look = _look(store)
    if look is None:
        is_there = small_files.read(status_file(store)) is not None
        torn = f"memory cannot say how it is: {status_file(store)} is not what was written ({_DOCTOR})"
        return torn if is_there else ""
    age_s = (time.time() if now_s is None else now_s) - look["time_s"]
    if look["line"]:
        return f"{look['line']} (as of {age(age_s)} ago)"
    return "" if age_s <= STATUS_OLD_S else f"memory was last looked at {age(age_s)} ago ({_DOCTOR})"


def forget_words(store: Path) -> None:
    """Forget the sentences of the last look, which may name episodes after words that were erased; not how bad it was.

    Raises:
        StoreError: it cannot be read or written.
    """
    if (look := _look(store)) is not None and look.get("findings"):
        words = f"memory was {look.get('severity')} when it was last looked at ({_DOCTOR})" if look["line"] else ""
        small_files.put_table(status_file(store), {**look, "line": words, "findings": []})


def looks(store: Path) -> tuple[dict[str, Any], ...]:
    """Give the looks that are kept, oldest first, at most a thousand; a line torn by a crash is passed over.

    Raises:
        StoreError: the file cannot be read.
    """
    rows = small_files.rows(history_file(store))[-HISTORY_SHOWN_MAX:]
    return tuple(row for row in rows if isinstance(row.get("time"), str))


def looked_at_s(store: Path) -> float | None:
    """Say when the last look was, in seconds since 1970; None when there was none, or it cannot be read."""
    look = _look(store)
    return None if look is None else float(look["time_s"])


def is_good(store: Path) -> bool:
    """Say whether the last look found nothing broken or degraded."""
    look = _look(store)
    return look is not None and not look["line"]


def _look(store: Path) -> dict[str, Any] | None:
    """Read the last look; None when there was none, or it is not what was written."""
    look = small_files.table(status_file(store))
    fits = isinstance(look.get("line"), str) and isinstance(look.get("time_s"), (int, float))
    return look if fits else None


def age(seconds: float) -> str:
    """Say how long something is in its largest unit, such as ``3 hours``."""
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {word}{'' if number == 1 else 's'}"
    return "a moment"


def status_file(store: Path) -> Path:
    """Give the file that holds the last look."""
    return store / "health" / "status.json"


def history_file(store: Path) -> Path:
    """Give the file that holds a line for each look."""
    return store / "health" / "history.jsonl"
