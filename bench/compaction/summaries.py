"""A running summary, and what can write one: a model, an extract by rule, an oracle.

The extract and the oracle are there so that nobody can say the summaries lost only
because the model was small. The extract keeps the sentences with the most exact
strings and the rarest words. The oracle is told beforehand what will be asked and
keeps just that: no summariser can do better in the same room, and none has it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from firsthand.llm.port import Model

from . import reader, strings
from .method import LOW, SUMMARY_SHARE, Kept, cut
from .values import Message, Needle, count, text_of_all

READ_TOKENS_MAX = 2_500  # by the model at once; more is read in several goes
MARKED = 3.0  # weight of an exact string against one rare word
TELLING = ("because", "failed", "never", "must", "not help", "no mirror", "only with", "settled", "runs out", "roll")

PROMPT = """Summary of the session so far: {summary}

{messages}

Write a new summary of the whole session above in at most {words} words. What is not in it is lost for good. Keep \
exact strings to the letter: hashes, paths, numbers, parameters, times, names, causes of failures, and what was tried \
without success. Answer with the summary only."""


class Summariser(Protocol):
    """Makes one summary of a summary and what came after it."""

    name: str
    calls: int

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str: ...


class ByModel:
    """Ask a model, as most agents do."""

    name = "model"

    def __init__(self, model: Model) -> None:
        self._model = model
        self.calls = 0

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str:
        for run in cut(messages, READ_TOKENS_MAX):
            text = text_of_all(run)[: READ_TOKENS_MAX * 4]
            prompt = PROMPT.format(summary=summary or "(none yet)", messages=text, words=max(30, tokens_max * 2 // 3))
            reply = self._model.complete([{"role": "user", "content": prompt}], max_tokens=tokens_max)
            self.calls += 1
            summary = reply.text.strip()
        return summary


class Extract:
    """Keep the most telling sentences, by rule."""

    name = "extract"
    calls = 0

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str:
        return "\n".join(telling([*strings.sentences(summary), *strings.sentences(text_of_all(messages))], tokens_max))


class Oracle:
    """Keep the sentences that will be asked for, and nothing else."""

    name = "oracle"
    calls = 0

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._needles = needles

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str:
        text = f"{summary}\n{text_of_all(messages)}"
        kept: list[str] = []
        for needle in self._needles:
            tokens_max -= count(needle.sentence) + 1
            if strings.stands(needle.string, text) and tokens_max >= 0:
                kept.append(needle.sentence)
        return "\n".join(kept)


def telling(sentences: Sequence[str], tokens_max: int) -> list[str]:
    """Choose the sentences that say most for their length, within the limit, in their order."""
    pieces = list(dict.fromkeys(one[: reader.SENTENCE_CHARACTERS_MAX] for one in sentences))
    frequency: Counter[str] = Counter(word for piece in pieces for word in reader.words_of(piece))

    def worth(piece: str) -> float:
        words = reader.words_of(piece)
        rare = sum(math.log(len(pieces) / frequency[word]) for word in words) / (len(words) or 1)
        lowered = piece.lower()
        told = sum(one in lowered for one in TELLING)
        return rare + MARKED * min(3, strings.count(piece)) * (0.5 + told) / (1 + count(piece) / 30)

    chosen: set[str] = set()
    for piece in sorted(pieces, key=worth, reverse=True):
        tokens = count(piece) + 1
        if tokens <= tokens_max:
            tokens_max -= tokens
            chosen.add(piece)
    return [piece for piece in pieces if piece in chosen]


class RunningSummary(Kept):
    """Replace what leaves by a summary of it and of the summary before."""

    def __init__(self, window_tokens: int, summariser: Summariser) -> None:
        super().__init__(window_tokens)
        self._summarise = summariser
        self._summary = ""
        self.name = f"running summary ({summariser.name})"

    def head(self) -> list[Message]:
        if not self._summary:
            return []
        return [{"role": "user", "content": f"Summary of the session so far:\n{self._summary}"}]

    def compact(self) -> None:
        summary_tokens = int(self.window_tokens * SUMMARY_SHARE)
        gone = self._leave(int(self.window_tokens * LOW) - summary_tokens)
        if gone:
            self._summary = self._summarise(self._summary, gone, summary_tokens)
            self.compactions += 1
            self.model_calls = self._summarise.calls
