"""A fresh process that opens a large store and recalls rare terms, over the bare start of the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from queries import RARE, draw
from setting import Setting, command, database, run
from table import Bound, Row, Target
from timing import interleave, median, percentile, say

EVENTS = 1_000_000
ROUNDS = 30
WARM_UP = 3
LIBRARY_OVER_MAX_MS = 50
COMMAND_OVER_MAX_MS = 150

LIBRARY = """
import sys
from firsthand import Memory
with Memory(sys.argv[1], read_only=True) as memory:
    answer = memory.recall(sys.argv[2])
assert answer.hits, answer
"""
BARE_SQLITE = """
import sys, apsw
db = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
words = " OR ".join(f'"{word}"' for word in sys.argv[2].split())
assert db.execute("SELECT rowid, bm25(word) FROM word WHERE word MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()
"""


def measure(setting: Setting) -> list[Row]:
    """Time whole processes, each with a query not asked before."""
    count = setting.scaled(EVENTS)
    queries = draw(setting, count, setting.scaled(ROUNDS, at_least=8) + WARM_UP)[RARE]
    store = setting.store(count)
    fts5 = setting.kept("fts5", count, _build_fts5(setting, count)) / "fts5.db"
    subjects: dict[str, Callable[[str], object]] = {
        "bare": lambda _: run([sys.executable, "-I", "-c", "pass"]),
        "library": lambda query: run([sys.executable, "-I", "-c", LIBRARY, str(store), query]),
        "sqlite": lambda query: run([sys.executable, "-I", "-c", BARE_SQLITE, str(fts5), query]),
        "command": lambda query: run([*command(), "recall", "--store", str(store), query]),
    }
    say(f"start: fresh processes on {count:,} events ({database(store).stat().st_size / 1e6:.0f} MB)")
    interleave(subjects, queries[:WARM_UP])
    seconds = interleave(subjects, queries[WARM_UP:])
    times = {name: median(taken) * 1e3 for name, taken in seconds.items()}
    slow = percentile(seconds["library"], 0.95) * 1e3
    note = (
        f"{count:,} events, medians of {len(queries) - WARM_UP} processes each, three rare words a query, a new query "
        f"each time, files in the page cache; from start to end of the process. p95 of the library: {slow:.0f} ms."
    )
    bare = "python -I -c pass"
    library = Target(Bound.OVER_MAX, LIBRARY_OVER_MAX_MS)
    full = Target(Bound.OVER_MAX, COMMAND_OVER_MAX_MS)
    label = f"fresh process, {count:,} events"
    return [
        Row(f"{label}: open and recall", times["library"], times["bare"], "ms", bare, True, library, note),
        Row(
            f"{label}: open and recall",
            times["library"],
            times["sqlite"],
            "ms",
            "apsw and FTS5 alone",
            True,
            None,
            note,
        ),
        Row(f"{label}: firsthand recall", times["command"], times["bare"], "ms", bare, True, full, note),
    ]


def _build_fts5(setting: Setting, count: int) -> Callable[[Path], None]:
    from engines import Fts5Alone

    return lambda folder: Fts5Alone(folder / "fts5.db").extend(setting.written_texts(count))
