"""What to do when the log ends before its high-water mark.

    marks ahead of the log -> the files are copied aside -> rows behind a bad frame of the WAL
    are written back at their own positions -> what is still missing becomes a loss (`loss`)

The invariant: nothing is believed that its commitment and chain hash do not prove, no
position is used twice, and the damaged files are kept as they were found. Works under the
write lock, before SQLite may write over what its WAL still has.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import Artifact, decode_body, id_text, roll
from firsthand.log.disk import Disk
from firsthand.log.loss import IDS_MAX, Loss, sentence
from firsthand.log.rows import POSITION, POSITION_MAX, body_of, key_of
from firsthand.value import value

from .erase import empty
from .mark import MARK_FILE, Mark
from .salvage import Names, Salvage
from .schema import DATABASE_FILE

FOLDER = "damaged"
_INSERT = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@value
class Row:
    """An event's row that is written back."""

    key: int
    columns: tuple[Any, ...]
    names: Names


@value
class Lack:
    """What one namespace lacks, once everything that could be read was written back.

    Attributes:
        loss: None when nothing is missing any more.
        erased: ids that erasures name.
    """

    key: int
    namespace: str
    rows: tuple[Row, ...]
    loss: Loss | None
    position: int
    head: bytes
    erased: tuple[bytes, ...] = ()

    def __str__(self) -> str:
        if self.loss is None or not self.loss.missing:
            return f"namespace {self.namespace} is not the one that was acknowledged: it was rolled back"
        return sentence(self.namespace, self.loss.missing)


@value
class Comparison:
    """A log beside its marks.

    Attributes:
        notes: sentences on the marks themselves.
        rot: what the WAL shows by itself where nothing is marked; empty when nothing.
    """

    lacks: tuple[Lack, ...]
    notes: tuple[str, ...]
    rot: str = ""


def set_aside(root: Path, disk: Disk) -> Path:
    """Copy the database, its WAL and the marks into a folder of their own, before anything changes them."""
    name = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    target = root / FOLDER / name
    disk.make_folder(target)
    for source in (root / DATABASE_FILE, root / f"{DATABASE_FILE}-wal", root / MARK_FILE):
        if source.exists() and not source.is_symlink():
            shutil.copyfile(source, target / source.name)
            (target / source.name).chmod(0o600)
            disk.sync(target / source.name)
    disk.sync_folder(target)
    return target


def drop_copies(root: Path, disk: Disk) -> None:
    """Remove the copies of damaged files: they hold what is being erased."""
    for folder in disk.names(root / FOLDER):
        for name in disk.names(root / FOLDER / folder):
            disk.unlink(root / FOLDER / folder / name)
        disk.remove_folder(root / FOLDER / folder)
    disk.remove_folder(root / FOLDER)


def lacking(db: apsw.Connection, marks: Iterable[Mark]) -> list[Lack]:
    """Find what the log lacks of what was marked."""
    return [_lack(db, None, mark) for mark in _ahead(db, marks)]


def readable(db: apsw.Connection, file: Path, marks: Iterable[Mark]) -> list[Lack]:
    """Find what the log lacks of what was marked, and what of it can still be read page by page."""
    salvage = Salvage(file)
    heights = [Mark(key, height.position, height.head) for key, height in salvage.heights.items()]
    return [_lack(db, salvage, mark) for mark in _ahead(db, [*marks, *heights])]


def _ahead(db: apsw.Connection, marks: Iterable[Mark]) -> list[Mark]:
    """Give the highest mark of each namespace that ends before it."""
    highest: dict[int, Mark] = {}
    for mark in marks:
        if mark.ahead_of(*height_of(db, mark.key)):
            highest[mark.key] = max(mark, highest.get(mark.key, mark), key=lambda each: each.position)
    return [highest[key] for key in sorted(highest)]


def height_of(db: apsw.Connection, key: int) -> tuple[int, bytes]:
    """Give a namespace's position and head as the database has them; 0 and zeros where it has none."""
    row: Any = db.execute("SELECT head_position, head FROM namespace WHERE key = ?", (key,)).get
    return row if row is not None else (0, bytes(32))


def _lack(db: apsw.Connection, salvage: Salvage | None, mark: Mark) -> Lack:
    position, head = height_of(db, mark.key)
    rows = _rows(db, salvage, mark.key, position, mark.position) if salvage is not None else []
    name: Any = db.execute("SELECT name FROM namespace WHERE key = ?", (mark.key,)).get
    if name is None:
        name = rows[0].names.namespace if rows else f"lost {mark.key}"
    read = [row.key & POSITION_MAX for row in rows]
    missing = _missing(position, mark.position, read)
    erased = tuple(name for key, name in (salvage.erased if salvage is not None else ()) if key == mark.key)
    if not missing and position < mark.position:
        for row in rows:
            head = roll(head, row.key & POSITION_MAX, row.columns[15])
    if not missing and head == mark.head:
        return Lack(mark.key, name, tuple(rows), None, mark.position, mark.head, erased)
    indexed = salvage.ids(mark.key) if salvage is not None else ()
    known = {key & POSITION_MAX: id_text(identifier) for identifier, key in indexed}
    ids = [known[place] for each in missing for place in each if place in known] if known else []
    loss = Loss(missing, mark.position, mark.head, tuple(ids[:IDS_MAX]))
    return Lack(mark.key, name, tuple(rows), loss, max([position, *read]), head, erased)


