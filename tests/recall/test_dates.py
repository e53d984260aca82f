"""The stretches of time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Moment
from firsthand.recall.dates import SPANS_MAX, spans

NOW = Moment(int(datetime(2024, 3, 6, 15, 30, tzinfo=UTC).timestamp()) * 1_000_000)  # a Wednesday


def day(year, month, number):
    return int(datetime(year, month, number, tzinfo=UTC).timestamp()) * 1_000_000


def read(text, now=NOW):
    return [(span.since, span.until) for span in spans(text, now)]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("on 2023-05-08", (2023, 5, 8), (2023, 5, 9)),
        ("in 2023-12", (2023, 12, 1), (2024, 1, 1)),
        ("the 8th of May 2023", (2023, 5, 8), (2023, 5, 9)),
        ("on May 8, 2023?", (2023, 5, 8), (2023, 5, 9)),
        ("in December 2023", (2023, 12, 1), (2024, 1, 1)),
        ("what happened in May", (2023, 5, 1), (2023, 6, 1)),
        ("in February", (2024, 2, 1), (2024, 3, 1)),
        ("on March 6", (2024, 3, 6), (2024, 3, 7)),
        ("on March 7", (2023, 3, 7), (2023, 3, 8)),
        ("what did I say yesterday", (2024, 3, 5), (2024, 3, 6)),
        ("last night", (2024, 3, 5), (2024, 3, 6)),
        ("this morning", (2024, 3, 6), (2024, 3, 7)),
        ("two days ago", (2024, 3, 4), (2024, 3, 5)),
        ("last week", (2024, 2, 26), (2024, 3, 4)),
        ("this weekend", (2024, 3, 9), (2024, 3, 11)),
        ("last month", (2024, 2, 1), (2024, 3, 1)),
        ("last year", (2023, 1, 1), (2024, 1, 1)),
        ("on Monday", (2024, 3, 4), (2024, 3, 5)),
        ("last Wednesday", (2024, 2, 28), (2024, 2, 29)),
        ("in 2022", (2022, 1, 1), (2023, 1, 1)),
    ],
)
def test_a_named_time_is_read(text, since, until):
    """Dates and the words for times are read as what they stand for, counted from the moment of asking."""
    assert read(text) == [(day(*since), day(*until))]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("before 2023-05-08", None, (2023, 5, 8)),
        ("until May 2023", None, (2023, 6, 1)),
        ("since the 8th of May 2023", (2023, 5, 8), None),
        ("after May 8, 2023", (2023, 5, 9), None),
        ("since yesterday", (2024, 3, 5), None),
    ],
)
def test_a_side_of_a_time_is_open(text, since, until):
    """Before and until, after and since open one end of the stretch."""
    assert read(text) == [(since and day(*since), until and day(*until))]


def test_two_weeks_ago_is_as_wide_as_a_week():
    """People round: a week counted back is as wide as a week."""
    ((since, until),) = read("what was it two weeks ago?")
    assert until - since == 7 * 86_400_000_000
    assert since < NOW.microseconds - 14 * 86_400_000_000 < until


def test_the_day_is_that_of_the_clock_asked_by():
    """Where the moment of asking has an offset, a day begins by that clock."""
    ((since, _),) = read("on 2023-05-08", Moment(NOW.microseconds, 120))
    assert since == day(2023, 5, 8) - 7_200_000_000


@pytest.mark.parametrize(
    "text",
    [
        "may I ask",
        "march on",
        "version 2.0.2023",
        "in decision",
        "31 February 2024",
        "room 2023",
        "on 2023-13-40",
        "sun and sat",
    ],
)
def test_what_is_no_time_is_not_read(text):
    """Verbs, versions and days that are not there give nothing."""
    assert read(text) == []


@given(st.text(max_size=200), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_any_text_is_read(text, micros):
    """Whatever the text and the moment, there are at most so many stretches and no error."""
    assert len(spans(text, Moment(micros))) <= SPANS_MAX


@given(st.integers(0, 9_999), st.sampled_from(["days", "weeks", "months", "years"]))
def test_any_count_is_read(count, unit):
    """However long ago, the answer is a stretch or nothing."""
    for since, until in read(f"{count} {unit} ago"):
        assert since is not None
        assert until is not None
        assert since < until
