"""Packed columns: what was packed comes back, and what was changed is an error."""

from __future__ import annotations

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.index.blocks import COLUMNS, TIME_UNKNOWN, pack, unpack
from firsthand.index.columns import ColumnStore

_times = st.one_of(
    st.just(TIME_UNKNOWN), st.integers(-(1 << 55), 1 << 55), st.integers(0, 10**6).map(lambda second: 10**6 * second)
)


@st.composite
def tables(draw) -> list[tuple[int, ...]]:
    count = draw(st.integers(1, 40))
    positions = sorted(draw(st.lists(st.integers(1, 1 << 40), min_size=count, max_size=count)))
    small = st.integers(0, 255)
    key = st.one_of(st.just(7), st.integers(0, (1 << 31) - 1))
    rows = []
    for number, position in enumerate(positions, 1):
        distance = st.integers(0, number - 1)
        rows.append((
            position, draw(st.one_of(st.just(0), st.integers(0, 1 << 45))), draw(key), draw(st.integers(0, 1 << 20)),
            draw(key), draw(key), draw(_times), draw(small), draw(small), draw(small), draw(distance), draw(distance),
        ))  # fmt: skip
    return rows


@given(tables())
def test_what_is_packed_comes_back(rows):
    """Numbers of every size come back as they were, as rows and as arrays, known and unknown times alike."""
    block = pack(rows)
    assert list(unpack(block)) == rows
    store = ColumnStore()
    store.add([block], len(rows))
    columns = store.with_tail(len(rows), [])
    for at, name in enumerate(COLUMNS[:-2]):
        assert getattr(columns, name)[1:].tolist() == [row[at] for row in rows]
    for at, name in enumerate(COLUMNS[-2:], len(COLUMNS) - 2):
        wanted = [number - row[at] if row[at] else 0 for number, row in enumerate(rows, 1)]
        assert getattr(columns, name)[1:].tolist() == wanted


@given(tables(), st.integers(0, 40))
def test_columns_grow_as_their_blocks_come(rows, cut):
    """Blocks one after the other, a block that is known in part, and rows behind all blocks give the same arrays."""
    cut = min(cut, len(rows))
    whole, parts, tail = ColumnStore(), ColumnStore(), ColumnStore()
    whole.add([pack(rows)], len(rows))
    wanted = whole.with_tail(len(rows), [])
    if cut:
        parts.add([pack(rows[: cut // 2]), pack(rows[cut // 2 : cut])] if cut > 1 else [pack(rows[:cut])], cut)
        tail.add([pack(rows[:cut])], cut)
    if cut < len(rows):
        parts.add([pack(rows)], len(rows), skip=cut)
    for found in (parts.with_tail(len(rows), []), tail.with_tail(cut, rows[cut:])):
        assert len(found) == len(rows)
        assert found.mean_tokens == pytest.approx(wanted.mean_tokens)
        for name in (*COLUMNS, "after", "following"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), name


@given(tables(), st.data())
def test_a_changed_block_is_an_error(rows, data):
    """Whatever byte is changed or missing, nothing is unpacked."""
    block = bytearray(pack(rows))
    at = data.draw(st.integers(0, len(block) - 1))
    block[at] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(block), bytes(block[:at]), "text", None):
        with pytest.raises(apsw.CorruptError):
            list(unpack(damaged))


def test_a_block_of_fewer_columns_is_an_error():
    """What another version packed with fewer columns is no block, however whole it is."""
    with pytest.raises(apsw.CorruptError, match="fewer of them"):
        list(unpack(pack([tuple(range(len(COLUMNS) - 1))])))


def test_equal_columns_cost_nothing():
    """A row of a usual log takes some ten bytes: what repeats and what grows evenly takes none or one."""
    rows = [(n, 0, 500, 80, 3, 1, 1_700_000_000_000_000 + n * 1_000_000, 1, 1, 1, 1, 1) for n in range(4_096)]
    assert len(pack(rows)) < 6 * len(rows)
