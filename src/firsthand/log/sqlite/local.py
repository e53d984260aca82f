"""A log that answers on this machine: an engine, and a folder of SQLite with the indexes that its writer keeps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import apsw

from firsthand.log.engine import LogEngine, Progress
from firsthand.log.export import Exported
from firsthand.log.results import Backup, EarlierStore, Rebuilt, Verification

from .mend import Comparison, Lack
from .read import Reader


class LocalLog(LogEngine, Protocol):
    """What a `Space` opens: a store in a folder, or a folder that follows a namespace of one elsewhere."""

    earlier: tuple[EarlierStore, ...]
    read_only: bool
    home: Path
    """Where this machine keeps what is its own: calls of hooks that wait, settings."""

    @property
    def reader(self) -> Reader:
        """Reads the folder's events and indexes."""
        ...

    @property
    def root(self) -> Path:
        """The folder."""
        ...

    def folder(self) -> Path:
        """Give the folder; `StoreReplaced` where it was moved since it was opened."""
        ...

    def verify(
        self, *, namespace: str | None = None, heads: Sequence[str] = (), progress: Progress | None = None
    ) -> Verification:
        """Derive every hash again, of every namespace that this handle is of."""
        ...

    def export(self, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
        """Write a store, a namespace or a session as JSON Lines."""
        ...

    def backup(self, target: Path) -> Backup:
        """Copy the store into a new folder while writers go on."""
        ...

    def answering(self) -> AbstractContextManager[str]:
        """Answer one question in a block; gives what the answer has to say of how far the folder is behind."""
        ...

    def flush_indexes(self, namespace: str) -> None:
        """Leave nothing of a namespace's newest events to be indexed with later ones."""
        ...

    def rebuild(self, progress: Progress | None = None) -> Rebuilt:
        """Build every index anew."""
        ...

    def prune(self, names: Collection[str]) -> None:
        """Remove what can be made again; see `storage.PRUNABLE`."""
        ...

    def cursor(self, namespace: str, source: str) -> str | None:
        """Give how far a source on this machine was read; None when that is not known."""
        ...

    def save_cursors(self, namespace: str, cursors: Mapping[str, str]) -> None:
        """Keep how far sources were read; what was read of them is on disk already."""
        ...

    def compared(self) -> Comparison:
        """Compare every namespace with its mark."""
        ...

    def accept_head(self) -> tuple[Lack, ...]:
        """Take the log as it is for what was acknowledged last; give what it lacked of that."""
        ...

    def unread(self, namespace: str) -> str:
        """Say what was acknowledged in a namespace and cannot be read; empty when all can be."""
        ...

    def exclusively(self, action: Callable[[apsw.Connection], Any]) -> Any:
        """Do something with the write connection under the write lock: an index's way."""
        ...

    def snapshot(self) -> AbstractContextManager[apsw.Connection]:
        """Give a read connection of its own for the length of a block: an index's way."""
        ...
