"""Moving a namespace from one primary to another while its writers go on.

    copy, verify -> copy what came meanwhile -> hold the head: copy the tail, compare, mark it moved -> open -> remove

The invariant: at most one of the two takes writes, whatever is killed when. The target refuses everybody until the
source is marked, in the transaction that held its head while the last events were copied and both heads compared.
Running it again goes on where it stopped.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from firsthand.errors import InvalidArgument, StoreBusy, StoreDamaged, StoreFailed, Unresolvable
from firsthand.event import Artifact
from firsthand.log.expansion import PieceSource
from firsthand.log.prepare import Batch
from firsthand.value import value

from .connection import MOVING, enter, moved, translating
from .log import PostgresLog
from .primaries import label_of
from .reader import number_of
from .replica_folder import prepared
from .roles import SCHEMA, connecting, owner_address, owner_connection
from .schema import version_of

STEP_EVENTS = 1_000
TAIL_EVENTS_MAX = 64
"""Writers are held up while so many events are copied, at most so many more than came in that time."""
ROUNDS_MAX = 100
LOCK_TIMEOUT_MS = 5_000
_TABLES = ("event", "session", "artifact_use", "artifact", "pending_object")
_LIMITS = ("bytes", "day", "day_events", "day_bytes", "events_max", "bytes_max", "day_events_max", "day_bytes_max")
Stage = Callable[[str, int], None]
"""Is told what is done: ``copied``, ``verified``, ``held``, ``marked``, ``opened``, ``removed``, and the position."""


@value
class Moved:
    """What a move did.

    Attributes:
        events: in the namespace when it was switched.
        copied: of them, by this run.
        held_ms: how long its writers waited or were refused.
    """

    namespace: str
    primary: str
    events: int
    copied: int
    head: str
    held_ms: int


def abandon(namespace: str, source_dsn: str, target_dsn: str) -> int:
    """Remove the copy that a move left unfinished; give how many events it had.

    Raises:
        InvalidArgument: there is none, or it was switched: then the move has to be run to its end.
    """
    with translating(), _opened(source_dsn) as (source, _), _opened(target_dsn) as (target, log):
        key, mark = number_of(namespace), "SELECT moved FROM namespace WHERE namespace = %s"
        coming = (f"from {label_of(source_dsn)}",)
        if source.execute(mark, (key,)).fetchone() != (None,) or target.execute(mark, (key,)).fetchone() != coming:
            raise InvalidArgument(f"{label_of(target_dsn)} has no unfinished copy of namespace {namespace!r}")
        position = log.reader.head(namespace)[0]
        _remove(target, log, key)
        # Its row stays, and says where it is: here, a server with an older file would begin it anew.
        away = "UPDATE namespace SET position = 0, head = %s, moved = %s WHERE namespace = %s AND moved = %s"
        target.execute(away, (bytes(32), f"to {label_of(source_dsn)}", key, *coming))
        return position


def move(namespace: str, source_dsn: str, target_dsn: str, stage: Stage = lambda *_: None) -> Moved:
    """Move a namespace; as the owner of both stores.

    Raises:
        InvalidArgument: the two are not primaries of one store, or the target has a namespace of this name.
        Unresolvable: the source has none of it.
        StoreMoved: it has moved elsewhere.
        StoreBusy: another process is moving it, or writers came faster than it could copy.
        StoreDamaged: the copy is not what the source has; nothing was switched.
    """
    with translating(), _opened(source_dsn) as (source, there):
        if label_of(source_dsn) == label_of(target_dsn):
            raise InvalidArgument(f"expected two primaries; both are {label_of(source_dsn)}. Name another: --to")
        with _opened(target_dsn, source) as (target, here):
            labels = label_of(source_dsn), label_of(target_dsn)
            return _Move(namespace, source, there, target, here, *labels, stage).run()


@contextmanager
def _opened(dsn: str, source: psycopg.Connection | None = None) -> Iterator[tuple[psycopg.Connection, PostgresLog]]:
    """Open a primary as its owner: a connection, and a log that may write to a namespace that is not open yet."""
    with connecting(dsn):
        options = f"{conninfo_to_dict(dsn).get('options') or ''} {MOVING} -c search_path={SCHEMA},pg_temp"
    with owner_connection(dsn, options) as db:
        if source is not None and not version_of(db):
            raise InvalidArgument(
                f"expected a primary of the same store in the database {db.info.dbname!r}; it holds no store. Run: "
                f"firsthand store migrate {shlex.quote(owner_address(db))} "
                f"--beside {shlex.quote(owner_address(source))}"
            )
        log = PostgresLog(make_conninfo(dsn, options=options))
        try:
            yield db, log
        finally:
            log.close()


class _Move:
    """One run."""

    def __init__(
        self, namespace: str, source: psycopg.Connection, source_log: PostgresLog, target: psycopg.Connection,
        target_log: PostgresLog, source_label: str, target_label: str, stage: Stage,
    ) -> None:  # fmt: skip
        self._namespace, self._key, self._stage, self._copied = namespace, number_of(namespace), stage, 0
        self._source, self._source_log, self._target, self._target_log = source, source_log, target, target_log
        self._coming, self._gone, self._primary = f"from {source_label}", f"to {target_label}", target_label

    def run(self) -> Moved:
        held_ms = 0
        if not self._prepare():
            self._copy()
            self._stage("copied", self._position(self._target))
            verification = self._target_log.verify(namespace=self._namespace)
            if not verification.ok:
                raise StoreDamaged(f"the copy is not whole, so nothing was switched: {verification.problems[0]}")
            self._stage("verified", self._position(self._target))
            self._copy()
            if unforgotten := self._source_log.seal.forget(self._key):
                raise StoreFailed(
                    f"keys of erased events could not be forgotten, so nothing was switched: {unforgotten}"
                )
            self._forget()
            begun = time.monotonic()
            self._switch()
            self._open()
            held_ms = round((time.monotonic() - begun) * 1000)
        else:
            self._open()
        position, head = self._target_log.reader.head(self._namespace)
        self._stage("opened", position)
        _remove(self._source, self._source_log, self._key)
        self._stage("removed", position)
        return Moved(self._namespace, self._primary, position, self._copied, f"{position}:{head.hex()}", held_ms)

    def _prepare(self) -> bool:
        """Make sure that it can be moved, and that nobody writes to the target; True where it was switched already."""
        if self._source_log.reader.uuid() != self._target_log.reader.uuid():
            raise InvalidArgument(
                f"expected primaries of one store; {self._primary} has a store of its own. A primary is made in an "
                "empty database: firsthand store migrate TARGET --beside SOURCE. Into another store, events go by: "
                "firsthand store export, restore"
            )
        if self._source.execute("SELECT pg_try_advisory_lock(%s)", (self._key,)).fetchone() != (True,):
            raise StoreBusy(f"another process is moving namespace {self._namespace!r}")
        mark = self._mark(self._source)
        if mark == self._gone:
            return True
        if mark:
            raise moved(mark)
        row = self._target.execute("SELECT moved FROM namespace WHERE namespace = %s", (self._key,)).fetchone()
        if row is None:
            self._target.execute(
                "INSERT INTO namespace (namespace, name, position, head, moved) VALUES (%s, %s, 0, %s, %s)",
                (self._key, self._namespace, bytes(32), self._coming),
            )
        elif (row[0] or "").startswith("to "):  # it was there before, and comes back
            _remove(self._target, self._target_log, self._key)
            sql_ = "UPDATE namespace SET position = 0, head = %s, moved = %s WHERE namespace = %s"
            self._target.execute(sql_, (bytes(32), self._coming, self._key))
        elif row[0] != self._coming:
            raise InvalidArgument(f"{self._primary} has a namespace {self._namespace!r} that is no copy of this one")
        return False

    def _mark(self, db: psycopg.Connection, lock: str = "") -> str:
        row = db.execute(f"SELECT moved FROM namespace WHERE namespace = %s {lock}", (self._key,)).fetchone()  # noqa: S608 - a constant
        if row is None:
            raise Unresolvable(
                f"no namespace {self._namespace!r} here, so there is nothing to move. List them: firsthand store limit "
                f"--postgres {shlex.quote(owner_address(db))}"
            )
        return row[0] or ""

    def _position(self, db: psycopg.Connection) -> int:
        row = db.execute("SELECT position FROM namespace WHERE namespace = %s", (self._key,)).fetchone()
        return int(row[0]) if row is not None else 0

    def _copy(self) -> None:
        """Copy until little is left, while writers go on."""
        last, head = self._target_log.reader.head(self._namespace)
        if self._source_log.reader.heads(self._namespace, last)[1] != head:
            raise StoreDamaged(f"what {self._primary} has of it is no copy of it: they differ up to position {last}")
        short = 0
        while short < ROUNDS_MAX:
            if self._copy_step() <= TAIL_EVENTS_MAX:
                return
            left = self._position(self._source) - self._position(self._target)
            short = short + 1 if left <= STEP_EVENTS else 0
        raise StoreBusy("writers are faster than the copy; move it when they are slower")

    def _copy_step(self) -> int:
        """Copy some events; give how many there were."""
        last = self._target_log.reader.head(self._namespace)[0]
        for again in (True, False):
            rows = self._source_log.reader.stored(self._namespace, last, STEP_EVENTS)
            events = [prepared(row) for row in rows]
            try:
                for event in events:
                    self._copy_payload(event.artifact)
            except StoreDamaged:  # its event was erased since the rows were read
                if not again:
                    raise
            else:
                break
        runs = groupby(zip(rows, events, strict=True), key=lambda pair: str(pair[0][20]))
        batches = tuple(Batch(self._namespace, session, tuple(event for _, event in run)) for session, run in runs)
        if batches:
            self._target_log.submit(batches)
        self._copied += len(rows)
        return len(rows)

    def _copy_payload(self, artifact: Artifact | None) -> None:
        if artifact is not None and not self._target_log.artifacts.present(self._key, artifact.digest):
            pieces = self._source_log.artifacts.pieces(self._key, artifact)
            self._target_log.artifacts.put(self._key, PieceSource(pieces))

    def _switch(self) -> None:
        """Copy the tail while nobody can write, compare, and mark the source; the one commit that decides."""
        with self._source.transaction():
            self._source.execute(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")
            self._mark(self._source, "FOR UPDATE")
            self._stage("held", self._position(self._source))
            while self._copy_step():
                pass
            self._compare()
            self._source.execute("UPDATE namespace SET moved = %s WHERE namespace = %s", (self._gone, self._key))
        self._stage("marked", self._position(self._target))

    def _forget(self) -> None:
        """Erase in the copy whatever was erased at the source."""
        erased = "SELECT position FROM event WHERE namespace = %s AND body IS NULL"
        gone, there = ({row[0] for row in db.execute(erased, (self._key,))} for db in (self._source, self._target))
        with self._target.transaction():
            enter(self._target, self._key)
            self._target.execute("SELECT erase_1(%s, %s)", (self._key, sorted(gone - there)))
        self._target_log.artifacts.remove_freed(self._key)

    def _compare(self) -> None:
        """Compare the heads, and take the limits along."""
        columns = sql.SQL(", ").join(map(sql.Identifier, _LIMITS))
        read = sql.SQL("SELECT position, head, {} FROM namespace WHERE namespace = %s").format(columns)
        position, head, *limits = self._source.execute(read, (self._key,)).fetchone() or (0, b"")
        end = self._target_log.reader.head(self._namespace)
        if end != (position, head):
            raise StoreDamaged(
                f"the copy ends at {end[0]}:{end[1].hex()}, the source at {position}:{head.hex()}; nothing was switched"
            )
        values = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in _LIMITS)
        write = sql.SQL("UPDATE namespace SET {} WHERE namespace = %s").format(values)
        self._target.execute(write, (*limits, self._key))

    def _open(self) -> None:
        """Let writers in at the target."""
        self._target.execute(
            "UPDATE namespace SET moved = NULL WHERE namespace = %s AND moved = %s", (self._key, self._coming)
        )


def _remove(db: psycopg.Connection, log: PostgresLog, key: int) -> None:
    """Remove the rows and objects of a namespace that is elsewhere; its own row stays, and says where."""
    db.execute("UPDATE pending_object SET size = NULL WHERE namespace = %s", (key,))
    db.execute(
        "INSERT INTO pending_object (namespace, name) SELECT namespace, object FROM artifact "
        "WHERE namespace = %s AND object IS NOT NULL ON CONFLICT DO NOTHING", (key,),
    )  # fmt: skip
    log.artifacts.remove_freed(key)
    while True:
        with db.transaction():
            rows = db.execute(
                "DELETE FROM event WHERE namespace = %s AND position IN "
                "(SELECT position FROM event WHERE namespace = %s ORDER BY position LIMIT 10000)", (key, key),
            ).rowcount  # fmt: skip
        if not rows:
            break
    for table in _TABLES[1:]:
        db.execute(sql.SQL("DELETE FROM {} WHERE namespace = %s").format(sql.Identifier(table)), (key,))
