"""The file of one artifact: the published zstd seekable format, version 0.1.0.

    frame            1 MiB of payload (the last one less), with its size and a checksum
    ...
    skippable frame  SHA-256 over all that stands before it
    skippable frame  the seek table: sizes and checksum of each frame, footer

Every zstd tool reads it as one stream; the seek table lets a range be read from
its own frames alone. The invariant: `Frames.payload` yields exact bytes or
raises; `Frames.check_stored` notices any changed bit, also one that the
decompressor does not look at.

This module knows bytes and offsets, no files and no addresses. Source: the
format's description in zstd's contrib/seekable_format.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from itertools import accumulate

from .zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError, get_frame_info

FRAME_BYTES = 1024 * 1024
STORED_FRAME_BYTES_MAX = FRAME_BYTES + FRAME_BYTES // 128  # what does not shrink grows by headers only
FRAMES_MAX = 65_536
LEVEL = 3

_SKIPPABLE = struct.Struct("<II")
_DIGEST_MAGIC, _TABLE_MAGIC, _FOOTER_MAGIC = 0x184D2A5D, 0x184D2A5E, 0x8F92EAB1
_ENTRY = struct.Struct("<III")  # stored bytes, payload bytes, low half of the payload's XXH64
_FOOTER = struct.Struct("<IBI")
_WITH_CHECKSUMS = 0x80
_DIGEST_BYTES = _SKIPPABLE.size + 32


class Unreadable(ValueError):
    """The bytes are not a whole artifact file; the message says what is wrong, without naming the artifact."""


class FrameWriter:
    """Compresses a payload as it comes. Holds one frame of payload and 12 bytes for each frame written."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._compressor = ZstdCompressor(
            options={
                int(CompressionParameter.compression_level): LEVEL,
                int(CompressionParameter.checksum_flag): 1,
            }
        )
        self._waiting = bytearray()
        self._table = bytearray()
        self._stored = hashlib.sha256()

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the payload."""
        self._waiting += piece
        while len(self._waiting) >= FRAME_BYTES:
            self._frame(bytes(self._waiting[:FRAME_BYTES]))
            del self._waiting[:FRAME_BYTES]

    def finish(self) -> None:
        """Write the last frame, the digest and the seek table."""
        if self._waiting:
            self._frame(bytes(self._waiting))
        self._add(_SKIPPABLE.pack(_DIGEST_MAGIC, 32) + self._stored.digest(), 0, 0)
        footer = _FOOTER.pack(len(self._table) // _ENTRY.size, _WITH_CHECKSUMS, _FOOTER_MAGIC)
        self._write(_SKIPPABLE.pack(_TABLE_MAGIC, len(self._table) + len(footer)) + bytes(self._table) + footer)

    def _frame(self, payload: bytes) -> None:
        frame = self._compressor.compress(payload, ZstdCompressor.FLUSH_FRAME)
        # The frame ends with the same half of XXH64 that the seek table asks for.
        self._add(frame, len(payload), int.from_bytes(frame[-4:], "little"))

    def _add(self, frame: bytes, payload_bytes: int, checksum: int) -> None:
        self._write(frame)
        self._stored.update(frame)
        self._table += _ENTRY.pack(len(frame), payload_bytes, checksum)


class Frames:
    """The frames of an artifact's file.

    Args:
        read: gives ``size`` bytes at an offset, fewer where the file ends.
        length: of the file.
        payload_bytes: size that the payload should have.

    Raises:
        Unreadable: the seek table is not there, or does not fit the file or the payload.
    """

    def __init__(self, read: Callable[[int, int], bytes], length: int, payload_bytes: int) -> None:
        self._read, self._length = read, length
        self._entries = self._read_table()
        self._offsets = [0, *accumulate(entry[0] for entry in self._entries)]
        size = sum(entry[1] for entry in self._entries)
        if size != payload_bytes:
            raise Unreadable(f"its file says a payload of {size:,} bytes")

    def payload(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the payload's bytes from ``start`` up to ``end``, a frame at a time.

        Raises:
            Unreadable: a frame is cut off or changed.
        """
        if start >= end:
            return
        for k in range(start // FRAME_BYTES, (end - 1) // FRAME_BYTES + 1):
            piece = self._decompress(k)
            base = k * FRAME_BYTES
            inside = start <= base and base + len(piece) <= end
            yield piece if inside else piece[max(0, start - base) : end - base]

    def check_stored(self) -> None:
        """Check the bytes of the file itself, all but the seek table, which was checked when it was read.

        Raises:
            Unreadable: a bit is not as it was written.
        """
        digest = hashlib.sha256()
        for k in range(len(self._entries) - 1):
            digest.update(self._stored(k))
        if self._stored(len(self._entries) - 1) != _SKIPPABLE.pack(_DIGEST_MAGIC, 32) + digest.digest():
            raise Unreadable("its compressed bytes have another SHA-256 than the file says")

    def _read_table(self) -> list[tuple[int, int, int]]:
        tail = self._read(_FOOTER.size, max(0, self._length - _FOOTER.size))
        if len(tail) < _FOOTER.size:
            raise Unreadable(f"its file has {self._length:,} bytes, too few for a seek table")
        count, descriptor, magic = _FOOTER.unpack(tail)
        if magic != _FOOTER_MAGIC or descriptor != _WITH_CHECKSUMS or not 0 < count <= FRAMES_MAX + 1:
            raise Unreadable(
                f"its file of {self._length:,} bytes does not end with a seek table: cut off or overwritten"
            )
        size = _SKIPPABLE.size + count * _ENTRY.size + _FOOTER.size
        table = self._read(size, self._length - size) if size <= self._length else b""
        if table[: _SKIPPABLE.size] != _SKIPPABLE.pack(_TABLE_MAGIC, size - _SKIPPABLE.size):
            raise Unreadable(f"the seek table of its file does not hold the {count:,} frames that it says")
        entries = list(_ENTRY.iter_unpack(table[_SKIPPABLE.size : -_FOOTER.size]))
        _check_entries(entries, self._length - size)
        return entries

    def _stored(self, k: int) -> bytes:
        size = self._entries[k][0]
        frame = self._read(size, self._offsets[k])
        if len(frame) != size:
            raise Unreadable(f"its file ends inside frame {k + 1} of {len(self._entries) - 1}")
        return frame

    def _decompress(self, k: int) -> bytes:
        _, size, checksum = self._entries[k]
        frame = self._stored(k)
        wrong = f"frame {k + 1} of {len(self._entries) - 1} is damaged"
        try:
            reader = ZstdDecompressor()
            if get_frame_info(frame).decompressed_size != size:
                raise Unreadable(f"{wrong}: its size is another than in the seek table")
            payload = reader.decompress(frame, max_length=size + 1)
        except ZstdError as error:
            raise Unreadable(f"{wrong}: {error}") from error
        if len(payload) != size or not reader.eof or reader.unused_data:
            raise Unreadable(f"{wrong}: it does not hold {size:,} bytes")
        # The flag that a frame has a checksum can itself be lost; then these bytes are no checksum.
        if int.from_bytes(frame[-4:], "little") != checksum or not frame[4] & 4:
            raise Unreadable(f"{wrong}: its checksum is another than in the seek table")
        return payload


def _check_entries(entries: list[tuple[int, int, int]], stored_bytes: int) -> None:
    """Check that a seek table describes a file that `FrameWriter` wrote, before any size in it is believed."""
    *frames, last = entries
    if last != (_DIGEST_BYTES, 0, 0):
        raise Unreadable("its seek table does not end with the digest")
    if sum(entry[0] for entry in entries) != stored_bytes:
        raise Unreadable(f"the frames of its seek table do not fill its {stored_bytes:,} bytes")
    for k, (stored, size, _) in enumerate(frames):
        full = size == FRAME_BYTES or (k == len(frames) - 1 and 0 < size < FRAME_BYTES)
        if not full or not 0 < stored <= STORED_FRAME_BYTES_MAX:
            raise Unreadable(f"its seek table says {stored:,} bytes for {size:,} of payload in frame {k + 1}")
