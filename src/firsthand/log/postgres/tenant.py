"""What a process knows of a namespace, and one commit to it: events hashed onto the head that is known.

The invariant: what is known of a namespace's sessions is right if its head is, for the head is rolled over every
event; the head is compared as the commit is written. So it is read first, and what hangs on it after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from itertools import chain
from operator import attrgetter
from threading import Event as Flag
from typing import Any

import psycopg

from firsthand.errors import AppendError, FirsthandError, IdConflict, StaleExpectation, StoreBusy
from firsthand.event import commit_to, genesis, roll
from firsthand.log.prepare import Batch, Prepared, chained
from firsthand.log.results import Appended
from firsthand.moment import Moment
from firsthand.value import field, replace, value

from .connection import array_of
from .seal import Seal

Row = tuple[Any, ...]


@value(frozen=False, eq=False)
class Ticket:
    """Batches of one namespace on their way, and what came of them.

    Attributes:
        also: further work in the same transaction, done before the append.
        woken: set when it is settled, or when its owner is to commit for all that wait.
    """

    namespace: int
    batches: Sequence[Batch]
    also: Callable[[psycopg.Connection], None] | None = None
    result: tuple[Appended, ...] | None = None
    error: FirsthandError | None = None
    woken: Flag = field(default_factory=Flag)

    @property
    def settled(self) -> bool:
        """Whether it is known what came of it."""
        return self.result is not None or self.error is not None

    @property
    def events(self) -> Iterator[Prepared]:
        """Its events, in order."""
        return chain.from_iterable(batch.events for batch in self.batches)

    @property
    def plain(self) -> bool:
        """Whether it is an append as any other: without further work, and not out of an export."""
        return self.also is None and all(event.restored is None for event in self.events)

    @property
    def size_bytes(self) -> int:
        """What its events weigh."""
        return sum(len(event.stored or b"") for event in self.events)

    def settle(self, outcome: tuple[Appended, ...] | FirsthandError) -> None:
        """Say what came of it, and wake its owner, who gets an error of their own, with what can be submitted again."""
        if isinstance(outcome, FirsthandError):
            self.error = copy(outcome)
            self.error.__cause__ = outcome.__cause__
            if isinstance(self.error, StoreBusy) and self.also is None:
                self.error.batch = tuple(self.batches)
        else:
            self.result = outcome
        self.woken.set()


@value
class Session:
    """A session as far as this process knows it; `key` is the position of its first event."""

    key: int
    name: str
    length: int
    turn: int
    last_position: int
    first_time: int | None
    last_time: int | None
    head: bytes


@value(frozen=False, eq=False)
class Tenant:
    """A namespace as far as this process knows it.

    Attributes:
        doubted: others write here too, so the head is read before the next commit.
    """

    key: int
    name: str
    position: int = 0
    head: bytes = bytes(32)
    sessions: dict[str, Session] = field(default_factory=dict)
    doubted: bool = False


class Work:
    """One commit of one namespace: its new rows, and what becomes of each ticket. The tenant changes in `apply` alone.

    Args:
        known: events of the tickets that are there already, by id.
    """

    def __init__(self, tenant: Tenant, now: Moment, known: dict[bytes, Row], seal: Seal) -> None:
        self.tenant, self._now, self._known, self._seal = tenant, now, known, seal
        self.outcomes: list[tuple[Ticket, tuple[Appended, ...] | FirsthandError]] = []
        self._position, self._head = tenant.position, tenant.head
        self._sessions: dict[str, Session] = {}
        self._rows: list[Row] = []
        self._uses: list[tuple[bytes, int]] = []
        self._taken: dict[bytes, tuple[int, Prepared, str]] = {}

    def take(self, ticket: Ticket) -> bool:
        """Take a ticket's batches in, all or none; False where it is refused."""
        try:
            places = [self._places(batch) for batch in ticket.batches]
        except AppendError as error:
            self.outcomes.append((ticket, error))
            return False
        out = []
        for batch, positions in zip(ticket.batches, places, strict=True):
            for event, there in zip(batch.events, positions, strict=True):
                position = there or self._insert(event, self._session(batch.session))
                out.append(Appended(position, event.name, new=not there))
        self.outcomes.append((ticket, tuple(out)))
        return True

    def _session(self, name: str) -> Session:
        return self._sessions.get(name) or self.tenant.sessions[name]

    def _places(self, batch: Batch) -> list[int]:
        """Give each event's position if it is there already, else 0, and refuse what conflicts."""
        session = self._session(batch.session)
        positions = []
        within: set[bytes] = set()
        for event in batch.events:
            row = self._known.get(event.id)
            taken = self._taken.get(event.id)  # of a ticket before this one
            same = row is None or _is_same(row, event, session)
            same = same and (taken is None or (taken[2] == batch.session and _is_retry(taken[1], event)))
            position = row[0] if row is not None else taken[0] if taken is not None else 0
            if not batch.derived_ids and not same:
                raise IdConflict(
                    f"event id {event.name} is in the log already (position {position}) with other bytes or another "
                    "place; a retry carries the same event, a new event a new id"
                )
            if event.id in within:
                raise IdConflict(f"the batch holds event id {event.name} twice; give each event an id of its own")
            within.add(event.id)
            positions.append(position)
        expected = batch.expected_position
        if expected is not None and session.last_position != expected and 0 in positions:
            raise StaleExpectation(
                f"session {batch.session!r} was expected to end at position {expected}, it ends at "
                f"{session.last_position}; read what was added and append again"
            )
        return positions

    def _insert(self, event: Prepared, session: Session) -> int:
        position = self._position + 1
        turn, now, chain_hash = chained(event, session.name, session.length, session.turn, session.head, self._now)
        time = event.time
        self._position, self._head = position, roll(self._head, position, chain_hash)
        key, first, last = session.key or position, session.first_time, session.last_time
        if time is not None:
            at = time.microseconds
            first, last = min(first or at, at), max(last or at, at)
        salt, stored = event.salt, event.stored
        if self._seal.on and salt is not None and stored is not None:
            stored = self._seal.body(self.tenant.key, position, event.id, salt, stored)
            salt = None
        self._rows.append(
            (
                event.id, key, session.length, event.part, turn, event.kind.number, event.trust.number,
                event.agent, event.origin, None if time is None else time.microseconds,
                None if time is None else time.offset_minutes, now.microseconds, now.offset_minutes, chain_hash,
                event.commitment, self._head, salt, stored,
            )
        )  # fmt: skip
        if event.artifact is not None:
            self._uses.append((event.artifact.digest, position))
        self._sessions[session.name] = Session(
            key, session.name, session.length + 1, max(session.turn, turn), position, first, last, chain_hash
        )
        self._taken[event.id] = position, event, session.name
        return position

    def write(self, db: psycopg.Connection) -> psycopg.Cursor[Row] | None:
        """Ask for what is new to be written; see `is_written`. None where nothing is new."""
        if not self._rows:
            return None
        columns = [
            *zip(*self._rows, strict=True),
            *zip(*map(_SESSION_FIELDS, self._sessions.values()), strict=True),
            [digest for digest, _ in self._uses],
            [position for _, position in self._uses],
        ]
        head = self.tenant.key, self.tenant.name, self.tenant.position, self.tenant.head, self._head
        arguments = (*head, *map(array_of, _COLUMNS, columns))
        return db.execute(_APPEND, arguments, prepare=True, binary=True)

    def apply(self) -> None:
        """Go on from what was written, and settle the tickets."""
        tenant = self.tenant
        tenant.position, tenant.head = self._position, self._head
        tenant.sessions |= self._sessions
        for ticket, outcome in self.outcomes:
            ticket.settle(outcome)


