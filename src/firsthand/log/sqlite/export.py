"""A store in files as one open text file: read whole, or what is whole of a damaged one (see `log.export`)."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from firsthand.errors import NotAStore, StoreDamaged
from firsthand.event import genesis, link
from firsthand.log.disk import Disk
from firsthand.log.export import Exported, damaged_line, end_line, event_lines, header_line
from firsthand.log.loss import SESSION, loss_of
from firsthand.log.rows import POSITION_MAX, STORED, header_of

from .artifacts import ArtifactStore
from .database import read_map
from .salvage import Salvage
from .schema import DATABASE_FILE
from .walk import Rows


def export(
    db: apsw.Connection,
    artifacts: ArtifactStore,
    out: BinaryIO,
    *,
    namespace: str | None,
    session: str | None,
) -> Exported:
    """Write a store, one namespace or one session, out of one snapshot; ``db`` is a connection of its own.

    Raises:
        StoreDamaged: an event or artifact is not what was written; what was exported until there is not whole.
    """
    db.execute("BEGIN")
    facts = read_map(db, "SELECT key, value FROM store")
    namespaces = read_map(db, "SELECT key, name FROM namespace")
    if namespace is not None:
        namespaces = {key: name for key, name in namespaces.items() if name == namespace}
    try:
        out.write(header_line(facts["uuid"], facts["created"], namespaces.values(), session))
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"what the store says of itself is damaged ({error!r}); restore it from a backup") from error
    texts = read_map(db, "SELECT key, text FROM name")
    sessions = read_map(db, "SELECT key, name FROM session")
    events = 0
    written: set[tuple[int, bytes]] = set()
    walk = Rows(db)
    shared = read_map(db, "SELECT key, shared FROM namespace")
    every = ((key, *each) for key in sorted(namespaces) for each in walk.read(key, walk.last_position(key)))
    before = 0, 0
    ends: dict[int, tuple[int, bytes]] = {}
    lost = {key: _lost(db, key) for key in namespaces}
    for key, position, row in every:
        if row is None and (position <= shared[key] or any(position in each for each in lost[key])):
            continue  # it may be another namespace's, or a loss that follows names it
        try:
            if row is not None and session not in {None, sessions[row[3]]}:
                continue
            skipped = session is None and position != (before[1] if before[0] == key else 0) + 1
            before = key, position
            names = None if row is None else (namespaces[row[2]], sessions[row[3]], texts[row[9]], texts[row[10]])
            lines = event_lines(row, artifacts, names, written, skipped=skipped)
            if row is not None and names is not None:
                _check_chain(row, names, ends, gaps=bool(lost[key]))
            out.writelines(lines)
        except (StoreDamaged, KeyError, ValueError, TypeError, ArithmeticError, struct.error) as error:
            go_on = "Go on past it with 'firsthand store export --salvage'."
            raise StoreDamaged(f"position {position}: {error}. {go_on}") from error
        events += 1
    out.write(end_line(events, len(written)))
    return Exported(events, len(written), events)


def _check_chain(
    row: tuple[Any, ...], names: tuple[str, str, str, str], ends: dict[int, tuple[int, bytes]], *, gaps: bool
) -> None:
    """Check an event's header by the chain of its session.

    Args:
        ends: sequence and chain hash of each session's last event so far; brought up to date.
        gaps: events are recorded as lost, so the one before may be missing.

    Raises:
        StoreDamaged: the header is not the one that was written.
    """
    sequence, chain = ends.get(row[3], (-1, b""))
    if row[4] == sequence + 1 or not gaps:
        previous = chain or genesis(names[0], names[1])
        if link(previous, header_of(row, names[2], names[3]), row[16]) != row[15]:
            raise StoreDamaged("its header, commitment or chain hash is not the one that was written")
    ends[row[3]] = row[4], row[15]


def _lost(db: apsw.Connection, key: int) -> list[range]:
    """Give the positions that the losses of a namespace name."""
    session = "(SELECT key FROM session WHERE namespace = ? AND name = ?)"
    sql = f"SELECT {STORED} FROM event WHERE session = {session}"  # noqa: S608 - constants
    losses = [loss_of(row) for row in db.execute(sql, (key, SESSION))]
    return [each for loss in losses if loss is not None for each in loss.missing]


def export_salvage(root: Path, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
    """Write what is whole of a damaged store, without SQLite, and a line in the place of what is not.

    A file with such lines cannot be restored; one without can.

    Raises:
        NotAStore: there is no database in the folder.
    """
    if not (root / DATABASE_FILE).exists():
        raise NotAStore(f"there is no store in {root}, so there is nothing to salvage; name its folder with --store")
    salvage = Salvage(root / DATABASE_FILE)
    artifacts = ArtifactStore(root, Disk())
    identity = salvage.facts.get("uuid") or os.urandom(16)  # a copy of what lost its identity is another store
    out.write(header_line(identity, salvage.facts.get("created", 0), salvage.names(), session))
    events = damaged = 0
    written: set[tuple[int, bytes]] = set()
    before = 0, 0
    lost: list[tuple[int, range]] = []
    for key in sorted(salvage.rows):
        tenant, position = (key >> 40) + 1, key & POSITION_MAX
        try:
            names = salvage.names_of(key)
            if namespace not in {None, names.namespace} or session not in {None, names.session}:
                continue
            skipped = session is None and position != (before[1] if before[0] == tenant else 0) + 1
            before = tenant, position
            words = names.namespace, names.session, names.agent, names.origin
            lines = event_lines(salvage.rows[key], artifacts, words, written, skipped=skipped)
            events += 1
            if (loss := loss_of(salvage.rows[key])) is not None:
                lost += [(tenant, each) for each in loss.missing]
        except (StoreDamaged, ValueError, TypeError) as error:
            damaged += 1
            lines = [damaged_line(salvage.name(tenant), position, position, str(error))]
        out.writelines(lines)
    for tenant, first, last in salvage.gaps():
        named = any(owner == tenant and first in each and last in each for owner, each in lost)
        if namespace in {None, salvage.name(tenant)} and not named:
            damaged += last - first + 1
            out.write(damaged_line(salvage.name(tenant), first, last, "no page that can be read holds it"))
    out.write(end_line(events, len(written), damaged))
    return Exported(events, len(written), events, damaged)
