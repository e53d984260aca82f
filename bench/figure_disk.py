"""Bytes on disk with the text index, against the JSONL the events came from and their bare text."""

from __future__ import annotations

from engines import RowsAndIndex
from setting import Setting, checkpoint
from table import Bound, Row, Target
from timing import say

EVENTS = 100_000
RATIO_MAX = 1.3


def measure(setting: Setting) -> list[Row]:
    """Sum up the files of a closed store."""
    count = setting.scaled(EVENTS)
    store, source = setting.store(count), setting.jsonl(count)
    say(f"disk: {count:,} events")
    checkpoint(store)
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    text = sum(len(t.encode()) for t in setting.written_texts(count))
    bare = _bare_bytes(setting, count)
    note = (
        f"{count:,} events, {text / count:.0f} B of text each in the mean; the JSONL has session, role, timestamp and "
        "content only. Ours holds log, text index and artifacts, and gives the JSONL back byte for byte."
    )
    label = f"disk at {count:,} events"
    target = Target(Bound.RATIO_MAX, RATIO_MAX)
    return [
        Row(label, size / 1e6, source.stat().st_size / 1e6, "MB", "raw JSONL", True, target, note),
        Row(label, size / 1e6, text / 1e6, "MB", "the text alone", True, None, note),
        Row(label, size / 1e6, bare / 1e6, "MB", "bare rows of text and FTS5", True, None, note),
    ]


def _bare_bytes(setting: Setting, count: int) -> int:
    """Size the same texts in a bare table with FTS5: no compression, and none of the facts around a text."""
    folder = setting.fresh("disk")
    rows = RowsAndIndex(folder / "rows.db")
    rows.extend(setting.written_texts(count))
    rows.close()
    size = sum(path.stat().st_size for path in folder.iterdir())
    setting.drop(folder)
    return size
