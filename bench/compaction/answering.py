"""Answering by a model: one prompt for all methods, the context first so that a prompt cache keeps it.

Judge-free: an answer is right when the exact string stands in it, and for what never
happened when it says so. A control tells how often the model can read at all: it gets
the sentence with the needle and nothing else.
"""

from __future__ import annotations

from enum import StrEnum

from firsthand.llm.port import Model

from . import strings
from .method import Shown
from .values import Needle, Question

REPLY_TOKENS_MAX = 48
UNKNOWN = "unknown"
PROMPT = """{context}

Question: {question}
Copy the exact string that answers it from the text above. If the text does not say it, answer UNKNOWN."""


class Said(StrEnum):
    """What a model's answer is worth."""

    RIGHT = "right"
    UNKNOWN = "unknown"
    WRONG = "wrong"


def answer(model: Model, question: Question, shown: Shown) -> Said:
    """Let the model answer from what is shown, and judge the answer by its strings."""
    context = f"{shown.context}\n\nFound for the question:\n{shown.pulled}" if shown.pulled else shown.context
    prompt = PROMPT.format(context=context, question=question.text)
    reply = model.complete([{"role": "user", "content": prompt}], max_tokens=REPLY_TOKENS_MAX)
    return judged(question, reply.text)


def control(model: Model, question: Question, needles: dict[str, Needle]) -> Said:
    """Ask with the needle's own sentence as the whole context."""
    return answer(model, question, Shown(needles[question.answer].sentence))


def judged(question: Question, text: str) -> Said:
    """Judge an answer by the exact string, or by its saying that there is none."""
    if question.answer and strings.stands(question.answer, text):
        return Said.RIGHT
    if UNKNOWN in text.lower() or not text.strip():
        return Said.UNKNOWN if question.answer else Said.RIGHT
    return Said.WRONG
