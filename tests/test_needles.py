"""Needles of a window after many compactions, in small; `bench/needles_bench.py` is the whole check."""

from __future__ import annotations

import sys
from pathlib import Path

import apsw
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from compaction import generated
from compaction.ours import Ours
from compaction.values import Ask, Question, Trace, count, text_of

WINDOW_TOKENS = 2_500
ANSWER_TOKENS = 1_000
PASSAGE_CHARACTERS = 1_000
COMPACTIONS_MIN = 10


@pytest.fixture(scope="module")
def lived() -> tuple[Trace, Ours]:
    """Give a session and the window that it went through."""
    trace = generated.trace(0, generated.SMALL, [], seed=7)
    window = Ours(WINDOW_TOKENS)
    for step in trace.steps:
        window.feed(step)
    yield trace, window
    assert window.memory.verify().ok
    window.close()


def test_every_needle_is_found_by_its_words(lived):
    """After ten compactions each needle, asked for exactly, stands in the answer of one recall or in the window."""
    trace, window = lived
    assert window.compactions >= COMPACTIONS_MIN
    assert [question.text for question in asked(trace, Ask.EXACT) if not is_found(window, question)] == []


def test_needles_in_other_words_are_found_as_often_as_by_passages(lived):
    """Of needles asked for in other words, as many stand in the answer as in the best passages of as many tokens."""
    trace, window = lived
    questions = asked(trace, Ask.PARAPHRASED)
    texts = [text_of(message) for step in trace.steps for message in step]
    passages = [
        text[at : at + PASSAGE_CHARACTERS] for text in texts for at in range(0, len(text) or 1, PASSAGE_CHARACTERS)
    ]
    db = apsw.Connection("")
    db.execute("CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='porter unicode61')")
    db.executemany("INSERT INTO passage (rowid, text) VALUES (?, ?)", enumerate(passages))
    by_passages = 0
    for question in questions:
        words = " OR ".join(f'"{word}"' for word in "".join(s if s.isalnum() else " " for s in question.text).split())
        rows = db.execute("SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank", (words,)).fetchall()
        room = 4 * count(window.recall(question.text, ANSWER_TOKENS, exactly=True).text)
        by_passages += question.answer in "".join(passages[number] for (number,) in rows)[:room]
    assert sum(is_found(window, question) for question in questions) >= by_passages > 0


def asked(trace: Trace, ask: Ask) -> list[Question]:
    """Give the questions of one kind."""
    return [question for question in trace.questions if question.ask is ask]


def is_found(window: Ours, question: Question) -> bool:
    """Say whether a needle stands in the answer of a recall, or in what the window still holds."""
    found = window.recall(question.text, ANSWER_TOKENS, exactly=True).text
    return question.answer in found or question.answer in window.ask(question.text).context
