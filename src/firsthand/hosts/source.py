"""Opening what may be anything: only regular files are read, and what cannot be text is refused with a hint.

The invariant: opening never blocks (a FIFO), never follows a link at the end of
a path, and never reads beyond the size that the file had when it was opened.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from firsthand.errors import SourceRejected
from firsthand.hosts.transcript import HEAD_BYTES
from firsthand.value import value

SOURCE_BYTES_MAX = 8 << 30
PIECE_BYTES = 1 << 20
PREFIX_EDGE_BYTES = 65_536
SPARSE_FROM_BYTES = 64 << 20  # a file of this size that is nearly all holes is no transcript
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISLNK, "a symbolic link"),
)  # fmt: skip
_ARCHIVES = (
    (0, b"PK\x03\x04", "zip"), (0, b"\x1f\x8b", "gzip"), (0, b"\x28\xb5\x2f\xfd", "zstd"), (0, b"\xfd7zXZ\x00", "xz"),
    (0, b"BZh", "bzip2"), (0, b"7z\xbc\xaf\x27\x1c", "7z"), (257, b"ustar", "tar"),
)  # fmt: skip
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@value
class Standing:
    """What a file was when it was looked at."""

    size_bytes: int
    modified_ns: int


class OpenSource:
    """An open source; a context manager.

    Raises:
        SourceRejected: it cannot be opened, is no regular file, or is over a limit.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            self._file = os.open(path, flags)
        except OSError as error:
            raise SourceRejected(_unopened(path, error)) from error
        except ValueError as error:  # a NUL in the name
            raise SourceRejected(f"{shown(path)} is no file name: {error}") from error
        try:
            self.standing = _checked(path, os.fstat(self._file))
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def head(self) -> bytes:
        """Read the first `HEAD_BYTES`.

        Raises:
            SourceRejected: they are those of an archive or of UTF-16.
        """
        head = self._read(min(HEAD_BYTES, self.standing.size_bytes), 0)
        for at, magic, name in _ARCHIVES:
            if head.startswith(magic, at):
                raise SourceRejected(
                    f"{shown(self._path)} is a {name} archive, and archives are not unpacked here; "
                    "unpack it and import the folder"
                )
        if head.startswith(_UTF16) or _is_utf16(head):
            raise SourceRejected(
                f"{shown(self._path)} is UTF-16, and transcripts are read as UTF-8; convert it first: "
                "iconv -f UTF-16 -t UTF-8 FILE > NEW"
            )
        return head

    def pieces(self, offset: int) -> Iterator[bytes]:
        """Yield the bytes from an offset on, up to the size at opening; fewer when the file shrank."""
        at = offset
        while at < self.standing.size_bytes:
            piece = self._read(min(PIECE_BYTES, self.standing.size_bytes - at), at)
            if not piece:
                return
            yield piece
            at += len(piece)

    def prefix(self, offset: int) -> Prefix:
        """Read the edges of what stands before an offset."""
        edge = min(PREFIX_EDGE_BYTES, offset)
        return Prefix(self._read(edge, 0), self._read(edge, offset - edge), offset)

    def _read(self, size: int, at: int) -> bytes:
        try:
            return os.pread(self._file, size, at)
        except OSError as error:
            raise SourceRejected(f"{shown(self._path)} could not be read at byte {at:,}: {error.strerror}") from error


class Prefix:
    """The edges of the bytes that were read so far, to see later whether the file was rewritten.

    The first and the last 64 KiB are enough: hosts append, or write the whole file
    again; a rewriting changes the beginning, or what stood before the old end.
    Hashing everything would make each look at a grown file cost its whole length.
    """

    def __init__(self, head: bytes = b"", tail: bytes = b"", offset: int = 0) -> None:
        self._head = head
        self._tail = tail
        self.offset = offset

    def add(self, raw: bytes) -> None:
        """Go on over a record."""
        if len(self._head) < PREFIX_EDGE_BYTES:
            self._head += raw[: PREFIX_EDGE_BYTES - len(self._head)]
        self._tail = (
            (self._tail + raw)[-PREFIX_EDGE_BYTES:] if len(raw) < PREFIX_EDGE_BYTES else raw[-PREFIX_EDGE_BYTES:]
        )
        self.offset += len(raw)

    def digest(self) -> str:
        """Give the digest of offset and edges."""
        edges = self.offset.to_bytes(8, "little") + self._head + self._tail
        return hashlib.blake2b(edges, digest_size=16).hexdigest()


def standing(path: Path) -> Standing:
    """Look at a file without opening it.

    Raises:
        SourceRejected: it is not there, or no regular file.
    """
    try:
        return _checked(path, os.lstat(path))
    except OSError as error:
        raise SourceRejected(_unopened(path, error)) from error
    except ValueError as error:
        raise SourceRejected(f"{shown(path)} is no file name: {error}") from error


def shown(path: Path | str) -> str:
    """Write a path as text that can be printed and stored, whatever bytes it has."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8").replace(os.sep, "/")


def _checked(path: Path, status: os.stat_result) -> Standing:
    for is_kind, word in _KINDS:
        if is_kind(status.st_mode):
            raise SourceRejected(f"{shown(path)} is {word}; only regular files are read")
    if status.st_size > SOURCE_BYTES_MAX:
        raise SourceRejected(
            f"{shown(path)} has {status.st_size:,} bytes; a source has at most {SOURCE_BYTES_MAX:,}; split it"
        )
    if status.st_size > SPARSE_FROM_BYTES and getattr(status, "st_blocks", 1 << 62) * 512 < status.st_size // 64:
        raise SourceRejected(f"{shown(path)} is nearly all holes: {status.st_size:,} bytes that were never written")
    return Standing(status.st_size, status.st_mtime_ns)


def _unopened(path: Path, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return f"{shown(path)} is a symbolic link; only regular files are read"
    if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
        return f"{shown(path)} is a socket or a device; only regular files are read"
    return f"{shown(path)} cannot be opened: {error.strerror}; check the path and its permissions"


def _is_utf16(head: bytes) -> bool:
    """Say whether every other byte of the beginning is NUL, as it is in UTF-16 without a mark."""
    start = head[:64]
    return (
        len(start) >= 16 and (not start[::2].strip(b"\0") or not start[1::2].strip(b"\0")) and bool(start.strip(b"\0"))
    )
