"""How payloads are cut into passages."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from firsthand.index import passages
from firsthand.index.passages import OVERLAP_BYTES, PASSAGE_BYTES, PASSAGES_MAX, cut, unit_of


def payload(size: int, seed: int = 1, space: bytes = b" ") -> bytes:
    chance = random.Random(seed)
    data = space.join(b"%d" % chance.randrange(10 ** chance.randrange(1, 60)) for _ in range(1 + size // 5))
    return data[:size]


def pieces_of(data: bytes) -> list[passages.Passage]:
    return list(cut([data], len(data)))


SIZES = [0, 1, PASSAGE_BYTES, PASSAGE_BYTES + 1, 2 * PASSAGE_BYTES, 5 * PASSAGE_BYTES, 100_001]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("space", [b" ", b"\n", b"\\n", b""])
def test_the_passages_cover_the_payload(size, space):
    """Passages are numbered, lie in order, overlap, are of 1 to 2 kB but for the last, and together are the payload."""
    data = payload(size, space=space)
    cuts = pieces_of(data)
    assert [passage.number for passage in cuts] == list(range(len(cuts)))
    assert all(data[passage.start : passage.start + len(passage.data)] == passage.data for passage in cuts)
    assert cuts[0].start == 0
    assert cuts[-1].start + len(cuts[-1].data) == size
    assert all(PASSAGE_BYTES // 2 <= len(passage.data) <= PASSAGE_BYTES for passage in cuts[:-1])
    for passage, following in itertools.pairwise(cuts):
        assert following.start < passage.start + len(passage.data)


@pytest.mark.parametrize("piece", [1_000, 2_048, 16_384, 100_000, 1 << 20])
def test_the_pieces_a_payload_comes_in_do_not_matter(piece):
    """The same payload in other pieces gives the same passages."""
    data = payload(200_000)
    assert list(cut((data[at : at + piece] for at in range(0, len(data), piece)), len(data))) == pieces_of(data)


def test_no_word_is_lost_or_torn_at_a_seam():
    """Each word of the payload stands whole in a passage, and no passage holds a part of a word as a word."""
    data = payload(300_000)
    held = {word for passage in pieces_of(data) for word in passage.data.strip(b" ").split(b" ")}
    assert held == set(data.split(b" "))


@pytest.mark.parametrize("space", [b" ", b"\n", b"\\n", b""])
def test_a_text_across_a_seam_stands_whole_in_one_passage(space):
    """A text of 256 bytes, spaces and ends of lines and all, is in one passage wherever it begins."""
    data = payload(6 * PASSAGE_BYTES, space=space)
    held = [passage.data for passage in pieces_of(data)]
    for at in range(0, len(data) - OVERLAP_BYTES, 7):
        assert any(data[at : at + OVERLAP_BYTES] in passage for passage in held)


def test_lines_of_a_log_stay_whole():
    """Every line of a log, a diff or a file begins and ends in one passage, and a passage begins with a line."""
    data = b"".join(b"%05d  at src/app/module_%d.py, line %d: value\n" % (n, n % 7, n * 31) for n in range(3_000))
    cuts = pieces_of(data)
    assert len(cuts) > 50
    assert all(passage.data.endswith(b"\n") for passage in cuts)
    assert all(passage.start == 0 or data[passage.start - 1 : passage.start] == b"\n" for passage in cuts)


def test_the_lines_of_a_file_in_a_tool_call_stay_whole():
    """JSON writes a file on one line: it is cut where the lines of the file end."""
    lines = [f"    value_{n} = compute({n})  # a line of a file" for n in range(200)]
    data = json.dumps({"path": "a.py", "content": "\n".join(lines)}).encode()
    assert all(passage.data.endswith(b"\\n") for passage in pieces_of(data)[:-1])


def test_a_passage_without_spaces_is_cut_between_signs():
    """Where there is no space to cut at, the cut falls between whole UTF-8 signs."""
    for passage in pieces_of("東".encode() * 40_000):
        passage.data.decode()


def test_an_enormous_payload_has_larger_passages_instead_of_more():
    """Whatever its size, an event has at most some thousand passages, and is cut in memory of a few of them."""
    size = 3 * PASSAGES_MAX * PASSAGE_BYTES
    line, most = b"0123456 789abcdef " * 100 + b"\n", 0
    cuts = cut((line * 64 for _ in range(size // (64 * len(line)))), size)
    count = 0
    for passage in cuts:
        count, most = count + 1, max(most, len(passage.data))
    assert PASSAGES_MAX // 2 < count < 2 * PASSAGES_MAX
    assert most <= unit_of(size) == 4 * PASSAGE_BYTES
