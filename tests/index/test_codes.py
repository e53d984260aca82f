"""How vectors are coded: what coding loses, and that bits and bytes say the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firsthand.index import codes
from firsthand.index.vectors import bit_bytes, intact, sealed

NUMBERS = st.floats(-1e30, 1e30, allow_subnormal=True)
TABLES = (
    st.integers(1, 130)
    .flatmap(lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1, max_size=5))
    .map(lambda rows: np.array(rows, np.float64))
)


@given(TABLES)
def test_a_coded_vector_keeps_its_cosines(table):
    """The cosine of a coded vector differs from the exact one by the stated error at most; a vector of zeros has 0."""
    ours = codes.unit(table)
    kept = [sealed(7, one) for one in codes.encode(ours).coded]
    most = np.abs(table).max(axis=1, keepdims=True)
    scaled = table / np.where(most > 0, most, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    exact = scaled / np.where(lengths > 0, lengths, 1)
    query = ours[0] if ours[0].any() else np.eye(1, table.shape[1], dtype=np.float32)[0]
    found = codes.cosines(kept, query, np.zeros(table.shape[1], np.float32))
    assert np.abs(found - exact @ query).max() <= np.sqrt(table.shape[1]) / 254 + 1e-5
    assert all(cosine == 0 for cosine, length in zip(found, lengths[:, 0], strict=True) if length == 0)


@given(TABLES)
def test_bits_are_the_signs_of_the_bytes(table):
    """A bit says whether a byte is above 0, and the distance of two vectors is the number of bits that differ."""
    coded = codes.encode(codes.unit(table))
    small = codes.small_of([sealed(0, one) for one in coded.coded], table.shape[1])
    assert codes.bits_of(small) == list(coded.bits)
    assert {len(one) for one in coded.bits} == {bit_bytes(table.shape[1])}
    words = codes.words_of(b"".join(coded.bits), table.shape[1])
    query = codes.query_words(codes.unit(table)[0])
    counted = [int(((one > 0) != (small[0] > 0)).sum()) for one in small]
    assert codes.distances(words, query).tolist() == counted


@given(TABLES)
def test_a_sum_is_that_of_the_coded_vectors(table):
    """Vectors are added as they are kept, so that taking one out again leaves the sum of the others."""
    coded = codes.encode(codes.unit(table))
    zero = bytes(8 * table.shape[1])
    whole = np.frombuffer(coded.added_to(zero))
    others = np.frombuffer(coded.only(range(1, len(table))).added_to(zero))
    first = np.frombuffer(coded.only([0]).added_to(zero))
    assert np.allclose(whole - first, others, atol=1e-12)


def test_directions_are_taken_about_the_middle():
    """What all vectors have in common counts for nothing; fewer than two have no middle; in it lies no direction."""
    table = codes.unit(np.array([[9, 1, 0], [9, -1, 0], [9, 0, 1], [9, 0, -1]], np.float64))
    coded = codes.encode(table)
    middle = codes.middle_of(coded.added_to(bytes(24)), 4)
    seen = codes.about(table, middle)
    assert np.allclose(seen @ seen.T, [[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 1, -1], [0, 0, -1, 1]], atol=0.05)
    kept = [sealed(0, one) for one in coded.coded]
    assert np.allclose(codes.cosines(kept, seen[0], middle), [1, -1, 0, 0], atol=0.05)
    assert codes.middle_of(codes.encode(table[:1]).added_to(bytes(24)), 1).tolist() == [0, 0, 0]
    assert codes.about(middle[None, :], middle).tolist() == [[0, 0, 0]]


def test_a_seal_covers_bytes_and_place():
    """A vector is intact in the place it was written for, with every byte as written, and nowhere else."""
    data = sealed(4_097, bytes(range(12)))
    assert intact(4_097, data, 8)
    assert not intact(4_098, data, 8)
    assert not intact(4_097, data, 9)
    assert not intact(4_097, data[:-1], 8)
    for at in range(len(data)):
        assert not intact(4_097, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], 8)
