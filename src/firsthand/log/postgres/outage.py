"""This machine's replica of a namespace, read while the server of its store cannot be reached.

The invariant: nothing is written; every answer says up to which position it reaches, and why nothing newer is in it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from firsthand.environment import store_name
from firsthand.errors import StoreBusy, StoreError
from firsthand.log.disk import open_locked
from firsthand.log.sqlite.log import Log

from .reader import number_of
from .replica import behind_of
from .replica_folder import IDENTITY_FILE, header_at


class LeftReplica(Log):
    """A replica as it was left.

    Args:
        home: the machine's folder for the store.
        refusal: what the server's absence was met with.
    """

    def __init__(self, root: Path, home: Path, namespace: str, refusal: StoreBusy, **options: Any) -> None:
        self._machine, self._namespace, self._refusal = home, namespace, refusal
        self._use = open_locked(root.with_suffix(".use"), fcntl.LOCK_SH)  # nobody removes it meanwhile
        try:
            super().__init__(root, **options | {"read_only": True, "create": False, "heads": None})
        except BaseException:
            os.close(self._use)
            raise
        self.home = home

    def _open(self) -> None:
        super()._open()
        self.reader.store = store_name(self._machine)

    @contextmanager
    def answering(self) -> Iterator[str]:
        """Answer one question from what is here, and say how far that is: see `ReplicatedLog.answering`."""
        yield behind_of(self.reader.head(self._namespace)[0], self._refusal)

    def folder(self) -> Path:
        """Give the folder in which this machine keeps files of its own."""
        return self._machine

    def close(self) -> None:
        """Let it go."""
        if not self._closed:
            super().close()
            os.close(self._use)


class Outage:
    """Opens the replicas of a store whose server refused or did not answer.

    Args:
        home: the machine's folder for the store.
        folder: of the replicas of all stores.
        refusal: is raised where there is no replica.
    """

    def __init__(self, home: Path, folder: Path, refusal: StoreBusy) -> None:
        self._home, self._folder, self._refusal = home, folder, refusal

    def open_log(self, namespace: str, **options: Any) -> LeftReplica:
        """Open the replica of a namespace."""
        with suppress(OSError, StoreError):  # none, or one that the server is needed to make anew
            engine = (self._home / IDENTITY_FILE).read_text(encoding="ascii")
            root = self._folder / engine / f"{number_of(namespace):016x}"
            header = header_at(root)
            if header is not None and (header.engine, header.namespace) == (engine, namespace):
                return LeftReplica(root, self._home, namespace, self._refusal, **options)
        raise self._refusal
