"""One base of words and vectors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.fuse import BEST_ROWS, RATIO_MAX, RATIO_MIN, TOKENS_USUAL, About, about, fuse, weight

BASES = st.dictionaries(st.integers(1, 40), st.floats(0.0, 1.0), max_size=20)
COSINES = st.dictionaries(st.integers(1, 40), st.floats(-1.0, 1.0), max_size=20)
ABOUT = st.builds(About, st.floats(0.0, 1e6), st.floats(0.0, 1e6))
USUAL = About(TOKENS_USUAL, 1.0)  # a share of one third


@given(BASES, COSINES, ABOUT)
def test_a_base_is_made_for_every_row_of_either_and_is_from_0_to_1(lexical, dense, seen):
    """Each row that words or vectors found has one base, from 0 to 1, and no other row has."""
    fused = fuse(lexical, dense, seen)
    assert set(fused) == set(lexical) | set(dense)
    assert all(0.0 <= base <= 1.0 for base in fused.values())


@given(BASES, ABOUT)
def test_without_vectors_the_words_stand_as_they_are(lexical, seen):
    """No vectors leave every base by words as it is."""
    assert fuse(lexical, {}, seen) == lexical


@given(BASES, COSINES.filter(bool), ABOUT, st.floats(0.0, 1.0), st.data())
def test_a_base_rises_with_each_score(lexical, dense, seen, more, data):
    """A row with a better cosine or more of the words is not worse for it."""
    before = fuse(lexical, dense, seen)
    row = data.draw(st.sampled_from(sorted(dense)))
    assert fuse(lexical, dense | {row: max(dense[row], more)}, seen)[row] >= before[row] - 1e-9
    assert fuse(lexical | {row: max(lexical.get(row, 0.0), more)}, dense, seen)[row] >= before[row] - 1e-9


@given(BASES, COSINES.filter(bool), ABOUT)
def test_a_row_that_the_vectors_did_not_give_counts_as_the_last_that_they_gave(lexical, dense, seen):
    """To leave rows out of the list of the nearest and to give them the last one's cosine is the same."""
    last = min(dense.values())
    assert fuse(lexical, dense | {row: last for row in lexical if row not in dense}, seen) == fuse(lexical, dense, seen)


def test_the_base_is_the_weighed_sum_of_both():
    """At a share of one third, two thirds of the words and one third of the cosine."""
    fused = fuse({1: 0.6, 2: 0.3, 3: 0.3}, {1: 0.3, 2: 0.9, 4: 0.6, 5: -0.2}, USUAL)
    assert fused == pytest.approx({1: 0.5, 2: 0.5, 3: 0.2, 4: 0.2, 5: 0.0})


def test_longer_rows_give_the_vectors_more_weight():
    """The share of the cosine grows with the root of the length of the rows that the words find best."""
    shares = [weight(About(tokens, 0.0)) for tokens in (20.0, 80.0, 320.0, 1280.0)]
    assert shares == pytest.approx([0.2, 1 / 3, 0.5, 2 / 3])


@given(ABOUT)
def test_neither_side_is_ever_silenced(seen):
    """The share stays between those of the least and the greatest ratio, at any length."""
    assert RATIO_MIN / (1 + RATIO_MIN) <= weight(seen) <= RATIO_MAX / (1 + RATIO_MAX)


def test_where_the_words_find_nothing_the_mean_row_of_the_store_decides():
    """Without a row by words the share is that of the store's mean length."""
    assert about({}, {}, 320.0) == About(0.0, 320.0)
    assert weight(About(0.0, 320.0)) == weight(About(320.0, 20.0))


def test_only_the_best_rows_tell_how_long_rows_are():
    """The length is the mean of the ten rows best by words; rows without any of them do not count."""
    bases = {row: 1.0 - row / 100 for row in range(BEST_ROWS + 5)} | {90: 0.0}
    tokens = {row: 10 + row for row in range(BEST_ROWS)} | dict.fromkeys((*range(BEST_ROWS, 15), 90), 9000)
    assert about(bases, tokens, 7.0) == About(14.5, 7.0)
    assert about({1: 0.2, 90: 0.0}, {1: 30, 90: 9_000}, 7.0) == About(30.0, 7.0)


def test_of_equally_good_rows_the_first_tell_the_length():
    """Ties at the tenth place are settled by the row, so that an answer does not depend on an order of reading."""
    bases = dict.fromkeys(range(12), 0.5)
    tokens = {row: 10 * (row + 1) for row in range(12)}
    assert about(bases, tokens, 7.0) == about(dict(reversed(bases.items())), tokens, 7.0) == About(55.0, 7.0)


@pytest.mark.parametrize(("lexical", "dense"), [({1: 1.2}, {1: 0.1}), ({1: 0.2}, {1: math.nan}), ({}, {1: 3.0})])
def test_what_is_no_score_is_refused(lexical, dense):
    """A base or a cosine out of its range is an error of the caller and is not ranked."""
    with pytest.raises(AssertionError, match="row 1 has"):
        fuse(lexical, dense, USUAL)
