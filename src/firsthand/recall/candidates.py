"""Asks the index for the rows that are worth reading, in pools whose order never depends on the page.

The invariant: with an accelerator or without one the pools are the same. It reads no
text: which rows of a pool are read first is for `attempt` to say.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

from firsthand.index import words
from firsthand.index.passages import ROW_STEP, position_of

from .lexical import Lexical
from .neighbours import SHARES
from .plan import Plan, Term, Tokenize
from .rank import Wanted

POOL_ROWS = 64
"""Rows whose neighbours are looked at before any is read. More of them find no more on locomo and beam."""
SPARE_ROWS = 16
"""Looked up beyond a pool, since some are outside of the scope."""
SPECIAL_ROWS = 16
"""Most rows of each other kind of candidate."""
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
        rows: list[int] = []
        for term in (*planned.strings, *planned.prefixes):
            rows += index.newest(term.match, SPECIAL_ROWS)
        absent = {term.word for term in planned.absent_strings}
        for one in self._wanted:
            if not one.keys or not (one.string in absent or one.part == "phrase"):
                continue
            if one.string not in absent and not self._apart(one) and len(self.together) < SPECIAL_ROWS:
                rows += (
                    self.together
                )  # all that hold its words: to look for the phrase would cost more than to read them
            else:
                rows += index.newest(self._phrase(one.string), SPECIAL_ROWS)
        return list(dict.fromkeys(rows))

    @cached_property
    def together(self) -> list[int]:
        """Give the newest rows that hold all words; of those beyond the budget only where there are no others.

        They are not ranked: that would read every posting of every term, and what holds all of them ranks high anyway.
        """
        asked = self._planned.ranked or self._planned.common
        return self._index.newest(" AND ".join(term.match for term in asked), SPECIAL_ROWS) if len(asked) > 1 else []

    def _apart(self, one: Wanted) -> bool:
        """Say whether a phrase lacks one of the words that are asked for together."""
        asked = self._planned.ranked or self._planned.common
        return len(asked) < 2 or any(term.key not in one.keys for term in asked)

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
        held: dict[int, float] = {}
        for term in self._planned.ranked:
            weight = self._idf(self._planned.terms[term.key])
            found = dict.fromkeys(self._index.holders(term.match), weight)
            for row in held.keys() & found.keys():
                found[row] += held[row]
            held |= found
        return self._inside(_raised(held))

    def _inside(self, worth: dict[int, float]) -> list[int]:
        """Give the best rows of the scope; they are looked up some at a time, since the best are in it as a rule."""
        bounds = self._index.bounds
        if bounds.start > 0 or bounds.stop < ROW_STEP:
            worth = {row: each for row, each in worth.items() if position_of(row) in bounds}
        kept: list[int] = []
        taken, asked = 0, POOL_ROWS + SPARE_ROWS
        while True:
            best = heapq.nlargest(asked, worth, key=lambda row: (worth[row], row))
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

    def _phrase(self, string: str) -> str:
        data = words.without_spaceless(string).encode("utf-8", "replace")
        return '"' + " ".join(data[a:b].decode("utf-8", "replace") for a, b, _ in self._tokenize(data)) + '"'


def _raised(held: dict[int, float]) -> dict[int, float]:
    """Add to what rows hold what the rows beside them do."""
    rows = sorted(held)
    near = [row for before, row in itertools.pairwise(rows) if row - before <= -min(SHARES)]
    near += [row for row, behind in itertools.pairwise(rows) if behind - row <= max(SHARES)]
    get, before, second, behind = held.get, SHARES[-1], SHARES[-2], SHARES[1]
    return held | {
        row: held[row] + before * get(row - 1, 0.0) + behind * get(row + 1, 0.0) + second * get(row - 2, 0.0)
        for row in near
    }
