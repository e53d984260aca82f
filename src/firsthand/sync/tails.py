"""Tails of sessions: read from one log as an export has them, and taken into another, link by link.

    rows of a session from a sequence on -> fields of an export's event lines -> the same bytes, checked, appended

The invariant: an event is taken only where its link, derived here from what this log holds, is the one that it came
with; so both logs then hold the same session, byte for byte, or the outcome says why not. What is here is never
written over, and content that was erased here does not come back.

It knows two logs and no way between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from firsthand.agents.withdrawal import follow_erasure
from firsthand.errors import AppendError, FormatError, InvalidArgument, StaleExpectation, StoreDamaged
from firsthand.event import Header, Kind, genesis, link
from firsthand.log import loss
from firsthand.log.export import event_fields, parse_event
from firsthand.log.prepare import Batch, Prepared, check_name, erased_in
from firsthand.log.rows import body_of, check_event_types, erased_by
from firsthand.space import Space
from firsthand.value import replace, value

EVENTS_MAX, BYTES_MAX = 1_000, 4 << 20
"""Of one request; a larger event goes alone."""
EVENT_BYTES = 600  # about what an event takes beside its body
PAGE_EVENTS = 128
Row = tuple[Any, ...]


@value
class Place:
    """Where a session ends: how many events it has, and the chain hash of its last one, hexadecimal."""

    length: int
    head: str


@value
class Outcome:
    """What became of a session, or of its tail.

    Attributes:
        what: ``had``, ``pushed``, ``pulled``; ``fork``: both sides appended; ``bad link``: forged or damaged bytes;
            ``gap``: events are missing; ``lost``: the server lacks, or changed, what it had acknowledged; ``moved``:
            it grew meanwhile, and is compared again; ``refused``: an erasure or a
            decision of it may not be pushed by whoever syncs.
        events: how many were new to the receiver.
        sequence: from which on it is so, where it is not well.
        why: a sentence, with what to do.
    """

    session: str
    what: str
    events: int = 0
    sequence: int | None = None
    why: str = ""

    @property
    def is_well(self) -> bool:
        """True where both sides have the same."""
        return self.what in {"had", "pushed", "pulled"}


def engine_of(space: Space) -> Any:
    """Give the log that holds the truth: the engine of a replica, else the log itself."""
    return getattr(space.log, "engine", space.log)


def places(space: Space) -> dict[str, Place]:
    """Give where each session ends; that of this store's own losses does not travel."""
    sessions = engine_of(space).reader.sessions(space.namespace)
    return {session.name: Place(session.events, session.head) for session in sessions if session.name != loss.SESSION}


def chain_at(space: Space, session: str, sequence: int) -> str:
    """Give the chain hash of an event of a session, hexadecimal; empty where it is not here."""
    rows = engine_of(space).reader.tail(space.namespace, session, sequence, 1)
    return rows[0][15].hex() if rows and rows[0][4] == sequence else ""


