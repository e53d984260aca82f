"""Event bodies as they lie in the log: one codec byte, then the body raw or compressed.

    0  raw
    1  one zstd frame
    2  one zstd frame made with dictionary 1

The invariant: ``decompress(compress(body)) == body`` for every body within the
limit, in this version and every later one. So a codec number and the bytes of a
dictionary are never changed once a store was written with them; a better
dictionary gets a number of its own. A body that does not shrink is kept raw.

This module knows nothing of what is in a body. It keeps no checksum in the
frames: the event's own commitment covers the body.
"""

from __future__ import annotations

import threading
from functools import cache
from hashlib import sha256
from pathlib import Path

from .zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError, get_frame_info

RAW, ZSTD, ZSTD_DICTIONARY_1 = 0, 1, 2
BODY_BYTES_MAX = 64 * 1024 * 1024
DICTIONARY_BODY_BYTES_MAX = 65_536  # above, what the body says itself outweighs the dictionary
SHRINKABLE_BYTES_MIN = 24  # shorter ones never pay for a frame's header
LEVEL = 4  # 6 us for 1 kB where level 5 takes 17, for a body a twentieth larger; readers take any level
DICTIONARY_1_SHA256 = "c81f8fe68583ddd29f505253af349bf81b1d1f04df6aa5ad60905e3eb0bed9cb"

_RAW, _ZSTD, _ZSTD_DICTIONARY_1 = bytes((RAW,)), bytes((ZSTD,)), bytes((ZSTD_DICTIONARY_1,))


def compress(body: bytes) -> bytes:
    """Compress an event body; the inverse is `decompress`. Safe to call from any thread.

    Raises:
        ValueError: the body is over 64 MiB, so it could not be read again.
    """
    size = len(body)
    if size > BODY_BYTES_MAX:
        raise ValueError(f"a body has at most {BODY_BYTES_MAX:,} bytes, got {size:,}; keep the payload as an artifact")
    if size < SHRINKABLE_BYTES_MIN:
        return _RAW + body
    if size <= DICTIONARY_BODY_BYTES_MAX:
        mark, frame = _ZSTD_DICTIONARY_1, _contexts().dictionary.compress(body, ZstdCompressor.FLUSH_FRAME)
    else:
        mark, frame = _ZSTD, _contexts().plain.compress(body, ZstdCompressor.FLUSH_FRAME)
    return mark + frame if len(frame) < size else _RAW + body


def decompress(data: bytes) -> bytes:
    """Give back the body that `compress` was given.

    Raises:
        ValueError: the codec is unknown, the frame is damaged or cut off, or it
            says (or holds) more than 64 MiB.
    """
    if not data:
        raise ValueError("a stored body begins with a codec byte, and there is none: the row is damaged")
    codec = data[0]
    if codec == RAW:
        return data[1:]
    if codec not in (ZSTD, ZSTD_DICTIONARY_1):
        raise ValueError(
            f"a stored body begins with codec {RAW}, {ZSTD} or {ZSTD_DICTIONARY_1}, got {codec}: "
            "the row is damaged, or a newer version wrote it"
        )
    try:
        return _read_frame(data[1:], dictionary_1() if codec == ZSTD_DICTIONARY_1 else None)
    except ZstdError as error:
        raise ValueError(f"the stored body is damaged: {error}") from error


@cache
def dictionary_1() -> ZstdDict:
    """Load the packaged dictionary, once in a process.

    Raises:
        ValueError: the packaged file is not the one that stores were written with.
    """
    content = Path(__file__).with_name("dictionary_1.bin").read_bytes()
    digest = sha256(content).hexdigest()
    if digest != DICTIONARY_1_SHA256:
        raise ValueError(
            f"the packaged dictionary_1.bin should have SHA-256 {DICTIONARY_1_SHA256}, it has {digest}: "
            "install firsthand again"
        )
    return ZstdDict(content)


class _Contexts(threading.local):
    """The compressors of one thread: making one costs ten times as much as one small body.

    A compressor is between frames at every call, so nothing of one body can
    leak into the next; one that raised in the middle has been reset by the
    library.
    """

    def __init__(self) -> None:
        options: dict[int, int] = {
            CompressionParameter.compression_level: LEVEL,
            CompressionParameter.dict_id_flag: 0,  # the codec byte says which, in one byte for four
        }
        self.plain = ZstdCompressor(options=options)
        self.dictionary = ZstdCompressor(options=options, zstd_dict=dictionary_1().as_digested_dict)


@cache  # on first use, so that importing this module reads no file
def _contexts() -> _Contexts:
    return _Contexts()


def _read_frame(frame: bytes, dictionary: ZstdDict | None) -> bytes:
    size = get_frame_info(frame).decompressed_size
    if size is None or size > BODY_BYTES_MAX:
        raise ValueError(f"a stored body says its size, at most {BODY_BYTES_MAX:,} bytes; this one says {size}")
    reader = ZstdDecompressor(dictionary)
    body = reader.decompress(frame, max_length=size + 1)  # one more, so that a frame that lies is caught
    if not reader.eof or reader.unused_data or len(body) != size:
        raise ValueError(f"the stored body is damaged: its frame should end after {size:,} bytes")
    return body
