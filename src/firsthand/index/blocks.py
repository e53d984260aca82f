"""Packs the columns of rows into bytes: each column as whole numbers above its least one, as narrow as they allow.

A column of equal numbers costs nothing, and times in whole seconds are kept as seconds. The
invariant: what is unpacked is what was packed; bytes that were changed are an error and
never other numbers. It needs no numpy, since an append packs; `columns` unpacks by it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from math import gcd
from struct import Struct
from zlib import crc32

import apsw

from firsthand.value import value

COLUMNS = (
    "position", "start", "size", "tokens", "session", "agent", "time", "kind", "trust", "flags", "before",
    "previous",
)  # fmt: skip
"""The last two are distances: how many rows before this one the event before it in its session begins, and the message
that somebody said before it; 0 for none."""
TIME_UNKNOWN = -(1 << 63)
_HEAD = Struct("<II")  # checksum of all behind it, number of rows
_COLUMN = Struct("<qQB")  # least number, step, bytes a number
_WIDTHS = {0: "", 1: "B", 2: "H", 4: "I", 8: "Q"}

Row = tuple[int, ...]
"""The numbers of one row, in the order of `COLUMNS`."""


@value
class Part:
    """One column of a block as it is packed: number k of it is ``low + step * data[k]``, or ``low`` without data."""

    low: int
    step: int
    width: int
    data: memoryview


def pack(rows: Sequence[Row]) -> bytes:
    """Pack rows."""
    parts = [_HEAD.pack(0, len(rows))[4:]]
    for numbers in zip(*rows, strict=True):
        low = min(numbers)
        spread = max(numbers) - low
        if not spread:
            parts.append(_COLUMN.pack(low, 1, 0))
            continue
        above = [number - low for number in numbers]
        step = gcd(*above) if spread > 255 else 1
        if step > 1:
            above = [number // step for number in above]
        width = next(width for width in _WIDTHS if width and spread // step < 1 << 8 * width)
        parts += (_COLUMN.pack(low, step, width), array(_WIDTHS[width], above).tobytes())
    packed = b"".join(parts)
    return crc32(packed).to_bytes(4, "little") + packed


def parts_of(block: object) -> tuple[int, list[Part]]:
    """Give the number of rows in a block, and its columns.

    Raises:
        apsw.CorruptError: it is not what was packed.
    """
    if not isinstance(block, bytes) or len(block) < _HEAD.size:
        raise apsw.CorruptError("a block of the columns is missing or no block")
    checksum, count = _HEAD.unpack_from(block)
    whole = memoryview(block)
    if crc32(whole[4:]) != checksum:
        raise apsw.CorruptError("a block of the columns is not what was written")
    parts, at = [], _HEAD.size
    for _ in COLUMNS:
        if len(block) < at + _COLUMN.size:
            raise apsw.CorruptError("a block of the columns has fewer of them than this version writes")
        low, step, width = _COLUMN.unpack_from(block, at)
        at += _COLUMN.size
        parts.append(Part(low, step, width, whole[at : at + count * width]))
        at += count * width
    return count, parts


def unpack(block: object) -> Iterator[Row]:
    """Give the rows of a block.

    Raises:
        apsw.CorruptError: it is not what was packed.
    """
    count, parts = parts_of(block)
    return zip(*(numbers_of(part, count) for part in parts), strict=True)


def numbers_of(part: Part, count: int) -> Sequence[int]:
    """Give the numbers of one column."""
    if not part.width:
        return (part.low,) * count
    above = array(_WIDTHS[part.width], bytes(part.data)).tolist()
    return [part.low + part.step * number for number in above] if part.step != 1 or part.low else above
