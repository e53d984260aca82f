"""A medium that remembers every write, so that a test can ask what a power loss at any moment would have left.

SQLite's files come through a VFS, the artifacts through `Disk`; both note what
they do in one `Ledger`. A crash keeps what was synced, and of the rest nothing,
a beginning, or a random part. Limits: a write is whole or not there (no torn
sectors), and a rename is atomic.
"""

from __future__ import annotations

import errno
import os
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import apsw

from firsthand.log.disk import Disk


class Ledger:
    """Everything that was done to the medium, in order, and what the store acknowledged in between."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self.names: dict[str, int] = {}
        self._inodes = 0

    def link(self, path: str) -> int:
        """Note a new file."""
        self._inodes += 1
        self.names[path] = self._inodes
        self.steps.append(("link", path, self._inodes))
        return self._inodes

    def inode(self, path: str) -> int:
        return self.names[path] if path in self.names else self.link(path)

    def unlink(self, path: str, *, synced: bool) -> None:
        self.names.pop(path, None)
        self.steps.append(("unlink", path))
        if synced:
            self.steps.append(("sync folder", _folder(path)))

    def rename(self, source: str, target: str) -> None:
        inode = self.names.pop(source)
        self.names[target] = inode
        self.steps.append(("rename", source, target, inode))

    def acknowledge(self, what: Any) -> None:
        """Note what the store has promised from here on."""
        self.steps.append(("acknowledged", what))

    def acknowledged(self, moment: int) -> list[Any]:
        return [step[1] for step in self.steps[:moment] if step[0] == "acknowledged"]

    def left_by_a_crash(self, moment: int, keep: str, seed: int) -> dict[str, bytes]:
        """Give the files as a power loss just before step ``moment`` leaves them.

        Args:
            keep: of what was not synced: ``nothing``, ``beginning``, ``some`` or ``everything``.
        """
        chance = random.Random(f"{seed} {moment} {keep}")
        contents: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        sure: dict[int, int] = defaultdict(int)
        naming: list[tuple[Any, ...]] = []
        named: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for step in self.steps[:moment]:
            match step[0]:
                case "write" | "truncate":
                    contents[step[1]].append(step)
                case "sync":
                    sure[step[1]] = len(contents[step[1]])
                case "link" | "unlink" | "rename":
                    named[_folder(step[2] if step[0] == "rename" else step[1])].append(step)
                case "sync folder":
                    naming += named.pop(step[1], [])
        for unsure in named.values():
            naming += _kept(unsure, keep, chance)
        files: dict[str, int] = {}
        for step in naming:
            match step:
                case ("link", path, inode):
                    files[path] = inode
                case ("unlink", path):
                    files.pop(path, None)
                case ("rename", source, target, inode):
                    files.pop(source, None)
                    files[target] = inode
        return {
            path: _applied(contents[inode][: sure[inode]] + _kept(contents[inode][sure[inode] :], keep, chance))
            for path, inode in files.items()
        }


def _folder(path: str) -> str:
    return str(Path(path).parent)


def _kept(unsure: list[tuple[Any, ...]], keep: str, chance: random.Random) -> list[tuple[Any, ...]]:
    if keep == "nothing":
        return []
    if keep == "beginning":
        return unsure[: chance.randint(0, len(unsure))]
    return [step for step in unsure if keep == "everything" or chance.random() < 0.5]


def _applied(steps: list[tuple[Any, ...]]) -> bytes:
    data = bytearray()
    for step in steps:
        if step[0] == "truncate":
            del data[step[2] :]
            continue
        _, _, offset, piece = step
        if len(data) < offset:
            data.extend(bytes(offset - len(data)))
        data[offset : offset + len(piece)] = piece
    return bytes(data)


class RecordingVFS(apsw.VFS):
    """SQLite's files, noted in a ledger. Nothing is really synced, which is quicker and no difference to the ledger."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        super().__init__(name, "unix")
        self.name = name
        self.ledger = ledger

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        return _RecordedFile(self.ledger, name, flags)

    def xDelete(self, name, syncdir):  # noqa: N802 - SQLite's name
        super().xDelete(name, False)
        self.ledger.unlink(name, synced=syncdir)


