"""The one append funnel: every event of every kind enters the log here (total-recall 9.3, A.1).

Runs under the write lock, in one transaction for all waiting batches: place each
event at the next position of its namespace, chain it to its session, roll the
namespace's head over it, commit with a sync. A batch is checked before any of
it is written, so one that is refused leaves nothing and stops nobody else's. Then the
indexes are handed what waits for them, each in a transaction of its own: no fault of an
index makes an append fail that is on disk, and a kill leaves an index behind the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import apsw

from firsthand.errors import (
    AppendError,
    FirsthandError,
    IdConflict,
    StaleExpectation,
    StoreError,
    StoreFailed,
)
from firsthand.event import (
    Artifact,
    Kind,
    commit_to,
    genesis,
    roll,
)
from firsthand.log.loss import parse_loss
from firsthand.log.prepare import Batch, Prepared, chained
from firsthand.log.results import Appended
from firsthand.log.rows import POSITION, key_of
from firsthand.moment import Moment
from firsthand.value import field, replace, value

from .artifacts import ArtifactStore
from .index_files import IndexFiles, Reached, keep_reach
from .index_port import TransactionIndex
from .inodes import Inodes
from .mark import Mark, Marks
from .queue import Ticket
from .read import Reader
from .rebuild import advance
from .recent import RecentEvents

SESSIONS_KEPT = 1_000
BACKLOG_EVENTS = 128
BACKLOG_BYTES = 131_072
CATCH_UP_EVENTS = 256
"""Of older events that an append indexes, while an index that is new or was left behind catches up."""
_INSERT = """
INSERT INTO event (key, id, namespace, session, sequence, part, turn, kind, trust, agent, origin,
  time, time_offset, ingested, ingested_offset, chain, commitment, salt, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


@value(frozen=False)
class _Session:
    """A session's row while a transaction works on it."""

    key: int
    namespace: int
    name: str
    length: int
    turn: int
    first_position: int
    last_position: int
    first_time: int | None
    last_time: int | None
    head: bytes
    fresh: bool = False


class Appender:
    """Writes batches to the log.

    Args:
        db: the write connection.
        indexes: those that are brought up to date behind each commit, as far as that is due.
        clock: the time of ingest.
        inodes, marks: that the files are those that were opened, and what was acknowledged last.
        files: the index files of the connection.
        reader: reads what is to be indexed.
    """

    def __init__(
        self,
        db: apsw.Connection,
        *,
        indexes: Sequence[TransactionIndex],
        artifacts: ArtifactStore,
        clock: Callable[[], Moment],
        files: IndexFiles,
        reader: Reader,
        inodes: Inodes,
        marks: Marks,
    ) -> None:
        self._db, self._indexes, self._reader = db, indexes, reader
        self._artifacts, self._clock, self._files = artifacts, clock, files
        self._inodes, self._marks = inodes, marks
        self._names: dict[str, int] = {}
        self._work: _Work | None = None

    def commit(
        self,
        tickets: Sequence[Ticket],
        also: Callable[[], None] | None = None,
        *,
        namespace: str | None = None,
        mending: Callable[[], None] | None = None,
    ) -> None:
        """Write batches in one transaction, have them indexed, and settle their tickets.

        Args:
            also: further work of the same transaction, done last, and not at all where a ticket was refused.
            namespace: of which nothing is left to be indexed with later events.
            mending: what is done first of all, to bring back what the log lost; then nothing is compared.

        Raises:
            StoreReplaced: the files are not those that were opened; what was committed is not acknowledged.
            LogBehind: a namespace ends before its mark; nothing was written.
            apsw.Error: the transaction failed as a whole; no ticket is settled and nothing was written.
        """
        settled: list[tuple[Ticket, tuple[Appended, ...] | FirsthandError]] = []
        if self._db.in_transaction:  # an interrupt came between the end of one and its handling
            self._work = None
            self._db.execute("ROLLBACK")
        try:
            self._begin()
            if mending is not None:
                mending()
            if mending is not None or also is not None:  # what is erased must not be handed to an index from memory
                self.forget()
            work = self._work = self._work_of(self._work, compare=mending is None)
            if namespace is not None:
                work.namespace(namespace)
            for ticket in tickets:
                try:
                    settled.append((ticket, self._write(ticket.batch, work)))
                except AppendError as error:
                    settled.append((ticket, error))
                    work.spare(ticket.batch)
            if also is not None and not any(isinstance(outcome, AppendError) for _, outcome in settled):
                also()
            work.save()
            self._db.execute("COMMIT")
            self._inodes.check(self._db)
        except BaseException:
            self._names.clear()  # names that the failed transaction made are gone with it
            self._work = None
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        if grown := work.grown:
            self._marks.keep([Mark(tenant.key, tenant.position, tenant.head) for tenant in grown])
        for key, digest in work.unneeded:
            self._remove_unused(key, digest)
        indexed = False
        try:
            indexed = self._index(work, now=namespace is not None)
        finally:
            for ticket, outcome in settled:
                _settle(ticket, outcome, indexed=indexed)

    def _begin(self) -> None:
        self._inodes.check(self._db, wal=False)
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except (apsw.CorruptError, apsw.NotADBError):  # perhaps of an index file, which must not stop the log
            self._files.release()
            self._db.execute("BEGIN IMMEDIATE")

    def forget(self) -> None:
        """Read everything again in the next transaction: somebody else used the connection."""
        self._work = None

    def _work_of(self, last: _Work | None, *, compare: bool) -> _Work:
        """Go on from what the last transaction knew, unless another connection wrote since."""
        version = self._db.execute("PRAGMA data_version").get
        if last is None or last.version != version or len(last.sessions) > SESSIONS_KEPT:
            return _Work(self._db, version, self._clock(), self._marks if compare else None)
        last.begin(self._clock())
        return last

    def _remove_unused(self, namespace: int, digest: bytes) -> None:
        """Remove a payload that was put for an event that then was not written, if no other event holds it."""
        sql = "SELECT count(*) FROM artifact_use WHERE namespace = ? AND digest = ?"
        if not self._db.execute(sql, (namespace, digest)).get:
            self._artifacts.remove(namespace, digest)

    # one batch -------------------------------------------------------------------------------------

    def _write(self, batches: Sequence[Batch], work: _Work) -> tuple[Appended, ...]:
        """Write the batches of one ticket, all or none."""
        # 1) Refuse before anything of them is written.
        checked = []
        within: set[tuple[int, bytes]] = set()
        for batch in batches:
            namespace = work.namespace(batch.namespace).key
            session = work.session(namespace, batch.session)
            known = self._known(batch, namespace, session, within, work)
            stale = batch.expected_position is not None and session.last_position != batch.expected_position
            if stale and None in known:  # a retry of what is there already is no second append, wherever it ends now
                raise StaleExpectation(
                    f"session {batch.session!r} was expected to end at position {batch.expected_position}, "
                    f"it ends at {session.last_position}; read what was added and append again"
                )
            checked.append((batch, session, known))
        # 2) Write what is new.
        out: list[Appended] = []
        for batch, session, known in checked:
            for event, there in zip(batch.events, known, strict=True):
                position = self._insert(event, session, work) if there is None else there
                out.append(Appended(position, event.name, new=there is None))
        return tuple(out)

    def _known(
        self, batch: Batch, namespace: int, session: _Session, within: set[tuple[int, bytes]], work: _Work
    ) -> list[int | None]:
        """Give each event's position if it is in the log already, and refuse what conflicts.

        Args:
            within: namespace and id of the events of the same ticket so far.
        """
        positions: list[int | None] = []
        for event in batch.events:
            row = self._db.execute(
                f"SELECT {POSITION}, session, part, kind, trust, agent, origin, time, commitment, salt "  # noqa: S608
                "FROM event WHERE id = ? AND namespace = ?",
                (event.id, namespace),
            ).get
            if row is None:
                if (namespace, event.id) in within:
                    raise IdConflict(f"the batch holds event id {event.name} twice; give each event an id of its own")
                within.add((namespace, event.id))
                if event.artifact is not None and not self._artifacts.present(namespace, event.artifact.digest):
                    raise AppendError(
                        f"the artifact of event {event.name} was erased while it was appended; append it again"
                    )
                positions.append(None)
                continue
            if not batch.derived_ids and not self._same(row, event, session):
                raise IdConflict(
                    f"event id {event.name} is in the log already (position {row[0]}) with other bytes or "
                    "another place; a retry carries the same event, a new event a new id"
                )
            if event.artifact is not None and row[-1] is None:  # erased: the retry put its payload again
                work.unneeded.add((namespace, event.artifact.digest))
            positions.append(row[0])
        return positions

    def _same(self, row: tuple[object, ...], event: Prepared, session: _Session) -> bool:
        _position, key, part, kind, trust, agent, origin, time, commitment, salt = row
        header = (key, part, kind, trust, agent, origin, time)
        mine = (
            session.key, event.part, event.kind.number, event.trust.number,
            self._name(event.agent), self._name(event.origin), None if event.time is None else event.time.microseconds,
        )  # fmt: skip
        if header != mine:
            return False
        if event.body is None:
            return commitment == event.commitment
        # An erased event has no salt left: its id proves the retry, and its bytes are not stored again.
        return salt is None or commit_to(salt, event.body) == commitment  # type: ignore[arg-type]

    def _insert(self, event: Prepared, session: _Session, work: _Work) -> int:
        tenant = work.tenant(session.namespace)
        if event.kind is Kind.LOSS:
            tenant.go_on_behind(event)
        position = tenant.position + 1
        if event.restored is not None and event.restored.position > position:  # a namespace that had gaps there
            position = event.restored.position
            tenant.shared = position - 1
        turn, now, chain = chained(event, session.name, session.length, session.turn, session.head, work.now)
        time = event.time
        self._db.execute(
            _INSERT,
            (
                key_of(session.namespace, position), event.id, session.namespace, session.key, session.length,
                event.part, turn, event.kind.number, event.trust.number,
                self._name(event.agent), self._name(event.origin), None if time is None else time.microseconds,
                None if time is None else time.offset_minutes, now.microseconds, now.offset_minutes,
                chain, event.commitment, event.salt, event.stored,
            ),
        )  # fmt: skip
        if event.artifact is not None:
            self._db.execute(
                "INSERT INTO artifact_use VALUES (?, ?, ?)", (session.namespace, event.artifact.digest, position)
            )
        if self._indexes:
            tenant.recent.add(event, tenant.name, session.name, session.length, turn, position, now, chain)
            if event.body is not None:
                payload = event.parts.payload if event.parts is not None else b""
                tenant.waiting += 1
                tenant.waiting_bytes += payload.size_bytes if isinstance(payload, Artifact) else len(payload)
        work.grew(tenant, session, position, turn, time, chain)
        return position

    def _name(self, text: str) -> int:
        key = self._names.get(text)
        if key is None:
            number = self._db.execute("SELECT key FROM name WHERE text = ?", (text,)).get
            if number is None:
                self._db.execute("INSERT INTO name (text) VALUES (?)", (text,))
                number = self._db.last_insert_rowid()
            key = self._names[text] = int(number)
        return key

    # the indexes -----------------------------------------------------------------------------------

    def _index(self, work: _Work, *, now: bool) -> bool:
        """Hand new events to every index that follows, some at a time; say whether all follow.

        An index is not written with each append: it costs as much as the rest of a small one. Up to `BACKLOG_EVENTS`
        of a namespace's newest events wait for the append that finds enough of them; until then `recall` reads them
        in the log. An index that is missing catches up by `CATCH_UP_EVENTS` at a time.

        Args:
            now: leave nothing for later, in the namespaces of this transaction.
        """
        followed = [self._index_one(tenant, index, now) for tenant in work.touched for index in self._indexes]
        return all(followed)

    def _index_one(self, tenant: _Tenant, index: TransactionIndex, now: bool) -> bool:
        reach = tenant.reach.get(index.name)
        if reach is not None and not reach.fault and not now and not tenant.waits_for(reach):
            return True
        # Another process may have indexed, or begun anew, which does not change the log: what is known may be old.
        reach = tenant.reach[index.name] = self._files.reached(tenant.key, index.name)
        if reach.fault or tenant.position <= reach.position or not (now or tenant.waits_for(reach)):
            return not reach.fault
        del tenant.reach[index.name]
        most = max(CATCH_UP_EVENTS, tenant.waiting)
        try:
            recent = tenant.recent
            through = advance(index, self._reader, self._files, tenant.key, most, self._db, recent).through
        except (apsw.SQLError, apsw.CorruptError, apsw.ConstraintError) as error:  # it does not follow until a rebuild
            reach = Reached(reach.position, f"{type(error).__name__}: {error}"[:500])
            with suppress(apsw.Error), self._db:  # each process that opens it finds out for itself
                keep_reach(self._db, tenant.key, index.name, reach)
            return False
        except (apsw.Error, OSError, StoreError):  # a full disk, perhaps: the next append tries again
            return False
        tenant.reach[index.name] = Reached(through, "")
        if through == tenant.position:
            tenant.waiting = tenant.waiting_bytes = 0
            tenant.recent.clear()
        return True


def _settle(ticket: Ticket, outcome: tuple[Appended, ...] | FirsthandError, *, indexed: bool) -> None:
    """Tell a batch's owner what came of it."""
    if isinstance(outcome, FirsthandError):
        ticket.settle(error=outcome)
    elif indexed:
        ticket.settle(outcome)
    else:
        ticket.settle(tuple(replace(event, indexed=False) if event.new else event for event in outcome))


class LogBehind(Exception):
    """A namespace ends before its mark; it never leaves the log. Argument: its key."""


@value(frozen=False, eq=False)
class _Tenant:
    """A namespace while a transaction works on it.

    Attributes:
        position, head, shared: as in its row.
        first: its position when the transaction began.
        waiting, waiting_bytes: events that no index has yet, as far as this process wrote them, and their size.
        recent: those events.
        reach: how far each index reached when this process saw it last.
    """

    key: int
    name: str
    position: int = 0
    head: bytes = bytes(32)
    shared: int = 0
    first: int = 0
    waiting: int = 0
    waiting_bytes: int = 0
    recent: RecentEvents = field(default_factory=RecentEvents)
    reach: dict[str, Reached] = field(default_factory=dict)

    def waits_for(self, reach: Reached) -> bool:
        """Say whether enough waits for an index that reaches so far."""
        return self.position - reach.position >= BACKLOG_EVENTS or self.waiting_bytes >= BACKLOG_BYTES

    def go_on_behind(self, event: Prepared) -> None:
        """Go on from what was acknowledged last, as a loss says it."""
        payload = event.parts.payload if event.parts is not None else b""
        loss = parse_loss(payload) if isinstance(payload, bytes) else None
        if loss is not None and loss.missing:
            self.position, self.head = loss.position, loss.head


class _Work:
    """What a transaction has read and will write back at its end.

    Kept from one transaction to the next while nobody else writes: reading it again
    costs a tenth of a durable append.
    """

    def __init__(self, db: apsw.Connection, version: object, now: Moment, marks: Marks | None) -> None:
        self._db, self.version, self._marks = db, version, marks
        self.sessions: dict[tuple[int, str], _Session] = {}
        self._tenants: dict[int, _Tenant] = {}
        self._by_name: dict[str, _Tenant] = {}
        self.begin(now)

    def begin(self, now: Moment) -> None:
        """Begin a transaction."""
        self.now = now
        self._touched: dict[int, _Session] = {}
        self.touched: list[_Tenant] = []  # namespaces that this transaction speaks of
        self.unneeded: set[tuple[int, bytes]] = set()  # payloads that were put in vain: namespace and digest

    def spare(self, batches: Sequence[Batch]) -> None:
        """Note the payloads of a refused ticket."""
        self.unneeded |= {
            (self.namespace(batch.namespace).key, event.artifact.digest)
            for batch in batches
            for event in batch.events
            if event.artifact is not None
        }

    def namespace(self, name: str) -> _Tenant:
        """Give a namespace by its name, made on first use."""
        tenant = self._by_name.get(name)
        if tenant is None:
            sql = "SELECT key, name, head_position, head, shared FROM namespace WHERE name = ?"
            row = self._db.execute(sql, (name,)).get
            if row is None:
                self._db.execute("INSERT INTO namespace (name) VALUES (?)", (name,))
                row = self._db.execute(sql, (name,)).get
            tenant = self._by_name[name] = _Tenant(*row)
            if not isinstance(tenant.position, int) or not isinstance(tenant.head, bytes):
                raise StoreFailed(f"the head of namespace {name!r} is missing or no head; run 'firsthand store verify'")
            marks = () if self._marks is None else self._marks.of(tenant.key)
            if any(mark.ahead_of(tenant.position, tenant.head) for mark in marks):
                raise LogBehind(tenant.key)
            self._tenants[tenant.key] = tenant
        if tenant not in self.touched:
            tenant.first = tenant.position
            self.touched.append(tenant)
        return tenant

    def tenant(self, key: int) -> _Tenant:
        """Give a namespace of this transaction by its key."""
        return self._tenants[key]

    def session(self, namespace: int, name: str) -> _Session:
        cached = self.sessions.get((namespace, name))
        if cached is not None:
            return cached
        row = self._db.execute(
            "SELECT key, namespace, name, length, turn, first_position, last_position, first_time, last_time, head "
            "FROM session WHERE namespace = ? AND name = ?",
            (namespace, name),
        ).get
        if row is None:
            head = genesis(self._tenants[namespace].name, name)
            made = _Session(0, namespace, name, 0, 0, 0, 0, None, None, head, fresh=True)
            made.key = 1 + int(self._db.execute("SELECT coalesce(max(key), 0) FROM session").get)
            made.key += sum(other.fresh for other in self.sessions.values())
        else:
            made = _Session(*row)
        self.sessions[namespace, name] = made
        return made

    def grew(
        self, tenant: _Tenant, session: _Session, position: int, turn: int, time: Moment | None, chain: bytes
    ) -> None:
        session.length += 1
        session.turn = max(session.turn, turn)
        session.first_position = session.first_position or position
        session.last_position, session.head = position, chain
        if time is not None:
            moment = time.microseconds
            session.first_time = moment if session.first_time is None else min(session.first_time, moment)
            session.last_time = moment if session.last_time is None else max(session.last_time, moment)
        tenant.head, tenant.position = roll(tenant.head, position, chain), position
        self._touched[session.key] = session

    def save(self) -> None:
        """Write sessions and heads back; a transaction that added nothing changes nothing."""
        for s in self._touched.values():
            values = (s.length, s.turn, s.first_position, s.last_position, s.first_time, s.last_time, s.head)
            if s.fresh:
                self._db.execute(
                    "INSERT INTO session (length, turn, first_position, last_position, first_time, last_time, head, "
                    "key, namespace, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*values, s.key, s.namespace, s.name),
                )
                s.fresh = False
            else:
                self._db.execute(
                    "UPDATE session SET length = ?, turn = ?, first_position = ?, last_position = ?, "
                    "first_time = ?, last_time = ?, head = ? WHERE key = ?",
                    (*values, s.key),
                )
        for tenant in self.grown:
            self._db.execute(
                "UPDATE namespace SET head_position = ?, head = ?, shared = ? WHERE key = ?",
                (tenant.position, tenant.head, tenant.shared, tenant.key),
            )

    @property
    def grown(self) -> list[_Tenant]:
        """The namespaces that this transaction added events to, with their new positions and heads."""
        return [tenant for tenant in self.touched if tenant.position != tenant.first]
