"""Finds events by the words they hold: what a command needs that is about to run.

A recall answers a question; whether the same command was run before is none. So nothing is
ranked here: the events that hold enough of the words are read, the newest first.

The invariant: an event in scope that holds all of the words but so many is given, unless
`Lookup.whole` says that the look-up was bounded. The index only knows tokens: whether an
event ran the command is the caller's to see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.answer import Scope
from firsthand.event import Event
from firsthand.space import Space

from .query import Deadline

WORDS_MAX = 32
EVENTS_MAX = 256
"""Events that are read of those that hold the words."""
_PAGE = 16


class Lookup:
    """The events of one scope of a space.

    Attributes:
        fault: what the index does not cover; empty when it covers everything.
        whole: False when a bound or the deadline left something out.
    """

    def __init__(self, space: Space, scope: Scope, deadline_ms: float) -> None:
        self._space, self._scope = space, scope
        self._deadline = Deadline(deadline_ms)
        self.fault = ""
        self.whole = True

    def newest(self, words: Sequence[str], lacking_max: int) -> Iterator[Event]:
        """Yield events that hold all words but so many, the newest first."""
        space, read = self._space, 0
        positions = self._positions(words, lacking_max)
        while read < len(positions):
            if read >= EVENTS_MAX or self._deadline():
                self.whole = False
                return
            for event in space.log.reader.events_at(space.namespace, positions[read : read + _PAGE]):
                if not event.erased:
                    yield event
            read += _PAGE

    def _positions(self, words: Sequence[str], lacking_max: int) -> list[int]:
        import numpy as np  # noqa: PLC0415 - a process that only appends does without

        space = self._space
        if not space.log.reader.namespace_key(space.namespace):
            return []
        with space.index_moment() as moment:
            # 1) of a word of several tokens the rarest stands for it
            tokens = [moment.stems(word) for word in list(dict.fromkeys(words))[:WORDS_MAX]]
            rarest = [min(stems, key=lambda stem: (moment.frequency(stem), -len(stem))) for stems in tokens if stems]
            # 2) the rows that hold enough of them, in scope
            counts = np.zeros(len(moment.columns) + 1, np.int16)
            for token in dict.fromkeys(rarest):
                if self._deadline():
                    self.whole = False
                    break
                rows, _ = moment.postings(token)
                counts[rows] += 1
            enough = counts >= max(1, len(set(rarest)) - lacking_max)
            mask = moment.scope_mask(self._scope)
            if mask is not None:
                enough &= mask
            self.fault = "; ".join(moment.faults)
            positions: list[int] = np.unique(moment.columns.position[np.nonzero(enough)[0]])[::-1].tolist()
            return positions
