"""How likely an answer is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Band
from firsthand.recall.bands import BY_WORDS, LIKELY_FROM, POSSIBLE_FROM, WITH_VECTORS, band_of, likelihood

SHARES = st.floats(0, 1)


@pytest.mark.parametrize("names", [list(BY_WORDS), list(WITH_VECTORS)])
@given(data=st.data())
def test_a_likelihood_rises_with_each_signal(names, data):
    """A likelihood is from 0 to 1, and no signal that rises makes it fall, with vectors and without."""
    signals = {name: data.draw(SHARES) for name in names}
    low = likelihood(signals)
    assert 0 <= low <= 1
    for name in names:
        assert likelihood({**signals, name: data.draw(st.floats(signals[name], 1))}) >= low


def test_bands_begin_where_they_say():
    """`likely` begins at a half; an answer without hits is unlikely."""
    assert [band_of(number) for number in (1.0, LIKELY_FROM, 0.49, POSSIBLE_FROM, 0.19, 0.0)] == [
        Band.LIKELY, Band.LIKELY, Band.POSSIBLE, Band.POSSIBLE, Band.UNLIKELY, Band.UNLIKELY,
    ]  # fmt: skip
    assert likelihood({}) == 0.0


def test_a_young_store_is_sure_of_what_it_holds(talk, ranking):
    """Among two events, the one that holds all of a question is likely; what holds one word of many is not."""
    talk("s", "The pontoon is moored at the north quay.", "Good.")
    assert band_of(ranking("where is the pontoon moored, at the north quay?").likelihood) is Band.LIKELY
    assert band_of(ranking("which violin did the sister of the pontoon's captain restore?").likelihood) is Band.UNLIKELY


def test_what_is_there_is_likelier_than_what_is_not(talk, ranking):
    """A question that a line answers is likely; one that shares a word with much, unlikely."""
    talk("s", "Where did you moor the pontoon?", "The pontoon is moored at the north quay beside the ferry.", "Good.")
    for number in range(30):
        talk(f"t{number}", f"The ferry left at {number}.", "Good.")
    there = ranking("where is the pontoon moored, at the north quay?").likelihood
    not_there = ranking("which violin did the ferry captain's sister restore?").likelihood
    assert band_of(there) is Band.LIKELY
    assert band_of(not_there) is not Band.LIKELY
    assert there > not_there
