"""Signals and truths of questions, real ones and such as a store makes of itself: what gates are fitted and judged on.

One store a talk of LoCoMo, BEAM-100k and LongMemEval. A question is true when a unit of its evidence is among the
first ten hits of one attempt; those of categories without an answer, and *foreign* ones (asked of another talk's
store), never are. Beside each stand the two plain measures that a gate has to beat: the cosine of all-MiniLM to the
nearest event, and the best BM25 score.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firsthand import Memory
from firsthand.answer import Query
from firsthand.recall import calibrate, made
from firsthand.recall.attempt import Search
from quality import bm25, ours, sets
from quality.encoder import Vectors
from quality.sureness import foreign
from quality.values import HITS, Question, Talk

SETS = ("locomo", "beam-100k", "longmemeval")
MADE, REAL = "made", "real"
APPENDED = 500
DEADLINE_MS = 120_000

Row = dict[str, Any]
"""set, talk, kind (made or real), group, truth, signals; real ones also cosine and bm25."""


def rows(data: Path, kept: Path, vectors: Vectors) -> list[Row]:
    """Give the rows of every set; those in the kept folder are read from there."""
    found: list[Row] = []
    for name in SETS:
        file = kept / f"gate-{name}.json"
        if not file.exists():
            talks = sets.READERS[name](data)
            others = talks if len(talks) > 1 else sets.READERS["locomo"](data)
            told = [row for number in range(len(talks)) for row in _talk(name, talks, others, number, vectors)]
            file.write_text(json.dumps(told))
        found += json.loads(file.read_text())
    return found


def _talk(name: str, talks: Sequence[Talk], others: Sequence[Talk], number: int, vectors: Vectors) -> Iterator[Row]:
    talk = talks[number]
    questions = [*talk.questions, *foreign(others, number if len(talks) > 1 else 0)]
    plain = [one.plain for one in talk.said]
    cosines = (vectors.of([one.text for one in questions]) @ vectors.of(plain).T).max(axis=1)
    cut = bm25.stems()
    words = bm25.BM25([cut(one) for one in plain])
    best = [float(np.max(words.scores(cut(one.text)))) for one in questions]
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        units = _filled(memory, talk)
        log = memory._log
        head = log.reader.head("default")[0]

        def search() -> Search:
            query = Query("calibration", deadline_ms=DEADLINE_MS)
            return Search(log.reader, memory.namespace, log.reader.namespace_key(memory.namespace), head, query)

        ask = calibrate.asking(search)
        for question, cosine, score in zip(questions, cosines, best, strict=True):
            tried = ask(question.text, frozenset())
            yield _row(name, talk, REAL, question.group, _true(question, tried, units), tried) | {
                "cosine": float(cosine),
                "bm25": score,
            }
        runs = calibrate.sample(log.reader, memory.namespace, head, talk.name)
        for one in made.make(runs, talk.name, calibrate.QUESTIONS_MAX):
            tried = ask(one.text, one.without)
            truth = calibrate.truth_of(one, tried)
            if truth is not None:
                yield _row(name, talk, MADE, one.how, truth, tried)


def _filled(memory: Memory, talk: Talk) -> dict[int, str]:
    """Append a talk, and give the unit of each position."""
    units: dict[int, str] = {}
    for session, said in itertools.groupby(talk.said, key=lambda one: one.session):
        listed = list(said)
        for at in range(0, len(listed), APPENDED):
            part = listed[at : at + APPENDED]
            appended = memory.append([ours._draft(one) for one in part], session=session)
            units |= {event.position: one.unit for event, one in zip(appended, part, strict=True)}
    return units


def _true(question: Question, tried: calibrate.Tried, units: dict[int, str]) -> bool:
    return any(units[row.position] in question.evidence for row in tried.ranked[:HITS])


def _row(name: str, talk: Talk, kind: str, group: str, truth: bool, tried: calibrate.Tried) -> Row:
    signals = list(calibrate.row_of(tried.signals))
    return {"set": name, "talk": talk.name, "kind": kind, "group": group, "truth": truth, "signals": signals}
