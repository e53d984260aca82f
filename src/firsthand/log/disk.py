"""The one seam to the file system below the artifacts; SQLite has its own (a VFS).

The invariant: every call of the operating system that can change or read a file
goes through `Disk.call`, and every OSError becomes one of Firsthand's errors in
`translated`. So a fault test subclasses `Disk`, lets the n-th call fail, and sees
what a full or dying disk does.

A failed sync is never tried again: after it the kernel may have dropped the
unwritten pages, and the next sync would report success for bytes that are gone.

This module knows no artifacts and no names but those it is given. It never
follows a symbolic link in the last part of a path, and what it makes only its
owner can read, whatever the umask is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from firsthand.errors import StoreError, StoreFailed, StoreFull, StoreReadOnly

_P = ParamSpec("_P")
_T = TypeVar("_T")
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHT = (errno.EROFS, errno.EACCES, errno.EPERM)
_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC
STORE_FILES = ("firsthand.db", "firsthand.address")
"""A folder is known as a store's by one of these: its database, or where that is."""
FOLDER_MODE, FILE_MODE = 0o700, 0o600
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone leaves bytes in the drive's cache


def translated(error: OSError, doing: str) -> StoreError:
    """Make one of the operating system's errors ours."""
    what = f"{doing}: {error.strerror or error}"
    if error.errno in _NO_SPACE:
        return StoreFull(f"{what}. The disk, a quota or a file size limit is full. Free space and retry.")
    if error.errno in _NO_RIGHT:
        return StoreReadOnly(f"{what}. The store cannot be written here; check the rights of its folder.")
    return StoreFailed(f"{what}. Check the disk, reopen the store and run 'firsthand store verify'.")


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner only, whatever the umask is.

    Raises:
        OSError: the system refuses, or a link stands where a folder is to be made.
    """
    if folder.is_dir():
        return
    make_private(folder.parent)
    try:
        folder.mkdir(mode=FOLDER_MODE)
    except FileExistsError:  # another process made it just now; or it is no folder, as the next call will say
        return
    folder.chmod(FOLDER_MODE)  # the umask may have taken rights of the owner's too


def open_private(path: Path | str, flags: int) -> int:
    """Open a file, made where the flags say so, for the owner only; a link is not followed.

    Raises:
        OSError: the system refuses, or it is a link.
    """
    descriptor = os.open(path, flags | _OPEN, FILE_MODE)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != FILE_MODE:  # by the umask, or a version that left it to that
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def open_locked(path: Path, how: int) -> int:
    """Open a file, made if it is missing, and wait for its lock; one that was removed meanwhile is made again."""
    while True:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, how)
        if is_at(descriptor, path):
            return descriptor
        os.close(descriptor)


def is_at(descriptor: int, path: Path) -> bool:
    """Say whether an open file is still the one at its path."""
    with suppress(FileNotFoundError):
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    return False


class Disk:
    """The calls that the artifacts need, with errors of ours.

    Raises (every verb):
        StoreFull: no space, quota or file size limit.
        StoreReadOnly: the file system or its rights refuse.
        StoreFailed: anything else that the operating system reports; for a sync, everything.
    """

    def call(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call the operating system: the one place where a fault test steps in."""
        return function(*args, **kwargs)

    def make_folder(self, path: Path) -> None:
        """Make a folder that survives power loss, and those above it that are missing, for the owner only."""
        missing: list[Path] = []
        at = path
        while self.size(at) is None:
            missing.append(at)
            at = at.parent
        for folder in reversed(missing):
            # One that exists was made by another process a moment ago, which may not have synced it yet.
            with _translating(f"make the folder {folder}"), suppress(FileExistsError):
                self.call(os.mkdir, folder, FOLDER_MODE)
                self.call(os.chmod, folder, FOLDER_MODE)
            self.sync_folder(folder.parent)

    def create(self, path: Path) -> int:
        """Make a new file and open it to write; a name that is taken is an error."""
        with _translating(f"create {path}"):
            descriptor = self.call(os.open, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, FILE_MODE)
            try:
                self.call(os.fchmod, descriptor, FILE_MODE)
            except OSError:
                os.close(descriptor)
                raise
        return descriptor

    def open(self, path: Path, *, write: bool = False) -> int | None:
        """Open a file that is there; None where there is none."""
        with _translating(f"open {path}"):
            try:
                return self.call(os.open, path, (os.O_WRONLY if write else os.O_RDONLY) | _OPEN)
            except FileNotFoundError:
                return None

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of the data, in as many calls as it takes."""
        rest = memoryview(data)
        with _translating(f"write {len(data):,} bytes"):
            while rest:
                written = self.call(os.write, descriptor, rest)
                if written == 0:  # without an errno it would be tried for ever
                    raise OSError(errno.EIO, "the disk took no byte and gave no reason")
                rest = rest[written:]

    def read(self, descriptor: int, size: int, offset: int) -> bytes:
        """Read ``size`` bytes at an offset; fewer only where the file ends."""
        pieces: list[bytes] = []
        with _translating(f"read {size:,} bytes"):
            while size > 0:
                piece = self.call(os.pread, descriptor, size, offset)
                if not piece:
                    break
                pieces.append(piece)
                size, offset = size - len(piece), offset + len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def length(self, descriptor: int) -> int:
        """Say how many bytes an open file has."""
        with _translating("look at an open file"):
            return self.call(os.fstat, descriptor).st_size

    def is_link(self, path: Path) -> bool:
        """Say whether a name is a symbolic link."""
        with _translating(f"look at {path}"):
            return self.call(os.path.islink, path)

    def size(self, path: Path) -> int | None:
        """Say how many bytes a file has; None where there is none."""
        status = self._stat(path)
        return None if status is None else status.st_size

    def modified(self, path: Path) -> float | None:
        """Say when a file was last written, in seconds since 1970; None where there is none."""
        status = self._stat(path)
        return None if status is None else status.st_mtime

    def sync_open(self, descriptor: int) -> None:
        """Wait until an open file is on the medium."""
        with _translating("sync a file", failed=True):
            if _FULL_SYNC is not None:
                self.call(fcntl.fcntl, descriptor, _FULL_SYNC)
            else:
                self.call(os.fsync, descriptor)

    def sync(self, path: Path) -> None:
        """Wait until a file is on the medium."""
        with self._opened(path, os.O_RDONLY) as descriptor:
            self.sync_open(descriptor)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the medium."""
        with self._opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
            self.sync_open(descriptor)

    def close(self, descriptor: int) -> None:
        with _translating("close a file"):
            self.call(os.close, descriptor)

    def rename(self, source: Path, target: Path) -> bool:
        """Give a file another name, replacing what has it; False where the source is not there."""
        with _translating(f"rename {source} to {target}"):
            try:
                self.call(os.rename, source, target)
            except FileNotFoundError:
                if self._stat(target.parent) is None:  # it is the target that has no place
                    raise
                return False
        return True

    def unlink(self, path: Path) -> bool:
        """Remove a name; False where there is none."""
        with _translating(f"remove {path}"):
            try:
                self.call(os.unlink, path)
            except FileNotFoundError:  # gone already, as was wished
                return False
        return True

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder, if it is there."""
        with _translating(f"remove {path}"), suppress(FileNotFoundError):
            self.call(os.rmdir, path)

    def names(self, path: Path) -> list[str]:
        """List a folder, sorted; empty where there is none."""
        with _translating(f"list {path}"):
            try:
                return sorted(self.call(os.listdir, path))
            except FileNotFoundError:
                return []

    def _stat(self, path: Path) -> os.stat_result | None:
        """Look at a file; None where there is none."""
        with _translating(f"look at {path}"):
            try:
                return self.call(os.stat, path)
            except FileNotFoundError:
                return None

    @contextmanager
    def _opened(self, path: Path, flags: int) -> Iterator[int]:
        with _translating(f"open {path}"):
            descriptor = self.call(os.open, path, flags | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            self.close(descriptor)


@contextmanager
def _translating(doing: str, *, failed: bool = False) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        ours = translated(error, doing)
        if failed and not isinstance(ours, StoreFailed):
            raise StoreFailed(f"{ours} A failed sync is not tried again.") from error
        raise ours from error
