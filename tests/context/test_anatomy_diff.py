"""Why a prompt grew."""

from __future__ import annotations

import pytest
from anatomy_samples import identifier, item, marker, record, window
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.anatomy_diff import Change, Merged, diff
from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.window import PARTS


def pointer(number: int, last: int | None = None) -> str:
    return f"fh:{identifier(number)}" + (f"..{identifier(last)}" if last else "")


def two_calls():
    """A call, and the next one after a compaction: results came, a result and a call left, two markers became one."""
    old = window(
        [item(1, 20, Kind.SYSTEM), item(30, 900), item(31, 40, Kind.TOOL_CALL), item(40, 60, Kind.USER_MESSAGE)],
        [marker(2, 9, level=1), marker(10, 19)],
        cycle=2,
    )
    new = window(
        [
            item(1, 20, Kind.SYSTEM), item(40, 50, Kind.USER_MESSAGE),
            item(41, 700), item(42, 8_100), item(43, 800), item(44, 5, Kind.USER_MESSAGE, turn=2),
        ],
        [marker(2, 19, level=2), marker(30, 31)],
        cycle=4,
    )  # fmt: skip
    before = record(
        {
            "system": (100, 20), "history: tool call": (150, 40), "history: tool result": (3_600, 900),
            "markers": (300, 80), "user message": (200, 60), "framing": (50, 0),
        },
        old, call=11, turn=4, topic="wal, checkpoint",
    )  # fmt: skip
    after = record(
        {
            "system": (100, 20), "history: user message": (180, 50), "history: tool result": (39_000, 9_600),
            "markers": (310, 82), "user message": (20, 5), "framing": (60, 0),
        },
        new, call=12, turn=5, topic="fsync, queue", receipt=pointer(99),
    )  # fmt: skip
    return before, after, old, new


def test_a_difference_names_what_came_left_and_merged():
    """Changes are per part, largest first; events and markers that differ are given, and merged markers told apart."""
    before, after, old, new = two_calls()
    found = diff(before, after, window_before=old, window_after=new)
    assert found.changes == (
        Change("history: tool result", 35_400, 8_700, 900, 9_600),
        Change("user message", -180, -55, 60, 5),
        Change("history: user message", 180, 50, 0, 50),
        Change("history: tool call", -150, -40, 40, 0),
        Change("markers", 10, 2, 80, 82),
        Change("framing", 10, 0, 0, 0),
    )
    assert (found.tokens, found.bytes, found.compactions, found.events_compared) == (8_657, 35_270, 2, True)
    assert [one.position for one in found.came] == [41, 42, 43, 44]
    assert [one.position for one in found.left] == [30, 31]
    assert [one.position for one in found.resized] == [40]
    assert found.merged == (Merged(pointer(2, 19), (pointer(2, 9), pointer(10, 19))),)
    assert (found.markers_came, found.markers_left) == ((pointer(30, 31),), ())


def test_backwards_the_difference_is_turned_round():
    """Comparing the later call with the earlier one gives each change with the other sign."""
    before, after, old, new = two_calls()
    forth = diff(before, after, window_before=old, window_after=new)
    back = diff(after, before, window_before=new, window_after=old)
    assert {one.name: (-one.bytes, -one.tokens) for one in back.changes} == {
        one.name: (one.bytes, one.tokens) for one in forth.changes
    }
    assert (back.came, back.left, back.compactions) == (forth.left, forth.came, -2)


def test_without_windows_it_is_said_that_events_were_not_compared():
    """From the records alone come parts and marker pointers, and a sentence that no more was compared."""
    before, after, old, _ = two_calls()
    for found in (diff(before, after), diff(before, after, window_before=old)):
        assert (found.came, found.left, found.merged, found.events_compared) == ((), (), (), False)
        assert found.markers_left == (pointer(2, 9), pointer(10, 19))
        assert found.sentences[0].startswith("Call 11 to call 12: +8,657 tokens: history: tool result +8,700, user")
        assert found.sentences[1:3] == (
            f"2 markers are new: {pointer(2, 19)}, {pointer(30, 31)}.",
            f"2 markers are no longer there: {pointer(2, 9)}, {pointer(10, 19)}.",
        )
        assert found.sentences[-1] == (
            "Events and merged markers were not compared: the windows of both calls could not be had as they were."
        )


def test_a_window_of_another_call_is_refused():
    """Windows are checked against the records, so that no difference is made up."""
    before, after, old, _ = two_calls()
    with pytest.raises(
        InvalidArgument, match=r"expected the window of call 12 with 6 events in cycle 4; got one with 4"
    ):
        diff(before, after, window_before=old, window_after=old)


sizes = st.dictionaries(st.sampled_from(PARTS), st.tuples(st.integers(0, 5_000), st.integers(0, 5_000)))


@given(sizes, sizes)
def test_changes_sum_to_the_change_of_the_whole(old, new):
    """For any two calls the changes of the parts add up, in bytes and in tokens."""
    found = diff(record(old), record(new, call=2))
    assert sum(one.bytes for one in found.changes) == found.bytes == found.after.bytes - found.before.bytes
    assert sum(one.tokens for one in found.changes) == found.tokens == found.after.tokens - found.before.tokens
