"""The one way into the log in PostgreSQL: batches are hashed onto their namespace's head, which is compared and set.

    tickets -> what is new of them, chained to sessions and rolled onto the head -> `append` -> settled

Whoever comes while a commit is under way waits for the next one, which carries all that have come: one sync for
many. The owner of the first one that waits leads it, so nobody waits for two commits after their own. What has further
work (`Ticket.also`), which may take long, is committed apart, on its owner's own thread and connection. Two writers of
one namespace in different processes meet at the head: who read an old one finds it moved, waits its turn to hold it,
reads what came and hashes again, with all that have come by then.

The invariant: a ticket is settled when its events are on disk, or when it is refused; of its batches all or none are
there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg
from psycopg import errors

from firsthand.errors import AppendError, FirsthandError, KeyMissing, StoreBusy, StoreDamaged, StoreFull, StoreMoved
from firsthand.log.results import Appended
from firsthand.moment import Moment

from .connection import Connections, enter, translated
from .deadline import LONG_S, Connection
from .seal import Seal
from .tenant import Row, Tenant, Ticket, Work, ask_sessions, is_written, known_ids, read_sessions

SESSIONS_KEPT = 256
TENANTS_KEPT = 10_000
GROUP_TICKETS_MAX = 256
GROUP_BYTES_MAX = 8 * 1024 * 1024
TRIES_MAX = 20
APART_MAX = 3
"""So many connections at most are with what is committed apart; the others of the pool are for all else."""
BRIEF_S = 0.2
"""A wait for a head that others hold: `append_1` waits for so long, and each wait of `_alone` is twice the last one."""
_WAIT = "SET LOCAL lock_timeout = {:d}"
_UNFIT = (errors.UniqueViolation, errors.PipelineAborted)

_OF_ONE = (AppendError, StoreDamaged, StoreFull, StoreMoved, KeyMissing)
"""What is wrong with one ticket or namespace, and not with the others of a group."""


class Committer:
    """Commits the tickets of one process, one group at a time."""

    def __init__(self, connections: Connections, seal: Seal, clock: Callable[[], Moment]) -> None:
        self._connections, self._seal, self._clock = connections, seal, clock
        self._begin()

    def _begin(self) -> None:
        self._guard = threading.Lock()
        self._waiting: list[Ticket] = []
        self._places = threading.Semaphore(APART_MAX)
        self._leader: Ticket | None = None
        self._tenants: dict[int, Tenant] = {}  # the one that was used last stands last
        self._pid = os.getpid()

    def submit(self, ticket: Ticket) -> tuple[Appended, ...]:
        """Have a ticket committed and give what became of its events.

        Raises:
            AppendError: it is refused.
            StoreError: the server could not take it.
        """
        if self._pid != os.getpid():  # after a fork: who leads, and who waits, stayed in the parent
            self._begin()
        if ticket.also is not None:
            self._apart(ticket)
        else:
            self._queue(ticket)
        if ticket.error is not None:
            raise ticket.error
        assert ticket.result is not None
        return ticket.result

    def _queue(self, ticket: Ticket) -> None:
        """Wait for a commit, or lead it."""
        try:
            with self._guard:
                self._waiting.append(ticket)
                self._leader = self._leader or ticket
            if self._leader is not ticket:
                ticket.woken.wait()
            if not ticket.settled:
                self._lead()
        finally:
            self._leave(ticket)

    def _apart(self, ticket: Ticket) -> None:
        """Commit a ticket on a connection of its own, once a place is free."""
        if not self._places.acquire(timeout=LONG_S):
            ticket.settle(StoreBusy("PostgreSQL: other long work is under way; retry later."))
            return
        try:
            self._commit([ticket], apart=True)
        finally:
            self._places.release()

    def _lead(self) -> None:
        """Commit for all that wait."""
        group: list[Ticket] = []
        self._join(group)
        self._commit(group)

    def _leave(self, ticket: Ticket) -> None:
        """Let the next one lead; also where a thread is interrupted while it waits."""
        with self._guard:
            if not ticket.settled and ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._leader is ticket:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader is not None:
                    self._leader.woken.set()

    def _join(self, group: list[Ticket], namespace: int | None = None) -> None:
        """Take tickets that wait into a group, in order, up to its limits: of one namespace, or all."""
        size = sum(ticket.size_bytes for ticket in group)
        with self._guard:
            left = []
            for number, ticket in enumerate(self._waiting):
                if group and (size >= GROUP_BYTES_MAX or len(group) >= GROUP_TICKETS_MAX):
                    left += self._waiting[number:]
                    break
                if namespace is None or ticket.namespace == namespace:
                    size += ticket.size_bytes
                    group.append(ticket)
                else:
                    left.append(ticket)
            self._waiting = left

    def _commit(self, group: list[Ticket], *, apart: bool = False) -> None:
        """Commit a group, or tickets of one namespace; all are settled in the end, also those that `_alone` joins."""
        try:
            with self._connections.use() as db:
                if apart:
                    self._alone(db, [*group], group, self._connections.timeout_s * 0.8)
                else:
                    self._settle(db, group)
        except FirsthandError as error:
            for ticket in group:
                self.forget(ticket.namespace)
            left = _unsettled(group)
            if isinstance(error, _OF_ONE) and len(left) > 1:
                for ticket in left:
                    self._commit([ticket], apart=apart)
                return
            for ticket in left:
                ticket.settle(error)
        finally:
            for ticket in _unsettled(group):  # this thread was interrupted, or has a fault of ours, which it raises
                ticket.settle(StoreBusy("PostgreSQL: the commit was interrupted; retry with the same ids."))

    def _settle(self, db: Connection, group: list[Ticket]) -> None:
        """Commit what fits together, then each namespace alone: one whose head others hold after all that come."""
        waits: dict[int, float] = {}  # how long each was waited for in vain, at last
        try:
            self._together(db, group)
        except errors.LockNotAvailable:
            for ticket in group:
                self.forget(ticket.namespace)
        while left := _unsettled(group):
            key = min({ticket.namespace for ticket in left}, key=lambda key: (waits.get(key, 0), key))
            mine = [ticket for ticket in left if ticket.namespace == key]
            wait = waits[key] * 2 if key in waits else BRIEF_S
            try:
                self._alone(db, mine, group, wait)
            except errors.LockNotAvailable as error:
                self.forget(key)
                waits[key] = wait
                if wait > self._connections.timeout_s / 4:  # all its waits come to twice the last one
                    for ticket in _unsettled(group):
                        if ticket.namespace == key:
                            ticket.settle(translated(error))
                group[:] = _unsettled(group)
                self._join(group)

    def _together(self, db: psycopg.Connection, group: Sequence[Ticket]) -> None:
        """Commit what is new for sure, of all namespaces in one transaction; what is not settled is judged alone."""
        by_key: dict[int, list[Ticket]] = {}
        for ticket in group:
            by_key.setdefault(ticket.namespace, []).append(ticket)
        for key, tickets in list(by_key.items()):
            if any(not ticket.plain for ticket in tickets):
                del by_key[key]
        tenants = self._read(db, by_key)
        # Locks of heads are taken in the order of their keys everywhere.
        works = [work for key in sorted(tenants) if (work := self._work(tenants[key], by_key[key]))]
        while works and (misfit := self._unfit(db, works)) is not None:
            works.remove(misfit)
        for work in works:
            self._done(work)

    def _read(self, db: psycopg.Connection, by_key: dict[int, list[Ticket]]) -> dict[int, Tenant]:
        """Learn what is not known of some namespaces and sessions, all in one round trip; give the namespaces.

        What is committed apart may put others in their place meanwhile, to which the sessions read here do not belong.
        """
        unknown, tenants = [], {}
        for key, tickets in by_key.items():
            tenant, names = self._tenants.get(key), _names(tickets)
            known = tenant is not None and not tenant.doubted
            if tenant is not None and known:
                tenants[key] = tenant
            if tenant is None or not known or not names <= tenant.sessions.keys():
                unknown.append((key, tickets, names, known))
        if not unknown:
            return tenants
        answers = []
        with db.pipeline():
            for key, tickets, names, known in unknown:
                with db.transaction():
                    enter(db, key)
                    sql = "SELECT position, head, name FROM namespace WHERE namespace = %s"
                    head = None if known else db.execute(sql, (key,))
                    answers.append((key, tickets, head, ask_sessions(db, key, names)))
        for key, tickets, head, sessions in answers:
            name = tickets[0].batches[0].namespace
            if head is not None:
                position, hashed, stored = head.fetchone() or (0, bytes(32), name)
                if stored != name:  # a number that two names have: `_alone` says so
                    continue
                tenants[key] = Tenant(key, name, position, hashed)
                self._know(tenants[key])
            read_sessions(sessions, tenants[key], _names(tickets))
        return tenants

    def _work(self, tenant: Tenant, tickets: Sequence[Ticket]) -> Work | None:
        """Hash tickets onto the head that is known, as if nothing of them were there; None where one may be a retry."""
        work = Work(tenant, self._clock(), {}, self._seal)
        return work if all(work.take(ticket) for ticket in tickets) else None

    def _unfit(self, db: psycopg.Connection, works: Sequence[Work]) -> Work | None:
        """Write all in one transaction, or nothing: then give one that does not fit."""
        answers: dict[Work, psycopg.Cursor[Row] | None] = {}
        if len(works) == 1:
            with suppress(errors.UniqueViolation):  # something of it is there: a retry, or a conflict
                answers[works[0]] = works[0].write(db)
            return _misfit(works, answers)
        with db.transaction():
            # An error comes with any later call, and at the latest with the end of the pipeline.
            with suppress(*_UNFIT), db.pipeline(), suppress(*_UNFIT):
                for work in works:
                    answers[work] = work.write(db)
            if (misfit := _misfit(works, answers)) is not None:
                raise psycopg.Rollback
        return misfit

    def _alone(self, db: Connection, tickets: list[Ticket], group: list[Ticket], wait_s: float) -> None:
        """Commit tickets of one namespace: hold its head, read what there is, and judge each event.

        Raises:
            LockNotAvailable: others hold it, or what the work needs, for longer.
        """
        key, name = tickets[0].namespace, tickets[0].batches[0].namespace
        if long := any(ticket.also is not None for ticket in tickets):
            db.silence_s = LONG_S  # until the connection is given back
        for _ in range(TRIES_MAX):
            # Each wait ends with a sync: the server then knows that it waits for us, and for how long.
            with db.pipeline() as pipeline, db.transaction():
                enter(db, key)
                db.execute(_WAIT.format(int(wait_s * 1_000)))
                head = db.execute("SELECT at, hash FROM hold_1(%s)", (key,))
                stored = db.execute("SELECT name FROM namespace WHERE namespace = %s", (key,))
                pipeline.sync()
                position, hashed = head.fetchone() or (0, bytes(32))  # when it is our turn
                if (row := stored.fetchone()) is not None and row[0] != name:
                    raise StoreDamaged(f"namespaces {name!r} and {row[0]!r} have one number; choose another name")
                if not long:
                    joined = len(group)
                    self._join(group, key)
                    tickets += group[joined:]
                before = self._tenants.get(key)
                doubted = before is not None and before.doubted and before.position != position
                tenant = Tenant(key, name, position, hashed, {}, doubted)
                sessions = ask_sessions(db, key, _names(tickets))
                work = Work(tenant, self._clock(), known_ids(db, pipeline, self._seal, key, tickets), self._seal)
                read_sessions(sessions, tenant, _names(tickets))
                for ticket in tickets:
                    if work.take(ticket) and ticket.also is not None:
                        ticket.also(db)
                written = is_written(work.write(db))
                if not written:
                    raise psycopg.Rollback
            if written:
                break
        else:  # only a namespace that is new can move while its head is held
            raise StoreBusy("PostgreSQL: the namespace's head moved on each attempt; retry with the same ids.")
        self._done(work)

    def _done(self, work: Work) -> None:
        """Go on from a commit."""
        work.apply()
        if len(work.tenant.sessions) > SESSIONS_KEPT:
            work.tenant.sessions = {}
        self._know(work.tenant)

    def _know(self, tenant: Tenant) -> None:
        """Keep what is known; what is committed apart gives a whole tenant, which only who leads changes."""
        with self._guard:
            self._tenants.pop(tenant.key, None)
            self._tenants[tenant.key] = tenant
            if len(self._tenants) > TENANTS_KEPT:
                del self._tenants[next(iter(self._tenants))]

    def forget(self, namespace: int) -> None:
        """Read a namespace again at the next commit."""
        with self._guard:
            self._tenants.pop(namespace, None)


def _misfit(works: Sequence[Work], answers: dict[Work, psycopg.Cursor[Row] | None]) -> Work | None:
    """Give the first one that was not written."""
    for work in works:
        if work not in answers or ((cursor := answers[work]) is not None and cursor.pgresult is None):
            return work
        if not is_written(answers[work]):
            work.tenant.doubted = True
            return work
    return None


def _unsettled(group: Sequence[Ticket]) -> list[Ticket]:
    return [ticket for ticket in group if not ticket.settled]


def _names(tickets: Sequence[Ticket]) -> set[str]:
    return {batch.session for ticket in tickets for batch in ticket.batches}
