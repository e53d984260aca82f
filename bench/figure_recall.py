"""Recall at 100,000 and 1,000,000 events in processor time, beside the first edition (d36c38b) on the same events.

Each edition imports the same file into a store of its own. Every query is asked once of each, in processes that take
turns, so no cache answers it a second time; full answers, previews included. FTS5 alone stands beside both.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from engines import Fts5Alone, RowsAndIndex
from queries import CLASSES, PART, Queries, draw
from setting import Setting, checkpoint_file, run
from table import Bound, Row, Target
from timing import median, percentile, say

SIZES = {100_000: (8.0, 90), 1_000_000: (20.0, 45)}  # events: p50 in milliseconds at most, queries of each class
SHARE_OF_FIRST, P95_MAX, WINDOW_MAX_MS, COMMAND_OVER_MAX_MS = 1 / 3, 3.0, 15.0, 150.0
IMPORT_RATIO_MIN, INDEX_RATIO_MAX = 3.0, 0.5
WARM_UP, ROUNDS, PROCESSES = 10, 3, 15
FIRST = "first edition"
PROCESS = Path(__file__).with_name("recall_process.py")


def measure(setting: Setting) -> list[Row]:
    """Time import, recall, a window's recall and a first process, and size the index."""
    rows: list[Row] = []
    for full, (limit, asked) in SIZES.items():
        count = setting.scaled(full)
        if full > 100_000 and setting.small:
            continue
        queries = draw(setting, count, setting.scaled(asked, at_least=20) + WARM_UP)
        editions = {"ours": Path(sys.executable)} | ({FIRST: setting.first} if setting.first else {})
        stores = {name: _store(setting, count, name, python) for name, python in editions.items()}
        fts5 = Fts5Alone(setting.kept("fts5", count, partial(_fill, setting, count)) / "fts5.db")
        taken, outcomes = _asked(setting, editions, {n: s / "store" for n, s in stores.items()}, queries)
        taken["alone"] = {
            kind: [_processor(fts5.recall, query) for query in queries[kind][WARM_UP:]] for kind in (*CLASSES, PART)
        }
        rows += _recall_rows(taken, outcomes, count, limit)
        rows += _import_rows(setting, stores, count)
        rows.append(_index_row(setting, stores["ours"] / "store", count))
        if full == min(SIZES):
            rows.append(_window_row(setting, stores["ours"] / "store", queries, count))
            rows.append(_process_row(stores["ours"] / "store", queries, count))
    return rows


def _store(setting: Setting, count: int, name: str, python: Path) -> Path:
    """Give a folder with an edition's store of the events and how long the import took."""
    source = setting.jsonl(count)

    def build(folder: Path) -> None:
        say(f"recall: {name} imports {count:,} events")
        before = _children()
        run([str(python.with_name("firsthand")), "import", str(source), "--store", str(folder / "store")])
        (folder / "seconds").write_text(str(_children() - before))

    return setting.kept(f"store-of-{name.replace(' ', '-')}", count, build, by=setting.edition(python))


def _asked(
    setting: Setting, editions: dict[str, Path], stores: dict[str, Path], queries: Queries
) -> tuple[dict[str, dict[str, list[float]]], dict[str, Counter[str]]]:
    """Give the seconds of each query by edition and class, and how many answers were of which outcome."""
    taken: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in (*CLASSES, PART)} for name in editions}
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in editions}
    for number in range(ROUNDS):
        for kind in (*CLASSES, PART):
            part = queries[kind][:WARM_UP] + queries[kind][WARM_UP:][number::ROUNDS]
            for name, python in editions.items():
                say(f"recall: {name}, {kind}, round {number + 1}")
                told = _process(setting, python, {"store": str(stores[name]), "queries": part, "window": ""})
                taken[name][kind] += told["seconds"]
                outcomes[name].update(told["outcomes"])
    return taken, outcomes


def _process(setting: Setting, python: Path, job: dict[str, Any]) -> dict[str, Any]:
    folder = setting.fresh("recall")
    written, out = folder / "job.json", folder / "out.json"
    written.write_text(json.dumps(job | {"warm up": WARM_UP}))
    run([str(python), str(PROCESS), str(written), str(out)])
    told: dict[str, Any] = json.loads(out.read_text())
    setting.drop(folder)
    return told


