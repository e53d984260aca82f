"""Cuts a large payload into passages that are indexed one by one, in bounded memory.

Passage k begins at k x 16 KiB and reaches a little into the next one; both ends
move on to the next space. The invariant: every run of up to 256 bytes without a
space, and every text of up to 256 bytes, stands whole in at least one passage.

The row of passage k of the event at position p is ``k * 2**40 + p``, so an
event's first row is its position and no table is needed to find the others. Rows
from ``TRIGGER_ROWS`` on are no passages: they stand for the situations that a note
was learned in, k for the k-th of them. This module knows no storage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firsthand.value import value

PASSAGE_BYTES = 16_384
OVERLAP_BYTES = 256
WHOLE_BYTES = PASSAGE_BYTES + 2 * OVERLAP_BYTES
"""A passage reaches at least this far: the next one may begin one overlap late, and a text be one overlap long."""
REACH_BYTES = WHOLE_BYTES + OVERLAP_BYTES
"""How far from its nominal beginning a passage's bytes can lie."""

ROW_STEP = 1 << 40
TRIGGER_FIRST = 1 << 22
"""The number of a note's first situation; the passages of 64 GiB come before it."""
TRIGGER_ROWS = TRIGGER_FIRST * ROW_STEP
"""The rows of passages are below it, those of situations from it on."""
_POSITION = ROW_STEP - 1
_SPACE = b" \t\n\r\f\v"


@value
class Passage:
    """One passage: its number, and where in the payload it begins."""

    number: int
    start: int
    data: bytes


def row_of(position: int, number: int) -> int:
    """Name the index row of a passage."""
    return number * ROW_STEP + position


def position_of(row: int) -> int:
    """Give the position of the event that an index row belongs to."""
    return row & _POSITION


def number_of(row: int) -> int:
    """Give the number of the passage that an index row stands for."""
    return row // ROW_STEP


def count(size_bytes: int) -> int:
    """Count the passages of a payload."""
    if size_bytes <= WHOLE_BYTES:
        return 1
    return -(-(size_bytes - WHOLE_BYTES) // PASSAGE_BYTES) + 1


def cut(pieces: Iterable[bytes]) -> Iterator[Passage]:
    """Cut a payload that comes in pieces of any size."""
    buffer, number, base = bytearray(), 0, 0
    for piece in pieces:
        buffer += piece
        # One byte more than the reach is waited for: only then is this not the last passage.
        while len(buffer) > REACH_BYTES:
            yield shape(bytes(buffer[:REACH_BYTES]), number, last=False)
            del buffer[:PASSAGE_BYTES]
            number, base = number + 1, base + PASSAGE_BYTES
    # What is left is one passage, or two when the payload ends in the last stretch of the reach.
    if len(buffer) > WHOLE_BYTES:
        yield shape(bytes(buffer[:REACH_BYTES]), number, last=False)
        del buffer[:PASSAGE_BYTES]
        number += 1
    yield shape(bytes(buffer), number, last=True)


def shape(window: bytes, number: int, *, last: bool) -> Passage:
    """Cut passage ``number`` out of the bytes from its nominal beginning on."""
    start = _next_space(window, 0) if number else 0
    stop = len(window) if last else _next_space(window, WHOLE_BYTES)
    return Passage(number, number * PASSAGE_BYTES + start, window[start:stop])


def _next_space(window: bytes, at: int) -> int:
    """Find the first space within the overlap; without one, the first whole sign."""
    for index in range(at, min(at + OVERLAP_BYTES, len(window))):
        if window[index] in _SPACE:
            return index
    while at < len(window) and window[at] & 0xC0 == 0x80:
        at += 1
    return at
