"""Work: exact arithmetic over quoted values, bounded whatever the text."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.notes.quantity import literals
from firsthand.notes.work import WorkError, holds, read


def outcomes(text: str) -> list[bool | None]:
    work = read(text)
    pairs = zip(work.sides, work.relations, work.sides[1:], strict=False)
    return [
        holds(left.quantity, relation, right.literals[0] if right.is_literal else right.quantity)
        for left, relation, right in pairs
    ]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7 * $4 + 9 * $2 + $12.50 = $58.50", "58.5 USD"),
        ("(3 + 4) x 2 = 14", "14"),
        ("-5 + 8 = 3", "3"),
        ("20% * $50 = $10", "10 USD"),
        ("1.5 h = 90 min", "5400 s"),
        ("5 GB / 100 MB = 50", "50"),
        ("2026-02-03 - 2026-01-31 = 3 days", "259200 s"),
        ("2026-01-31 + 3 days = 2026-02-03", "2026-02-03"),
        ("14:30 + 25 min = 14:55", "14:55"),
        ("212 passed + 3 failed = 215 tests", "215"),
        ("1,234 + 1 = 1,235", "1235"),
        ("$10 / 3 = $3.33", "3.333333... USD"),
        ("10 / 4 \u2248 3", "2.5"),
        ("212 passed > 3 failed", "212 passed"),
        ("175k tokens - 25k tokens = 150k tokens", "150000 tokens"),
    ],
)
def test_work_that_holds(text, result):
    """Money, units, dates, times, counts and comparisons are computed exactly."""
    assert (str(read(text).result), outcomes(text)) == (result, [True])


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("7 * $4 = $30", False),
        ("$7 * 2 = 14", None),  # equal numbers of different units say nothing
        ("7 notebooks + 1 = 8 pens", None),
        ("3 failed = 3 passed", None),
        ("10 / 4 = 3", False),  # rounded to a whole number only where that is said
        ("2026-01-31 + 3 days < 2026-02-03", False),
    ],
)
def test_work_that_does_not_hold(text, outcome):
    """Another value is false; another unit is neither true nor false."""
    assert outcomes(text) == [outcome]


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("$55 + $3 - $3", ("$3",)), ("1 * $12.50", ("1",)), ("0 * $3", ("$3",)), ("$4 + $0", ("$0",)),
        ("6 * 2 / 2", ("2",)), ("7 * $4 + $2", ()),
    ],
)  # fmt: skip
def test_operands_that_change_nothing_are_named(text, idle):
    """An operand that changes nothing would lend its quote to a result that does not rest on it."""
    assert read(text).idle == idle


@pytest.mark.parametrize(
    "text",
    [
        "", "3 <", "round(a, 9999999)", "9**9999999", "1e9 + 1", "$4 + 3", "1 / 0", "(" * 40 + "1" + ")" * 40,
        "1 + " * 80 + "1", "9" * 31, "2026-01-31 * 2", "2026-01-31 + 2026-02-01", "1 +" * 1_000, "7 = 7 = ", "a = b",
    ],
)  # fmt: skip
def test_what_is_no_work_is_refused(text):
    """What cannot be read or computed says where and what is expected."""
    with pytest.raises(WorkError, match=r"expected|has at most|cannot be added|divides by zero|point in time|takes"):
        read(text)


@given(st.text(alphabet="0123456789.,+-*/()=<> $%hd:'\u2248", max_size=2_000))
def test_work_takes_little_time_whatever_it_is(text):
    """No text makes reading and computing take long: 50 ms of processor time at most."""
    begun = time.thread_time()
    with suppress(WorkError):
        read(text)
    assert time.thread_time() - begun < 0.05


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("7 notebooks at $4 each, one stapler at $12.50", ["7 notebooks", "$4", "$12.50"]),
        ("eu-west-1 v1.2.3 10.0.0.1 a3 3b_c #12 3-5", []),
        ("== 212 passed, 3 failed in 14.2s ==", ["212 passed", "3 failed", "14.2s"]),
        ("from 2026-01-31 to 2026-02-30 at 14:30, 5\u20ac", ["2026-01-31", "14:30", "5\u20ac"]),
    ],
)
def test_literals_stand_alone(text, spelled):
    """Only a number that is no part of a name, a version, an address or a range is a value."""
    assert [literal.text for literal in literals(text)] == spelled


def test_a_spelling_with_two_readings_gives_both():
    """1,234 may be a thousand or a decimal fraction; either may be meant."""
    assert [[str(reading) for reading in literal.readings] for literal in literals("1,234; 1.234,5")] == [
        ["1234", "1.234"], ["1234.5"],
    ]  # fmt: skip