def _recall_rows(
    taken: dict[str, dict[str, list[float]]], outcomes: dict[str, Counter[str]], count: int, limit: float
) -> list[Row]:
    """Give a row a class beside FTS5 alone, and the rows that are judged: all classes together."""
    said = "; ".join(
        f"{name}: {', '.join(f'{number} {word}' for word, number in found.most_common())}"
        for name, found in outcomes.items()
    )
    note = (
        f"{count:,} events, files in the page cache, processor time of all threads; {said}. FTS5 alone gives ten row "
        "numbers and scores of all words joined by OR."
    )
    every = {name: [time for kind in CLASSES for time in kinds[kind]] for name, kinds in taken.items()}
    label = f"recall at {count:,}"
    p50, p95 = percentile(every["ours"], 0.5) * 1e3, percentile(every["ours"], 0.95) * 1e3
    alone = percentile(every["alone"], 0.5) * 1e3
    rows = [
        Row(f"{label}, all classes, p50", p50, alone, "ms", Fts5Alone.name, True, Target(Bound.OURS_MAX, limit), note),
        Row(f"{label}, all classes, p95", p95, p50, "ms", "its p50", True, Target(Bound.RATIO_MAX, P95_MAX), note),
    ]
    if FIRST in every:
        third = Target(Bound.RATIO_MAX, SHARE_OF_FIRST)
        for share, word in ((0.5, "p50"), (0.95, "p95")):
            ours, first = (percentile(every[name], share) * 1e3 for name in ("ours", FIRST))
            rows.append(Row(f"{label}, all classes, {word}", ours, first, "ms", FIRST, True, third, note))
    for kind in (*CLASSES, PART):
        for name in [name for name in (FIRST, "alone") if name in taken]:
            ours, other = (median(taken[one][kind]) * 1e3 for one in ("ours", name))
            word = Fts5Alone.name if name == "alone" else name
            rows.append(Row(f"{label}, {kind}, p50", ours, other, "ms", word, True, None, note))
    return rows


def _import_rows(setting: Setting, stores: dict[str, Path], count: int) -> list[Row]:
    """Set events a second of `firsthand import` beside the first edition's and beside bare rows with FTS5."""
    rates = {name: count / float((folder / "seconds").read_text()) for name, folder in stores.items()}
    folder = setting.fresh("import")
    texts = list(islice(setting.written_texts(count), 20_000))
    before = time.process_time()
    bare = RowsAndIndex(folder / "rows.db")
    bare.extend(texts)
    bare.close()
    rate = len(texts) / (time.process_time() - before)
    setting.drop(folder)
    note = (
        f"{count:,} events through `firsthand import`, a second of processor time, start of the process included; bare "
        "rows 2,000 a transaction."
    )
    label = f"import of {count:,} events with the index"
    rows = [Row(label, rates["ours"], rate, "events/s", "bare rows and FTS5", False, None, note)]
    if FIRST in rates:
        target = Target(Bound.RATIO_MIN, IMPORT_RATIO_MIN)
        rows.append(Row(label, rates["ours"], rates[FIRST], "events/s", FIRST, False, target, note))
    return rows


def _index_row(setting: Setting, store: Path, count: int) -> Row:
    """Size what a rebuild can make anew: the index's tables and files, against the text."""
    for file in (store / "index").glob("*.db"):
        checkpoint_file(file)
    text = sum(len(one.encode()) for one in setting.written_texts(count))
    note = f"{count:,} events of {text / count:.0f} B in the mean; all that a rebuild makes anew: the folder index."
    size = sum(path.stat().st_size for path in (store / "index").rglob("*") if path.is_file())
    target = Target(Bound.RATIO_MAX, INDEX_RATIO_MAX)
    return Row(f"index at {count:,} events", size / 1e6, text / 1e6, "MB", "the text", True, target, note)


def _window_row(setting: Setting, store: Path, queries: Queries, count: int) -> Row:
    """Time a model's call of recall through a window, session scope as the tool has it by default."""
    mixed = [queries[kind][number] for number in range(WARM_UP + 15) for kind in CLASSES]
    folder = setting.fresh("window")
    shutil.copytree(store, folder / "store")  # a window writes
    job = {"store": str(folder / "store"), "queries": mixed, "window": "jsonl:s00001"}
    seconds = _process(setting, Path(sys.executable), job)["seconds"]
    setting.drop(folder)
    ours, slow = percentile(seconds, 0.5) * 1e3, percentile(seconds, 0.95) * 1e3
    note = f"{count:,} events; `SessionWindow.answer` of a call of recall, processor time, p95 {slow:.1f} ms."
    target = Target(Bound.OURS_MAX, WINDOW_MAX_MS)
    return Row("a window's recall, p50", ours, slow, "ms", "its p95", True, target, note)


def _process_row(store: Path, queries: Queries, count: int) -> Row:
    """Time the command from start to end of the process, in processor time."""
    command = [str(Path(sys.executable).with_name("firsthand")), "recall", "--store", str(store)]
    asked = [queries[CLASSES[number % 2]][number] for number in range(PROCESSES)]
    bare, taken = [], []
    for query in asked:
        before = _children()
        run([sys.executable, "-I", "-c", "pass"])
        between = _children()
        run([*command, query])
        bare.append(between - before)
        taken.append(_children() - between)
    target = Target(Bound.OVER_MAX, COMMAND_OVER_MAX_MS)
    note = f"{count:,} events, medians of {PROCESSES} processes, rare words and questions, processor time of each."
    figure, name = "a first process: firsthand recall", "python -I -c pass"
    return Row(figure, 1e3 * median(taken), 1e3 * median(bare), "ms", name, True, target, note)


def _processor(ask: Callable[[str], object], query: str) -> float:
    before = time.process_time()
    ask(query)
    return time.process_time() - before


def _children() -> float:
    """Give the processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _fill(setting: Setting, count: int, folder: Path) -> None:
    Fts5Alone(folder / "fts5.db").extend(setting.written_texts(count))
