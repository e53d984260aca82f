"""Looks a question's terms up in the index, the rarest first, within a budget and a deadline.

The invariant: what was not looked up is said in `Terms.bounded`, and with nothing said every
term that could find something was, inside of longer words too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.index.index_rows import ERASED, SITUATION
from firsthand.index.names import asked_tokens
from firsthand.index.postings import IndexMoment
from firsthand.value import value

from .query import Deadline, Question, Term

TERMS_MAX = 32
"""Of a long question, so many words are looked up, the rarest."""
POSTINGS_MAX = 200_000
"""Occurrences looked at for one question, those of its commonest words last."""
INSIDE_CHARACTERS_MIN = 4
"""A shorter word without a digit stands inside of too many others to be looked for there."""
INSIDE_MAX = 8
"""Words of the index that are looked up for one that they hold."""
INSIDE_WORDS_MAX = 16

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@value
class Strengths:
    """What a term is worth beside a plain word; 0 leaves it out.

    Attributes:
        k1, b, tokens_min: of BM25; among passages under ``tokens_min`` words the length says nothing.
        part: a part of a word in camel case.
        inside: a word of the index that holds a word asked for which the index has not.
        exact: an exact string, beside its words.
        name: what an event is called by.
    """

    k1: float = 1.2
    b: float = 0.95
    tokens_min: float = 50.0
    part: float = 0.5
    inside: float = 1.0
    exact: float = 1.0
    name: float = 5.0


@value(eq=False)
class Postings:
    """The passages that hold a term.

    Attributes:
        part: which part of the score it adds to: ``words``, ``exact`` or ``name``.
        key: the token; the word asked for where it was found inside of others.
        scores: of each row, by BM25.
        times: how often each row holds it.
        weight: of the term, by how rare it is.
    """

    part: str
    key: str
    rows: Rows
    scores: Floats
    times: Floats
    weight: float


class Terms:
    """The terms of one question in one moment of the index.

    Attributes:
        postings: those that stand in some passage, the rarest first.
        rarities: the idf of each word that leads; of what no row holds, that of one row.
        bounded: what was not looked up, in sentences.
    """

    def __init__(self, moment: IndexMoment, question: Question, deadline: Deadline, strengths: Strengths) -> None:
        self._moment, self._deadline, self._strengths = moment, deadline, strengths
        self._columns = moment.columns
        self._hidden = bool((self._columns.flags & (SITUATION | ERASED)).any())
        mean = max(strengths.tokens_min, self._columns.mean_tokens)
        self._fixed, self._sloped = strengths.k1 * (1 - strengths.b), strengths.k1 * strengths.b / mean
        self.postings: list[Postings] = []
        self.rarities: dict[str, float] = {}
        self.bounded: list[str] = []
        self._look_up(question)

    def rarity(self, count: int) -> float:
        """Weigh a term by the number of rows that hold it."""
        rows, count = max(1, len(self._columns)), max(1, count)
        return math.log(1 + (max(rows, count) - count + 0.5) / (count + 0.5))

    def _look_up(self, question: Question) -> None:
        strengths, moment = self._strengths, self._moment
        if question.cut:
            self.bounded.append(f"the question is long: {question.cut:,} of its words were not looked up")
        # 1) the words that lead, the rarest first; what the index has not is looked for inside of its words
        counts: dict[str, int] = {}
        leading = question.leading
        for number, term in enumerate(leading):
            if self._late([term.word for term in leading[number:]]):
                break
            counts[term.key] = moment.frequency(term.key)
        self.rarities = {term.key: self.rarity(counts.get(term.key, 0)) for term in leading}
        present = sorted(
            (term for term in leading if counts.get(term.key)), key=lambda term: (counts[term.key], term.key)
        )
        parts = frozenset(term.key for term in question.parts)
        budget = POSTINGS_MAX
        for number, term in enumerate(present):
            budget -= counts[term.key]
            left = [term.word for term in present[number:]]
            if number >= TERMS_MAX or (number and budget < 0):
                self.bounded.append(f"too common to search for beside the others: {', '.join(left)}")
                break
            if self._late(left):
                break
            self._add("words", term.key, strengths.part if term.key in parts else 1.0)
        if strengths.inside:
            self._look_inside([term for term in question.words if not counts.get(term.key)])
        # 2) exact strings, and what an event is called by
        if strengths.exact:
            for number, term in enumerate(question.strings):
                if self._late([term.word for term in question.strings[number:]]):
                    break
                self._add("exact", term.key, strengths.exact)
        if strengths.name and not self._deadline.passed:
            for token in asked_tokens(question.text):
                self._add("name", token, strengths.name)

    def _look_inside(self, absent: Sequence[Term]) -> None:
        """Look for words that the index has not inside of those that it has: for parts of identifiers."""
        wanted = [
            term for term in absent if len(term.word) >= INSIDE_CHARACTERS_MIN or any(map(str.isdigit, term.word))
        ]
        for number, term in enumerate(wanted):
            if self._late([term.word for term in wanted[number:]]):
                return
            if number >= INSIDE_WORDS_MAX:
                left = ", ".join(term.word for term in wanted[number:])
                self.bounded.append(f"not looked for inside of longer words: {left}")
                return
            for word in self._moment.words_with(term.word.casefold(), INSIDE_MAX):
                self._add("words", word, self._strengths.inside * min(1.0, len(term.word) / len(word)))

    def _late(self, words: Sequence[str]) -> bool:
        if self._deadline():
            self.bounded.append(f"the deadline came before these words were looked up: {', '.join(words)}")
        return self._deadline.passed

    def _add(self, part: str, key: str, share: float) -> None:
        rows, times = self._moment.postings(key)
        if self._hidden and len(rows):
            seen = (self._columns.flags[rows] & (SITUATION | ERASED)) == 0
            rows, times = rows[seen], times[seen]
        if not len(rows):
            return
        rarity = self.rarity(len(rows))
        weight = share * rarity
        if part == "name":
            scores = np.full(len(rows), weight)
        else:
            tokens = np.maximum(self._columns.tokens[rows], self._strengths.tokens_min)
            length = self._fixed + self._sloped * tokens
            scores = (weight * (self._strengths.k1 + 1)) * times / (times + length)
            self.rarities.setdefault(key, rarity)
        self.postings.append(Postings(part, key, rows, scores.astype(np.float32), times, weight))
