"""What stands around a passage in its session, and what of a question's terms it may count as its own.

A turn is seldom understood alone: the question before it holds the words that its answer
lacks, and the reply tells what a message was about. So, term by term, a passage counts

    its own occurrences
    plus the better of what the messages directly beside it hold, half of it, when both were said by somebody
    but at least the best of the others around it: the events beside it (a half), the second ones and the nearest
    messages that somebody said (three tenths): these only fill in what it lacks, they do not add to what it has

and two fifths more of the message before it when that is a short question. Each share is cut where
the neighbour is much shorter than the event, since a line says little of what a page is about: by
``((neighbour + 40) / (event + 40)) ** 0.75`` in words.

The invariant: neighbours are those of the session, whatever the scope, and however sessions are
interleaved in the log. It knows columns, not storage.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firsthand.index.columns import Columns
from firsthand.index.index_rows import QUESTION_END, SAID
from firsthand.value import value

BESIDE, SECOND, REPLY = 0.5, 0.3, 0.4
QUESTION_TOKENS_MAX = 40
_SPARE, _CUT = 40.0, 0.75
_PASSAGES_MAX = 16
"""Of a neighbour, so many passages are looked at."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@value
class Shares:
    """How much of a neighbour counts; 0 leaves it out."""

    beside: float = BESIDE
    second: float = SECOND
    reply: float = REPLY
    cut: float = _CUT


class Neighbourhood:
    """The neighbours of some rows.

    Args:
        rows: ascending.
    """

    def __init__(self, columns: Columns, rows: Rows, shares: Shares) -> None:
        self._columns = columns
        first = first_rows(columns, rows)
        is_message = _said(columns, first)
        before, after = self._step(columns.before, first), self._step(columns.after, first)
        second_before, second_after = self._step(columns.before, before), self._step(columns.after, after)
        last, following = self._step(columns.previous, first), self._step(columns.following, first)
        answers, answered = is_message & _said(columns, before), is_message & _said(columns, after)
        none = np.zeros_like(first)
        around = np.stack(
            [
                before, after,
                second_before, second_after,
                np.where((last == before) | (last == second_before), none, last),
                np.where((following == after) | (following == second_after), none, following),
            ]
        )  # fmt: skip
        events, self._at = np.unique(np.concatenate((around.ravel(), first)), return_inverse=True)
        self._rows, self._starts = rows_of_events(columns, events, _PASSAGES_MAX)
        tokens = np.add.reduceat(columns.tokens[self._rows], self._starts)[self._at]
        own = np.maximum(tokens[around.size :], 0) + _SPARE
        self._at = self._at[: around.size].reshape(around.shape)
        length = tokens[: around.size].reshape(around.shape)
        cut = np.minimum(1.0, ((length + _SPARE) / own) ** shares.cut)
        share = np.array([[shares.beside]] * 2 + [[shares.second]] * 4, np.float32)
        weights = np.where(around > 0, share * cut, 0.0).astype(np.float32)
        short = (_flagged(columns, before, QUESTION_END)) & (length[0] <= QUESTION_TOKENS_MAX) & answers
        weights[0] += np.where(short, shares.reply * cut[0], 0.0)
        adds = np.zeros(around.shape, bool)
        adds[0], adds[1] = answers, answered
        self._adding, self._filling = np.where(adds, weights, 0.0)[:2], np.where(adds, 0.0, weights)

    def term(self, own: Floats, scores: Floats) -> Floats:
        """Give what a term counts for each row: ``own`` is its own score, ``scores`` are those of all rows."""
        best = np.maximum.reduceat(scores[self._rows], self._starts)[self._at]
        if not best.any():
            return own
        total: Floats = np.maximum(own + (self._adding * best[:2]).max(axis=0), (self._filling * best).max(axis=0))
        return total

    def _step(self, column: NDArray[np.int32], rows: Rows) -> Rows:
        """Follow a column; what lies behind the last row of this moment is not there yet."""
        to = column[rows].astype(np.int64)
        return np.where(to <= len(self._columns), to, 0)


def first_rows(columns: Columns, rows: Rows) -> Rows:
    """Give the first row of the event of each row."""
    return np.searchsorted(columns.position, columns.position[rows]).astype(np.int64)


def rows_of_events(columns: Columns, first: Rows, most: int) -> tuple[Rows, Rows]:
    """Give the rows of events in one array, and where in it those of each event begin.

    Args:
        first: the first row of each event; 0 for none stands for the unused row 0.
        most: rows of an event.
    """
    end = np.searchsorted(columns.position, columns.position[first], side="right")
    count = np.minimum(np.where(first > 0, end - first, 1), most)
    starts = np.cumsum(count) - count
    rows = np.arange(count.sum()) - np.repeat(starts - first, count)
    return rows, starts


def _said(columns: Columns, rows: Rows) -> NDArray[np.bool_]:
    return _flagged(columns, rows, SAID)


def _flagged(columns: Columns, rows: Rows, flag: int) -> NDArray[np.bool_]:
    flagged: NDArray[np.bool_] = (columns.flags[rows] & flag) > 0
    return flagged & (rows > 0)
