"""Recall at 100,000 and 1,000,000 events, with and without the accelerator, beside the index libraries alone.

Every query is asked once by each subject, so no cache answers it a second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines import Fts5Alone, TantivyAlone
from firsthand import Memory
from queries import CLASSES, Queries, draw
from setting import Setting, store_cache
from table import Bound, Row, Target
from timing import interleave, percentile, say

SIZES = {100_000: (10.0, 100), 1_000_000: (40.0, 40)}  # events: p50 in milliseconds at most, queries of each class
WARM_UP = 10


def measure(setting: Setting) -> list[Row]:
    """Time the recall of four classes of queries at two sizes."""
    rows: list[Row] = []
    for full, (limit, asked) in SIZES.items():
        count = setting.scaled(full)
        queries = draw(setting, count, setting.scaled(asked, at_least=20) + WARM_UP)
        fts5, tantivy = _alone(setting, count)
        store = setting.store(count)
        with without_accelerator(store):
            rows.extend(_rows(store, queries, fts5, count, limit, "no accelerator"))
        with Memory(store) as memory:
            memory.follow()  # an import has done so already; a store of an earlier run may have been left behind
        if store_cache(store).exists():
            rows.extend(_rows(store, queries, tantivy, count, limit, "accelerator"))
        else:
            say(f"recall: the store of {count:,} events is too small for an accelerator; its rows are left out")
    return rows


def _alone(setting: Setting, count: int) -> tuple[Fts5Alone, TantivyAlone]:
    """Give both libraries over the same texts, built by an earlier run or now."""

    def fts5(folder: Path) -> None:
        say(f"recall: building FTS5 alone, {count:,} texts")
        Fts5Alone(folder / "fts5.db").extend(setting.written_texts(count))

    def tantivy(folder: Path) -> None:
        say(f"recall: building tantivy alone, {count:,} texts")
        TantivyAlone(folder / "tantivy").extend(setting.written_texts(count))

    built = Fts5Alone(setting.kept("fts5", count, fts5) / "fts5.db")
    other = TantivyAlone(setting.kept("tantivy", count, tantivy) / "tantivy")
    assert len(built) == len(other) == count, "a baseline holds other texts than it should"
    return built, other


@contextmanager
def without_accelerator(store: Path) -> Iterator[None]:
    """Set the accelerator's files aside; recall must do without them."""
    cache, aside = store_cache(store), store.parent / "cache-aside"
    if not cache.exists():
        yield
        return
    cache.rename(aside)
    try:
        yield
    finally:
        aside.rename(cache)


def _rows(
    store: Path, queries: Queries, library: Fts5Alone | TantivyAlone, count: int, limit: float, word: str
) -> list[Row]:
    """Ask all classes, ours beside the library it rests on; one row a class and one for all of them."""
    seconds: dict[str, dict[str, list[float]]] = {}
    outcomes: Counter[str] = Counter()
    with Memory(store, read_only=True) as memory:

        def ours(query: str) -> None:
            answer = memory.recall(query)
            outcomes[f"{answer.outcome.value}{', truncated' if answer.truncated else ''}"] += 1

        subjects = {"ours": ours, "alone": library.recall}
        for kind in CLASSES:
            interleave(subjects, queries[kind][:WARM_UP])
        outcomes.clear()
        for kind in CLASSES:
            say(f"recall: {count:,} events, {word}, {kind}")
            seconds[kind] = interleave(subjects, queries[kind][WARM_UP:])
    seconds["all classes"] = {s: [t for kind in CLASSES for t in seconds[kind][s]] for s in subjects}
    said = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    note = (
        f"{count:,} events; {len(queries[CLASSES[0]]) - WARM_UP} queries of each class, each asked once, files in the "
        f"page cache; {word}: {said}. Ours gives hits with scores, pointers, previews, strings checked on the bytes; "
        "a library alone gives ten row numbers and scores, of all words joined by OR."
    )
    rows = []
    for kind, taken in seconds.items():
        label = f"recall at {count:,}, {word}, {kind}, p50"
        times = {s: percentile(taken[s], 0.5) * 1e3 for s in subjects}
        target = Target(Bound.OURS_MAX, limit)
        rows.append(Row(label, times["ours"], times["alone"], "ms", library.name, True, target, note))
    return rows
