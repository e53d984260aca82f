"""Small files that only serve the hooks: written whole or not at all, with errors of ours.

The invariant: a reader sees a file as one writer left it, never half of it; what the
operating system refuses is a `StoreError`. They are not synced: what stands in them is a
list of things to do and a memory of what was done, and both can be made again from
the log and the transcripts.

Nothing of a store is written or read through a link that leads out of it. It knows no content.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from firsthand.errors import StoreFailed, StoreFull
from firsthand.log.disk import STORE_FILES, make_private, open_private, translated

BYTES_MAX = 1 << 20
"""Of one file that is read whole."""
TABLE_BYTES_MAX = 8 << 20
DEPTH_MAX = 12
"""Folders between a file and the store's own, at most."""
LOOK_S = 0.005
"""Between two looks whether a lock is free."""


def write(path: Path, data: bytes) -> None:
    """Put a file in its place, with the folders above it; for the owner only.

    Raises:
        StoreFull, StoreReadOnly, StoreFailed: the operating system refuses.
    """
    with ours(f"write {path}"):
        _make_way(path)
        beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            descriptor = open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def read(path: Path, *, most: int = BYTES_MAX) -> bytes | None:
    """Read a file whole; None when there is none.

    Raises:
        StoreFailed: it has more bytes than that, or cannot be read.
    """
    with ours(f"read {path}"):
        check_way(path)
        data = beginning(path, most + 1, follow=False)
    if data is not None and len(data) > most:
        raise StoreFailed(f"expected at most {most:,} bytes in {path}; it has more. Look at it, and remove it.")
    return data


def beginning(path: Path, most: int, *, follow: bool = True) -> bytes | None:
    """Read so many bytes of a regular file, or fewer where it ends before; None when there is none.

    A device or a pipe is refused and never waited for.

    Args:
        follow: read what a link leads to; False refuses it.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, and only a regular file is read here", str(path)) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def table(path: Path, *, torn: str = "") -> dict[str, Any]:
    """Read a file that holds one JSON object; empty where there is none, or what is there is not one.

    Args:
        torn: a sentence to fail with where something else is there, of a file that cannot be made again.

    Raises:
        StoreFailed: it cannot be read, or is ``torn``.
    """
    data = read(path, most=TABLE_BYTES_MAX)
    members = None
    if data is not None:
        with suppress(ValueError, RecursionError):  # torn by a crash, or of another version
            members = json.loads(data)
    if data is not None and torn and not isinstance(members, dict):
        raise StoreFailed(torn)
    return members if isinstance(members, dict) else {}


def put_table(path: Path, members: Mapping[str, Any]) -> None:
    """Write a file that holds one JSON object.

    Raises:
        StoreError: it cannot be written.
    """
    write(path, json.dumps(members, sort_keys=True).encode())


def rows(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON objects, a line each, oldest first; a line torn by a crash is passed over.

    Raises:
        StoreFailed: it cannot be read.
    """
    members = []
    for line in (read(path) or b"").splitlines():
        with suppress(ValueError, RecursionError):
            members.append(json.loads(line))
    return [row for row in members if isinstance(row, dict)]


def add_row(path: Path, row: Mapping[str, Any], *, bytes_max: int) -> None:
    """Append a JSON object to a file of them; of one that would be larger than that the newer half stays.

    Raises:
        StoreFull: the system took a part of it only.
        StoreReadOnly, StoreFailed: it refuses.
    """

    def halve() -> None:
        earlier = rows(path)
        put_rows(path, earlier[len(earlier) // 2 :])

    add_line(path, json.dumps(row).encode(), bytes_max=bytes_max, over=halve)


def put_rows(path: Path, members: Iterable[Mapping[str, Any]]) -> None:
    """Put other lines into a file of JSON objects, the same file: whoever has it open goes on at its new end."""
    with ours(f"write {path}"), path.open("wb") as file:
        file.write(b"".join(json.dumps(row).encode() + b"\n" for row in members))


def add_line(path: Path, line: bytes, *, bytes_max: int, over: Callable[[], None]) -> None:
    """Append a line to a file in one write; when the file would be larger than that, ``over`` is called first.

    Behind a line that a full disk or a crash tore it begins a new one: no other line is lost with that.

    Raises:
        StoreFull: the system took a part of it only.
        StoreReadOnly, StoreFailed: it refuses.
    """
    with ours(f"append to {path}"):
        _make_way(path)
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK)
        try:
            if os.fstat(descriptor).st_size + len(line) > bytes_max:
                over()
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            whole = (b"\n" if torn else b"") + line + b"\n"
            taken = os.write(descriptor, whole)
        finally:
            os.close(descriptor)
    if taken < len(whole):
        raise StoreFull(f"expected to append {len(whole):,} bytes to {path}; {taken:,} were taken. Free some space.")


def remove(path: Path) -> None:
    """Take a file away; one that is not there is no error."""
    with ours(f"remove {path}"):
        path.unlink(missing_ok=True)


def names(folder: Path, suffix: str, most: int) -> list[str]:
    """Name the files of a folder with a suffix, sorted, at most so many; none when there is no folder."""
    with ours(f"list {folder}"):
        try:
            with os.scandir(folder) as listing:
                listed = sorted(entry.name for entry in listing if entry.name.endswith(suffix) and entry.name[0] != ".")
        except FileNotFoundError:
            return []
    return listed[:most]


def is_file(path: str) -> bool:
    """Say whether a regular file is there and may be looked at."""
    try:
        return Path(path).is_file()
    except OSError:  # a folder above it that may not be entered: there is no file for us
        return False


@contextmanager
def alone(path: Path, *, wait_s: float = 0.0) -> Iterator[bool]:
    """Hold a lock file, made where it is not; False where another process or thread has it for longer than that.

    Raises:
        StoreError: it cannot be opened.
    """
    with ours(f"lock {path}"):
        _make_way(path)
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
    try:
        yield _locked(descriptor, time.monotonic() + wait_s)
    finally:
        os.close(descriptor)  # which lets it go


def _locked(descriptor: int, by: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= by:
                return False
            time.sleep(LOOK_S)
        else:
            return True


def check_way(path: Path) -> None:
    """Refuse a way to a file of a store that leads through a link: what stands behind that is not the store's.

    Raises:
        OSError: it does.
    """
    folders = path.parents[:DEPTH_MAX]
    inside = [any(os.path.lexists(folder / name) for name in STORE_FILES) for folder in folders]
    links = [folder for folder in folders[: inside.index(True) if True in inside else 0] if folder.is_symlink()]
    if links:
        raise OSError(errno.ELOOP, f"{links[0]} is a link; put a plain folder in its place", str(path))


def _make_way(path: Path) -> None:
    check_way(path)
    make_private(path.parent)


@contextmanager
def ours(doing: str) -> Iterator[None]:
    """Make the operating system's errors ours."""
    try:
        yield
    except OSError as error:
        raise translated(error, doing) from error
