"""This machine's replicas: opened on demand, and deleted under a budget of disk, those first that rested longest.

The invariant: none that anybody has open is touched, in whichever process; what is deleted is made again when it is
asked for next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from firsthand.environment import ADDRESS_FILE
from firsthand.errors import InvalidArgument, StoreMoved
from firsthand.log.disk import is_at, open_private
from firsthand.value import value

from .primaries import COMING_S, Engines
from .reader import number_of
from .replica import ReplicatedLog
from .replica_folder import header_at, remember


@value
class Resting:
    """A replica on this machine as its header has it."""

    root: Path
    namespace: str
    position: int
    bytes: int


class Replicas:
    """Opens the replicas of one store on this machine, on one pool of connections.

    Args:
        home: the machine's folder for the store.
        folder: of the replicas of all stores.
        bytes_max: how much disk those may take that nobody has open.
    """

    def __init__(self, address: str, home: Path, folder: Path, bytes_max: int) -> None:
        self._engines = Engines(address)
        self.engine = self._engines.first
        self._home, self._folder, self._bytes_max = home, folder, bytes_max

    def open_log(self, namespace: str, *, shared: bool = True, **options: Any) -> ReplicatedLog:
        """Open a namespace; many may have it open, in any number of processes.

        Args:
            shared: closing it leaves the pool to others.
        """
        for name in ("create", "timeout_ms"):
            options.pop(name, None)
        root = self._folder / self.engine.reader.uuid().hex() / f"{number_of(namespace):016x}"
        engine, until = self._engines.of(namespace), time.monotonic() + COMING_S
        while True:
            try:
                log = ReplicatedLog(
                    engine, namespace, self._home, root, shared=shared, engines=self._engines, **options
                )
            except StoreMoved as error:  # the file of primaries is behind
                engine = self._engines.after(error, until) or engine
            else:
                break
        try:
            if log.is_new:
                prune(self._folder, self._bytes_max)
        except BaseException:
            log.close()
            raise
        return log

    def close(self) -> None:
        """Let the connections go."""
        self._engines.close()


def open_at(home: Path, namespace: str, folder: Path, bytes_max: int, **options: Any) -> ReplicatedLog:
    """Open a namespace of the store whose address a machine's folder holds."""
    address = (home / ADDRESS_FILE).read_text(encoding="utf-8").strip()
    replicas = Replicas(address, home, folder, bytes_max)
    try:
        remember(home, replicas.engine.reader.uuid())
        return replicas.open_log(namespace, shared=False, **options)
    except BaseException:
        replicas.close()
        raise


def listing(folder: Path) -> Iterator[Resting]:
    """Yield the replicas of all stores, the one that rested longest first."""
    used = dict[Path, int]()
    for file in folder.glob("*/*.use"):
        with suppress(FileNotFoundError):  # another process deleted it
            used[file] = file.stat().st_mtime_ns
    for file in sorted(used, key=lambda file: used[file]):
        header = header_at(file.with_suffix(""))
        if header is not None:
            yield Resting(file.with_suffix(""), header.namespace, header.position, header.bytes)


def prune(folder: Path, bytes_max: int) -> int:
    """Delete replicas that nobody has open, until all take no more than that; give how many bytes went.

    Raises:
        InvalidArgument: the budget is negative.
    """
    if bytes_max < 0:
        raise InvalidArgument(f"a budget of disk is 0 or more bytes; got {bytes_max}")
    resting = [*listing(folder)]
    over = sum(replica.bytes for replica in resting) - bytes_max
    gone = 0
    for replica in resting:
        if gone >= over:
            break
        if _delete(replica.root):
            gone += replica.bytes
    for left in folder.glob("*/*.gone-*"):  # of one that was killed while it deleted
        shutil.rmtree(left, ignore_errors=True)
    return gone


def _delete(root: Path) -> bool:
    """Delete a replica, and say whether it is done: not where somebody has it open, or has deleted it."""
    file = root.with_suffix(".use")
    try:
        use = open_private(file, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_at(use, file):  # deleted since it was opened: what is there now is another one
            return False
        # Who waits for the lock finds its file gone, and makes a new one.
        gone = root.with_suffix(f".gone-{os.urandom(4).hex()}")
        root.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        root.with_suffix(".follow").unlink(missing_ok=True)
        file.unlink()
    except BlockingIOError:
        return False
    finally:
        os.close(use)
    return True
