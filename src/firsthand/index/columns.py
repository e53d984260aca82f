"""The columns of the rows of the text index, as arrays: what ranking reads of a row instead of its event.

They are kept in the memory of the process and go on where they ended; a namespace whose
rows were made anew, or emptied by an erasure, has another generation and is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.value import value

from .blocks import COLUMNS, Part, Row, parts_of
from .index_rows import SAID

_TYPES: dict[str, Any] = {
    "position": np.int64, "start": np.int64, "size": np.int32, "tokens": np.float32, "session": np.int32,
    "agent": np.int32, "time": np.int64, "kind": np.uint8, "trust": np.uint8, "flags": np.uint8,
    "before": np.int32, "previous": np.int32, "after": np.int32, "following": np.int32,
}  # fmt: skip
DISTANCES = ("before", "previous")
_GROWTH = 1.25
_ROWS_MIN = 1_024
_WORD = (1 << 64) - 1


@value(eq=False)
class Columns:
    """The rows of one namespace: entry r of each array belongs to row r; entry 0 is unused.

    Attributes:
        position: of the event; ascending.
        start, size: where in the event's content the passage lies; of a situation its number, and 0.
        tokens: words in the row; 0 where nothing is to be found.
        session, agent: keys of the log's tables; agent 0 for nobody.
        time: microseconds; `blocks.TIME_UNKNOWN` for unknown.
        kind, trust: their numbers.
        flags: see `index_rows`.
        before: first row of the event before it in the same session; 0 for none.
        previous: first row of the message that somebody said before it in the same session; 0 for none.
        after: at the first row of an event, the first row of the event after it in the same session; 0 for none.
        following: at the first row of a message that somebody said, the first row of the next one; 0 for none.
            A row beyond these columns stands for none in both.
        mean_tokens: of the rows with words.
    """

    position: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int32]
    tokens: NDArray[np.float32]
    session: NDArray[np.int32]
    agent: NDArray[np.int32]
    time: NDArray[np.int64]
    kind: NDArray[np.uint8]
    trust: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    before: NDArray[np.int32]
    previous: NDArray[np.int32]
    after: NDArray[np.int32]
    following: NDArray[np.int32]
    mean_tokens: float

    def __len__(self) -> int:
        return len(self.position) - 1

    def rows_of(self, position: int) -> range:
        """Give the rows of an event; none for one that has none."""
        low, high = np.searchsorted(self.position[1:], (position, position + 1)) + 1
        return range(int(low), int(high))

    def first_rows(self, positions: Sequence[int]) -> NDArray[np.int64]:
        """Give the first row of each of some events; all of them have one."""
        rows: NDArray[np.int64] = np.searchsorted(self.position[1:], np.array(positions, np.int64)) + 1
        return rows

    def rows_at(self, positions: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the rows of passages by the positions of their events and their numbers in them; 0 for none."""
        rows: NDArray[np.int64] = np.searchsorted(self.position[1:], positions) + 1 + numbers
        rows[rows > len(self)] = 0
        rows[self.position[rows] != positions] = 0
        return rows


