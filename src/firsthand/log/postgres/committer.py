"""The one way into the log in PostgreSQL: batches are hashed onto their namespace's head, which is compared and set.

    tickets -> what is new of them, chained to sessions and rolled onto the head -> `append` -> settled

Whoever comes while a commit is under way waits for the next one, which carries all that have come: one sync for
many. Two writers of one namespace in different processes meet at the head: who read an old one finds it moved,
holds it in a transaction, reads what came and hashes again.

The invariant: a ticket is settled when its events are on disk, or when it is refused; of its batches all or none are
there. What this process knows of a namespace is right if its head is: the head is rolled over every event.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import errors

from firsthand.errors import (
    AppendError,
    FirsthandError,
    IdConflict,
    StaleExpectation,
    StoreBusy,
    StoreDamaged,
    StoreFull,
)
from firsthand.event import Header, Kind, commit_to, genesis, link, roll
from firsthand.log.prepare import Batch, Prepared
from firsthand.log.results import Appended
from firsthand.moment import Moment
from firsthand.value import field, replace, value

from .connection import Connections, enter

SESSIONS_KEPT = 1_000
TENANTS_KEPT = 1_000
GROUP_TICKETS_MAX = 256
TRIES_MAX = 20
Row = tuple[Any, ...]


@value(frozen=False, eq=False)
class Ticket:
    """Batches of one namespace on their way, and what came of them.

    Attributes:
        also: further work in the same transaction, done before the append.
    """

    namespace: int
    batches: Sequence[Batch]
    also: Callable[[psycopg.Connection], None] | None = None
    result: tuple[Appended, ...] = ()
    error: FirsthandError | None = None
    done: threading.Event = field(default_factory=threading.Event)


@value(frozen=False, eq=False)
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
    """A namespace as far as this process knows it."""

    key: int
    name: str
    position: int = 0
    head: bytes = bytes(32)
    sessions: dict[str, Session] = field(default_factory=dict)

    def copy(self) -> Tenant:
        """Give another one to go on from, so that this one stays what it is if the commit fails."""
        return replace(self, sessions={name: replace(session) for name, session in self.sessions.items()})


class Committer:
    """Commits the tickets of one process, one group at a time."""

    def __init__(self, connections: Connections, clock: Callable[[], Moment]) -> None:
        self._connections, self._clock = connections, clock
        self._lead, self._guard = threading.Lock(), threading.Lock()
        self._waiting: list[Ticket] = []
        self._tenants: dict[int, Tenant] = {}

    def submit(self, ticket: Ticket) -> tuple[Appended, ...]:
        """Have a ticket committed and give what became of its events.

        Raises:
            AppendError: it is refused.
            StoreError: the server could not take it.
        """
        with self._guard:
            self._waiting.append(ticket)
        while not ticket.done.is_set():
            with self._lead:  # whoever has it commits for all that wait
                if ticket.done.is_set():
                    break
                with self._guard:
                    group, self._waiting = self._waiting[:GROUP_TICKETS_MAX], self._waiting[GROUP_TICKETS_MAX:]
                self._commit(group)
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _commit(self, tickets: Sequence[Ticket]) -> None:
        by_tenant: dict[int, list[Ticket]] = {}
        for ticket in tickets:
            by_tenant.setdefault(ticket.namespace, []).append(ticket)
        try:
            with self._connections.use() as db:
                # Several namespaces share a sync; locks of heads are taken in the order of their keys everywhere.
                if len(by_tenant) > 1 and self._in_one(db, by_tenant):
                    return
                for _, group in sorted(by_tenant.items()):
                    self._of_tenant(db, group)
        except FirsthandError as error:
            for key in by_tenant:
                self._tenants.pop(key, None)
            left = [ticket for ticket in tickets if not ticket.done.is_set()]
            if isinstance(error, (StoreDamaged, StoreFull)) and len(left) > 1:  # of one ticket, not of the others
                for ticket in left:
                    self._commit([ticket])
                return
            for ticket in left:
                _settle(ticket, error=error)

    def _in_one(self, db: psycopg.Connection, by_tenant: dict[int, list[Ticket]]) -> bool:
        """Commit several namespaces in one transaction; False, and nothing is there, where one of them did not fit."""
        if any(ticket.also for group in by_tenant.values() for ticket in group):
            return False
        works = []
        try:
            with db.transaction():
                for _, group in sorted(by_tenant.items()):
                    work = self._work(db, group)
                    if work is None or not work.write(db):
                        raise psycopg.Rollback
                    works.append(work)
        except errors.UniqueViolation:  # something of it is there: each namespace is judged by itself
            works = []
        if len(works) < len(by_tenant):
            for key in by_tenant:
                self._tenants.pop(key, None)
            return False
        for work in works:
            self._done(work)
        return True

    def _of_tenant(self, db: psycopg.Connection, tickets: Sequence[Ticket]) -> None:
        """Commit the tickets of one namespace."""
        # 1) In one statement, if nobody else wrote, and nothing of it is there already.
        if not any(ticket.also for ticket in tickets):
            try:
                work = self._work(db, tickets)
                if work is not None and work.write(db):
                    self._done(work)
                    return
            except errors.UniqueViolation:  # something of it is there: a retry, or a conflict
                pass
        # 2) Hold the head, read what there is, and judge each event.
        for _ in range(TRIES_MAX):
            with db.transaction():
                tenant = self._held(db, tickets)
                work = _Work(tenant, self._clock(), _known_ids(db, tenant.key, tickets))
                for ticket in tickets:
                    work.take(ticket)
                    if ticket.also is not None and work.is_taken(ticket):
                        ticket.also(db)
                if work.write(db):
                    break
        else:  # only a namespace that is new can move while its head is held
            raise StoreBusy("PostgreSQL: the namespace's head moved on each attempt; retry with the same ids.")
        self._done(work)

    def _work(self, db: psycopg.Connection, tickets: Sequence[Ticket]) -> _Work | None:
        """Hash tickets onto the head that is known, as if nothing of them were there; None where no head is known.

        What is read of a session here is as right as the head: the head moves with every event.
        """
        tenant = self._tenants.get(tickets[0].namespace)
        events = (event for ticket in tickets for batch in ticket.batches for event in batch.events)
        if tenant is None or any(event.restored is not None for event in events):
            return None
        names = {batch.session for ticket in tickets for batch in ticket.batches} - tenant.sessions.keys()
        if names:
            with db.transaction():
                enter(db, tenant.key)
                tenant.sessions |= _sessions(db, tenant, names)
        work = _Work(tenant.copy(), self._clock(), {})
        for ticket in tickets:
            work.take(ticket)
            if not work.is_taken(ticket):  # it may be a retry, which only the ids that are there can tell
                return None
        return work

    def _held(self, db: psycopg.Connection, tickets: Sequence[Ticket]) -> Tenant:
        """Read a namespace with the sessions of some tickets, and hold its head until the transaction ends."""
        key, name = tickets[0].namespace, tickets[0].batches[0].namespace
        enter(db, key)
        row = db.execute("SELECT at, hash FROM hold_1(%s)", (key,)).fetchone()
        tenant = Tenant(key, name) if row is None else Tenant(key, name, row[0], row[1])
        stored = db.execute("SELECT name FROM namespace WHERE namespace = %s", (key,)).fetchone()
        if stored is not None and stored[0] != name:
            raise StoreDamaged(f"namespaces {name!r} and {stored[0]!r} have one number; choose another name")
        tenant.sessions = _sessions(db, tenant, {batch.session for ticket in tickets for batch in ticket.batches})
        return tenant

    def _done(self, work: _Work) -> None:
        if len(self._tenants) >= TENANTS_KEPT:
            self._tenants.clear()
        if len(work.tenant.sessions) > SESSIONS_KEPT:
            work.tenant.sessions = {}
        self._tenants[work.tenant.key] = work.tenant
        for ticket, outcome in work.outcomes:
            if isinstance(outcome, FirsthandError):
                _settle(ticket, error=outcome)
            else:
                _settle(ticket, outcome)

    def forget(self, namespace: int) -> None:
        """Read a namespace again at the next commit."""
        self._tenants.pop(namespace, None)


def _settle(ticket: Ticket, result: tuple[Appended, ...] = (), error: FirsthandError | None = None) -> None:
    ticket.result, ticket.error = result, error
    ticket.done.set()


def _sessions(db: psycopg.Connection, tenant: Tenant, names: set[str]) -> dict[str, Session]:
    """Read sessions by name; those that are not there yet are new."""
    rows = db.execute(
        "SELECT session, name, length, turn, last_position, first_time, last_time, head FROM session "
        "WHERE namespace = %s AND name = ANY (%s)",
        (tenant.key, sorted(names)),
    ).fetchall()
    read = {row[1]: Session(*row) for row in rows}
    for name in names - read.keys():
        read[name] = Session(0, name, 0, 0, 0, None, None, genesis(tenant.name, name))
    return read


def _known_ids(db: psycopg.Connection, key: int, tickets: Sequence[Ticket]) -> dict[bytes, Row]:
    """Read what is there already of the events of some tickets, by id."""
    ids = [event.id for ticket in tickets for batch in ticket.batches for event in batch.events]
    rows = db.execute(
        "SELECT id, position, session, part, kind, trust, agent, origin, time, commitment, salt FROM event "
        "WHERE namespace = %s AND id = ANY (%s)",
        (key, ids),
    ).fetchall()
    return {row[0]: row[1:] for row in rows}


class _Work:
    """One commit of one namespace: its new rows, and what becomes of each ticket.

    Args:
        known: events of the tickets that are there already, by id.
    """

    def __init__(self, tenant: Tenant, now: Moment, known: dict[bytes, Row]) -> None:
        self.tenant, self._now, self._known = tenant, now, known
        self._position, self._head = tenant.position, tenant.head
        self.outcomes: list[tuple[Ticket, tuple[Appended, ...] | FirsthandError]] = []
        self._rows: list[Row] = []
        self._uses: list[tuple[bytes, int]] = []
        self._taken: dict[bytes, tuple[int, Prepared, str]] = {}
        self._touched: dict[str, Session] = {}

    def take(self, ticket: Ticket) -> None:
        """Take a ticket's batches in, all or none."""
        try:
            places = [self._places(batch) for batch in ticket.batches]
        except AppendError as error:
            self.outcomes.append((ticket, error))
            return
        out = []
        for batch, positions in zip(ticket.batches, places, strict=True):
            session = self.tenant.sessions[batch.session]
            for event, there in zip(batch.events, positions, strict=True):
                position = there or self._insert(event, session)
                out.append(Appended(position, event.name, new=not there))
        self.outcomes.append((ticket, tuple(out)))

    def is_taken(self, ticket: Ticket) -> bool:
        """Say whether a ticket was not refused."""
        return any(other is ticket and not isinstance(outcome, FirsthandError) for other, outcome in self.outcomes)

    def _places(self, batch: Batch) -> list[int]:
        """Give each event's position if it is there already, else 0, and refuse what conflicts."""
        session = self.tenant.sessions[batch.session]
        positions = []
        within: set[bytes] = set()
        for event in batch.events:
            row = self._known.get(event.id)
            taken = self._taken.get(event.id)  # of a ticket before this one
            same = row is None or _is_same(row, event, session)
            same = same and (taken is None or (taken[2] == batch.session and _is_retry(taken[1], event)))
            if not batch.derived_ids and not same:
                position = row[0] if row is not None else taken[0] if taken is not None else 0
                raise IdConflict(
                    f"event id {event.name} is in the log already (position {position}) with other bytes or another "
                    "place; a retry carries the same event, a new event a new id"
                )
            if event.id in within:
                raise IdConflict(f"the batch holds event id {event.name} twice; give each event an id of its own")
            within.add(event.id)
            positions.append(row[0] if row is not None else taken[0] if taken is not None else 0)
        expected = batch.expected_position
        if expected is not None and session.last_position != expected and 0 in positions:
            raise StaleExpectation(
                f"session {batch.session!r} was expected to end at position {expected}, it ends at "
                f"{session.last_position}; read what was added and append again"
            )
        return positions

    def _insert(self, event: Prepared, session: Session) -> int:
        tenant = self.tenant
        position = tenant.position + 1
        counted = session.turn + (event.kind is Kind.USER_MESSAGE and event.part == 0)
        turn = event.turn if event.turn >= 0 else counted
        time, now = event.time, event.restored.ingested if event.restored is not None else self._now
        header = Header(
            event.id, session.length, turn, event.part, event.kind.number, event.trust.number, time, now,
            event.agent, event.origin,
        )  # fmt: skip
        chain = link(session.head, header, event.commitment)
        if event.restored is not None and chain != event.restored.chain:
            raise StoreDamaged(
                f"event {event.name} of session {session.name!r} does not hang on the session as it is here; "
                "restore into an empty namespace, or one that holds the same beginning of the session"
            )
        tenant.position, tenant.head = position, roll(tenant.head, position, chain)
        session.key = session.key or position
        self._rows.append(
            (
                event.id, session.key, session.length, event.part, turn, event.kind.number, event.trust.number,
                event.agent, event.origin, None if time is None else time.microseconds,
                None if time is None else time.offset_minutes, now.microseconds, now.offset_minutes, chain,
                event.commitment, tenant.head, event.salt, event.stored,
            )
        )  # fmt: skip
        if event.artifact is not None:
            self._uses.append((event.artifact.digest, position))
        session.length += 1
        session.turn = max(session.turn, turn)
        session.last_position, session.head = position, chain
        if time is not None:
            session.first_time = min(session.first_time or time.microseconds, time.microseconds)
            session.last_time = max(session.last_time or time.microseconds, time.microseconds)
        self._taken[event.id] = position, event, session.name
        self._touched[session.name] = session
        return position

    def write(self, db: psycopg.Connection) -> bool:
        """Write what is new; False, and nothing is there, where the head has moved."""
        if not self._rows:
            return True
        columns = list(zip(*self._rows, strict=True))
        sessions = [
            (
                each.key,
                each.name,
                each.length,
                each.turn,
                each.last_position,
                each.first_time,
                each.last_time,
                each.head,
            )
            for each in self._touched.values()
        ]
        arguments = [
            self.tenant.key, self.tenant.name, self._position, self._head, self.tenant.head,
            *map(list, columns), *map(list, zip(*sessions, strict=True)),
            [digest for digest, _ in self._uses], [position for _, position in self._uses],
        ]  # fmt: skip
        row = db.execute(_APPEND, arguments, prepare=True, binary=True).fetchone()
        return row is not None and row[0] is True


_TYPES = (
    "bigint", "text", "bigint", "bytea", "bytea", "bytea[]", "bigint[]", "bigint[]", "integer[]", "bigint[]",
    "smallint[]", "smallint[]", "text[]", "text[]", "bigint[]", "smallint[]", "bigint[]", "smallint[]", "bytea[]",
    "bytea[]", "bytea[]", "bytea[]", "bytea[]", "bigint[]", "text[]", "bigint[]", "bigint[]", "bigint[]", "bigint[]",
    "bigint[]", "bytea[]", "bytea[]", "bigint[]",
)  # fmt: skip
_APPEND = f"SELECT append_1({', '.join(f'%b::{name}' for name in _TYPES)})"


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
    return replace(event, salt=None, commitment=b"", stored=None) == replace(
        other, salt=None, commitment=b"", stored=None
    )
