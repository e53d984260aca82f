"""A copy of a store that is whole although writers go on.

The database is copied out of one snapshot (never the file itself: without its
WAL it is an older store), then the artifacts that the copy holds. They never
change once written, so they can be copied while others are added. Then every hash of
the copy is derived again: damage is copied with the store, and said.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import NotAStore, StoreDamaged, StoreError, StoreFailed
from firsthand.log.disk import Disk
from firsthand.log.results import Backup

from .artifacts import ArtifactStore
from .database import open_reader, translating
from .index_files import namespaces_in, path_of
from .mark import Mark, Marks
from .schema import DATABASE_FILE
from .verify import verify

ATTEMPTS_MAX = 3


def backup(db: apsw.Connection, root: Path, target: Path, disk: Disk) -> Backup:
    """Copy a store into a folder that does not exist yet, or is empty.

    Raises:
        StoreFailed: the target holds something, or lies in the store.
        StoreFull: the target's disk is full; what was copied is removed.
        StoreDamaged: the store lacks a payload, so no copy of it would be whole; export what is left of it.
    """
    target = target.absolute()
    if target.is_relative_to(root.absolute()):
        raise StoreFailed(f"expected a folder outside the store {root}; got {target}")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreFailed(f"expected a new or empty folder for the backup; {target} holds something. Choose another.")
    disk.make_folder(target)
    try:
        return _copy(db, root, target, disk)
    except (OSError, StoreError, apsw.Error) as error:
        _empty(target)
        if isinstance(error, StoreError):
            raise
        raise StoreFailed(f"the backup to {target} failed and was removed: {error}") from error


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _copy(db: apsw.Connection, root: Path, target: Path, disk: Disk) -> Backup:
    file = target / DATABASE_FILE
    for attempt in range(ATTEMPTS_MAX):
        _empty(target)
        _copy_indexes(root, target, disk)  # first, so that none reaches beyond the log that is copied
        with translating(target, db):
            db.execute("VACUUM INTO ?", (str(file),)).fetchall()
        file.chmod(0o600)
        disk.sync(file)
        copied = open_reader(file)
        try:
            artifacts: list[Any] = copied.execute("SELECT DISTINCT namespace, digest FROM artifact_use").fetchall()
            rows: list[Any] = copied.execute(
                "SELECT key, head_position, head, name FROM namespace ORDER BY name"
            ).fetchall()
            uuid = copied.execute("SELECT value FROM store WHERE key = 'uuid'").get
            events = copied.execute("SELECT total(length) FROM session").get
        finally:
            copied.close()
        # An erasure between the snapshot and here took files away: the copy would hold what was erased. Again.
        missing = _copy_artifacts(ArtifactStore(root, disk), ArtifactStore(target, disk), artifacts)
        if not missing:
            break
        if attempt == ATTEMPTS_MAX - 1:
            raise StoreDamaged(
                f"the file of artifact {missing} is missing in {root}, so a backup would not be whole. Run 'firsthand "
                "store verify'; 'firsthand store export --salvage' writes what is left."
            )
    copied = open_reader(file)
    try:
        verified = verify(copied, ArtifactStore(target, disk), pages=False)  # the copy's pages were written just now
    finally:
        copied.close()
    marks = Marks(target, uuid, None, write=True)
    marks.reset([Mark(key, position, head) for key, position, head, _ in rows if position])
    marks.close()
    disk.sync_folder(target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    heads = {name: f"{position}:{head.hex()}" for _, position, head, name in rows if position}
    return Backup(target, int(events), len(artifacts), size, heads, tuple(map(str, verified.problems)))


def _copy_indexes(root: Path, target: Path, disk: Disk) -> None:
    """Copy the index files, so that the copy answers as the store does; a damaged one is left out."""
    for namespace in namespaces_in(root):
        file = path_of(target, namespace)
        disk.make_folder(file.parent)
        try:
            source = open_reader(path_of(root, namespace))
            try:
                source.execute("VACUUM INTO ?", (str(file),)).fetchall()
            finally:
                source.close()
        except (apsw.CorruptError, NotAStore, StoreDamaged, StoreFailed):  # it is derived: the copy makes its own
            file.unlink(missing_ok=True)
            continue
        file.chmod(0o600)


def _copy_artifacts(source: ArtifactStore, target: ArtifactStore, uses: list[tuple[int, bytes]]) -> str:
    """Copy the artifact files; name the first that is not there any more, empty when all are."""
    return next((digest.hex() for namespace, digest in uses if not source.copy_to(target, namespace, digest)), "")
