"""The methods that everybody has: stemmed BM25, a small embedder, and fixed fusions of the two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .bm25 import BM25
from .encoder import Matrix
from .values import HITS, Question, Ranked, Said

RRF_K = 60
WEIGHTED = 2.0  # BM25 over dense, the better fixed weight on LoCoMo

Scores = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Matrix]

WORDS, DENSE, FUSED, WEIGHED = (
    "stemmed BM25",
    "all-MiniLM alone",
    "plain RRF of both (k = 60)",
    "RRF, BM25 twice",
)


class Baselines:
    """The parts, made once a talk; `rank` gives each method's ten hits for each question."""

    def __init__(self, stems: Callable[[str], list[str]], embed: Embed) -> None:
        self._stems, self._embed = stems, embed

    def rank(self, said: Sequence[Said], questions: Sequence[Question]) -> dict[str, list[Ranked]]:
        """Rank the events of a talk for each question, by method."""
        texts = [one.plain for one in said]
        asked = [one.text for one in questions]
        words = BM25([self._stems(text) for text in texts])
        cosines = self._embed(asked) @ self._embed(texts).T
        out: dict[str, list[Ranked]] = {name: [] for name in (WORDS, DENSE, FUSED, WEIGHED)}
        for text, near in zip(asked, cosines, strict=True):
            scores = words.scores(self._stems(text))
            lists = (order(scores, above=0.0), order(near))
            out[WORDS].append(_ranked(lists[0], scores))
            out[DENSE].append(_ranked(lists[1], near))
            for name, weight in ((FUSED, 1.0), (WEIGHED, WEIGHTED)):
                joined = fuse(lists, (weight, 1.0), len(texts))
                out[name].append(_ranked(order(joined), joined))
        return out


def order(scores: Scores, *, above: float = -np.inf) -> NDArray[np.int64]:
    """Give the numbers of the events by falling score; equal ones in the order of the talk."""
    best = np.argsort(-scores, kind="stable")
    return best[scores[best] > above]


def fuse(lists: Sequence[NDArray[np.int64]], weights: Sequence[float], count: int) -> Scores:
    """Fuse whole rankings by reciprocal rank (Cormack et al., 2009)."""
    out = np.zeros(count)
    for numbers, weight in zip(lists, weights, strict=True):
        out[numbers] += weight / (RRF_K + np.arange(1, len(numbers) + 1))
    return out


def _ranked(numbers: NDArray[np.int64], scores: Scores) -> Ranked:
    best = tuple(int(number) for number in numbers[:HITS])
    return Ranked(best, float(scores[best[0]]) if best else 0.0)