class _RecordedFile(apsw.VFSFile):
    def __init__(self, ledger: Ledger, name, flags) -> None:
        super().__init__("unix", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._ledger, self._path, self._fresh = ledger, path, path is not None and path not in ledger.names
        self._inode = ledger.inode(path) if path is not None else 0

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        self._ledger.steps.append(("write", self._inode, offset, bytes(data)))

    def xTruncate(self, size):  # noqa: N802 - SQLite's name
        super().xTruncate(size)
        self._ledger.steps.append(("truncate", self._inode, size))

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        self._ledger.steps.append(("sync", self._inode))
        if self._fresh and self._path is not None:  # as SQLite's own VFS does for a file that it made
            self._ledger.steps.append(("sync folder", _folder(self._path)))
            self._fresh = False


class RecordingDisk(Disk):
    """The artifacts' file calls, noted in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._open: dict[int, tuple[str, int]] = {}

    def call(self, function, *args, **kwargs):
        if function is os.fsync:
            path, _ = self._open[args[0]]
            is_folder = Path(path).is_dir()
            self.ledger.steps.append(("sync folder", path) if is_folder else ("sync", self.ledger.names[path]))
            return None
        made = function is os.open and args[1] & os.O_CREAT
        result = function(*args, **kwargs)
        if function is os.open:
            self._open[result] = (str(args[0]), 0)
            if made:
                self.ledger.link(str(args[0]))
        elif function is os.write:
            path, offset = self._open[args[0]]
            piece = bytes(args[1][:result])
            self.ledger.steps.append(("write", self.ledger.names[path], offset, piece))
            self._open[args[0]] = (path, offset + result)
        elif function is os.rename:
            self.ledger.rename(str(args[0]), str(args[1]))
        elif function is os.unlink:
            self.ledger.unlink(str(args[0]), synced=False)
        elif function is os.close:
            del self._open[args[0]]
        return result


class Failing:
    """Counts calls to the medium and lets one of them fail, as a disk does that dies or is full.

    Args:
        at: which call fails, counted from 1; 0 for none.
        how: ``error`` (EIO), ``full`` (ENOSPC) or ``short`` (half of a write, then ENOSPC).
        only: the one kind of call that is counted and fails; empty for all.
    """

    def __init__(self, at: int, how: str, only: str = "") -> None:
        self.at, self.how, self.only = at, how, only
        self.calls = 0
        self.failed = ""  # what it was that failed

    def due(self, what: str) -> bool:
        if self.only not in {"", what}:
            return False
        self.calls += 1
        if self.calls != self.at:
            return False
        self.failed = what
        return True


class FailingVFS(apsw.VFS):
    """SQLite's files on a medium that fails once."""

    def __init__(self, name: str, plan: Failing) -> None:
        super().__init__(name, "unix")
        self.name = name
        self.plan = plan

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        if self.plan.due("open"):
            raise apsw.exception_for(apsw.SQLITE_CANTOPEN)
        return _FailingFile(self.plan, name, flags)

    def xDelete(self, name, syncdir):  # noqa: N802 - SQLite's name
        if self.plan.due("delete"):
            raise apsw.exception_for(apsw.SQLITE_IOERR_DELETE)
        super().xDelete(name, False)


class _FailingFile(apsw.VFSFile):
    def __init__(self, plan: Failing, name, flags) -> None:
        super().__init__("unix", name, flags)
        self._plan = plan

    def xRead(self, amount, offset):  # noqa: N802 - SQLite's name
        if self._plan.due("read"):
            raise apsw.exception_for(apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        if self._plan.due("write"):
            if self._plan.how == "short":
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            raise apsw.exception_for(apsw.SQLITE_IOERR_WRITE if self._plan.how == "error" else apsw.SQLITE_FULL)
        super().xWrite(data, offset)

    def xTruncate(self, size):  # noqa: N802 - SQLite's name
        if self._plan.due("truncate"):
            raise apsw.exception_for(apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(size)

    def xSync(self, flags):  # noqa: N802 - SQLite's name
        if self._plan.due("sync"):
            raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)


class FailingDisk(Disk):
    """The artifacts' file calls on a medium that fails once."""

    def __init__(self, plan: Failing) -> None:
        self.plan = plan

    def call(self, function, *args, **kwargs):
        if not self.plan.due(function.__name__):
            return None if function is os.fsync else function(*args, **kwargs)
        if function is os.close:
            os.close(*args)  # the descriptor is gone all the same
        if function is os.write and self.plan.how == "short":
            os.write(args[0], bytes(args[1][: len(args[1]) // 2]))
        code = errno.EIO if self.plan.how == "error" or function is os.pread else errno.ENOSPC
        raise OSError(code, os.strerror(code))
