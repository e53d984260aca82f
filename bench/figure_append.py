"""Durable append of one event: Firsthand, a bare row, and a bare row with FTS5, taking turns."""

from __future__ import annotations

from engines import BareRows, RowsAndIndex
from firsthand import Memory
from setting import Setting
from table import Bound, Row, Target
from timing import interleave, percentile, say

APPENDS = 6_000  # of each size, by each subject
WARM_UP = 200
BLOCK = 20
# Real texts of a width around the size named, so that the mean is that size.
SIZES = {"about 250 B": (150, 350), "about 800 B": (600, 1_000)}
RATIO_MAX = 1.5


def measure(setting: Setting) -> list[Row]:
    """Time single appends of real texts of two sizes."""
    rows: list[Row] = []
    for name, (low, high) in SIZES.items():
        count = setting.scaled(APPENDS, at_least=1_000)
        texts = setting.texts_between(low, high, count + WARM_UP)
        mean = sum(len(text.encode()) for text in texts) / len(texts)
        say(f"append: {count:,} events of {name} (mean {mean:.0f} B), by three subjects in turns")
        rows.extend(_rows(_times(setting, texts), name, mean))
    return rows


def _times(setting: Setting, texts: list[str]) -> dict[str, list[float]]:
    folder = setting.fresh("append")
    with Memory(folder / "store") as memory:
        session = memory.session("bench")
        session.user("the first event makes the files")
        page_size = setting.page_size(memory.path)
        bare = BareRows(folder / "bare.db", page_size_bytes=page_size)
        indexed = RowsAndIndex(folder / "indexed.db", page_size_bytes=page_size)
        subjects = {"ours": session.user, "bare": bare.append, "indexed": indexed.append}
        interleave(subjects, texts[:WARM_UP], block=BLOCK)
        seconds = interleave(subjects, texts[WARM_UP:], block=BLOCK)
        bare.close()
        indexed.close()
    setting.drop(folder)
    return seconds


def _rows(seconds: dict[str, list[float]], name: str, mean: float) -> list[Row]:
    note = (
        f"One event a commit, text index on, texts of {mean:.0f} B in the mean; ours also hashes, chains, "
        "compresses and indexes exact strings. All databases: WAL, synchronous=FULL, same page size."
    )
    rows = []
    for share, word in ((0.5, "p50"), (0.99, "p99")):
        ours, bare, indexed = (percentile(seconds[s], share) * 1e3 for s in ("ours", "bare", "indexed"))
        target = Target(Bound.RATIO_MAX, RATIO_MAX) if word == "p50" else None
        label = f"durable append, {name}, {word}"
        rows.append(Row(label, ours, bare, "ms", "bare SQLite insert", True, None, note))
        rows.append(Row(label, ours, indexed, "ms", "bare SQLite insert with FTS5", True, target, note))
    return rows
