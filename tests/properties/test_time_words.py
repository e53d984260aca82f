"""What must hold for the time words of every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firsthand.moment import Moment
from firsthand.recall.periods import YEARS_BACK
from firsthand.recall.when import ANCHORS_MAX, SAID_MAX, read

PIECES = (
    "last", "this", "two", "a", "few", "weeks", "month", "ago", "before", "after", "since", "until", "between", "and",
    "to", "on", "in", "the", "of", "3rd", "31", "0", "2023", "May", "Feb", "Tuesday", "2023-05-08", "9999-12-31",
    "0001-01-01", "2023-02-30", "2023-05-08T25:00", "08.05.2023", "summer", "weekend", "year", "yesterday", "evening",
    "deploy", ".", "?", "-", "é", "東京", "\u202e", "9" * 30,
)  # fmt: skip
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=16).map(" ".join))
moments = st.builds(
    Moment, st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), st.integers(-1_439, 1_439)
)  # fmt: skip


@given(texts, moments)
def test_every_text_at_every_moment_has_spans_in_order(text, now):
    """No text and no clock raises; spans run forwards, differ, and are bounded in number."""
    found = read(text, now)
    assert len(found.said) <= SAID_MAX
    assert len(found.anchors) <= ANCHORS_MAX
    for said in found.said:
        assert 1 <= len(said.spans) <= YEARS_BACK
        assert len(set(said.spans)) == len(said.spans)
        for span in said.spans:
            assert span.since is not None or span.until is not None
            assert span.since is None or span.until is None or span.since < span.until


@given(texts, moments)
def test_the_rest_and_the_time_words_are_the_text(text, now):
    """Every word of a text stands in the rest or in a time, and none is made up."""
    found = read(text, now)
    words = [word for word in text.split() if word.strip(" .,;:!?)")]
    kept = " ".join([found.rest, *(said.words for said in found.said)]).split()
    assert sorted(word.strip(" .,;:!?)") for word in kept if word.strip(" .,;:!?)")) == sorted(
        word.strip(" .,;:!?)") for word in words
    )


@given(texts, moments)
def test_the_same_text_has_the_same_times(text, now):
    """Reading depends on the text and the moment alone."""
    assert read(text, now) == read(text, now)
