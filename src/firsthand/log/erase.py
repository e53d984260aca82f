"""Erasure for privacy: content and salt are destroyed everywhere, the chain still verifies.

An erasure is an event: it says which ids, when and why, and nothing of what they
said. A source record goes as a whole, since the envelope of its first event may
hold words of the others. Afterwards nothing of the content is left in the
database file, its free pages, the WAL, the text index or the artifact store;
backups and exports made earlier are not reached.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from firsthand.errors import InvalidDraft
from firsthand.event import Draft, Event, IdMaker, Kind, Trust

from .append import Appender
from .artifacts import ArtifactStore
from .port import Entry, TransactionIndex
from .prepare import Batch, prepare
from .queue import Ticket

REASON_CHARACTERS_MAX = 1_000
ERASE_EVENTS_MAX = 10_000
SWEEP_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure did.

    Attributes:
        erased: ids of the events whose content was destroyed now, further parts of their records included.
        already: ids that had been erased before.
        artifacts_removed: files destroyed.
        artifacts_kept: files that other events, not erased, still hold.
        pointers: of the erasure events that record it.
    """

    erased: tuple[str, ...]
    already: tuple[str, ...]
    artifacts_removed: int
    artifacts_kept: int
    pointers: tuple[str, ...]


def check(identifiers: Sequence[str], reason: str) -> None:
    """Check an erasure against its limits.

    Raises:
        InvalidDraft: it is over one.
    """
    if len(reason) > REASON_CHARACTERS_MAX or len(identifiers) > ERASE_EVENTS_MAX:
        raise InvalidDraft(
            f"an erasure takes at most {ERASE_EVENTS_MAX:,} events and a reason of {REASON_CHARACTERS_MAX:,} "
            f"characters; got {len(identifiers):,} and {len(reason):,}"
        )


def erase(
    db: apsw.Connection,
    appender: Appender,
    artifacts: ArtifactStore,
    indexes: Sequence[TransactionIndex],
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
        return Erasure((), already, 0, 0, ())
    # 1) One transaction: the content is gone, and an event in each session says so.
    tickets = []
    for session in sorted({event.session for event in fresh}):
        mine = [event.id for event in fresh if event.session == session]
        content = json.dumps({"erased": mine, "reason": reason}).encode()
        draft = Draft(Kind.ERASURE, content, "application/json", origin="user", trust=Trust.TRUSTED)
        one = prepare(draft, namespace_key, artifacts, len(content), ids)
        tickets.append(Ticket((Batch(namespace, session, (one,)),), 0))
    entries = [Entry(namespace_key, event) for event in fresh]
    appender.commit(tickets, lambda: _destroy(db, entries, indexes))
    # 2) What the transaction freed: artifact files, index segments, free pages, the WAL.
    removed, kept = _remove_artifacts(db, artifacts, namespace_key, fresh)
    for index in indexes:
        index.purge(db, namespace_key)
    db.execute("VACUUM").fetchall()
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    pointers = tuple(appended.pointer for ticket in tickets for appended in ticket.result)
    return Erasure(tuple(event.id for event in fresh), already, removed, kept, pointers)


def _destroy(db: apsw.Connection, entries: Sequence[Entry], indexes: Sequence[TransactionIndex]) -> None:
    for index in indexes:
        index.forget(db, entries)
    for entry in entries:
        position = entry.event.position
        db.execute("UPDATE event SET salt = NULL, body = NULL WHERE position = ?", (position,))
        db.execute("DELETE FROM artifact_use WHERE namespace = ? AND position = ?", (entry.namespace_key, position))


def _remove_artifacts(
    db: apsw.Connection, artifacts: ArtifactStore, namespace_key: int, events: Sequence[Event]
) -> tuple[int, int]:
    """Remove the files that no event holds any more; give how many went and how many stay."""
    digests = sorted({event.artifact.digest for event in events if event.artifact is not None})
    sql = "SELECT count(*) FROM artifact_use WHERE namespace = ? AND digest = ?"
    free = [digest for digest in digests if not db.execute(sql, (namespace_key, digest)).get]
    for digest in free:
        artifacts.remove(namespace_key, digest)
    artifacts.sweep(SWEEP_SECONDS)  # also what an erasure cut short left half destroyed
    return len(free), len(digests) - len(free)