def read(
    space: Space, tails: Iterable[tuple[str, int]], stopped: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the events of sessions, each from a sequence on, with about the bytes that each takes.

    An event that cannot be read stands as a sentence that says so, and ends its session.

    Args:
        stopped: sessions that are not read on; looked at while it goes.
    """
    reader, namespace = engine_of(space).reader, space.namespace
    for session, start in tails:
        sequence, rows = start, [()]
        while rows and session not in stopped:
            rows = reader.tail(namespace, session, sequence, PAGE_EVENTS)
            for row in rows:
                names = (namespace, session, row[9], row[10])
                try:
                    body = body_of(row)
                    check_event_types(row)
                    fields = event_fields(row, body, names, {})
                except (StoreDamaged, ValueError, TypeError) as error:
                    yield {"session": session, "sequence": row[4], "damaged": str(error)}, EVENT_BYTES
                    rows = []
                    break
                yield fields, len(body or b"") + EVENT_BYTES
                sequence = row[4] + 1
            rows = rows if len(rows) == PAGE_EVENTS else []


def take(space: Space, events: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """Take tails in: each session's as far as it follows from what is here.

    Raises:
        InvalidArgument: they are no events of an export.
    """
    if len(events) > EVENTS_MAX or not all(isinstance(fields, dict) for fields in events):
        raise InvalidArgument(f"expected a list of at most {EVENTS_MAX:,} events of an export")
    tails = [_Tail(space, name, [*group]) for name, group in groupby(events, key=_session_of)]
    batches = tuple(tail.batch for tail in tails if tail.batch.events)
    try:
        submit(space, batches)
    except (AppendError, StoreDamaged):  # of one session, perhaps: the others are not to suffer for it
        for tail in tails:
            tail.submit()
    return [tail.outcome for tail in tails]


def _session_of(fields: Mapping[str, Any]) -> str:
    return check_name(fields.get("session"), "session", empty=False)


def submit(space: Space, batches: tuple[Batch, ...]) -> None:
    """Append, and take what erasures among it destroyed out of whatever else this store keeps."""
    if names := erased_in(batches):
        follow_erasure(space, names, lambda: space.log.submit(batches))
    elif batches:
        space.log.submit(batches)


def chained(chain: bytes, event: Prepared, sequence: int) -> bytes:
    """Derive an event's link from the one before it and its place in its session."""
    assert event.restored is not None  # every event of an export is one
    header = Header(
        event.id, sequence, event.turn, event.part, event.kind.number, event.trust.number, event.time,
        event.restored.ingested, event.agent, event.origin,
    )  # fmt: skip
    return link(chain, header, event.commitment)


class _Tail:
    """Events of one session, as far as they follow from what is here.

    Attributes:
        batch: those that are new.
        outcome: what became of them, once the batch is in.
    """

    def __init__(self, space: Space, session: str, events: list[Mapping[str, Any]]) -> None:
        self._space, self._session = space, session
        self._new: list[Prepared] = []
        first = _whole(events[0].get("sequence"))
        rows = engine_of(space).reader.tail(space.namespace, session, max(first - 1, 0), len(events) + 2)
        here: dict[int, Row] = {row[4]: row for row in rows}
        self._end = here.get(first - 1)
        self._chain = genesis(space.namespace, session) if self._end is None else self._end[15]
        sequence, what, why = first, "", ""
        if first and self._end is None:
            what, why = "gap", f"event {first - 1} of the session, which comes before, is not here"
        while not what and sequence < first + len(events):
            what, why = self._judged(events[sequence - first], sequence, here.get(sequence))
            sequence += not what
        if resurrected := self._resurrected():
            sequence -= len(self._new) - self._new.index(resurrected)
            del self._new[self._new.index(resurrected) :]
            what, why = "bad link", f"event {resurrected.name} brings content that an erasure behind it destroyed"
        position = 0 if self._end is None else self._end[0]
        self.batch = Batch(space.namespace, session, tuple(self._new), position)
        self.outcome = Outcome(session, what or "taken", len(self._new), sequence if what else None, why)

    def _judged(self, fields: Mapping[str, Any], sequence: int, row: Row | None) -> tuple[str, str]:
        """Say what is wrong with the next event, and why; nothing where it is here, or follows."""
        if "damaged" in fields:
            return "bad link", f"it cannot be read where it comes from: {fields['damaged']}"
        if fields.get("sequence") != sequence:
            return "gap", f"expected event {sequence} of the session; {fields.get('sequence')!r:.40} came"
        if row is not None:
            if row[15].hex() != fields.get("chain"):
                return "fork", "another event stands in its place"
            self._end, self._chain = row, row[15]
            return "", ""
        try:
            line = parse_event(dict(fields))
        except (FormatError, StoreDamaged) as error:
            return "bad link", str(error)
        event = line.event
        if (line.namespace, line.session) != (self._space.namespace, self._session) or event.kind is Kind.LOSS:
            return (
                "bad link",
                f"a {event.kind} of session {line.session!r:.80} in {line.namespace!r:.80} does not belong",
            )
        artifact, restored = event.artifact, event.restored
        if artifact is not None:
            key = self._space.log.namespace_key(self._space.namespace)
            if not self._space.log.artifacts.present(key, artifact.digest):
                return "moved", f"its content, artifact {artifact.digest.hex()}, has not come"
        assert restored is not None  # every event of an export is one
        chain = chained(self._chain, event, sequence)
        if chain != restored.chain:
            return "bad link", f"event {event.name} does not hang on the one before it: it is not what was written"
        self._chain = chain
        self._new.append(replace(event, restored=replace(restored, position=0)))
        return "", ""

    def _resurrected(self) -> Prepared | None:
        """Give the first event with content that an erasure behind it destroyed: no honest log has such a one."""
        erasures = (event for event in self._new if event.kind is Kind.ERASURE and event.parts is not None)
        gone = {name for event in erasures if event.parts is not None for name in erased_by(event.parts.payload)}
        return next((event for event in self._new if event.name in gone and event.body is not None), None)

    def submit(self) -> None:
        """Append by itself, and say what became of it."""
        try:
            if self.batch.events:
                submit(self._space, (self.batch,))
        except StaleExpectation as error:
            self.outcome = Outcome(self._session, "moved", why=str(error))
        except (AppendError, StoreDamaged) as error:
            first = self.batch.events[0].name
            self.outcome = Outcome(self._session, "bad link", 0, self.outcome.sequence, f"from {first} on: {error}")


def _whole(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 62:
        raise InvalidArgument(f"expected the sequence of an event; got {number!r:.40}")
    return number
