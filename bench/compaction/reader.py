"""Reading by rule: the same deterministic reader for every method, and the second question of a two-step search.

The reader gives the sentence that shares most with the question, rare words counting
more, or says that there is none. It stands in for a model where none is at hand: it
cannot paraphrase and does not guess, so its answers are right when the needle stands
in the sentence. It knows no method.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from . import strings

SHARE_MIN = 0.6  # of the question's weight: below, the reader says that it does not know
SENTENCE_CHARACTERS_MAX = 600
_WORD = re.compile(r"[A-Za-z][A-Za-z]+|\d{2,}")
_STOPPED = frozenset([
    "the", "of", "is", "at", "to", "in", "on", "an", "and", "or", "do", "does", "did", "we", "what", "which", "where",
    "when", "why", "for", "it", "be", "by", "with", "as", "that", "this", "was", "were", "stand", "stood", "place",
    "blank",
])  # fmt: skip


@lru_cache(maxsize=200_000)
def words_of(text: str) -> frozenset[str]:
    """Give the words of a sentence, cut to a stem of six letters."""
    return frozenset(
        word[:6]
        for word in (one.lower() for one in _WORD.findall(text[:SENTENCE_CHARACTERS_MAX]))
        if word not in _STOPPED
    )


class _Pieces:
    """The sentences of one text, and in which of them each word stands."""

    def __init__(self, text: str) -> None:
        self.pieces = list(dict.fromkeys(strings.sentences(text)))
        self.holding: dict[str, list[int]] = {}
        for number, piece in enumerate(self.pieces):
            for word in words_of(piece):
                self.holding.setdefault(word, []).append(number)


_pieces = lru_cache(maxsize=8)(_Pieces)
"""A context is read again for every question."""


def best(question: str, texts: Sequence[str]) -> str:
    """Give the sentence that answers, or an empty string when none shares enough with the question."""
    asked = words_of(question)
    read = [_pieces(text) for text in texts if text]
    pieces = sum(len(one.pieces) for one in read)
    if not pieces or not asked:
        return ""
    frequency = {word: sum(len(one.holding.get(word, ())) for one in read) for word in asked}
    weight = {word: math.log(1 + pieces / (1 + frequency[word])) for word in asked}
    most, found = 0.0, ""
    for one in read:
        scores: dict[int, float] = {}
        for word in sorted(asked):
            for number in one.holding.get(word, ()):
                scores[number] = scores.get(number, 0.0) + weight[word]
        number = max(scores, key=scores.__getitem__, default=-1)
        if number >= 0 and scores[number] > most:
            most, found = scores[number], one.pieces[number]
    return found if most >= SHARE_MIN * sum(weight.values()) else ""


def second(question: str, text: str) -> str:
    """Make the second query: the exact strings of the sentence nearest to the question, and the question's words.

    Returns an empty string when that sentence holds none that the question does not hold already.
    """
    asked = words_of(question)
    pieces = sorted(strings.sentences(text), key=lambda one: -len(words_of(one) & asked))
    for piece in pieces[:3]:
        found = dict.fromkeys(
            match[0] for kind in strings.CLASSES if kind != "error" for match in strings.of(piece, kind)
        )
        new = [one for one in found if one not in question]
        if new:
            return " ".join(new[:4])
    return ""