def _rows(db: apsw.Connection, salvage: Salvage, namespace: int, after: int, through: int) -> list[Row]:
    """Give the rows of a range of positions that can be read and fit to the log as it is."""
    rows: list[Row] = []
    for key in range(key_of(namespace, after + 1), key_of(namespace, through) + 1):
        if key in salvage.rows:
            try:
                row = Row(key, (key, *salvage.rows[key][1:]), salvage.names_of(key))
            except StoreDamaged:
                continue  # it counts as missing
            if _fits(db, row):
                rows.append(row)
    return rows


def _fits(db: apsw.Connection, row: Row) -> bool:
    """Say whether a row's id, place in its session and names are free, or its own."""
    columns = row.columns
    taken = db.execute(
        "SELECT 1 FROM event WHERE (id = ? AND namespace = ?) OR (session = ? AND sequence = ?)",
        (columns[1], columns[2], columns[3], columns[4]),
    ).get
    names = (
        ("SELECT name FROM session WHERE key = ?", columns[3], row.names.session),
        ("SELECT text FROM name WHERE key = ?", columns[9], row.names.agent),
        ("SELECT text FROM name WHERE key = ?", columns[10], row.names.origin),
    )
    return taken is None and all(db.execute(sql, (key,)).get in {None, name} for sql, key, name in names)


def _missing(after: int, through: int, read: Sequence[int]) -> tuple[range, ...]:
    """Give the ranges of positions between two that were not read."""
    missing: list[range] = []
    expected = after + 1
    for position in [*read, through + 1]:
        if expected < position:
            missing.append(range(expected, position))
        expected = position + 1
    return tuple(missing)


def write_back(db: apsw.Connection, lacks: Sequence[Lack]) -> None:
    """Write back what can still be read; inside a transaction."""
    for lack in lacks:
        db.execute("INSERT OR IGNORE INTO namespace (key, name) VALUES (?, ?)", (lack.key, lack.namespace))
        sessions: defaultdict[int, str] = defaultdict(str)
        for row in lack.rows:
            sessions[row.columns[3]] = row.names.session
            for key, text in ((row.columns[9], row.names.agent), (row.columns[10], row.names.origin)):
                db.execute("INSERT OR IGNORE INTO name (key, text) VALUES (?, ?)", (key, text))
            db.execute(_INSERT, row.columns)
            _note_artifact(db, row)
        if lack.erased:
            again = f"SELECT {POSITION} FROM event WHERE id = ? AND namespace = ? AND body IS NOT NULL"  # noqa: S608
            there = [db.execute(again, (identifier, lack.key)).get for identifier in lack.erased]
            empty(db, lack.key, [position for position in there if isinstance(position, int)])
        for key, name in sessions.items():
            _write_session(db, key, lack.key, name)
        if lack.rows:
            db.execute(
                "UPDATE namespace SET head_position = ?, head = ? WHERE key = ?", (lack.position, lack.head, lack.key)
            )


def _note_artifact(db: apsw.Connection, row: Row) -> None:
    position = row.key & POSITION_MAX
    body = body_of((position, *row.columns[1:]))
    payload = decode_body(body).payload if body is not None else b""
    if isinstance(payload, Artifact):
        db.execute("INSERT OR IGNORE INTO artifact_use VALUES (?, ?, ?)", (row.columns[2], payload.digest, position))


def _write_session(db: apsw.Connection, key: int, namespace: int, name: str) -> None:
    """Derive a session's row from its events."""
    db.execute(
        "INSERT INTO session (key, namespace, name, length, turn, first_position, last_position, first_time, "
        "last_time, head) SELECT session, ?, ?, max(sequence) + 1, max(turn), min(key) & ?, max(key) & ?, min(time), "
        "max(time), (SELECT chain FROM event WHERE session = ? ORDER BY sequence DESC LIMIT 1) "
        "FROM event WHERE session = ? "
        "ON CONFLICT (key) DO UPDATE SET length = excluded.length, turn = excluded.turn, "
        "first_position = excluded.first_position, last_position = excluded.last_position, "
        "first_time = excluded.first_time, last_time = excluded.last_time, head = excluded.head",
        (namespace, name, POSITION_MAX, POSITION_MAX, key, key),
    )
