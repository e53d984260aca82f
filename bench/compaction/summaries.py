"""A running summary, and what can write one: an extract by rule, an oracle.

The extract keeps the sentences with the most exact
strings and the rarest words. The oracle is told beforehand what will be asked and
keeps just that: no summariser can do better in the same room, and none has it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from . import reader, strings
from .method import LOW, SUMMARY_SHARE, Kept
from .values import Message, Needle, count, text_of_all

MARKED = 3.0  # weight of an exact string against one rare word
TELLING = ("because", "failed", "never", "must", "not help", "no mirror", "only with", "settled", "runs out", "roll")


class Summariser(Protocol):
    """Makes one summary of a summary and what came after it."""

    name: str

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str: ...


class Extract:
    """Keep the most telling sentences, by rule."""

    name = "extract"

    def __call__(self, summary: str, messages: Sequence[Message], tokens_max: int, /) -> str:
        return "\n".join(telling([*strings.sentences(summary), *strings.sentences(text_of_all(messages))], tokens_max))


class Oracle:
    """Keep the sentences that will be asked for, and nothing else."""

    name = "oracle"

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
