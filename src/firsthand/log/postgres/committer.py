"""The one way into the log in PostgreSQL: batches are hashed onto their namespace's head, which is compared and set.

    tickets -> what is new of them, chained to sessions and rolled onto the head -> `append` -> settled

Whoever comes while a commit is under way waits for the next one, which carries all that have come: one sync for
many. The owner of the first one that waits leads it, so nobody waits for two commits after their own. Two writers of
one namespace in different processes meet at the head: who read an old one finds it moved, waits its turn to hold it,
reads what came and hashes again, with all that have come by then.

What may take long is committed apart, on its owner's own thread and one of a few connections: further work
(`Ticket.also`), and a namespace whose head others hold. All that come for such a namespace wait for the first of them,
and the others of the process for none of it.

The invariant: a ticket is settled when its events are on disk, or when it is refused; of its batches all or none are
there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psycopg
from psycopg import errors

from firsthand.errors import AppendError, FirsthandError, KeyMissing, StoreBusy, StoreDamaged, StoreFull, StoreMoved
from firsthand.log.results import Appended
from firsthand.moment import Moment

from .connection import Connections, enter
from .deadline import LONG_S, Connection
from .seal import Seal
from .tenant import Row, Tenant, Ticket, Work, ask_sessions, is_written, known_ids, read_sessions

SESSIONS_KEPT = 256
TENANTS_KEPT = 10_000
GROUP_TICKETS_MAX = 256
GROUP_BYTES_MAX = 8 * 1024 * 1024
TRIES_MAX = 20
APART_MAX, HELD_MAX = 3, 2
"""So many connections at most do further work, and wait for heads; the others of the pool are for all else."""
BRIEF_S, TURN_S, PAUSE_S = 0.2, 1.0, 0.01
"""A head is waited for with the others of a group (`append_1` waits so long, too), then in turns with a pause."""
PATIENCE = 0.8
"""This part of the time limit: the server says that a head is held before it counts as silent."""
_WAIT = "SET LOCAL lock_timeout = {:d}"
_INTERRUPTED = StoreBusy("PostgreSQL: the commit was interrupted; retry with the same ids.")
_HELD = "another transaction, of a process that pg_blocking_pids names, has held this namespace's head"
_NO_TURN = "others wait for heads, or do long work, in all places of this process for that, and none came free in time"
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
        self._places = {True: threading.Semaphore(APART_MAX), False: threading.Semaphore(HELD_MAX)}
        self._leader: Ticket | None = None
        self._held: dict[int, Ticket] = {}  # by namespace whose head others hold: who waits for it
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
            self._apart(ticket, LONG_S)
        else:
            self._queue(ticket, self._connections.timeout_s * PATIENCE)
        if ticket.error is not None:
            raise ticket.error
        assert ticket.result is not None
        return ticket.result

    def _queue(self, ticket: Ticket, patience_s: float) -> None:
        """Wait for a commit, or lead one, or wait for the head for all of a namespace."""
        until = time.monotonic() + patience_s
        try:
            with self._guard:
                self._waiting.append(ticket)
                if ticket.namespace not in self._held:
                    self._leader = self._leader or ticket
            while not ticket.settled:
                if self._leader is ticket:
                    group: list[Ticket] = []
                    self._join(group)
                    self._commit(group)
                    self._leave(ticket)
                elif self._held.get(ticket.namespace) is ticket:
                    self._apart(ticket, until - time.monotonic())
                else:  # whatever changes, the flag is set after it
                    ticket.woken.wait()
                    ticket.woken.clear()
        finally:
            if not ticket.settled:  # this thread is interrupted, and nobody is to wait for it
                ticket.settle(_INTERRUPTED)
            self._leave(ticket)

    def _apart(self, ticket: Ticket, patience_s: float) -> None:
        """Commit a ticket on a connection of its own, once a place is free; a head that is held is tried in turns."""
        places, turns, first = self._places[ticket.also is not None], 0, 0.0
        until = time.monotonic() + patience_s
        while (left_s := until - time.monotonic()) > 0 and places.acquire(timeout=left_s):
            if not turns:
                first = time.monotonic()
                until = min(until, first + self._connections.timeout_s * PATIENCE)
            try:
                self._commit([ticket], max(min(until - time.monotonic(), TURN_S), PAUSE_S))
            finally:
                places.release()
            if ticket.settled:
                return
            turns += 1
            time.sleep(PAUSE_S)  # who waits for the place has it
        held = f"{_HELD} whenever it was tried in {time.monotonic() - first:.0f} s (tries: {turns})"
        busy = held if turns else _NO_TURN
        ticket.settle(StoreBusy(f"PostgreSQL: {busy}. Nothing was kept: retry with the same ids."))

    def _leave(self, ticket: Ticket) -> None:
        """Let another one lead, and another one wait for a head; also where a thread is interrupted while it waits."""
        key = ticket.namespace
        with self._guard:
            if ticket.settled and ticket in self._waiting:
                self._waiting.remove(ticket)
            if ticket.settled and self._held.get(key) is ticket:
                del self._held[key]
                if ticket.result is None:
                    self._hold(key, [other for other in self._waiting if other.namespace == key])
            if self._leader in (ticket, None):
                self._leader = next((other for other in self._waiting if other.namespace not in self._held), None)
                if self._leader is not None:
                    self._leader.woken.set()

    def _set_aside(self, key: int, group: list[Ticket]) -> None:
        """Take out of a group what waits for a head that others hold."""
        with self._guard:
            tickets = [ticket for ticket in _unsettled(group) if ticket.namespace == key]
            self._waiting[:0] = tickets
            self._hold(key, tickets)
            group[:] = [ticket for ticket in group if ticket not in tickets]

    def _hold(self, key: int, tickets: list[Ticket]) -> None:
        """Have the owner of the first ticket wait for their head, unless another one does."""
        if tickets and (first := self._held.setdefault(key, tickets[0])) in self._waiting:
            self._waiting.remove(first)
            first.woken.set()

    def _join(self, group: list[Ticket], namespace: int | None = None) -> None:
        """Take tickets that wait into a group, in order, up to its limits: of one namespace, or all."""
        size = sum(ticket.size_bytes for ticket in group)
        with self._guard:
            left = []
            for number, ticket in enumerate(self._waiting):
                if group and (size >= GROUP_BYTES_MAX or len(group) >= GROUP_TICKETS_MAX):
                    left += self._waiting[number:]
                    break
                if ticket.namespace == namespace or (namespace is None and ticket.namespace not in self._held):
                    size += ticket.size_bytes
                    group.append(ticket)
                else:
                    left.append(ticket)
            self._waiting = left

    def _commit(self, group: list[Ticket], wait_s: float = 0) -> None:
        """Commit a group, or one apart whose head is waited for; all are settled in the end, or set aside."""
        try:
            with self._connections.use() as db:
                self._settle(db, group, wait_s)
        except FirsthandError as error:
            with self._guard:  # what is known of them is read again
                for ticket in group:
                    self._tenants.pop(ticket.namespace, None)
            left = _unsettled(group)
            of_one = isinstance(error, _OF_ONE) or isinstance(error.__cause__, errors.QueryCanceled)
            if of_one and len(left) > 1:
                for ticket in left:
                    self._commit([ticket], wait_s)
                return
            for ticket in left:
                ticket.settle(error)
        finally:
            for ticket in _unsettled(group):  # this thread was interrupted, or has a fault of ours, which it raises
                ticket.settle(_INTERRUPTED)

    def _settle(self, db: Connection, group: list[Ticket], wait_s: float) -> None:
        """Commit what fits together, then each namespace alone; one whose head others hold is set aside."""
        if not wait_s:
            self._together(db, group)
        by_key = _by_namespace(_unsettled(group))
        for key in sorted(by_key):
            try:
                self._alone(db, by_key[key], group, wait_s or BRIEF_S / len(by_key))
            except errors.LockNotAvailable:
                if by_key[key][0].also is None:
                    self._set_aside(key, group)
                else:
                    group.clear()  # its owner tries again

    def _together(self, db: psycopg.Connection, group: list[Ticket]) -> None:
        """Commit what is new for sure, of all namespaces in one transaction; what is not settled is judged alone."""
        by_key = {key: mine for key, mine in _by_namespace(group).items() if all(ticket.plain for ticket in mine)}
        if len(by_key) == 1 and (known := self._tenants.get(next(iter(by_key)))) is not None and known.doubted:
            return  # it shares its commit with none, and is likely to have moved again by then
        tenants = self._read(db, by_key)
        # Locks of heads are taken in the order of their keys everywhere.
        works = [Work(tenants[key], self._clock(), {}, self._seal) for key in sorted(tenants)]
        works = [work for work in works if all(work.take(ticket) for ticket in by_key[work.tenant.key])]  # else a retry
        until = time.monotonic() + 2 * BRIEF_S
        while works and (misfit := self._unfit(db, works, group)) is not None:  # where several are held, each is tried
            works = [work for work in works if work is not misfit and time.monotonic() < until]  # alone, more briefly
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

    def _unfit(self, db: psycopg.Connection, works: Sequence[Work], group: list[Ticket]) -> Work | None:
        """Write all in one transaction, or nothing: then give one that does not fit, or is set aside."""
        answers: dict[Work, psycopg.Cursor[Row] | None] = {}
        try:
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
        except errors.LockNotAvailable:
            misfit = _misfit(works, answers) or works[0]
            self._set_aside(misfit.tenant.key, group)
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
                db.execute(_WAIT.format(max(1, int(wait_s * 1_000))))  # 0 has no end
                head = db.execute("SELECT at, hash FROM hold_1(%s)", (key,))
                stored = db.execute("SELECT name FROM namespace WHERE namespace = %s", (key,))
                tenant, known, fresh = Tenant(key, name), dict[bytes, Row](), [*tickets]
                while fresh:  # with those that have come when it is our turn
                    sessions = ask_sessions(db, key, _names(fresh))
                    known |= known_ids(db, pipeline, self._seal, key, fresh)
                    read_sessions(sessions, tenant, _names(fresh))
                    joined = len(group)
                    if not long:
                        self._join(group, key)
                    tickets += (fresh := group[joined:])
                tenant.position, tenant.head = head.fetchone() or (0, bytes(32))
                if (row := stored.fetchone()) is not None and row[0] != name:
                    raise StoreDamaged(f"namespaces {name!r} and {row[0]!r} have one number; choose another name")
                before = self._tenants.get(key)
                tenant.doubted = before is not None and before.doubted and before.position != tenant.position
                work = Work(tenant, self._clock(), known, self._seal)
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


def _by_namespace(tickets: Sequence[Ticket]) -> dict[int, list[Ticket]]:
    by_key: dict[int, list[Ticket]] = {}
    for ticket in tickets:
        by_key.setdefault(ticket.namespace, []).append(ticket)
    return by_key


def _names(tickets: Sequence[Ticket]) -> set[str]:
    return {batch.session for ticket in tickets for batch in ticket.batches}
