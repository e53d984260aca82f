"""Asks the index for the rows that are worth reading, in pools whose order never depends on the page.

The invariant: with an accelerator or without one the pools are the same. It reads no
text: which rows of a pool are read first is for `attempt` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from firsthand.index import words

from .lexical import Lexical
from .plan import Plan, Term, Tokenize
from .rank import Wanted

POOL_ROWS = 64
"""Rows whose neighbours are looked at before any is read. More of them find no more on locomo and beam."""
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
        self, index: Lexical, planned: Plan, wanted: Sequence[Wanted], tokenize: Tokenize, accelerator: Ranker | None
    ) -> None:
        self._index, self._planned, self._wanted = index, planned, wanted
        self._tokenize, self._accelerator = tokenize, accelerator

    def special(self) -> list[int]:
        """Give the rows that hold an exact string or a phrase; these are read first."""
        planned, index = self._planned, self._index
        rows: list[int] = []
        for term in (*planned.strings, *planned.prefixes):
            rows += index.newest(term.match, SPECIAL_ROWS)
        absent = {term.word for term in planned.absent_strings}
        for one in self._wanted:
            # A row with the whole question in it holds all its words: where there is none, no phrase is looked for.
            if one.keys and (one.string in absent or (one.part == "phrase" and (self.together or self._apart(one)))):
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
        """Go through the rows that the index ranks, the best first, then through rows with common terms only."""
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
