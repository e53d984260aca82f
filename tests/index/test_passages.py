"""How large payloads are cut into passages."""

from __future__ import annotations

import itertools
import random

import pytest

from firsthand.index import passages
from firsthand.index.passages import OVERLAP_BYTES, PASSAGE_BYTES, REACH_BYTES, ROW_STEP, WHOLE_BYTES, count, cut


def payload(size: int, seed: int = 1) -> bytes:
    chance = random.Random(seed)
    data = b" ".join(b"%d" % chance.randrange(10 ** chance.randrange(1, 60)) for _ in range(1 + size // 5))
    return data[:size]


SIZES = [
    0, 1, PASSAGE_BYTES, WHOLE_BYTES, WHOLE_BYTES + 1, REACH_BYTES, REACH_BYTES + 1,
    PASSAGE_BYTES + WHOLE_BYTES, PASSAGE_BYTES + WHOLE_BYTES + 1, 5 * PASSAGE_BYTES,
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_the_passages_cover_the_payload_and_are_counted(size):
    """Passages are as many as counted, lie in order, overlap, and together are the payload."""
    data = payload(size)
    found = list(cut([data]))
    assert [p.number for p in found] == list(range(count(size)))
    assert all(data[p.start : p.start + len(p.data)] == p.data for p in found)
    assert found[0].start == 0
    assert found[-1].start + len(found[-1].data) == size
    for one, following in itertools.pairwise(found):
        assert following.start < one.start + len(one.data)


@pytest.mark.parametrize("piece", [1_000, 16_384, 100_000, 1 << 20])
def test_the_pieces_a_payload_comes_in_do_not_matter(piece):
    """The same payload in other pieces gives the same passages."""
    data = payload(200_000)
    assert list(cut(data[at : at + piece] for at in range(0, len(data), piece))) == list(cut([data]))


def test_no_word_is_lost_or_torn_at_a_seam():
    """Each word of the payload stands whole in a passage, and no passage holds a part of a word as a word."""
    data = payload(300_000)
    wanted = set(data.split(b" "))
    found = {word for passage in cut([data]) for word in passage.data.strip(b" ").split(b" ")}
    assert found == wanted


def test_text_across_a_seam_stands_whole_in_one_passage():
    """A text of 256 bytes, spaces and all, is in one passage wherever it begins."""
    data = payload(3 * PASSAGE_BYTES)
    held = [passage.data for passage in cut([data])]
    for at in range(PASSAGE_BYTES - 600, PASSAGE_BYTES + 600, 7):
        assert any(data[at : at + OVERLAP_BYTES] in one for one in held)


def test_a_passage_without_spaces_is_cut_between_signs():
    """Where there is no space to cut at, the cut falls between whole UTF-8 signs."""
    data = "東".encode() * 40_000
    for passage in cut([data]):
        passage.data.decode()


def test_a_passage_can_be_cut_again_from_its_own_bytes():
    """From its row number alone a passage's bytes are found again in the payload."""
    data = payload(5 * PASSAGE_BYTES + 1_234)
    total = count(len(data))
    for passage in cut([data]):
        start, last = passage.number * PASSAGE_BYTES, passage.number + 1 == total
        window = data[start:] if last else data[start : start + REACH_BYTES]
        assert passages.shape(window, passage.number, last=last) == passage


def test_a_row_names_its_event_and_passage():
    """Row numbers give back the position and the passage they were made of."""
    for position, number in [(1, 0), (ROW_STEP - 1, 0), (7, 5), (123_456, 6_400)]:
        row = passages.row_of(position, number)
        assert (passages.position_of(row), passages.number_of(row)) == (position, number)
