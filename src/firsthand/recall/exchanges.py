"""Scores the exchange that a passage's event stands in, as one text.

A message such as "kill this", or an error of one line, holds none of the words that it is asked for
by: they stand around it. So, beside what a passage scores by itself and by its neighbours, its
exchange scores by BM25 as if it were one text: the heads of the event and of up to two on either side
of it in its session. An exchange begins where the user speaks after somebody else; users who talk
with each other alone are one. A head is `HEAD_SAID` words of a message and `HEAD` of anything else,
so that a file that was read does not drown what was said about it.

The index does not know where in a passage a word stands: a head counts its share of the passage's words.
It knows columns, not storage.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firsthand.event import Kind
from firsthand.index.columns import Columns
from firsthand.index.index_rows import SAID
from firsthand.value import value

SHARE = 0.7
HEAD_SAID, HEAD = 100.0, 25.0
K1, B, MEAN_TOKENS = 1.2, 0.75, 100.0

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@value(eq=False)
class Around:
    """What stands around some rows in their sessions.

    Attributes:
        events: first rows of five events for each row: its own, the one before, the one after, the second one before
            and the second one after; 0 for none.
        same: which of them belong to the same exchange.
    """

    events: Rows
    same: NDArray[np.bool_]


def around(columns: Columns, rows: Rows) -> Around:
    """Find what stands around some rows."""

    def step(column: NDArray[np.int32], events: Rows) -> Rows:
        """Follow a column; what lies behind the last row of this moment is not there yet."""
        to = column[events].astype(np.int64)
        return np.where(to <= len(columns), to, 0)

    def is_user(events: Rows) -> NDArray[np.bool_]:
        is_of_user: NDArray[np.bool_] = columns.kind[events] == Kind.USER_MESSAGE.number
        return is_of_user & is_said(columns, events)

    def begins(events: Rows) -> NDArray[np.bool_]:
        """Say with which events an exchange begins."""
        return is_user(events) & ~is_user(step(columns.before, events))

    own = first_rows(columns, rows)
    before, after = step(columns.before, own), step(columns.after, own)
    first, last = step(columns.before, before), step(columns.after, after)
    to_before, to_after = (before > 0) & ~begins(own), (after > 0) & ~begins(after)
    to_first, to_last = to_before & (first > 0) & ~begins(before), to_after & (last > 0) & ~begins(last)
    return Around(
        np.stack([own, before, after, first, last]),
        np.stack([np.ones_like(to_before), to_before, to_after, to_first, to_last]),
    )


class Exchanges:
    """The exchange of each of some rows.

    Args:
        share: of its score that counts.
    """

    def __init__(self, columns: Columns, around: Around, share: float) -> None:
        self._events = around.events
        tokens = np.maximum(columns.tokens[self._events], 1.0)
        head = np.where(is_said(columns, self._events), HEAD_SAID, HEAD)
        head = np.where(around.same, np.minimum(tokens, head), 0.0)
        self._heads = (head / tokens).astype(np.float32)
        self._damping = (K1 * (1 - B + B / MEAN_TOKENS * head.sum(axis=0))).astype(np.float32)
        self._share = share * (K1 + 1)

    def term(self, times: Floats, weight: float) -> Floats:
        """Give what a term scores in the exchange of each row.

        Args:
            times: how often each of all rows holds it.
            weight: of the term.
        """
        count = (times[self._events] * self._heads).sum(axis=0)
        score: Floats = weight * self._share * count / (count + self._damping)
        return score


def first_rows(columns: Columns, rows: Rows) -> Rows:
    """Give the first row of the event of each row: most events have one row."""
    first = np.array(rows, np.int64)
    later = np.flatnonzero(columns.position[first - 1] == columns.position[first])
    first[later] = np.searchsorted(columns.position, columns.position[first[later]])
    return first


def is_said(columns: Columns, rows: Rows) -> NDArray[np.bool_]:
    """Say which rows are of messages that somebody said."""
    said: NDArray[np.bool_] = (columns.flags[rows] & SAID) > 0
    return said
