"""The newest events of a namespace as they were written, for its indexes: reading them back costs ten times as much.

The invariant: what is handed out is what the log would give, whole and in order of position, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from firsthand.event import Artifact, Event
from firsthand.log.engine import Entries, Entry
from firsthand.log.prepare import Prepared
from firsthand.log.rows import meta_of
from firsthand.moment import Moment

BYTES_MAX = 8 << 20
"""Of the bodies that are kept; where an index does not follow, its events are read from the log."""


class RecentEvents:
    """The events that this process wrote one after the other, and that no index has yet."""

    def __init__(self) -> None:
        self._events: list[Callable[[], Event]] = []
        self._last = self._bytes = 0

    def add(
        self, event: Prepared, namespace: str, session: str, sequence: int, turn: int, position: int, now: Moment,
        chain: bytes,
    ) -> None:  # fmt: skip
        """Note an event that was written at a position."""
        if position != self._last + 1 or self._bytes > BYTES_MAX:
            self.clear()
        self._last = position
        if event.body is None or event.parts is None:  # it was erased before it was restored
            self.clear()
            return
        self._bytes += len(event.body)
        self._events.append(lambda: _event_of(event, namespace, session, sequence, turn, position, now, chain))

    def after(self, namespace_key: int, position: int) -> Entries | None:
        """Give the events behind a position up to the last one; None where not all of them are known."""
        count = self._last - position
        if not 0 < count <= len(self._events):
            return None
        made = tuple(Entry(namespace_key, make()) for make in self._events[-count:])
        return Entries(made, (), self._last)

    def clear(self) -> None:
        """Forget the events: the indexes have them."""
        self._events.clear()
        self._bytes = 0


def _event_of(
    event: Prepared, namespace: str, session: str, sequence: int, turn: int, position: int, now: Moment, chain: bytes
) -> Event:
    body = event.parts
    assert body is not None  # see `add`
    artifact = body.payload if isinstance(body.payload, Artifact) else None
    content = body.payload if isinstance(body.payload, bytes) else None
    return Event(
        position, event.name, namespace, session, sequence, event.part, turn, event.kind, event.agent, event.origin,
        event.trust, event.time, now, body.media.decode(), meta_of(body.meta), body.envelope,
        content, artifact, erased=False, commitment=event.commitment,
        chain=chain,
    )  # fmt: skip
