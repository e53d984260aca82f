"""The lists of a session: of several callers that share its name, or of one that goes on from an earlier place.

    the first     u1 a1 u2 a2        its events name no list
    a1~01M7...    u1 a1 v2 b2        goes on from a1, and shares what stands before
    ~01M8...      s1 s2              goes on from nothing

The invariant: an event belongs to one list, and the name of a list says from where it goes on; so each list has a
window of its own, and nothing is appended twice for them. It does not know which list a caller means.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.event import LIST, Event, IdMaker
from firsthand.log.engine import LogReader
from firsthand.value import value

_SEPARATOR = "~"


@value
class Stretch:
    """What of a session's events, between two positions, is of one list.

    Attributes:
        after, before: positions, both excluded; None is the end of the session.
    """

    name: str
    after: int = 0
    before: int | None = None

    def has(self, event: Event) -> bool:
        """Say whether an event is in it."""
        return name_of(event) == self.name and (self.before is None or event.position < self.before)


def name_of(event: Event) -> str:
    """Give the name of the list that an event belongs to; empty for the session's first."""
    return str(event.meta.get(LIST, ""))


def new_name(follows: str = "") -> str:
    """Name a new list.

    Args:
        follows: id of the event that it goes on from; empty for none.
    """
    return f"{follows}{_SEPARATOR}{IdMaker()()}"


def stretches(reader: LogReader, namespace: str, name: str) -> Iterator[Stretch]:
    """Yield what a list is made of, the newest first: its own events, then those of the list that it goes on from.

    Raises:
        Unresolvable: the event that one goes on from is not there.
    """
    before = None
    while True:
        follows = name.partition(_SEPARATOR)[0]
        source = reader.event(namespace, follows) if follows else None
        yield Stretch(name, source.position if source is not None else 0, before)
        if source is None:
            return
        name, before = name_of(source), source.position + 1
