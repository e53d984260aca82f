"""The shape in which vectors are kept: how many to a chunk, how many bytes of bits; a vector's key and its seal.

A vector is kept under the passage that it is of: position and number in the event, which stay
the same when the text index is built anew after an erasure and numbers its rows otherwise.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

CHUNK_VECTORS = 4_096
EMPTY = 0
"""The row of a slot whose vector was taken out: no event has position 0."""
HEAD_BYTES = 8
"""Before a kept vector's bytes: a checksum and the scale."""
DIMENSION_MAX = 8_192
KEY_STEP = 1 << 40
"""Greater than every position: the key of passage k of the event at position p is ``k * KEY_STEP + p``."""
_CHECKSUM = Struct("<I")
_WORD = (1 << 32) - 1


def vector_key(position: int, number: int) -> int:
    """Name the vector of a passage."""
    return number * KEY_STEP + position


def position_of(key: int) -> int:
    """Give the position of the event that a vector belongs to."""
    return key & (KEY_STEP - 1)


def bit_bytes(dimension: int) -> int:
    """Say how many bytes the bits of a vector take: whole words of 64."""
    return -(-dimension // 64) * 8


def sealed(number: int, coded: bytes) -> bytes:
    """Put a checksum before a coded vector; it covers its place too."""
    return _CHECKSUM.pack(crc32(coded, number & _WORD)) + coded


def intact(number: int, data: bytes, dimension: int) -> bool:
    """Say whether a kept vector is what was written, in its place."""
    if len(data) != HEAD_BYTES + dimension:
        return False
    (checksum,) = _CHECKSUM.unpack_from(data)
    return bool(checksum == crc32(data[_CHECKSUM.size :], number & _WORD))
