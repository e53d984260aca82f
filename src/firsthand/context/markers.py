"""Carry a plan out on a window: items gone, markers in their place (total-recall 5.2, A.2).

The invariant: every item that ever left lies in the range of exactly one marker,
and every item inside a marker's range that stays is counted by it. Apart from what
the plan names, the items stay as they are.

Pure: the log is not asked here. The one thing from outside is how common a term is
in the store, asked once, for the few terms that may become hints.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from firsthand.context.marker_merge import Group, grouped
from firsthand.context.topic_hints import Frequency, Span, hints_of
from firsthand.errors import InvalidArgument
from firsthand.tokens import TokenCounter
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Departure, Item, Marker, Plan, Window, earliest, joined, latest


def apply(window: Window, plan: Plan, frequency: Frequency, *, count: TokenCounter) -> Window:
    """Make the window that a plan leads to; a plan in which nothing leaves gives the same window.

    Args:
        frequency: gives the share of the store's events (0 to 1) that hold each of some terms.
        count: counts the tokens of the markers.

    Raises:
        InvalidArgument: the plan names an item that is not in the window: it was made for another one.
    """
    if not plan.leaves:
        return window
    gone = {item.id for departure in plan.leaves for item in departure.items}
    stay = tuple([item for item in window.items if item.id not in gone])
    if len(window.items) - len(stay) != len(gone):
        missing = gone - {item.id for item in window.items}
        raise InvalidArgument(
            f"a plan is carried out on the window that it was made for; {len(missing):,} of its {len(gone):,} items "
            f"are not in this one, such as {min(missing)}: plan again"
        )
    by_position = sorted(stay, key=_POSITION)
    markers = [
        _priced(marker, count) for marker in _with_departures(window.markers, plan.leaves, by_position, frequency)
    ]
    last = max(window.through, *[item.position for item in window.items])
    return Window(stay, tuple(markers), window.cycle + 1, last, sum([marker.text_tokens for marker in markers]))


def _with_departures(
    markers: Sequence[Marker], departures: Sequence[Departure], stay: Sequence[Item], frequency: Frequency
) -> list[Marker]:
    """Let departures become markers and merge them with those that there are."""
    fresh = {departure.items[0].position: departure.items for departure in departures}
    groups = grouped([*markers, *map(_marker, departures)])
    changed: list[Group] = []
    spans: list[Span] = []
    for group in groups:
        runs = [fresh[member.first_position] for member in group.members if member.first_position in fresh]
        if runs or len(group.members) > 1:
            changed.append(group)
            spans.append(Span(group.first_position, group.last_position, runs, group.hints))
    made = {
        group.first_position: joined(group.members, group.level, hints, _kept(group, stay))
        for group, hints in zip(changed, hints_of(spans, frequency), strict=True)
    }
    return [made.get(group.first_position) or group.members[0] for group in groups]


def _marker(departure: Departure) -> Marker:
    items = departure.items
    first, last = items[0], items[-1]
    times = [item.time for item in items if item.time is not None]
    turns = [item.turn for item in items]
    return Marker(
        first.id, last.id, first.position, last.position, min(turns), max(turns), earliest(times), latest(times),
        len(items), sum([item.tokens for item in items]),
    )  # fmt: skip


_POSITION = attrgetter("position")


def _kept(group: Group, stay: Sequence[Item]) -> int:
    """Count what stays inside a group's range."""
    begin = bisect_left(stay, group.first_position, key=_POSITION)
    return bisect_right(stay, group.last_position, lo=begin, key=_POSITION) - begin


def _priced(marker: Marker, count: TokenCounter) -> Marker:
    """Count what a new marker's text costs, and drop hints that it has no room for."""
    if marker.text_tokens:
        return marker  # it was in the window, and nothing has left from its range
    tokens = count(marker.text)
    while tokens > MARKER_TOKENS_MAX and marker.hints:
        least = min(marker.hints, key=lambda hint: hint.score)
        marker = replace(marker, hints=tuple(hint for hint in marker.hints if hint is not least))
        tokens = count(marker.text)
    return replace(marker, text_tokens=tokens)
