"""What stands around a message in its session, and what of a question's terms it may count as its own.

A turn is seldom understood alone: the question before it holds the words that its answer
lacks, and the reply tells what a message was about. So, term by term, a passage of a message counts

    its own occurrences
    plus the better of what the messages directly beside it hold, half of it
    but at least the best of the others around it: the events beside it (a half) and the second ones of its
    exchange (three tenths): these only fill in what it lacks, they do not add to what it has

and two fifths more of the message before it when that is a short question. Each share is cut where
the neighbour is much shorter than the event, since a line says little of what a page is about: by
``((neighbour + 40) / (event + 40)) ** 0.75`` in words. A call, a result or a thought has no neighbours, only
its exchange (`exchanges`).

The invariant: neighbours are those of the session, whatever the scope, and however sessions are
interleaved in the log. It knows columns, not storage.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from firsthand.index.columns import Columns
from firsthand.index.index_rows import QUESTION_END
from firsthand.value import value

from .exchanges import Around, is_said

BESIDE, SECOND, REPLY = 0.5, 0.3, 0.4
QUESTION_TOKENS_MAX = 40
_SPARE, _CUT = 40.0, 0.75
_PASSAGES_MAX = 16
"""Of a neighbour, so many passages are looked at."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@value
class Shares:
    """How much of a neighbour of a message counts; 0 leaves it out."""

    beside: float = BESIDE
    second: float = SECOND
    reply: float = REPLY
    cut: float = _CUT


class Neighbourhood:
    """The neighbours of those of some rows that are messages."""

    def __init__(self, columns: Columns, around: Around, shares: Shares) -> None:
        self._places = np.flatnonzero(is_said(columns, around.events[0]))
        events = around.events[:, self._places]
        beside = self._beside = events[1:]
        # Of an event of several rows, what they hold together.
        behind = np.minimum(events + 1, len(columns))
        several = (columns.position[behind] == columns.position[events]) & (behind > events)
        tokens = columns.tokens[events]
        long, at = np.unique(events[several], return_inverse=True)
        self._rows, self._starts = rows_of_events(columns, long, _PASSAGES_MAX)
        if len(long):
            tokens[several] = np.add.reduceat(columns.tokens[self._rows], self._starts)[at]
        self._several = several[1:]
        self._at = at[np.count_nonzero(several[0]) :]
        own, length = np.maximum(tokens[0], 0) + _SPARE, tokens[1:]
        cut = np.minimum(1.0, ((length + _SPARE) / own) ** shares.cut)
        share = np.where(around.same[1:, self._places], shares.second, 0.0)
        share[:2] = shares.beside
        weights = np.where(beside > 0, share * cut, 0.0).astype(np.float32)
        adds = is_said(columns, beside)
        adds[2:] = False
        short = adds[0] & ((columns.flags[beside[0]] & QUESTION_END) > 0) & (length[0] <= QUESTION_TOKENS_MAX)
        weights[0] += np.where(short, shares.reply * cut[0], 0.0)
        self._adding, self._filling = np.where(adds, weights, 0.0)[:2], np.where(adds, 0.0, weights)

    def term(self, own: Floats, scores: Floats) -> Floats:
        """Give what a term counts for each row: ``own`` is its own score, ``scores`` are those of all rows."""
        best = scores[self._beside]
        if len(self._rows):
            best[self._several] = np.maximum.reduceat(scores[self._rows], self._starts)[self._at]
        if not best.any():
            return own
        adding, filling = self._adding * best[:2], self._filling * best  # by rows: along the other axis it is slow
        total = own.copy()
        total[self._places] = np.maximum(
            own[self._places] + np.maximum(adding[0], adding[1]), reduce(np.maximum, filling)
        )  # fmt: skip
        return total


def distinct(*rows: Rows) -> Rows:
    """Join arrays of rows: each row once, ascending. What numpy has for it costs twice as much, and 7 ms at first."""
    every = np.sort(np.concatenate(rows))
    is_new = np.ones(len(every), bool)
    np.not_equal(every[1:], every[:-1], out=is_new[1:])
    return every[is_new]


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
