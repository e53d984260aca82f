"""Removing what can be made again of a store, and payloads that no event came to hold; under the write lock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import apsw

from firsthand.log.disk import Disk

from .artifacts import ArtifactStore
from .index_files import IndexFiles, namespaces_in
from .index_port import FollowingIndex
from .mend import drop_copies

SPARE_SECONDS = 86_400.0
"""A payload's append is on its way for less."""
_USED = "SELECT EXISTS (SELECT 1 FROM artifact_use WHERE namespace = ? AND digest = ?)"


def prune(
    db: apsw.Connection,
    names: Collection[str],
    root: Path,
    files: IndexFiles,
    followers: Sequence[FollowingIndex],
    artifacts: ArtifactStore,
    disk: Disk,
) -> None:
    """Remove what is named of `storage.PRUNABLE`."""
    for namespace in namespaces_in(root) if "index" in names else ():
        files.renew(namespace)
    if "vectors" in names:
        reset(db, followers)
    if {"vectors", "pages"} & {*names}:
        db.execute("VACUUM").fetchall()
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    if "damaged" in names:
        drop_copies(root, disk)
    if "payloads" in names:
        sweep(db, artifacts)


def reset(db: apsw.Connection, followers: Sequence[FollowingIndex]) -> None:
    """Drop what follows in its own time."""
    with db:
        for follower in followers:
            follower.reset(db)


def sweep(db: apsw.Connection, artifacts: ArtifactStore, older_than_s: float = SPARE_SECONDS) -> None:
    """Remove the artifacts that no event came to hold and that are so old."""
    namespaces: list[Any] = db.execute("SELECT key FROM namespace").fetchall()
    for (key,) in namespaces:
        spare = [digest for digest in artifacts.listing(key) if not db.execute(_USED, (key, digest)).get]
        artifacts.remove_old(key, spare, older_than_s)
