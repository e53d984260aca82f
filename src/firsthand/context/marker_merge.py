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

from firsthand.value import value
from firsthand.window import Hint, Marker


@value
class Group:
    """Markers that become one, in the order in which they begin.

    Attributes:
        level: of the one that they become.
        last_position: of all of them.
    """

    level: int
    last_position: int
    members: list[Marker]

    @property
    def first_position(self) -> int:
        return self.members[0].first_position

    @property
    def hints(self) -> list[Hint]:
        """The hints of all of them."""
        return [hint for marker in self.members for hint in marker.hints]


def grouped(markers: Iterable[Marker]) -> list[Group]:
    """Say which markers merge with which; in order, a group of one for each that merges with none."""
    groups: list[Group] = []
    for marker in sorted(markers, key=_FIRST_POSITION):
        group = Group(marker.level, marker.last_position, [marker])
        while groups and groups[-1].last_position >= marker.first_position:  # they overlap, whatever their levels
            group = _together(groups.pop(), group)
        while groups and groups[-1].level <= group.level:
            group = _together(groups.pop(), group)
        groups.append(group)
    return groups


def _together(left: Group, right: Group) -> Group:
    level = left.level + 1 if left.level == right.level else max(left.level, right.level)
    return Group(level, max(left.last_position, right.last_position), left.members + right.members)


_FIRST_POSITION = attrgetter("first_position")
