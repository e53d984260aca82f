"""Needles of a window after many compactions, in small; `bench/needles_bench.py` is the whole check."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from compaction import generated, real
from compaction.ours import Ours
from compaction.strings import stands
from compaction.values import Ask, Question, Step, agent, count, text_of, tool, user
from needles_bench import Passages

DECISIONS = Path(__file__).parents[1] / "docs" / "decisions"
WINDOW_TOKENS, EARLY_TOKENS, COMPACTIONS_MIN, ANSWER_TOKENS = 2_500, 10_000, 10, 2_000


def decisions() -> list[Step]:
    """Give a session in which an agent reads this project's decisions, one after the other."""
    steps = []
    for number, file in enumerate(sorted(DECISIONS.glob("00*.md"))):
        text = file.read_text(encoding="utf-8")
        steps += [
            user(f"What was decided on: {text.splitlines()[0][7:]}?"),
            tool(f"call_{number}", "read", {"path": f"docs/decisions/{file.name}"}, text),
            agent(f"{file.name} is read."),
        ]
    return steps


@pytest.fixture(scope="module", params=["generated", "decisions"])
def lived(request) -> tuple[list[Question], Ours, Passages]:
    """Give the questions on a session, the window that it went through, and BM25 over all that was said in it."""
    if request.param == "generated":
        trace = generated.trace(0, generated.SMALL, [], seed=7)
        steps, questions = trace.steps, trace.questions
    else:
        steps = decisions()
        questions = real.asked(steps, EARLY_TOKENS, random.Random(1))[1]
    window = Ours(WINDOW_TOKENS)
    for step in steps:
        window.feed(step)
    yield questions, window, Passages([text_of(message) for step in steps for message in step])
    assert window.memory.verify().ok
    window.close()


def test_every_needle_is_found_by_its_words(lived):
    """After ten compactions each needle, asked for exactly, stands in the answer of one recall or in the window."""
    questions, window, _ = lived
    assert window.compactions >= COMPACTIONS_MIN
    exact = [question for question in questions if question.ask is Ask.EXACT]
    assert [question.text for question in exact if not is_found(window, question)] == []


@pytest.mark.parametrize("ask", [Ask.EXACT, Ask.PARAPHRASED])
def test_as_many_needles_are_found_as_by_passages(lived, ask):
    """Of needles as many stand in the answer as in the best passages by BM25 of as many tokens, without a model."""
    questions, window, passages = lived
    asked = [question for question in questions if question.ask is ask]
    tokens = [count(window.recall(each.text, ANSWER_TOKENS, exactly=True).text) for each in asked]
    texts = [passages.answer(each.text, most) for each, most in zip(asked, tokens, strict=True)]
    by_passages = sum(stands(each.answer, text) for each, text in zip(asked, texts, strict=True))
    assert sum(is_found(window, question) for question in asked) >= by_passages > 0


def is_found(window: Ours, question: Question) -> bool:
    """Say whether a needle stands in the answer of a recall, or in what the window still holds."""
    text = window.recall(question.text, ANSWER_TOKENS, exactly=True).text
    return stands(question.answer, f"{text}\n{window.ask(question.text).context}")
