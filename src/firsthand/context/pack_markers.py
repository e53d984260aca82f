"""Fits a window's markers into their share of a pack: shorter, or the older ones as one.

The invariant: the markers shown open every range that the window's markers open,
or none is shown; ranges stay in order and apart. A marker made here stands in the
pack only; the window keeps its own.

It knows markers as values, and counts their texts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from firsthand.tokens import TokenCounter
from firsthand.value import replace, value
from firsthand.window import HINTS_MAX, Hint, Item, Marker, Window, joined

from .short_text import largest

HINTS_SHORT = 2  # of a marker that is shown shorter


@value
class Fitted:
    """Markers as a pack shows them, and their tokens."""

    markers: tuple[Marker, ...]
    tokens: int


def fitted(window: Window, tokens_max: int, count: TokenCounter) -> Fitted:
    """Show a window's markers in so many tokens: as they are, else the oldest shorter, else the oldest as one.

    None is shown when not even one marker for all of them fits.
    """
    markers = window.markers
    long = [count(marker.text) for marker in markers]
    if sum(long) <= tokens_max:
        return Fitted(markers, sum(long))
    short = tuple(replace(marker, hints=spread(marker.hints, HINTS_SHORT)) for marker in markers)
    brief = [count(marker.text) for marker in short]
    all_of = len(markers)

    def shortened(number: int) -> Fitted:
        """The newest so many as they are, the others short."""
        at = all_of - number
        return Fitted((*short[:at], *markers[at:]), sum(brief[:at]) + sum(long[at:]))

    def joining(number: int) -> Fitted:
        """The newest so many short, the others as one."""
        at = all_of - number
        merged = together(markers[:at], window.items)
        return Fitted((merged, *short[at:]), count(merged.text) + sum(brief[at:]))

    def bare(_: int) -> Fitted:
        merged = replace(together(markers, window.items), hints=())
        return Fitted((merged,), count(merged.text))

    ways: tuple[tuple[Callable[[int], Fitted], int], ...] = ((shortened, all_of - 1), (joining, all_of - 2), (bare, 0))
    for way, most in ways:
        number = largest(_fits(way, tokens_max), 0, most)
        if number is not None:
            return way(number)
    return Fitted((), 0)


def _fits(way: Callable[[int], Fitted], tokens_max: int) -> Callable[[int], bool]:
    return lambda number: way(number).tokens <= tokens_max


def together(markers: Sequence[Marker], items: Sequence[Item]) -> Marker:
    """Make one marker of several, for a pack; what stands between them counts as kept in its range."""
    places = [item.position for item in items]
    between = sum(
        bisect_left(places, after.first_position) - bisect_right(places, before.last_position)
        for before, after in pairwise(markers)
    )
    hints = [hint for marker in markers for hint in marker.hints]
    staying = sum(marker.kept for marker in markers) + between
    return joined(markers, max(marker.level for marker in markers), spread(hints, HINTS_MAX), staying)


def spread(hints: Sequence[Hint], most: int) -> tuple[Hint, ...]:
    """Take some hints from all along a range, not only from its beginning."""
    if len(hints) <= most:
        return tuple(hints)
    return tuple(hints[(2 * number + 1) * len(hints) // (2 * most)] for number in range(most))
