"""Erasure for privacy: content and salt are destroyed everywhere, the chain still verifies.

An erasure is an event: it says which ids, when and why, and nothing of what they
said. A source record goes as a whole, since the envelope of its first event may
hold words of the others. Afterwards nothing of the content is left in the
database file, its free pages, the WAL, the text index or the artifact store;
backups and exports made earlier are not reached.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from firsthand.event import Event, IdMaker
from firsthand.log.engine import Entry
from firsthand.log.prepare import Batch, erasures
from firsthand.log.results import Appended, Erasure
from firsthand.log.rows import key_of

from .append import Appender
from .artifacts import ArtifactStore
from .index_files import IndexFiles
from .index_port import FollowingIndex, TransactionIndex
from .queue import Ticket

_USES = "SELECT count(*) FROM artifact_use WHERE namespace = ? AND digest = ?"
UNFINISHED = "unfinished_erasure"
"""Key of the table ``store`` that says what an erasure has still to destroy."""


def erase(
    db: apsw.Connection,
    appender: Appender,
    artifacts: ArtifactStore,
    files: IndexFiles,
    indexes: Sequence[TransactionIndex],
    followers: Sequence[FollowingIndex],
    ids: IdMaker,
    *,
    namespace: str,
    namespace_key: int,
    events: Sequence[Event],
    reason: str,
) -> Erasure:
    """Destroy the content of events; the caller holds the write lock and gives whole records."""
    fresh = [event for event in events if not event.erased]
    already = tuple(event.id for event in events if event.erased)
    if not fresh:
        _finish(db, artifacts, files, indexes)
        return Erasure((), already, 0, 0, ())
    # 1) One transaction: the content is gone, and an event in each session says so.
    batches = erasures(fresh, namespace, namespace_key, artifacts, ids, reason)
    tickets = [Ticket((batch,), 0) for batch in batches]
    entries = [Entry(namespace_key, event) for event in fresh]
    appender.commit(tickets, lambda: _destroy(db, entries, followers), namespace=namespace)
    for ticket in tickets:
        if ticket.error is not None:
            raise ticket.error
    # 2) What the transaction freed: artifact files, index segments, free pages, the WAL.
    removed = _finish(db, artifacts, files, indexes)
    digests = {event.artifact.digest for event in fresh if event.artifact is not None}
    artifacts_kept = sum(bool(db.execute(_USES, (namespace_key, digest)).get) for digest in digests)
    pointers = tuple(appended.pointer for ticket in tickets for appended in ticket.result)
    return Erasure(tuple(event.id for event in fresh), already, removed, artifacts_kept, pointers)


def follow(
    db: apsw.Connection,
    appender: Appender,
    artifacts: ArtifactStore,
    files: IndexFiles,
    indexes: Sequence[TransactionIndex],
    followers: Sequence[FollowingIndex],
    *,
    batches: tuple[Batch, ...],
    namespace_key: int,
    events: Sequence[Event],
) -> tuple[Appended, ...]:
    """Append events of another log; in the same transaction goes the content that the erasures among them name."""
    ticket, entries = Ticket(batches, 0), [Entry(namespace_key, event) for event in events]
    appender.commit([ticket], lambda: _destroy(db, entries, followers), namespace=batches[0].namespace)
    if ticket.error is not None:
        raise ticket.error
    _finish(db, artifacts, files, indexes)
    appended: tuple[Appended, ...] = ticket.result
    return appended


def _destroy(db: apsw.Connection, entries: Sequence[Entry], followers: Sequence[FollowingIndex]) -> None:
    for follower in followers:
        follower.forget(db, entries)
    empty(db, entries[0].namespace_key, [entry.event.position for entry in entries])


def empty(db: apsw.Connection, namespace_key: int, positions: Iterable[int]) -> None:
    """Take the content of events out of the database; inside a transaction. The next erasure cleans up what is left."""
    pending = _pending(db)
    for position in positions:
        db.execute("UPDATE event SET salt = NULL, body = NULL WHERE key = ?", (key_of(namespace_key, position),))
        sql = "DELETE FROM artifact_use WHERE namespace = ? AND position = ? RETURNING lower(hex(digest))"
        names = [str(name) for (name,) in db.execute(sql, (namespace_key, position)).fetchall()]
        pending += [[namespace_key, name] for name in names or [""]]
    db.execute("INSERT OR REPLACE INTO store VALUES (?, ?)", (UNFINISHED, json.dumps(pending)))


def _pending(db: apsw.Connection) -> list[list[Any]]:
    """Read what erasures have still to clean up: namespace and artifact, hexadecimal or empty."""
    text = db.execute("SELECT value FROM store WHERE key = ?", (UNFINISHED,)).get
    pending: list[list[Any]] = json.loads(text) if text else []
    return pending


def _finish(
    db: apsw.Connection, artifacts: ArtifactStore, files: IndexFiles, indexes: Sequence[TransactionIndex]
) -> int:
    """Destroy what erasures freed: files that no event holds any more, words in the indexes, free pages, the WAL.

    Gives how many files went. Cut short, it is done again by the next erasure.
    """
    pending = _pending(db)
    if not pending:
        return 0
    removed = 0
    for namespace_key, digest in sorted({(key, bytes.fromhex(name)) for key, name in pending if name}):
        if not db.execute(_USES, (namespace_key, digest)).get:
            removed += artifacts.remove(namespace_key, digest)
    for namespace_key in sorted({key for key, _ in pending}):
        _purge(db, files, indexes, namespace_key)
    db.execute("VACUUM").fetchall()
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.execute("DELETE FROM store WHERE key = ?", (UNFINISHED,))
    return removed


def _purge(db: apsw.Connection, files: IndexFiles, indexes: Sequence[TransactionIndex], namespace_key: int) -> None:
    """Take what was erased out of a namespace's index file; one that cannot be read goes as a whole."""
    try:
        if files.attach(namespace_key):
            for index in indexes:
                index.purge(db, namespace_key)
    except (apsw.SQLError, apsw.CorruptError, apsw.NotADBError):
        files.renew(namespace_key)
