"""Markers that merge like the digits of a binary counter (total-recall 5.2, 7.3).

    levels 3 1 0  and a new span 0  ->  3 1 0 0  ->  3 1 1  ->  3 2

The invariant: ranges never overlap, and levels strictly decrease from left to
right; a marker of level k was made of at least 2**k spans. So C compactions of one
span each leave at most log2(C + 1) markers, wherever in the session the spans lie:
where a merged range reaches over events that stay, the marker says how many.

This module does not know the items of a window; who does counts what is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from firsthand.compact.spread import spread
from firsthand.moment import Moment
from firsthand.value import value
from firsthand.window import Marker


def merge(markers: Iterable[Marker]) -> tuple[Marker, ...]:
    """Merge markers, old and new in any order; those that need no merging are returned as they are."""
    groups: list[_Group] = []
    for marker in sorted(markers, key=lambda marker: marker.first_position):
        group = _Group(marker.level, marker.last_position, [marker])
        while groups and groups[-1].last_position >= marker.first_position:  # they overlap, whatever their levels
            group = _together(groups.pop(), group)
        while groups and groups[-1].level <= group.level:
            group = _together(groups.pop(), group)
        groups.append(group)
    return tuple(group.members[0] if len(group.members) == 1 else _joined(group) for group in groups)


@value
class _Group:
    """Markers that become one."""

    level: int
    last_position: int
    members: list[Marker]


def _together(left: _Group, right: _Group) -> _Group:
    level = left.level + 1 if left.level == right.level else max(left.level, right.level)
    return _Group(level, max(left.last_position, right.last_position), left.members + right.members)


def _joined(group: _Group) -> Marker:
    members = group.members
    first = members[0]  # they are sorted by where they begin
    last = max(members, key=lambda marker: marker.last_position)
    starts = [marker.start for marker in members if marker.start is not None]
    ends = [marker.end for marker in members if marker.end is not None]
    return Marker(
        first=first.first,
        last=last.last,
        first_position=first.first_position,
        last_position=last.last_position,
        first_turn=min(marker.first_turn for marker in members),
        last_turn=max(marker.last_turn for marker in members),
        start=earliest(starts),
        end=latest(ends),
        events=sum(marker.events for marker in members),
        tokens=sum(marker.tokens for marker in members),
        level=group.level,
        hints=spread([hint for marker in members for hint in marker.hints], first.first_position, last.last_position),
        kept=sum(marker.kept for marker in members),
    )


_MICROSECONDS = attrgetter("microseconds")


def earliest(times: Iterable[Moment]) -> Moment | None:
    """Give the least of some times; None of none."""
    return min(times, key=_MICROSECONDS, default=None)


def latest(times: Iterable[Moment]) -> Moment | None:
    """Give the greatest of some times; None of none."""
    return max(times, key=_MICROSECONDS, default=None)
