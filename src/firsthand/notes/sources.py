"""What rests on what: the facts in a note's meta that name its sources, and what was made of an event.

It finds; who takes something out is the ledger, and who erases is the log.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping

from firsthand import pointer
from firsthand.errors import MalformedPointer
from firsthand.event import Event, Kind, texts
from firsthand.pointer import Pointer
from firsthand.space import Space

SOURCES, REPEATS = "sources", "situations_of"
"""Facts in a note's meta: pointers it rests on; of each situation the event whose words it repeats."""
ABOUT = "about"
"""The fact in a message's meta that names what it is about: it rests on it."""
FILE = "file"
"""The fact in a note's meta that names the file of an agent's folder whose version it is."""
PARENTS = "parents"
"""The fact in an entry's meta that names the entries whose place it takes."""


def events_named(space: Space, address: Pointer, most: int, *, newest_first: bool = False) -> list[Event]:
    """Give the event that a pointer names, or the first ones of a span, at most so many."""
    first = space.event(Pointer(address.first))
    if address.last is None:
        return [first]
    before = space.event(Pointer(address.last)).position + 1
    after = first.position - 1
    return [*space.events(first.session, after=after, before=before, limit=most, newest_first=newest_first)]


def rests_on(space: Space, note: Event, erased: Mapping[str, Event]) -> bool:
    """Say whether a note names one of some events as its source, or repeats its words in a situation."""
    named = [text for fact in (SOURCES, REPEATS, ABOUT) for text in texts(note.meta.get(fact))]
    for text in named:
        try:
            address = pointer.parse(text)
        except MalformedPointer:  # what another program wrote there, or nothing for a situation that was given
            continue
        if address.first in erased or address.last in erased:
            return True
        if address.last is not None:
            ends = space.event(Pointer(address.first)), space.event(Pointer(address.last))
            session, low, high = ends[0].session, ends[0].position, ends[1].position
            if any(event.session == session and low <= event.position <= high for event in erased.values()):
                return True
    return False


def resting_on(space: Space, events: Iterable[Event], kinds: Collection[Kind]) -> list[Event]:
    """Give the events of some kinds that rest on some others, or on such a one, or came of it, in order."""
    gone = {event.id: event for event in events}
    resting: list[Event] = []
    after = min((event.position for event in gone.values()), default=0)  # what rests on something comes after it
    of_each = (readable(space, None, after, kind) for kind in kinds) if gone else ()
    for event in heapq.merge(*of_each, key=lambda event: event.position):
        if event.erased or event.id in gone:
            continue
        if not gone.keys().isdisjoint(texts(event.meta.get(PARENTS))) or rests_on(space, event, gone):
            gone[event.id] = event
            resting.append(event)
    return resting


def readable(space: Space, session: str | None, after: int, kind: Kind) -> Iterator[Event]:
    """Yield events; what is damaged says nothing that could be read, and stops no erasure."""
    reader = space.log.reader
    return reader.events(space.namespace, session=session, after=after, kind=kind, damaged=lambda *_: None)
