"""Carrying a plan out: items gone, markers in their place."""

from __future__ import annotations

import pytest

from firsthand.context.markers import apply
from firsthand.errors import InvalidArgument
from firsthand.moment import Moment
from firsthand.tokens import estimate
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Departure, Hint, Marker, Plan, Window
from windows import count, made_id, made_window, rare


def planned(window: Window, *runs: tuple[int, int]) -> Plan:
    """A plan in which the runs of positions given leave."""
    leaves = tuple(
        Departure(tuple(item for item in window.items if first <= item.position <= last), "for a test")
        for first, last in runs
    )
    return Plan(leaves, window.tokens, 0, 0)


def applied(window: Window, *runs: tuple[int, int]) -> Window:
    return apply(window, planned(window, *runs), rare, count=count)


def ranges(window: Window) -> list[tuple[int, int, int, int, int]]:
    """First and last position, events, kept and level of each marker."""
    return [(one.first_position, one.last_position, one.events, one.kept, one.level) for one in window.markers]


def test_what_leaves_is_replaced_by_one_marker():
    """The marker says turns, times, count, tokens, topics and pointer of exactly what left; the rest is untouched."""
    before = made_window("s ua uacr u", tokens=100)
    after = applied(before, (2, 5))
    marker = after.markers[0]
    assert after == Window((before.items[0], *before.items[5:]), (marker,), 1, 8, marker.text_tokens)
    assert marker == Marker(
        first=made_id(2), last=made_id(5), first_position=2, last_position=5, first_turn=2, last_turn=3,
        start=Moment(1_700_000_002_000_000), end=Moment(1_700_000_005_000_000), events=4, tokens=400,
        hints=tuple(Hint(f"topic{position}", position, 10.0) for position in (2, 3, 4, 5)),
        text_tokens=estimate(marker.text),
    )  # fmt: skip
    assert marker.text == (
        "[Turns 2-3 evicted, nothing lost: 4 events, 400 tokens, 2023-11-14 22:13 to 22:13. Topics: topic2, topic3, "
        f'topic4, topic5. To read: recall(query) or expand("fh:{made_id(2)}..{made_id(5)}").]'
    )


def test_what_stays_inside_a_range_is_counted_and_counted_again_when_it_leaves():
    """A marker says how many events of its range stand below it, as of now."""
    window = applied(made_window("ua ua ua ua ua"), (1, 2), (4, 5), (7, 8))
    assert ranges(window) == [(1, 5, 4, 1, 1), (7, 8, 2, 0, 0)]
    assert "; 1 of this range stay below" in window.markers[0].text
    window = applied(window, (3, 3))
    assert ranges(window) == [(1, 5, 5, 0, 1), (7, 8, 2, 0, 0)]
    assert "stay below" not in window.markers[0].text
    assert window.markers[0].text_tokens == estimate(window.markers[0].text)


def test_a_marker_that_nothing_touched_is_the_very_same():
    """A compaction writes no marker anew that it did not change."""
    window = applied(made_window("ua ua ua ua ua"), (1, 2), (4, 5))
    again = applied(window, (7, 8))
    assert again.markers[0] is window.markers[0]
    assert ranges(again) == [(1, 5, 4, 1, 1), (7, 8, 2, 0, 0)]


def test_hints_give_way_where_a_marker_would_be_too_long():
    """Hints that cost more than a marker may have are dropped, the least distinctive first."""
    window = made_window("o" * 9)
    topics = [chr(0x4E00 + item.position) * 40 for item in window.items]
    items = [replace(item, terms=(topic,)) for item, topic in zip(window.items, topics, strict=True)]
    shares = {topic: 0.1 / 2**number for number, topic in enumerate(topics)}
    window = replace(window, items=tuple(items))
    marker = apply(window, planned(window, (1, 8)), lambda _: shares, count=count).markers[0]
    assert 0 < len(marker.hints) < 8
    assert [hint.term for hint in marker.hints] == topics[8 - len(marker.hints) : 8]
    assert marker.text_tokens == estimate(marker.text) <= MARKER_TOKENS_MAX


def test_a_plan_for_another_window_is_refused():
    """A plan that names items which are not there is an error that names one, and nothing is done by half."""
    window = made_window("ua u")
    with pytest.raises(
        InvalidArgument, match=f"1 of its 2 items are not in this one, such as {made_id(1)}: plan again"
    ):
        apply(replace(window, items=window.items[1:]), planned(window, (1, 2)), rare, count=count)
