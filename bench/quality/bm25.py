"""BM25 as the textbook has it, over Snowball stems: the baseline that needs no model.

``sum over query terms of idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`` with
``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``, k1 = 1.2, b = 0.75 (Robertson and Zaragoza, 2009). No stop words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")


def stems() -> Callable[[str], list[str]]:
    """Give the function from a text to its stems: lower case, words, Snowball's English stemmer."""
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    return lambda text: list(stemmer.stemWords(_WORD.findall(text.lower())))


class BM25:
    """One collection of documents, each a list of terms."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(one) for one in documents], np.float64)
        self._count = len(documents)
        self._norm = K1 * (1 - B + B * lengths / lengths.mean())
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, document in enumerate(documents):
            for term, tf in Counter(document).items():
                self._postings.setdefault(term, []).append((number, tf))

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document; a term that the query repeats counts as often."""
        out = np.zeros(self._count)
        for term in query:
            postings = self._postings.get(term, [])
            idf = math.log(1 + (self._count - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, tf in postings:
                out[number] += idf * tf * (K1 + 1) / (tf + self._norm[number])
        return out
