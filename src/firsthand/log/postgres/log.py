"""The log in PostgreSQL: the verbs of `log.sqlite.log.Log`, for many machines at once.

What an append has returned is on the server's disk; nothing but `erase` changes an event, and it destroys content
alone. A handle keeps no tenant's state but what the head of its namespace proves.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import psycopg

from firsthand import environment, moment
from firsthand.errors import InvalidArgument, InvalidDraft, KeyMissing, StoreBusy, StoreFailed, StoreNewer
from firsthand.event import CONTENT_INLINE_MAX, Draft, Event, IdMaker, Kind, id_bytes
from firsthand.fence import KEY_BYTES
from firsthand.log.engine import Progress
from firsthand.log.export import Exported
from firsthand.log.prepare import Batch, check_erasure, erased_in, erasures
from firsthand.log.results import Appended, Erasure, Verification
from firsthand.log.verbs import AppendVerbs
from firsthand.moment import Moment

from . import citus, condition, proof
from .committer import Committer
from .connection import Connections, translating
from .deadline import LONG_S, Connection
from .keys import key_home
from .objects import objects_of
from .payloads import Payloads
from .reader import Reader, number_of
from .roles import owner_connection
from .schema import Migration, check_version, choose, migrate, version_of
from .seal import Seal
from .tenant import Ticket


def make(
    dsn: str, beside: str = "", *, encrypted: bool = False, retention_days: int | None = None
) -> tuple[Migration, ...]:
    """Make a store, or bring it to the present version, as the owner of its database; give the steps that were done.

    Args:
        beside: another primary, of which a new one is to be of the same store: replicas and fences are good for both.
        encrypted: its content is sealed from the first event on, with keys that are kept outside the database.
        retention_days: how long backups and archives of the server's log are kept; None leaves what was chosen.

    Raises:
        InvalidArgument: it is to be encrypted, and holds events that are not; or is to stand beside another, and has a
            store of its own; or the database's text is not UTF-8.
        StoreBusy: its tables were in use all the time.
        StoreReadOnly: the role may not.
    """
    created = moment.now().microseconds.to_bytes(8, "big")
    facts = {"uuid": os.urandom(16), "created": created, "fence_key": os.urandom(KEY_BYTES)}
    if beside:
        with translating(), owner_connection(beside) as db:
            check_version(db)
            facts = dict(db.execute("SELECT key, value FROM firsthand.store WHERE key NOT LIKE '%_min'").fetchall())
    with translating(), owner_connection(dsn) as db:
        if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
            raise InvalidArgument(
                f"expected a database whose encoding is UTF8; that of {db.info.dbname!r} is {encoding}, which cannot "
                "hold every name. Make another one: createdb -E UTF8 -T template0"
            )
        if beside and version_of(db):
            row = db.execute("SELECT value FROM firsthand.store WHERE key = 'uuid'").fetchone()
            if row != (facts["uuid"],):
                raise InvalidArgument(
                    f"expected an empty database, or a primary of the same store; {db.info.dbname!r} has a store of "
                    "its own. Make an empty database for it: createdb"
                )
        steps = tuple(migrate(db, facts))
        choose(db, encrypted=encrypted, retention_days=retention_days)
        if steps and citus.is_distributed(db):
            for _ in citus.distribute(db):  # what the steps have added
                pass
        return steps


def distribute(dsn: str, shards: int = citus.SHARDS) -> tuple[str, ...]:
    """Distribute a store over the nodes of a Citus cluster; give what was distributed. See `citus.distribute`."""
    with translating(), owner_connection(dsn) as db:
        return tuple(citus.distribute(db, shards))


MOMENTS_MAX = 2
"""So many connections of the pool at most are used for proofs and copies, each of which may take long."""


class PostgresLog(AppendVerbs):
    """One store in PostgreSQL, opened.

    Attributes:
        newer: a newer version made the store, and this one only reads it.

    Args:
        dsn: how to reach it, as libpq reads it; its role is a member of `schema.APPLICATION`.
        keys: where the keys of an encrypted store are, a folder or ``command:PROGRAM``; None is ``$FIRSTHAND_KEYS``.
        objects: where payloads over ``$FIRSTHAND_OBJECTS_OVER`` bytes lie, a folder or ``s3://BUCKET/PREFIX``; None is
            ``$FIRSTHAND_OBJECTS``, empty has all of them in the database.
        inline_max: payloads over this many bytes are kept apart from their events.
        timeout_s: how long a server that does not answer, or another writer, is waited for; None is
            ``$FIRSTHAND_POSTGRES_TIMEOUT``, else 30.
        clock: the time of ingest; for tests.

    Raises:
        InvalidArgument: the store has its large payloads in another object store, or that one is another store's.
    """

    artifacts: Payloads

    def __init__(
        self,
        dsn: str,
        *,
        keys: str | None = None,
        objects: str | None = None,
        inline_max: int = CONTENT_INLINE_MAX,
        timeout_s: float | None = None,
        clock: Callable[[], Moment] = moment.now,
    ) -> None:
        self.connections = Connections(
            dsn, timeout_s=environment.postgres_timeout_s() if timeout_s is None else timeout_s
        )
        try:
            with self.connections.use() as db:
                self.newer = check_version(db)
                facts: dict[str, bytes] = dict(db.execute("SELECT key, value FROM store").fetchall())
                address = environment.objects() if objects is None else objects
                opened = objects_of(db, facts, address, claims=not self.newer)
            self._retention = facts.get("retention_days", b"").decode()
            home = key_home(environment.store_keys() if keys is None else keys, facts["uuid"].hex())
            self.seal = Seal(self.connections, home, on="encrypted" in facts)
        except BaseException:
            self.connections.close()
            raise
        self.artifacts = Payloads(self.connections, self.seal, opened, environment.objects_over())
        self.reader = Reader(self.connections, self.artifacts, self.seal, "this store in PostgreSQL")
        self._committer = Committer(self.connections, self.seal, clock)
        self._inline_max, self._ids = inline_max, IdMaker()
        self.release()
        _OPENED.add(self)

    def release(self) -> None:
        """Let go of what threads of the parent held, after a fork."""
        self._moments = threading.Semaphore(MOMENTS_MAX)
        self.seal.release()

    def close(self) -> None:
        """Let every connection go."""
        self.connections.close()

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number; where content is encrypted, with the key of one that is new."""
        number = number_of(namespace)
        self.seal.begin(number, namespace)
        return number

    def renew_key(self, namespace: str, *, lost: bool = False) -> None:
        """Begin a new key for what is written to a namespace from now on; what is there keeps its own.

        Args:
            lost: earlier keys may be gone; what they sealed reads as erased from now on.

        Raises:
            KeyMissing: the namespace has no key here.
            InvalidArgument: the store is not encrypted.
        """
        if not self.seal.on:
            raise InvalidArgument(
                "expected an encrypted store; this one is plain and has no keys. Encryption is chosen while a store is "
                "empty: firsthand store migrate --encrypt ADDRESS"
            )
        self.seal.renew(number_of(namespace), lost=namespace if lost else "")

    def _check_writer(self) -> None:
        self.check_writable()

    def _submit(self, batches: tuple[Batch, ...]) -> tuple[Appended, ...]:
        key = self.namespace_key(batches[0].namespace)
        if any(batch.namespace != batches[0].namespace for batch in batches):
            raise InvalidDraft("the batches of one append are of one namespace")
        if names := erased_in(batches):
            appended, _ = self._destroying(key, batches, names)
            if unforgotten := self.seal.forget(key):
                raise StoreFailed(
                    f"keys of what this erases could not be forgotten: {unforgotten}. Retry with the same ids."
                )
            self.artifacts.remove_freed(key)
            return appended
        return self._commit(Ticket(key, batches))

    def _commit(self, ticket: Ticket) -> tuple[Appended, ...]:
        with self.seal.at_hand(ticket.namespace):
            try:
                return self._committer.submit(ticket)
            except KeyMissing:  # a retry of what another machine has sealed with a newer key
                if not self.seal.look_again(ticket.namespace):
                    raise
            return self._committer.submit(Ticket(ticket.namespace, ticket.batches, also=ticket.also))

    def _destroying(
        self, key: int, batches: tuple[Batch, ...], names: Iterable[str]
    ) -> tuple[tuple[Appended, ...], int]:
        """Append erasures, and in the same transaction destroy what they name; give how many payloads nobody holds."""
        freed = 0

        def destroy(db: psycopg.Connection) -> None:
            nonlocal freed
            freed = len(db.execute(_DESTROY, (key, key, [*_ids(names)], _RECORDS)).fetchall())

        return self._commit(Ticket(key, batches, also=destroy)), freed

    def append_with(
        self, also: Callable[[psycopg.Connection], Any], draft: Draft, *, namespace: str, session: str
    ) -> tuple[Appended, ...]:
        """Append an event in one transaction with other work, which may be done twice and must not mind."""
        batch = Batch(namespace, session, self._prepared([draft], namespace))
        return self._commit(Ticket(number_of(namespace), (batch,), also=also))

    def erase(self, namespace: str, identifiers: Sequence[str], reason: str = "") -> Erasure:
        """Destroy the content of events and of the further parts of their source records.

        The bytes leave the tables at once. The server's own log, its archives and backups keep them until their
        retention ends; where content is encrypted, they keep nothing that can be read. `Erasure.retained` says so.

        Raises:
            Unresolvable: an id is not in this namespace.
            InvalidDraft: more than 10,000 events, a reason over 1,000 characters, or the record of an erasure.
        """
        self.check_writable()
        check_erasure(identifiers, reason)
        key = number_of(namespace)
        wanted: dict[int, Event] = {
            part.position: part
            for identifier in identifiers
            for part in self.reader.record_parts(self.reader.event(namespace, identifier))
        }
        events = [wanted[position] for position in sorted(wanted)]
        fresh = [event for event in events if not event.erased]
        already = tuple(event.id for event in events if event.erased)
        if not fresh:
            retained = self._retained(key) if already else ""
            return Erasure((), already, self.artifacts.remove_freed(key), 0, (), retained=retained)
        batches = erasures(fresh, namespace, key, self.artifacts, self._ids, reason)
        appended, freed = self._destroying(key, batches, [event.id for event in fresh])
        held = {event.artifact.digest for event in fresh if event.artifact is not None}
        retained = self._retained(key)
        self.artifacts.remove_freed(key)
        return Erasure(
            tuple(event.id for event in fresh), already, freed, len(held) - freed,
            tuple(each.pointer for each in appended), retained=retained,
        )  # fmt: skip

    def _retained(self, key: int) -> str:
        """Forget the keys of what was erased, and say what remains of it, and until when."""
        if self.seal.on:
            if unforgotten := self.seal.forget(key):
                return (
                    "its keys could not be forgotten, so backups and archives of the server's log can still be read: "
                    f"{unforgotten}. Then run: firsthand store prune payloads"
                )
            return (
                "its keys are forgotten: what backups and archives of the server's log hold of it cannot be read any "
                "more, but with a copy of the keys that was made before"
            )
        days = self._retention
        until = (
            "as long as they are kept, which the store does not say: firsthand store migrate ADDRESS --retention-days N"
        )
        if days:
            until = f"{days} days, until {str(Moment(moment.now().microseconds + int(days) * 86_400_000_000))[:10]}"
        return (
            "the server's files hold it until they are vacuumed, which PostgreSQL does by itself; backups and archives "
            f"of the server's log, {until}"
        )

    def concerns(self, namespace: str) -> tuple[condition.Concern, ...]:
        """Say what of the server, or of a namespace's key, would break a promise of the store; see `condition`."""
        lacking = self.seal.lacking(number_of(namespace))
        of_keys = [condition.Concern("broken", lacking, condition.NO_KEYS)] if lacking else []
        with self.connections.use() as db:
            return (*of_keys, *condition.concerns(db))

    # copies and proof ----------------------------------------------------------------------------------

    def verify(self, *, namespace: str, heads: Sequence[str] = (), progress: Progress | None = None) -> Verification:
        """Derive every hash of a namespace again; see `proof.verify`."""
        with self._at_one_moment(namespace) as (db, payloads):
            return proof.verify(db, payloads, self.seal, namespace, heads, progress)

    def export(self, out: BinaryIO, *, namespace: str, session: str | None = None) -> Exported:
        """Write a namespace or a session as JSON Lines; see `log.export`."""
        with self._at_one_moment(namespace) as (db, payloads):
            return proof.export(db, payloads, self.seal, out, namespace, session)

    @contextmanager
    def _at_one_moment(self, namespace: str) -> Iterator[tuple[Connection, Payloads]]:
        """Give a connection on which a namespace stands still, and its payloads read over the same one."""
        key, moments = number_of(namespace), self._moments
        if not moments.acquire(timeout=LONG_S):
            raise StoreBusy(f"{MOMENTS_MAX} verifications or exports of this process have not ended yet; do it again.")
        try:
            with self.seal.at_one_look(key), self.connections.reading(key, at_one_moment=True) as db:
                yield db, self.artifacts.at_the_moment_of(db)
        finally:
            moments.release()

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Nothing: a store of many keeps its own identity, whatever is restored into it."""

    def check_writable(self) -> None:
        """Raise where a newer version has made the store, and only reads are left to this one.

        Raises:
            StoreNewer: that.
        """
        if self.newer:
            raise StoreNewer("a newer version of Firsthand migrated this store; this one only reads it. Upgrade it.")


_OPENED: weakref.WeakSet[PostgresLog] = weakref.WeakSet()


def _release_all() -> None:
    for log in _OPENED:
        log.release()


os.register_at_fork(after_in_child=_release_all)

_RECORDS = [Kind.ERASURE.number, Kind.LOSS.number]
_DESTROY = (
    "SELECT FROM erase_1(%s, ARRAY (SELECT position FROM event WHERE namespace = %s AND id = ANY (%s) "
    "AND body IS NOT NULL AND kind <> ALL (%s)))"
)


def _ids(names: Iterable[str]) -> Iterator[bytes]:
    for name in names:
        with suppress(InvalidDraft):  # an erasure that names no event accounts for nothing
            yield id_bytes(name)
