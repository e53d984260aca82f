"""Event bodies compress, come back exactly, and never inflate beyond their limit."""

from __future__ import annotations

import hashlib
import random
import threading
from importlib.resources import files

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from firsthand.event import encode_body
from firsthand.log import compression
from firsthand.log.compression import BODY_BYTES_MAX, RAW, ZSTD, ZSTD_DICTIONARY_1, compress, decompress, dictionary_1

TALK = b"Thank you so much for your help. Please let me know if you have any questions about the following change."


@given(st.binary(max_size=3000) | st.text(max_size=2000).map(str.encode))
def test_round_trip(body):
    """Every body comes back exactly, and is stored with at most one byte more."""
    stored = compress(body)
    assert decompress(stored) == body
    assert len(stored) <= len(body) + 1


@pytest.mark.parametrize(
    ("body", "codec"),
    [
        (b"", RAW),
        (b"short", RAW),
        (random.Random(1).randbytes(4000), RAW),
        (TALK, ZSTD_DICTIONARY_1),
        (TALK * 1000, ZSTD),
        (random.Random(1).randbytes(100_000), RAW),
    ],
)
def test_codec(body, codec):
    """The codec byte says which of the three ways was the smallest sensible one."""
    stored = compress(body)
    assert stored[0] == codec
    assert decompress(stored) == body


def test_dictionary_is_the_one_stores_depend_on():
    """The packaged dictionary has the bytes that every store was written with."""
    content = (files("firsthand.log") / "dictionary_1.bin").read_bytes()
    assert len(content) == 63_642
    assert hashlib.sha256(content).hexdigest() == "c81f8fe68583ddd29f505253af349bf81b1d1f04df6aa5ad60905e3eb0bed9cb"
    assert dictionary_1().dict_id == zstd.ZstdDict(content).dict_id == 389_674_263


def test_bodies_of_an_older_version_still_read():
    """Stored bytes of each codec, written down once, give the same body in every version."""
    body = encode_body(b"text/plain", b"", b"", TALK)
    assert decompress(b"\0" + body) == body
    assert decompress(bytes.fromhex("0128b52ffd205045000010616201001beab0")) == b"ab" * 40
    assert (
        decompress(
            bytes.fromhex("0228b52ffd208c1d01004869006368616e67652e08fc80719d10a2d7f530185950f23b5cd352ad915d98751f24")
        )
        == body
    )


def test_dictionary_earns_its_place():
    """A short event of talk or of a tool takes at most six tenths of what it takes without the dictionary."""
    tool = b"Traceback (most recent call last):\n  File \"main.py\", line 12, in <module>\n    main()\nKeyError: 'x'\n"
    for content in (TALK, tool):
        body = encode_body(b"text/plain", b'{"call_id":"toolu_01","tool":"bash"}', b"", content)
        assert len(compress(body)) <= 0.6 * len(zstd.compress(body))


def test_bomb():
    """A frame that says, or holds, more than a body may is refused before it is unpacked."""
    bomb = bytes((ZSTD,)) + zstd.compress(bytes(BODY_BYTES_MAX + 1))
    with pytest.raises(ValueError, match=r"at most 67,108,864 bytes; this one says 67108865"):
        decompress(bomb)
    unsaid = zstd.ZstdCompressor(options={int(zstd.CompressionParameter.content_size_flag): 0})
    with pytest.raises(ValueError, match="this one says None"):
        decompress(bytes((ZSTD,)) + unsaid.compress(bytes(100), unsaid.FLUSH_FRAME))
    with pytest.raises(ValueError, match="keep the payload as an artifact"):
        compress(bytes(BODY_BYTES_MAX + 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is none"),
        (b"\x07abc", "got 7"),
        (b"\x01", "damaged"),
        (b"\x01abcdefgh", "damaged"),
        (compress(TALK)[:-1], "damaged"),
        (compress(TALK) + b"x", "damaged"),
        (compress(TALK) + compress(TALK)[1:], "damaged"),
    ],
)
def test_damage(data, message):
    """What is not a stored body is refused, and the message says how."""
    with pytest.raises(ValueError, match=message):
        decompress(data)


def test_another_dictionary_is_refused(monkeypatch):
    """A package whose dictionary is not the fixed one says so and does not read or write with it."""
    monkeypatch.setattr(compression, "DICTIONARY_1_SHA256", "0" * 64)
    with pytest.raises(ValueError, match="install firsthand again"):
        dictionary_1.__wrapped__()


def test_threads():
    """Eight threads compress and read at once, each its own bodies, and none gets another's."""
    wrong: list[bytes] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(200):
            body = bytes(draw.choices(TALK, k=draw.randrange(30, 800)))
            if decompress(compress(body)) != body:
                wrong.append(body)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
