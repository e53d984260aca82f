"""BM25 as the textbook has it, over words cut as our index cuts them; and the strong simple baseline.

``sum over query terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`` with
``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``, k1 = 1.2, b = 0.75 (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.index import tokenizer, words
from firsthand.recall.stop_words import STOP_WORDS

from .values import Event

K1, B = 1.2, 0.75
LONG_B = 0.95  # of the strong one: long events of coding sessions and BEAM ask for it
_WORD = re.compile(r"[^\W_]+")
Scores = NDArray[np.float64]
Stems = Callable[[str], list[str]]


@cache
def stems() -> Stems:
    """Give the function from a text to what our index has of it, without stop words.

    Stems of words and of the parts of names such as ``read_file`` and ``readFile``, and exact strings whole.
    """
    cut = tokenizer.stems(apsw.Connection(":memory:"))

    @cache
    def terms(text: str) -> list[str]:
        of_text = words.of_text(text)
        kept = " ".join(word for word in _WORD.findall(of_text.text) if word.lower() not in STOP_WORDS)
        return [*map(sys.intern, cut(kept)), *of_text.exact]

    return terms


class BM25:
    """One collection of documents, each a list of terms."""

    def __init__(self, documents: Sequence[Sequence[str]], b: float = B) -> None:
        lengths = np.array([len(document) for document in documents], np.float64)
        self._count = len(documents)
        self._norm = K1 * (1 - b + b * lengths / lengths.mean())
        postings: dict[str, list[tuple[int, int]]] = {}
        for number, document in enumerate(documents):
            for term, times in Counter(document).items():
                postings.setdefault(term, []).append((number, times))
        self._postings = {term: np.array(pairs).T for term, pairs in postings.items()}

    def scores(self, query: Sequence[str]) -> Scores:
        """Score every document; a term that the query repeats counts as often."""
        out = np.zeros(self._count)
        for term in query:
            if term in self._postings:
                numbers, times = self._postings[term]
                idf = math.log(1 + (self._count - len(numbers) + 0.5) / (len(numbers) + 0.5))
                out[numbers] += idf * times * (K1 + 1) / (times + self._norm[numbers])
        return out


class Strong:
    """BM25 given what ours is given: stop words, dates, neighbours in the session, speakers.

    A document has its speaker and its date as words. What a message scores, its neighbours among the
    messages that somebody said in the same session get a share of; a speaker who is named in the question
    counts more. The three shares were chosen on the development halves.
    """

    NEXT, SECOND, SPEAKER = 0.5, 0.1, 1.5

    def __init__(self, events: Sequence[Event], terms: Stems) -> None:
        self._terms = terms
        self._words = BM25([terms(f"{event.plain} {_date(event.time)}".strip()) for event in events], LONG_B)
        sessions: dict[str, list[int]] = {}
        for number, event in enumerate(events):
            if event.is_said:
                sessions.setdefault(event.session, []).append(number)
        self._runs = [np.array(run) for run in sessions.values()]
        self._speakers: dict[str, list[int]] = {}
        for number, event in enumerate(events):
            if event.speaker:
                self._speakers.setdefault(event.speaker.lower(), []).append(number)

    def scores(self, question: str) -> Scores:
        """Score every event."""
        alone = self._words.scores(self._terms(question))
        out = alone.copy()
        for run in self._runs:
            own = alone[run]
            if own.any():
                for distance, share in ((1, self.NEXT), (2, self.SECOND)):
                    out[run[distance:]] += share * own[:-distance]
                    out[run[:-distance]] += share * own[distance:]
        named = set(_WORD.findall(question.lower()))
        for speaker, numbers in self._speakers.items():
            if speaker in named:
                out[numbers] *= self.SPEAKER
        return out


def _date(time: float | None) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%d %B %Y}" if time is not None else ""
