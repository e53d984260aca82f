"""Reads what lies around an event in its session.

The invariant: only searchable events of the scope are given, up to the head that the
recall began at, and a damaged one is left out and named in ``damaged``, as everywhere
in recall. Events are read as they are asked for, the nearest first, and kept for the
length of one recall: most partners stand next to their hits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.answer import Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind
from firsthand.log.read import Reader
from firsthand.value import field, value

FIRST_EVENTS = 2
"""Read at first; then three times as many each time."""


@value(frozen=False)
class _Run:
    """What was read of one side of an event."""

    events: list[Event] = field(default_factory=list)
    edge: int = 0
    page: int = FIRST_EVENTS
    whole: bool = False


class SessionAround:
    """The neighbourhood of events of one namespace.

    Attributes:
        damaged: sentences on the events that could not be read.
    """

    def __init__(self, reader: Reader, namespace: str, scope: Scope, head: int) -> None:
        self._reader, self._namespace, self._scope, self._head = reader, namespace, scope, head
        self._runs: dict[tuple[int, bool, Kind | None], _Run] = {}
        self.damaged: list[str] = []

    def before(self, event: Event, distance: int, kind: Kind | None = None) -> Iterator[Event]:
        """Yield events before one, the nearest first, up to so many places of its session away."""
        return self._near(event, distance, kind, newest_first=True)

    def behind(self, event: Event, distance: int, kind: Kind | None = None) -> Iterator[Event]:
        """Yield events behind one, the nearest first, up to so many places of its session away."""
        return self._near(event, distance, kind, newest_first=False)

    def _near(self, event: Event, distance: int, kind: Kind | None, *, newest_first: bool) -> Iterator[Event]:
        run = self._runs.setdefault((event.position, newest_first, kind), _Run(edge=event.position))
        at = 0
        while True:
            while at < len(run.events):
                one = run.events[at]
                if abs(one.sequence - event.sequence) > distance:
                    return
                if one.is_searchable and not one.erased and within(one, self._scope):
                    yield one
                at += 1
            if run.whole:
                return
            self._read_on(event, kind, run, newest_first=newest_first)

    def _read_on(self, event: Event, kind: Kind | None, run: _Run, *, newest_first: bool) -> None:
        skipped: list[int] = []

        def left_out(position: int, error: StoreDamaged) -> None:
            skipped.append(position)
            self.damaged.append(f"an event is damaged and was left out: {error}")

        found = list(
            self._reader.events(
                self._namespace, session=event.session, kind=kind, limit=run.page, newest_first=newest_first,
                after=0 if newest_first else run.edge, before=run.edge if newest_first else self._head + 1,
                damaged=left_out,
            )
        )  # fmt: skip
        places = [one.position for one in found] + skipped
        run.whole = len(places) < run.page
        if places:
            run.edge = min(places) if newest_first else max(places)
        run.events += found
        run.page *= 3


def within(event: Event, scope: Scope) -> bool:
    """Say whether an event is in a scope: what the index asks in SQL, of one event."""
    return (
        (_is_named(event.session, scope.sessions) or not scope.sessions)
        and not _is_named(event.session, scope.without_sessions)
        and (event.agent in scope.agents or not scope.agents)
        and (event.kind in scope.kinds or not scope.kinds)
        and (scope.since is None or (event.time is not None and event.time.microseconds >= scope.since.microseconds))
        and (scope.until is None or (event.time is not None and event.time.microseconds <= scope.until.microseconds))
        and (scope.trust_max is None or event.trust <= scope.trust_max)
        and (scope.after_position is None or event.position > scope.after_position)
        and (scope.before_position is None or event.position < scope.before_position)
    )


def _is_named(session: str, names: Sequence[str]) -> bool:
    return any(session == name or (name.endswith("*") and session.startswith(name[:-1])) for name in names)
