"""Joins what the words of a passage say with what its vector says: scores, not ranks.

    score = (words + half * best words / best cosine * cosine) / 1.5

Ranks forget how far the first is ahead. The nearest passage counts half of what the best one by
its words does, and the others in proportion: so the same number serves short turns and long
messages. The invariant: what comes out is from 0 to 1, rises with both scores, and is the words'
own score where there are no vectors. A cosine is that about the middle of the space
(`firsthand.index.dense`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from firsthand.index.columns import Columns
from firsthand.index.index_rows import SITUATION
from firsthand.index.postings import IndexMoment
from firsthand.value import field, value

from .exchanges import first_rows

if TYPE_CHECKING:
    from firsthand.index.dense import Scores

NEAR_MAX = 300
"""So many passages are scored because they are near in meaning."""
LIST_FULL = 1_000
"""With a shorter list of the nearest, what is not in it has no vector."""
WORDS_MIN = 0.1
"""So much the words are taken to say at least, where they find nothing."""
BEHIND_EVENTS_MAX = 256
"""Vectors further behind than this are a stage that is behind; the newest few are found by their words alone."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


class Near(Protocol):
    """Finds passages by the meaning of a text; no fault leaves it as an exception."""

    def scores(self, text: str, columns: Columns, mask: NDArray[np.bool_] | None = None) -> Scores:
        """Give the passages nearest to a text, best first."""
        ...


@value(eq=False)
class Meaning:
    """The passages nearest to a question.

    Attributes:
        rows: best first; of a note that a situation is near to, its first passage.
        cosines: of each; of a note the nearest of its passages and situations.
        situations: positions of notes to the cosine of the nearest of their situations.
        fault: what is broken or behind, in a sentence; empty when all is well.
    """

    rows: Rows
    cosines: Floats
    situations: Mapping[int, float] = field(default_factory=dict)
    fault: str = ""

    def of(self, rows: Rows, count: int) -> Floats:
        """Give the cosine of each of some rows; what is not among so many nearest counts as near as the last of them.

        Args:
            count: of all rows.
        """
        if not len(self.rows):
            return np.zeros(len(rows), np.float32)
        every = np.full(count + 1, self.cosines[-1] if len(self.rows) >= LIST_FULL else 0.0, np.float32)
        every[self.rows] = self.cosines
        return np.clip(every[rows], 0.0, 1.0)

    def weight(self, words: Floats) -> float:
        """Say what a cosine of 1 counts, for the nearest passage to count as much as the best one by its words."""
        return max(WORDS_MIN, float(words.max(initial=0.0))) / max(1e-6, float(self.cosines[0]))


def meaning(near: Near | None, text: str, moment: IndexMoment, mask: NDArray[np.bool_] | None) -> Meaning:
    """Ask the vectors; nothing where there are none."""
    if near is None:
        return Meaning(np.empty(0, np.int64), np.empty(0, np.float32))
    nearest = near.scores(text, moment.columns, mask)
    fault = nearest.fault
    if not fault and moment.through - nearest.through > BEHIND_EVENTS_MAX:
        fault = (
            f"they reach position {nearest.through:,} of {moment.through:,}; what is behind it was found by its words "
            "alone; run 'firsthand store follow'"
        )
    inside = nearest.rows <= len(moment.columns)
    rows, cosines = nearest.rows[inside], nearest.cosines[inside]
    of_notes: dict[int, float] = {}
    is_situation = (moment.columns.flags[rows] & SITUATION) > 0
    if is_situation.any():
        positions = moment.columns.position[rows[is_situation]]
        for position, cosine in zip(positions.tolist(), cosines[is_situation].tolist(), strict=True):
            of_notes.setdefault(position, cosine)  # the best comes first
        rows = np.where(is_situation, first_rows(moment.columns, rows), rows)
        _, first = np.unique(rows, return_index=True)
        first.sort()
        rows, cosines = rows[first], cosines[first]
    return Meaning(rows, cosines, of_notes, f"vectors: {fault}" if fault else "")