def is_written(cursor: psycopg.Cursor[Row] | None) -> bool:
    """Wait for what `Work.write` asked for; False, and nothing is there, where the head has moved."""
    row = (True,) if cursor is None else cursor.fetchone()
    return row is not None and row[0] is True


_SESSION_FIELDS = attrgetter("key", "name", "length", "turn", "last_position", "first_time", "last_time", "head")
_OF_EVENTS = (
    "bytea", "bigint", "bigint", "integer", "bigint", "smallint", "smallint", "text", "text", "bigint", "smallint",
    "bigint", "smallint", "bytea", "bytea", "bytea", "bytea", "bytea",
)  # fmt: skip
_OF_SESSIONS = "bigint", "text", "bigint", "bigint", "bigint", "bigint", "bigint", "bytea"
_COLUMNS = (*_OF_EVENTS, *_OF_SESSIONS, "bytea", "bigint")
_APPEND = (
    "SELECT append_1(%b::bigint, %b::text, %b::bigint, %b::bytea, %b::bytea, "
    f"{', '.join(f'%b::{kind}[]' for kind in _COLUMNS)})"
)


def _is_same(row: Row, event: Prepared, session: Session) -> bool:
    """Say whether an event that is there is the one that comes."""
    _, key, part, kind, trust, agent, origin, time, commitment, salt = row
    mine = (
        session.key, event.part, event.kind.number, event.trust.number, event.agent, event.origin,
        None if event.time is None else event.time.microseconds,
    )  # fmt: skip
    if (key, part, kind, trust, agent, origin, time) != mine:
        return False
    if event.body is None:
        return bool(commitment == event.commitment)
    # An erased event has no salt left: its id proves the retry, and its bytes are not stored again.
    return salt is None or commit_to(salt, event.body) == commitment


def _is_retry(event: Prepared, other: Prepared) -> bool:
    """Say whether two events of one id, neither of which is in the log yet, are the same."""
    bare = {"salt": None, "commitment": b"", "stored": None}
    return replace(event, **bare) == replace(other, **bare)


def ask_sessions(db: psycopg.Connection, key: int, names: Collection[str]) -> psycopg.Cursor[Row]:
    """Ask for sessions by name."""
    return db.execute(
        "SELECT session, name, length, turn, last_position, first_time, last_time, head FROM session "
        "WHERE namespace = %s AND name = ANY (%s)",
        (key, sorted(names)),
    )


def read_sessions(cursor: psycopg.Cursor[Row], tenant: Tenant, names: Collection[str]) -> None:
    """Learn the sessions that were asked for; those that are not there yet are new."""
    read = {row[1]: Session(*row) for row in cursor.fetchall()}
    for name in names:
        tenant.sessions[name] = read.get(name) or Session(0, name, 0, 0, 0, None, None, genesis(tenant.name, name))


def known_ids(
    db: psycopg.Connection, pipeline: psycopg.Pipeline, seal: Seal, key: int, tickets: Sequence[Ticket]
) -> dict[bytes, Row]:
    """Read what is there already of the events of some tickets, by id."""
    ids = [event.id for ticket in tickets for event in ticket.events]
    cursor = db.execute(
        "SELECT id, position, session, part, kind, trust, agent, origin, time, commitment, salt, "
        "CASE WHEN salt IS NULL THEN body END FROM event "
        "WHERE namespace = %s AND id = ANY (%s)",
        (key, ids),
    )
    pipeline.sync()
    return {
        row[0]: row[1:11] if row[11] is None else (*row[1:10], seal.opened_body(key, row[1], row[0], row[11])[0])
        for row in cursor.fetchall()
    }