class ColumnStore:
    """The columns as they grow. One thread at a time adds to them; what was given out stays as it is.

    Attributes:
        count: rows that came from the index; those of the newest events stand behind them.
    """

    def __init__(self) -> None:
        self._arrays = {name: np.zeros(_ROWS_MIN, _TYPES[name]) for name in (*COLUMNS, "after", "following")}
        self.count = 0
        self._tokens, self._filled = 0.0, 0

    def add(self, blocks: Iterable[object], rows: int, skip: int = 0) -> None:
        """Add blocks of the index, without the first rows of the first one.

        Args:
            rows: how many there are with them.

        Raises:
            apsw.CorruptError: they are not what was written.
        """
        self._reserve(rows + 1)
        first = low = self.count + 1
        for block in blocks:
            count, parts = parts_of(block)
            high = low + count - skip
            if high > rows + 1:
                break
            for name, part in zip(COLUMNS, parts, strict=True):
                _write(self._arrays[name][low:high], part, skip)
            low, skip = high, 0
        if low != rows + 1:
            raise apsw.CorruptError(f"there are columns of {low - 1:,} rows of {rows:,}")
        for name in DISTANCES:
            self._arrays[name][first:low] = _rows_before(self._arrays[name][first:low], first)
        _turn(self._arrays, first, low)
        tokens = self._arrays["tokens"][first:low]
        self._tokens += float(tokens.sum(dtype=np.float64))
        self._filled += int(np.count_nonzero(tokens))
        self.count = rows

    def with_tail(self, rows: int, tail: list[Row], *, private: bool = False) -> Columns:
        """Give the columns of the first rows, with the rows of events that the index does not hold yet behind them.

        Args:
            private: other rows could come to stand in the places of the tail: it is written into a copy.
        """
        low, high = rows + 1, rows + 1 + len(tail)
        arrays, tokens, filled = self._arrays, self._tokens, self._filled
        if rows < self.count:  # an older moment than that of whoever read last
            private = True
            before = arrays["tokens"][:low]
            tokens, filled = float(before.sum(dtype=np.float64)), int(np.count_nonzero(before))
        if private:
            space = [0] * len(tail)
            arrays = {name: np.append(part[:low], np.array(space, part.dtype)) for name, part in arrays.items()}
        elif high > len(arrays["position"]):
            self._reserve(high)
            arrays = self._arrays
        if tail:
            for name, numbers in zip(COLUMNS, zip(*tail, strict=True), strict=True):
                arrays[name][low:high] = (
                    _rows_before(np.array(numbers, np.int32), low) if name in DISTANCES else numbers
                )
            _turn(arrays, low, high)
            tokens += float(arrays["tokens"][low:high].sum(dtype=np.float64))
            filled += int(np.count_nonzero(arrays["tokens"][low:high]))
        views: dict[str, Any] = {name: part[:high] for name, part in arrays.items()}
        return Columns(**views, mean_tokens=tokens / filled if filled else 1.0)

    def _reserve(self, entries: int) -> None:
        if entries <= len(self._arrays["position"]):
            return
        size = max(_ROWS_MIN, int(len(self._arrays["position"]) * _GROWTH), entries + entries // 16)
        for name, old in self._arrays.items():
            new = np.zeros(size, old.dtype)
            new[: self.count + 1] = old[: self.count + 1]
            self._arrays[name] = new


def _turn(arrays: dict[str, NDArray[Any]], low: int, high: int) -> None:
    """Write at earlier rows which of some rows come after them."""
    position = arrays["position"]
    first = np.flatnonzero(position[low:high] != position[low - 1 : high - 1]) + low
    arrays["after"][arrays["before"][first]] = first
    spoken = first[(arrays["flags"][first] & SAID > 0) & (arrays["tokens"][first] > 0)]
    arrays["following"][arrays["previous"][spoken]] = spoken
    arrays["after"][0] = arrays["following"][0] = 0


def _write(target: NDArray[Any], part: Part, skip: int) -> None:
    if not part.width:
        target[:] = part.low
        return
    above = np.frombuffer(part.data, f"<u{part.width}")[skip:]
    if target.dtype.itemsize == 8:  # what is unknown is far below what is known: it wraps round, and back
        wide = target.view(np.uint64)
        wide[:] = above
        wide *= np.uint64(part.step)
        wide += np.uint64(part.low & _WORD)
    else:
        target[:] = above
        if part.step != 1:
            target *= part.step
        if part.low:
            target += part.low


def _rows_before(distance: NDArray[np.int32], low: int) -> NDArray[np.int32]:
    """Turn distances of rows from ``low`` on into rows; 0 stays 0."""
    return np.where(distance > 0, np.arange(low, low + len(distance), dtype=np.int32) - distance, 0)
