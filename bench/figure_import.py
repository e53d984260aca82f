"""Import of a JSONL with the text index, against ChromaDB's default on the same texts.

ChromaDB embeds, Firsthand does not; that is the point of the comparison and the
reason why the peers that skip or shorten the embedding stand beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import chroma
from engines import RowsAndIndex, TantivyAlone
from setting import Setting, run_import
from table import Bound, Row, Target
from timing import median, say

EVENTS = 20_000
CHROMA_TEXTS = 400  # a round; it stores some 25 a second
VECTOR_TEXTS = 2_000
ROUNDS = 3
RATIO_MIN = 20.0


def measure(setting: Setting) -> list[Row]:
    """Count events stored a second, each subject once a round."""
    count = setting.scaled(EVENTS, at_least=2_000)
    source, texts = setting.jsonl(count), list(setting.texts(count))
    models = setting.work / "minilm"
    default, trimmed = chroma.default_embedder(models), chroma.trimmed_embedder(models)
    default(texts[:2])  # load the model before the clock starts
    trimmed(texts[:2])
    few = _spread(texts, setting.scaled(CHROMA_TEXTS, at_least=100))
    many = _spread(texts, setting.scaled(VECTOR_TEXTS, at_least=200))
    vectors = np.random.default_rng(1).standard_normal((len(many), 384), dtype=np.float32)
    rates: dict[str, list[float]] = {}
    for number in range(1 if setting.quick else ROUNDS):
        say(f"import: round {number + 1}, {count:,} events; ChromaDB {len(few)} with its default embedding")
        folder = setting.fresh("import")
        subjects: dict[str, tuple[int, Callable[[], Any]]] = {
            "ours": (count, lambda f=folder: run_import(source, f / "store")),
            "chroma": (len(few), _chroma(folder / "default", default, few)),
            "trimmed": (len(few), _chroma(folder / "trimmed", trimmed, few)),
            "vectors": (len(many), _chroma(folder / "vectors", default, many, vectors)),
            "fts5": (count, lambda f=folder: _rows_and_index(f / "rows.db", texts)),
            "tantivy": (count, lambda f=folder: TantivyAlone(f / "tantivy").extend(texts)),
        }
        for name, (events, store) in subjects.items():
            before = time.perf_counter()
            store()
            rates.setdefault(name, []).append(events / (time.perf_counter() - before))
        setting.drop(folder)
        rates.setdefault("matmul", []).append(chroma.matmul_gigaflops())
    return _rows({name: median(found) for name, found in rates.items()}, texts, few)


def _rows(rates: dict[str, float], texts: list[str], few: list[str]) -> list[Row]:
    reached, possible = rates["chroma"] * chroma.GIGAFLOP_A_TEXT, rates["matmul"]
    note = (
        f"{len(texts):,} events of {_mean(texts):.0f} B in the mean through `firsthand import`, start of the process "
        f"included; ChromaDB a sample of {len(few)} of the same texts ({_mean(few):.0f} B), its own default function "
        f"with fp32 weights: {reached:.0f} GFLOP/s in all, where a bare matrix product reached {possible:.0f} in "
        "the same minutes, so the model is what takes the time. ChromaDB holds vectors and finds by meaning; "
        "Firsthand's text index does not."
    )
    label = "import with text index"
    target = Target(Bound.RATIO_MIN, RATIO_MIN)
    names = {
        "chroma": "ChromaDB with all-MiniLM-L6-v2, its default",
        "trimmed": "ChromaDB, same model without needless padding",
        "vectors": "ChromaDB, vectors given, nothing embedded",
        "fts5": "bare rows and FTS5, 2,000 a transaction",
        "tantivy": "tantivy alone, one commit",
    }
    return [
        Row(label, rates["ours"], rates[key], "events/s", name, False, target if key == "chroma" else None, note)
        for key, name in names.items()
    ]


def _chroma(path: Path, embedder: Any, texts: list[str], vectors: Any = None) -> Callable[[], None]:
    """Open a collection now; give the call that fills it."""
    collection = chroma.Collection(path, embedder)

    def fill() -> None:
        collection.extend(texts, vectors)
        assert len(collection) == len(texts)

    return fill


def _rows_and_index(path: Path, texts: list[str]) -> None:
    rows = RowsAndIndex(path)
    rows.extend(texts)
    rows.close()


def _spread(texts: list[str], count: int) -> list[str]:
    """Take texts evenly from the whole, so that the sample is like it."""
    return list(islice(texts, 0, None, max(1, len(texts) // count)))[:count]


def _mean(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / len(texts)
