"""Memories by the names that are typed for them.

The invariant: nothing typed is passed over, and what each run is set beside is never
left out, since nothing else says what a memory is worth.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from firsthand import InvalidArgument


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Give it."""


T = TypeVar("T", bound=Named)


def those_named(there: Sequence[T], names: Collection[str], beside: Collection[str]) -> tuple[T, ...]:
    """Give memories by name, in their own order; all of them without names.

    Args:
        beside: names of what those that were typed are set beside, such as no memory.

    Raises:
        InvalidArgument: one is not there.
    """
    known = [one.name for one in there]
    for name in names:
        if name not in known:
            raise InvalidArgument(f"there is no arm {name!r}; these are: {', '.join(known)}")
    wanted = {*names, *beside}
    return tuple(one for one in there if not names or one.name in wanted)
