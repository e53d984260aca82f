"""Cuts a payload into passages of 1 to 2 kB, in bounded memory: what recall ranks and shows.

A passage ends at the last end of a line within its second kilobyte, without one at the
last space, without that between two signs. The next one begins a little before that
end, at the beginning of a line where one is near, so that every run of up to 256 bytes
without a space, and every text of up to 256 bytes, stands whole in at least one passage.
The lines of an enormous payload are put together in larger passages, so that one event
has at most some thousand.

The invariant: the same payload gives the same passages, in whatever pieces it comes;
together they are the payload. This module knows no storage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firsthand.value import value

PASSAGE_BYTES = 2_048
OVERLAP_BYTES = 256
PASSAGES_MAX = 4_096
"""Of one event, more or less: a payload of more than 8 MiB has larger passages instead of more of them."""
_LINE_ENDS = (b"\n", b"\\n")
"""How JSON writes the first is the second: it is looked for where there is none of those."""
_SPACES = b" \t\n\r\f\v"


@value
class Passage:
    """One passage: its number in its event, where in the payload it begins, its bytes."""

    number: int
    start: int
    data: bytes


def unit_of(size_bytes: int) -> int:
    """Say how many bytes a passage of a payload may have."""
    unit = PASSAGE_BYTES
    while size_bytes // unit >= PASSAGES_MAX:
        unit *= 2
    return unit


def cut(pieces: Iterable[bytes], size_bytes: int) -> Iterator[Passage]:
    """Cut a payload that comes in pieces of any size.

    Args:
        size_bytes: of all of it.
    """
    unit, buffer, number, base = unit_of(size_bytes), bytearray(), 0, 0
    at = 0  # where in the buffer the next passage begins: what was cut is dropped seldom, since that moves the rest
    for piece in pieces:
        del buffer[:at]
        base, at = base + at, 0
        buffer += piece
        while len(buffer) - at > unit:
            end, following = _end(buffer, at, unit)
            yield Passage(number, base + at, bytes(buffer[at:end]))
            number, at = number + 1, following
    yield Passage(number, base + at, bytes(buffer[at:]))


def _end(buffer: bytearray, at: int, unit: int) -> tuple[int, int]:
    """Find where a passage ends, and where the next one begins."""
    end = _line_end(buffer, at + unit // 2, at + unit)
    if end <= at:
        end = _space(buffer, at + unit // 2, at + unit)
    if end <= at:
        end = _sign(buffer, at + unit)
    low, high = max(at + 1, end - 2 * OVERLAP_BYTES), end - OVERLAP_BYTES
    following = _line_end(buffer, low, high)
    if following < low:
        following = _space(buffer, low, high)
    if following < low:
        following = _sign(buffer, high)
    assert at < following < end
    return end, following


def _line_end(buffer: bytearray, low: int, high: int) -> int:
    """Find the last place behind the end of a line; -1 without one."""
    return next((place + len(end) for end in _LINE_ENDS if (place := buffer.rfind(end, low, high)) >= 0), -1)


def _space(buffer: bytearray, low: int, high: int) -> int:
    """Find the last place behind a space; -1 without one."""
    return next((place + 1 for place in range(high - 1, low - 1, -1) if buffer[place] in _SPACES), -1)


def _sign(buffer: bytearray, at: int) -> int:
    """Find the beginning of the sign at a place, or the place itself where no sign of UTF-8 is."""
    return next((place for place in range(at, max(at - 4, 0), -1) if buffer[place] & 0xC0 != 0x80), at)
