"""Moments: what hosts write as times, and what is none."""

from __future__ import annotations

import pytest

from firsthand import moment
from firsthand.moment import Moment

BASE = 1_700_000_000_000_000  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "2023-11-14T22:13:20Z": Moment(BASE),
        "2023-11-14T22:13:20+00:00": Moment(BASE),
        "2023-11-14T22:13:20.5Z": Moment(BASE + 500_000),
        "2023-11-14 22:13:20,123456789": Moment(BASE + 123_456),
        "2023-11-14T23:13:20+01:00": Moment(BASE, 60),
        "2023-11-14T23:13:20+0100": Moment(BASE, 60),
        "2023-11-14T20:43:20-01:30": Moment(BASE, -90),
        "2023-11-14T23:13:20+01": Moment(BASE, 60),
        "2023-11-14T22:13Z": Moment(BASE - 20_000_000),
        "2023-11-14": Moment(BASE - 80_000_000_000),
        "  2023-11-14T22:13:20z ": Moment(BASE),
        "2016-12-31T23:59:60Z": Moment(1_483_228_800_000_000),
        "1970-01-01T00:00:00Z": Moment(0),
        "9999-12-31T23:59:59.999999Z": Moment(253_402_300_799_999_999),
        "0001-01-01T00:00:00Z": Moment(-62_135_596_800_000_000),
        "1960-01-01T00:00:00Z": Moment(-315_619_200_000_000),
    }.items(),
)
def test_texts_that_are_times(text, expected):
    """ISO 8601 in the forms that hosts write reads as one instant with its offset; none means UTC."""
    assert moment.parse(text) == expected


@pytest.mark.parametrize(
    ("number", "microseconds"),
    [(0, 0), (1_700_000_000, BASE), (1_700_000_000_000, BASE), (1_700_000_000.25, BASE + 250_000), (-5, -5_000_000),
     (1_700_000_000_123, BASE + 123_000), (99_999_999_999, 99_999_999_999_000_000)],
)  # fmt: skip
def test_numbers_that_are_times(number, microseconds):
    """Epoch numbers are seconds, from 1e11 on milliseconds."""
    assert moment.parse(number) == Moment(microseconds)


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "2023", "2023-13-01", "2023-02-30", "2023-11-14T25:00:00Z", "2023-11-14T22:13:61Z", "22:13:20",
     "2023-11-14T22:13:20+99:00", "10000-01-01", "2023-11-14T22:13:20Z extra", "٢٠٢٣-11-14", None, True, [], {},
     b"2023-11-14", float("nan"), float("inf"), 1e20, 10**30, -(10**20)],
    ids=repr,
)  # fmt: skip
def test_what_is_no_time(value):
    """What cannot be read as a time is None; the caller keeps the text."""
    assert moment.parse(value) is None


@pytest.mark.parametrize(
    ("microseconds", "offset"),
    [
        (253_402_300_800_000_000, 0),
        (-62_135_596_800_000_001, 0),
        (0, 1_440),
        (0, -1_440),
        (1.0, 0),
        (0, None),
        ("1", 0),
    ],
)
def test_what_no_moment_can_be(microseconds, offset):
    """A moment lies in the years 1 to 9999, its offset is under 24 hours, and both are whole numbers."""
    with pytest.raises(ValueError):
        Moment(microseconds, offset)


def test_moments_are_written_with_their_offset():
    """A moment is written as ISO 8601, in UTC with a Z, to the millisecond unless it is finer."""
    assert str(Moment(BASE)) == "2023-11-14T22:13:20.000Z"
    assert str(Moment(BASE + 1, 60)) == "2023-11-14T23:13:20.000001+01:00"
    assert str(Moment(BASE, -90)) == "2023-11-14T20:43:20.000-01:30"
    assert str(Moment(253_402_300_799_999_999, 60)) == "9999-12-31T23:59:59.999999Z"
    assert Moment(1_999).milliseconds == 1
    assert Moment(-1).milliseconds == -1
