"""Asks the index for the rows that are worth reading, in pools whose order never depends on the page.

The invariant: with an accelerator or without one the pools are the same. It reads no
text: which rows of a pool are read first is for `attempt` to say.
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

from firsthand.index import words
from firsthand.index.passages import ROW_STEP, position_of
from firsthand.index.tokenizer import Tokenize

from .lexical import Lexical
from .neighbours import SHARES
from .plan import Plan, Term
from .rank import Wanted

POOL_ROWS = 64
"""Rows whose neighbours are looked at before any is read. More of them find no more on locomo and beam."""
SPARE_ROWS = 16
"""Looked up beyond a pool, since some are outside of the scope."""
SPECIAL_ROWS = 16
"""Most rows of each other kind of candidate."""
SPECIAL_ROWS_MAX = 48
"""Most rows of those kinds together."""
ACCELERATED_POSTINGS_MIN = 3_000
"""Fewer are ranked by FTS5 in two milliseconds, a tenth of what a fresh process pays to load the accelerator."""


class Ranker(Protocol):
    """Something that ranks rows by the same terms as FTS5 does, only faster."""

    def ranked(self, terms: Sequence[Term], limit: int) -> list[int] | None:
        """Give the best rows for any of the terms; None where it cannot answer exactly as FTS5 would."""
        ...


class Candidates:
    """The candidates of one plan."""

    def __init__(
        self, index: Lexical, planned: Plan, wanted: Sequence[Wanted], tokenize: Tokenize, accelerator: Ranker | None,
        idf: Callable[[int], float],
    ) -> None:  # fmt: skip
        self._idf, self._index, self._planned, self._wanted = idf, index, planned, wanted
        self._tokenize, self._accelerator = tokenize, accelerator

    def special(self) -> list[int]:
        """Give the rows that hold an exact string or a phrase; these are read first."""
        planned, index = self._planned, self._index
        lists = [index.newest(term.match, SPECIAL_ROWS) for term in (*planned.strings, *planned.prefixes)]
        absent = {term.word for term in planned.absent_strings}
        for one in self._wanted:
            if not one.keys or not (one.string in absent or one.part == "phrase"):
                continue
            if one.string not in absent and not self._apart(one) and len(self.together) < SPECIAL_ROWS:
                lists.append(self.together)  # all with its words: to find the phrase would cost more than to read them
            else:
                lists.append(self._phrased(one))
        # Of a payload with many strings each finds its own rows: a string of few rows says more of a row.
        told: dict[int, float] = {}
        for rows in lists:
            for row in rows:
                told[row] = told.get(row, 0.0) + 1 / len(rows)
        kept = heapq.nlargest(SPECIAL_ROWS_MAX, told, key=lambda row: (told[row], position_of(row)))
        return [row for row in told if row in kept] if len(told) > SPECIAL_ROWS_MAX else list(told)

    @cached_property
    def together(self) -> list[int]:
        """Give the newest rows that hold all words; of those beyond the budget only where there are no others.

        They are not ranked: that would read every posting of every term, and what holds all of them ranks high anyway.
        """
        planned = self._planned
        if len(planned.ranked) > 1:
            first, *others = sorted(self._held, key=len)
            return self._index.newest_of(set(first).intersection(*others), SPECIAL_ROWS)
        if planned.ranked or len(planned.common) < 2:
            return []
        return self._index.newest(" AND ".join(term.match for term in planned.common), SPECIAL_ROWS)

    @cached_property
    def _held(self) -> list[list[int]]:
        """Give the rows, of any scope, that hold each of the ranked words."""
        return [self._index.holders(term.match) for term in self._planned.ranked]

    def _apart(self, one: Wanted) -> bool:
        """Say whether a phrase lacks one of the words that are asked for together."""
        asked = self._planned.ranked or self._planned.common
        return len(asked) < 2 or any(term.key not in one.keys for term in asked)

    def _phrased(self, one: Wanted) -> list[int]:
        """Give the newest rows that hold a phrase; with it those where its rarest words stand as close together.

        FTS5 finds a phrase by all of its words, and a common one costs its postings. Where so many rows have the rare
        ones close together that some must be left out, the phrase decides.
        """
        data = words.without_spaceless(one.string).encode("utf-8", "replace")
        tokens = [data[start:end].decode("utf-8", "replace") for start, end, _ in self._tokenize(data)]
        rare = [term.match for term in self._planned.ranked if term.key in one.keys]
        if 1 < len(rare) < len(tokens):
            rows = self._index.newest(f"NEAR({' '.join(rare)}, {len(tokens)})", SPECIAL_ROWS)
            if len(rows) < SPECIAL_ROWS:
                return rows
        return self._index.newest(f'"{" ".join(tokens)}"', SPECIAL_ROWS)

    def pools(self) -> Iterator[list[int]]:
        """Go through the rows that hold words, the best first, then through rows with common terms only."""
        if len(self._planned.ranked) > 1:
            yield self._by_words_held()
        asked = taken = 0
        while self._planned.ranked:
            asked = asked * 4 or POOL_ROWS
            rows = self._best(asked)
            for at in range(taken, len(rows), POOL_ROWS):
                yield rows[at : at + POOL_ROWS]
            if len(rows) < asked:
                break
            taken = asked
        for term in self._planned.common:
            yield self._index.newest(term.match, 2 * SPECIAL_ROWS)

    def _by_words_held(self) -> list[int]:
        """Give the rows that hold the rarest words, with what the events beside them hold.

        To fetch which rows hold a term costs less than to rank them, and shows at once what stands around each: the
        same recall as from FTS5's own best rows, for half of their time. Events are taken as beside each other by
        position, which is where they were said when sessions do not run at the same time.
        """
        weights = [self._idf(self._planned.terms[term.key]) for term in self._planned.ranked]
        held, bounds = self._held, self._index.bounds
        near = _raised(held, weights)
        if bounds.start > 0 or bounds.stop < ROW_STEP:
            near = {row: each for row, each in near.items() if position_of(row) in bounds}
            held = [[row for row in rows if position_of(row) in bounds] for rows in held]
        return self._inside(near, held, weights)

    def _inside(self, near: dict[int, float], held: Sequence[Sequence[int]], weights: Sequence[float]) -> list[int]:
        """Give the best rows of the scope; they are looked up some at a time, since the best are in it as a rule."""
        kept: list[int] = []
        taken, asked = 0, POOL_ROWS + SPARE_ROWS
        while True:
            # Of the rows that hold one word and stand alone, all are worth the same: the newest are enough.
            alone = {
                row: weight
                for rows, weight in zip(held, weights, strict=True)
                for row in itertools.islice((row for row in reversed(rows) if row not in near), asked)
            }
            best = best_of(near | alone, asked)
            kept += self._index.inside(best[taken:])
            if len(kept) >= POOL_ROWS or len(best) < asked:
                return kept[:POOL_ROWS]
            taken, asked = asked, asked * 4

    def _best(self, limit: int) -> list[int]:
        planned = self._planned
        postings = sum(planned.terms[term.key] for term in planned.ranked)
        if self._accelerator is not None and postings >= ACCELERATED_POSTINGS_MIN:
            rows = self._accelerator.ranked(planned.ranked, limit)
            if rows is not None:
                return rows
        return self._index.ranked(" OR ".join(term.match for term in planned.ranked), limit)


def sums(lists: Iterable[tuple[Iterable[int], float]]) -> dict[int, float]:
    """Add up what rows hold: each list of them with the weight of the word that they hold."""
    held: dict[int, float] = {}
    for rows, weight in lists:
        found = dict.fromkeys(rows, weight)
        for row in held.keys() & found.keys():
            found[row] += held[row]
        held |= found
    return held


def _raised(lists: Sequence[Sequence[int]], weights: Sequence[float]) -> dict[int, float]:
    """Add up what rows hold, and what the rows beside them do; those are left out that hold one word and stand alone.

    Args:
        lists: the rows that hold each word.
        weights: of each word.
    """
    # Few of some thousand rows lie beside another one, or in two lists: to find those goes through all in C.
    rows = sorted(itertools.chain.from_iterable(lists))
    reach = max(map(abs, SHARES))
    steps = list(map(reach.__ge__, map(operator.sub, rows[1:], rows)))
    near = {*itertools.compress(rows[1:], steps), *itertools.compress(rows, steps)}
    held = sums((near.intersection(one), weight) for one, weight in zip(lists, weights, strict=True))
    get, before, second, behind = held.get, SHARES[-1], SHARES[-2], SHARES[1]
    return {
        row: held[row] + before * get(row - 1, 0.0) + behind * get(row + 1, 0.0) + second * get(row - 2, 0.0)
        for row in near
    }


def best_of(worth: dict[int, float], count: int) -> list[int]:
    """Give the rows of the greatest worth, of equals the newest first."""
    least = min(heapq.nlargest(count, worth.values()), default=0.0)
    better = [row for row, each in worth.items() if each > least]
    equal = [row for row, each in worth.items() if each == least]
    better.sort(key=lambda row: (worth[row], row), reverse=True)
    return better + heapq.nlargest(count - len(better), equal)
