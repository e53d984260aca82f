"""Reads what lies around an event in its session.

The invariant: only searchable events of the scope are given, up to the head that the
recall began at, and a damaged one is left out and named in ``damaged``, as everywhere
in recall. Reads are kept for the length of one recall.
"""

from __future__ import annotations

from firsthand.answer import Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event
from firsthand.log.read import Reader

SPARE_EVENTS = 8
"""Read beyond what is asked for, for those that are not searchable."""


class SessionAround:
    """The neighbourhood of events of one namespace.

    Attributes:
        damaged: sentences on the events that could not be read.
    """

    def __init__(self, reader: Reader, namespace: str, scope: Scope, head: int) -> None:
        self._reader, self._namespace, self._scope, self._head = reader, namespace, scope, head
        self._kept: dict[tuple[int, int, bool], tuple[Event, ...]] = {}
        self.damaged: list[str] = []

    def before(self, event: Event, number: int) -> tuple[Event, ...]:
        """Give up to so many events before one, the nearest first."""
        return self._read(event, number, newest_first=True)

    def behind(self, event: Event, number: int) -> tuple[Event, ...]:
        """Give up to so many events behind one, the nearest first."""
        return self._read(event, number, newest_first=False)

    def _read(self, event: Event, number: int, *, newest_first: bool) -> tuple[Event, ...]:
        key = event.position, number, newest_first
        if key not in self._kept:
            found = self._reader.events(
                self._namespace, session=event.session, limit=number + SPARE_EVENTS, newest_first=newest_first,
                after=0 if newest_first else event.position, before=event.position if newest_first else self._head + 1,
                damaged=self._left_out,
            )  # fmt: skip
            good = [one for one in found if one.is_searchable and not one.erased and within(one, self._scope)]
            self._kept[key] = tuple(good[:number])
        return self._kept[key]

    def _left_out(self, _position: int, error: StoreDamaged) -> None:
        self.damaged.append(f"an event is damaged and was left out: {error}")


def within(event: Event, scope: Scope) -> bool:
    """Say whether an event is in a scope: what the index asks in SQL, of one event."""
    named = any(
        event.session == name or (name.endswith("*") and event.session.startswith(name[:-1])) for name in scope.sessions
    )
    return (
        (named or not scope.sessions)
        and (event.agent in scope.agents or not scope.agents)
        and (event.kind in scope.kinds or not scope.kinds)
        and (scope.since is None or (event.time is not None and event.time >= scope.since))
        and (scope.until is None or (event.time is not None and event.time <= scope.until))
        and (scope.trust_max is None or event.trust <= scope.trust_max)
        and (scope.after_position is None or event.position > scope.after_position)
        and (scope.before_position is None or event.position < scope.before_position)
    )
