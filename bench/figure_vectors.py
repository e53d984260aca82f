"""Recall by meaning: the scan of a store's vectors at two sizes, what it keeps a vector, and what appends feel of it.

The vectors are made: a topic for every 500 of them with noise around it, 384
dimensions, and a part common to all, as sentence vectors have it. The time is that of the search alone;
what the question's own embedding costs stands in rows of its own, for the embedders
that are installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from firsthand import Memory, callable_embedder
from firsthand.errors import ModelUnavailable
from firsthand.index import codes, vectors
from firsthand.index.embed.named import named
from firsthand.index.vector_search import VectorSearch, identity_of
from setting import Setting, checkpoint, database
from table import Bound, Row, Target
from timing import interleave, percentile, say

SIZES = {100_000: 5.0, 1_000_000: 40.0}  # vectors: milliseconds at most, as issue C has them
DIMENSION = 384
QUERIES, WARM_UP = 60, 5
LIMIT = 200  # what a recall asks for
BATCH = 5_000
TOPIC_VECTORS = 500
APPENDS = 2_000
EMBEDDING_SECONDS = 0.01  # of a text by the stand-in for a model


def measure(setting: Setting) -> list[Row]:
    """Time searches beside an exact scan in memory, and appends with and without a follower at work."""
    rows: list[Row] = []
    for full, limit in SIZES.items():
        rows += _search(setting, setting.scaled(full), limit)
    rows += _appends(setting)
    rows += _questions()
    return rows


# searching ----------------------------------------------------------------------------------------


def _made(count: int) -> Iterator[np.ndarray]:
    """Yield vectors in batches, the same ones each time."""
    chance = np.random.default_rng(4)
    centres = chance.standard_normal((max(2, count // TOPIC_VECTORS), DIMENSION)).astype(np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        noise = chance.standard_normal((size, DIMENSION)).astype(np.float32)
        yield codes.unit(centres[chance.integers(0, len(centres), size)] + 0.9 * noise + 0.3)


def _search(setting: Setting, count: int, limit: float) -> list[Row]:
    questions = next(_made(count))[: QUERIES + WARM_UP] + 0.02
    embedder = callable_embedder("made", DIMENSION, lambda texts: [questions[int(text)] for text in texts])
    store = setting.kept("vectors", count, lambda folder: _build(folder / "store", count, embedder)) / "store"
    table = np.concatenate(list(_made(count)))
    middle = table.mean(axis=0)
    directions = codes.about(table, middle)
    del table
    with Memory(store, read_only=True) as memory:
        reader = memory.log.reader
        search = VectorSearch(lambda: reader.db, lambda: reader.namespace_key("default"), embedder)
        began = time.perf_counter()
        assert search.near("0", LIMIT).fault == ""
        cold = time.perf_counter() - began

        def exact(text: str) -> list[int]:
            cosines = directions @ codes.about(codes.unit(questions[int(text)][None, :]), middle)[0]
            best = np.argpartition(-cosines, LIMIT)[:LIMIT]
            return (best[np.argsort(-cosines[best])] + 1).tolist()

        texts = [str(number) for number in range(WARM_UP, WARM_UP + QUERIES)]
        for text in texts:
            search.near(text, 1)  # a question's vector is remembered, so what follows is the search alone
        seconds = interleave({"ours": lambda text: search.near(text, LIMIT), "exact": exact}, texts, block=20)
        shares = {}
        for best in (10, LIMIT):
            same = [len({row for row, _ in search.near(t, LIMIT).rows[:best]} & set(exact(t)[:best])) for t in texts]
            shares[best] = sum(same) / len(same) / best
    note = (
        f"{count:,} made vectors of {DIMENSION} dimensions, {QUERIES} questions, {LIMIT} rows each, beside the "
        f"question's own embedding; of the 10 ({LIMIT}) nearest {shares[10]:.3f} ({shares[LIMIT]:.3f}) are found; "
        f"p95 {percentile(seconds['ours'], 0.95) * 1e3:.1f} ms; the first search of a process {cold * 1e3:.0f} ms"
    )
    times = {name: percentile(taken, 0.5) * 1e3 for name, taken in seconds.items()}
    name = f"search by vectors at {count:,}, p50"
    baseline = "numpy, exact, 32-bit floats in memory"
    checkpoint(store)
    kept = database(store).stat().st_size / count
    return [
        Row(name, times["ours"], times["exact"], "ms", baseline, True, Target(Bound.OURS_MAX, limit), note),
        Row(
            f"kept a vector at {count:,}", kept, 4.0 * DIMENSION, "B", "32-bit floats alone", True, None, "in the store"
        ),
    ]


def _build(folder: Path, count: int, embedder: Any) -> None:
    say(f"vectors: writing {count:,} into a store")
    with Memory(folder) as memory:
        memory.session("bench").user("the first event makes the files")
        log = memory.log
        key = log.reader.namespace_key("default")
        done = 0
        for table in _made(count):
            coded = codes.encode(table)

            def write(db: Any, done: int = done, coded: codes.Codes = coded) -> None:
                with db:
                    space = vectors.find(db, key, identity_of(embedder))
                    space = space or vectors.make(db, key, identity_of(embedder), DIMENSION)
                    size = len(coded.coded)
                    rows = range(done + 1, done + size + 1)
                    vectors.extend(db, space, done + size, rows, coded.coded, coded.bits, coded.added_to(space.total))

            log.exclusively(write)
            done += len(table)


# following ----------------------------------------------------------------------------------------


def _appends(setting: Setting) -> list[Row]:
    """Time single appends while another thread embeds what was appended, and without one."""
    texts = setting.texts_between(150, 350, setting.scaled(APPENDS, at_least=300))

    def embed(given: list[str]) -> np.ndarray:
        time.sleep(EMBEDDING_SECONDS * len(given))  # a model's own threads leave the interpreter to others
        return np.ones((len(given), DIMENSION))

    folder = setting.fresh("following")
    with (
        Memory(folder / "with", embedder=callable_embedder("slow", DIMENSION, embed)) as following,
        Memory(folder / "without", embedder="none") as plain,
    ):
        subjects = {"ours": following.session("s").user, "without": plain.session("s").user}
        say(f"vectors: {len(texts):,} appends with and without a follower")
        seconds = interleave(subjects, texts, block=20)
        (space,) = following.vectors()
    setting.drop(folder)
    note = f"{len(texts):,} events one by one; {space.vectors:,} vectors were made and written meanwhile"
    return [
        Row(
            f"append while vectors follow, p{share * 100:.0f}",
            percentile(seconds["ours"], share) * 1e3,
            percentile(seconds["without"], share) * 1e3,
            "ms",
            "the same without an embedder",
            True,
            None,
            note,
        )
        for share in (0.5, 0.95)
    ]


# questions ----------------------------------------------------------------------------------------


def _questions() -> list[Row]:
    """Time the embedding of a question by the embedders that are installed."""
    texts = [
        f"where did we keep the key of the {word} number {n}" for n in range(10) for word in ("boat", "car", "shed")
    ]
    rows = []
    for word in ("static", "minilm"):
        embedder = named(word)
        began = time.perf_counter()
        try:
            embedder.query(texts[0])
        except ModelUnavailable as error:
            say(f"vectors: {error}")
            continue
        loaded = time.perf_counter() - began
        seconds = interleave({"ours": embedder.query}, texts)["ours"]
        note = f"12 words; loading takes {loaded:.2f} s once a process; beside the search, and once a question"
        name = f"embedding a question, {word}, p50"
        rows.append(Row(name, percentile(seconds, 0.5) * 1e3, loaded * 1e3, "ms", "loading it", True, None, note))
    return rows
