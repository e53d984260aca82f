"""The artifact file: standard zstd, ranges from their own frames, no changed bit unnoticed."""

from __future__ import annotations

import io
import random
import struct

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.log.seekable import FRAME_BYTES, Frames, FrameWriter, Unreadable

TEXT = b"".join(b"line %d of the build log, with some words to compress\n" % k for k in range(50_000))


def written(payload: bytes) -> bytes:
    out = io.BytesIO()
    writer = FrameWriter(out.write)
    writer.feed(payload)
    writer.finish()
    return out.getvalue()


def frames(data: bytes, size: int) -> Frames:
    return Frames(lambda count, at: data[at : at + count], len(data), size)


def read(data: bytes, size: int) -> bytes:
    return b"".join(frames(data, size).payload(0, size))


@pytest.mark.parametrize("size", [0, 1, 20_000, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, len(TEXT)])
def test_any_zstd_reads_it(size):
    """The file is a plain zstd stream to others, and its seek table follows the published layout."""
    payload = TEXT[:size]
    data = written(payload)
    if size:
        with zstd.ZstdFile(io.BytesIO(data)) as file:
            assert file.read() == payload
    assert read(data, size) == payload
    frames(data, size).check_stored()
    count, descriptor, magic = struct.unpack("<IBI", data[-9:])
    assert (count, descriptor, magic) == ((size + FRAME_BYTES - 1) // FRAME_BYTES + 1, 0x80, 0x8F92EAB1)
    table = struct.unpack("<II", data[-17 - 12 * count : -9 - 12 * count])
    assert table == (0x184D2A5E, 12 * count + 9)
    entries = list(struct.iter_unpack("<III", data[-9 - 12 * count : -9]))
    assert sum(entry[0] for entry in entries) == len(data) - 17 - 12 * count
    assert [entry[1] for entry in entries[:-1]] == [min(FRAME_BYTES, size - at) for at in range(0, size, FRAME_BYTES)]


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
@settings(max_examples=30, deadline=None)
def test_ranges(one, two):
    """Any range gives its exact bytes and touches only the frames that hold it."""
    start, end = sorted((one, two))
    data, touched = DATA, []

    def reads(count: int, at: int) -> bytes:
        touched.append(at)
        return data[at : at + count]

    file = Frames(reads, len(data), len(TEXT))
    touched.clear()
    assert b"".join(file.payload(start, end)) == TEXT[start:end]
    assert len(touched) == (0 if start == end else (end - 1) // FRAME_BYTES - start // FRAME_BYTES + 1)


DATA = written(TEXT)


def test_every_flipped_bit_is_noticed():
    """Each bit of a small file, flipped: the payload is exact or refused, and the check of the file names it."""
    payload = TEXT[:300] + random.Random(2).randbytes(40)
    data = written(payload)
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        refused = False
        try:
            assert read(bytes(changed), len(payload)) == payload
            frames(bytes(changed), len(payload)).check_stored()
        except Unreadable:
            refused = True
        assert refused, f"bit {bit % 8} of byte {bit // 8} of {len(data)}"


def test_every_cut_is_noticed():
    """A file cut off after any byte, or with one byte more, is refused."""
    payload = TEXT[:500]
    data = written(payload)
    for cut in range(len(data)):
        with pytest.raises(Unreadable):
            read(data[:cut], len(payload))
    with pytest.raises(Unreadable):
        read(data + b"\0", len(payload))


def test_exchanged_frames_are_refused():
    """Two whole frames in each other's place are noticed when they are read."""
    payload = random.Random(3).randbytes(FRAME_BYTES) + random.Random(4).randbytes(FRAME_BYTES)
    data = written(payload)
    half = FRAME_BYTES + (data.index(b"\x28\xb5\x2f\xfd", FRAME_BYTES) - FRAME_BYTES)
    swapped = data[half : 2 * half] + data[:half] + data[2 * half :]
    assert len(swapped) == len(data)
    with pytest.raises(Unreadable, match="frame 1 of 2 is damaged"):
        read(swapped, len(payload))


def test_frame_bomb():
    """A frame that unpacks to more than its entry says is refused, and never unpacked whole."""
    bomb = zstd.compress(bytes(50_000_000), options={int(zstd.CompressionParameter.checksum_flag): 1})
    data = written(TEXT[:1000])
    count = 2
    body, table = data[: -17 - 12 * count], bytearray(data[-17 - 12 * count :])
    digest = body[-40:]
    table[8:12] = struct.pack("<I", len(bomb))
    with pytest.raises(Unreadable, match="its size is another"):
        read(bomb + digest + bytes(table), 1000)
