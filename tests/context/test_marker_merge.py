"""Markers merge as the digits of a binary counter do."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from firsthand.moment import Moment
from firsthand.value import replace
from firsthand.window import Marker
from windows import made_id, made_marker, merge


def levels(markers: tuple[Marker, ...]) -> list[int]:
    return [marker.level for marker in markers]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [(1, [0]), (2, [1]), (3, [1, 0]), (4, [2]), (7, [2, 1, 0]), (100, [6, 5, 2]), (1_000, [9, 8, 7, 6, 5, 3])],
)
def test_spans_in_a_row_leave_the_digits_of_their_number(spans, expected):
    """After C compactions at the end there is one marker for each 1 among the binary digits of C."""
    markers: tuple[Marker, ...] = ()
    for number in range(spans):
        markers = merge([*markers, made_marker(number * 10, number * 10 + 9)])
    assert levels(markers) == expected
    assert sum(marker.events for marker in markers) == spans * 10


def test_ten_thousand_compactions_of_any_shape_leave_few_markers():
    """Wherever spans leave, several at a time, levels decrease strictly and bound the number of markers."""
    chance = random.Random(5)
    markers: tuple[Marker, ...] = ()
    free = list(range(40_000))
    spans = most = 0
    for _ in range(10_000):
        fresh = []
        for _ in range(chance.randint(1, 3)):
            at = min(int(chance.expovariate(0.02)), len(free) - 2) if chance.random() < 0.5 else chance.randrange(40)
            fresh.append(made_marker(free[at], free[at]))
            del free[at]
        spans += len(fresh)
        markers = merge([*markers, *fresh])
        most = max(most, len(markers))
        assert levels(markers) == sorted(set(levels(markers)), reverse=True)
    assert sum(marker.events for marker in markers) == spans
    assert spans.bit_length() == 15
    assert most <= 15
    ranges = [(marker.first_position, marker.last_position) for marker in markers]
    assert all(before[1] < after[0] for before, after in pairwise(ranges))


def test_a_span_inside_a_range_is_absorbed():
    """What leaves from inside a marker's range later becomes part of that marker."""
    outer = made_marker(10, 50, events=30, level=3, kept=11)
    assert merge([outer, made_marker(20, 22)]) == (replace(outer, events=33, tokens=200),)


def test_a_span_that_reaches_over_two_ranges_joins_them():
    """Ranges never overlap: what lies across two of them makes them one."""
    (joined,) = merge([made_marker(1, 20, level=2), made_marker(30, 40, level=1), made_marker(15, 35)])
    assert (joined.first_position, joined.last_position, joined.level) == (1, 40, 2)
    assert (joined.first, joined.last) == (made_id(1), made_id(40))


def test_times_are_the_least_and_greatest_though_a_clock_ran_backwards():
    """The range of times does not follow the order of events."""
    left = made_marker(1, 2, start=Moment(500), end=Moment(900))
    right = made_marker(3, 4, start=Moment(100), end=Moment(600))
    (joined,) = merge([left, right])
    assert (joined.start, joined.end) == (Moment(100), Moment(900))
    (joined,) = merge([left, made_marker(3, 4)])
    assert (joined.start, joined.end) == (Moment(500), Moment(900))
