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

from firsthand.compact.merge import earliest, latest, merge
from firsthand.compact.spread import Frequency, hints_of
from firsthand.errors import InvalidArgument
from firsthand.tokens import TokenCounter
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Departure, Hint, Item, Marker, Plan, Window


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
    fresh = [_marker(*pair) for pair in zip(plan.leaves, hints_of(plan.leaves, frequency), strict=True)]
    markers = tuple([_finished(marker, stay, count) for marker in merge([*window.markers, *fresh])])
    last = max(window.through, window.items[-1].position)
    return Window(stay, markers, window.cycle + 1, last, sum(marker.text_tokens for marker in markers))


def _marker(departure: Departure, hints: tuple[Hint, ...]) -> Marker:
    items = departure.items
    first, last = items[0], items[-1]
    times = [item.time for item in items if item.time is not None]
    turns = [item.turn for item in items]
    return Marker(
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        first_turn=min(turns),
        last_turn=max(turns),
        start=earliest(times),
        end=latest(times),
        events=len(items),
        tokens=sum([item.tokens for item in items]),
        hints=hints,
    )


_POSITION = attrgetter("position")


def _finished(marker: Marker, stay: Sequence[Item], count: TokenCounter) -> Marker:
    """Count what stays in the marker's range, and what its text costs; drop hints that it has no room for."""
    begin = bisect_left(stay, marker.first_position, key=_POSITION)
    kept = bisect_right(stay, marker.last_position, lo=begin, key=_POSITION) - begin
    if marker.kept != kept:
        marker = replace(marker, kept=kept)
    elif marker.text_tokens:
        return marker  # it was in the window and nothing in its range has changed
    tokens = count(marker.text)
    while tokens > MARKER_TOKENS_MAX and marker.hints:
        least = min(marker.hints, key=lambda hint: hint.score)
        marker = replace(marker, hints=tuple(hint for hint in marker.hints if hint is not least))
        tokens = count(marker.text)
    return replace(marker, text_tokens=tokens)
