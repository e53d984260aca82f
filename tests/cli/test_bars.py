"""Bars and gauges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.cli.bars import FREE, LETTERS, Run, gauge, runs
from firsthand.window import PARTS


def test_every_part_has_a_letter_of_its_own():
    """Each part of a prompt, and what is free of the budget, is told apart by one letter, without colour."""
    assert set(LETTERS) == {*PARTS, FREE}
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert all(len(letter) == 1 for letter in LETTERS.values())


def test_columns_are_shared_out_by_tokens():
    """A part has columns in proportion, at least one while there are enough; the largest remainder gets the rest."""
    assert runs([("system", 10), ("cues", 0), ("framing", 1), (FREE, 29)], 20) == (
        Run("system", 5), Run("framing", 1), Run(FREE, 14),
    )  # fmt: skip
    assert [run.text for run in runs([("system", 1), ("tool schemas", 1)], 3)] == ["SS", "T"]
    assert [run.columns for run in runs([("system", 1_000), ("cues", 1), ("recall", 1), (FREE, 998)], 10)] == [
        4,
        1,
        1,
        4,
    ]
    assert runs([("system", 0), ("cues", -5)], 20) == runs([], 20) == ()


tokens = st.lists(st.tuples(st.sampled_from([*PARTS, FREE]), st.integers(-10, 1 << 40)), max_size=30)


@given(tokens, st.integers(1, 200))
def test_a_bar_is_as_wide_as_asked(shares, width):
    """Whatever the parts are, their columns sum to the width, in order; none of them is lost in a wide bar."""
    held = [name for name, number in shares if number > 0]
    bar = runs(shares, width)
    assert sum(run.columns for run in bar) == (width if held else 0)
    if len(held) <= width:
        assert [run.name for run in bar] == held


@pytest.mark.parametrize(
    ("number", "most", "drawn"),
    [(0, 10, "    "), (1, 1_000, "#   "), (5, 10, "##  "), (10, 10, "####"), (99, 10, "####"), (1, 0, "    ")],
)
def test_a_gauge_shows_a_number_beside_the_largest(number, most, drawn):
    """What is over zero has a sign, and what is over the largest fills the gauge and no more."""
    assert gauge(number, most, 4) == drawn
