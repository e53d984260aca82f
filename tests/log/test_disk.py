"""The seam to the file system: exact verbs, errors of ours, folders that only the owner reads."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from firsthand.errors import StoreFailed, StoreFull, StoreReadOnly
from firsthand.log.disk import Disk, translated


class Refusing(Disk):
    """A disk whose calls of one function fail with one errno."""

    def __init__(self, function, number: int) -> None:
        self.function, self.number = function, number

    def call(self, function, *args, **kwargs):
        if function is self.function:
            raise OSError(self.number, os.strerror(self.number))
        return super().call(function, *args, **kwargs)


class Dribbling(Disk):
    """A disk that takes and gives three bytes at a time."""

    def call(self, function, *args, **kwargs):
        if function is os.write:
            return super().call(function, args[0], args[1][:3])
        if function is os.pread:
            return super().call(function, args[0], min(args[1], 3), args[2])
        return super().call(function, *args, **kwargs)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.EROFS, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.EPERM, StoreReadOnly),
        (errno.EIO, StoreFailed),
        (errno.ELOOP, StoreFailed),
        (errno.EMFILE, StoreFailed),
    ],
)
def test_translation(tmp_path, number, kind):
    """Each errno has one error, its message says what was tried, and a verb raises that error."""
    ours = translated(OSError(number, os.strerror(number)), "write 3 bytes")
    assert type(ours) is kind
    assert str(ours).startswith(f"write 3 bytes: {os.strerror(number)}.")
    disk = Refusing(os.write, number)
    descriptor = disk.create(tmp_path / "a")
    with pytest.raises(kind):
        disk.write(descriptor, b"abc")
    disk.close(descriptor)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_failed_sync(tmp_path, number):
    """A sync that fails is StoreFailed whatever the reason, for files and folders."""
    disk = Refusing(os.fsync, number)
    (tmp_path / "a").write_bytes(b"x")
    for sync, path in ((disk.sync, tmp_path / "a"), (disk.sync_folder, tmp_path)):
        with pytest.raises(StoreFailed):
            sync(path)


def test_write_and_read_in_pieces(tmp_path):
    """Short writes and short reads are carried on until all bytes are there."""
    disk = Dribbling()
    written = disk.create(tmp_path / "a")
    disk.write(written, b"0123456789")
    disk.close(written)
    read = disk.open(tmp_path / "a")
    assert read is not None
    assert (disk.read(read, 7, 2), disk.read(read, 99, 5), disk.length(read)) == (b"2345678", b"56789", 10)
    disk.close(read)


def test_a_write_that_takes_nothing(tmp_path):
    """A disk that takes no byte and names no reason is an error and not an endless loop."""

    class Deaf(Disk):
        def call(self, function, *args, **kwargs):
            return 0 if function is os.write else super().call(function, *args, **kwargs)

    disk = Deaf()
    descriptor = disk.create(tmp_path / "a")
    with pytest.raises(StoreFailed, match="took no byte"):
        disk.write(descriptor, b"abc")
    disk.close(descriptor)


def test_rights(tmp_path):
    """What the store makes only its owner can read, whatever the umask."""
    disk, before = Disk(), os.umask(0)
    try:
        disk.make_folder(tmp_path / "a" / "b")
        disk.close(disk.create(tmp_path / "a" / "b" / "c"))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/c")]
    assert modes == [0o700, 0o700, 0o600]
    disk.make_folder(tmp_path / "a" / "b")  # again is no error


def test_links_are_not_followed(tmp_path):
    """A symbolic link in the place of a file is refused, to read and to write."""
    (tmp_path / "target").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    disk = Disk()
    for attempt in (disk.create, disk.open, lambda path: disk.open(path, write=True)):
        with pytest.raises(StoreFailed):
            attempt(tmp_path / "link")
    assert (tmp_path / "target").read_bytes() == b"secret"


def test_create_is_exclusive(tmp_path):
    """A name that is taken is not opened a second time."""
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(StoreFailed, match="File exists"):
        Disk().create(tmp_path / "a")


def test_what_is_not_there(tmp_path):
    """A missing file is an answer, not an error; a missing target folder is an error."""
    disk, gone = Disk(), tmp_path / "gone"
    assert (disk.open(gone), disk.size(gone), disk.modified(gone), disk.names(gone)) == (None, None, None, [])
    assert (disk.unlink(gone), disk.rename(gone, tmp_path / "x")) == (False, False)
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(StoreFailed):
        disk.rename(tmp_path / "a", tmp_path / "nowhere" / "a")
    assert disk.rename(tmp_path / "a", tmp_path / "b")
    assert disk.names(tmp_path) == ["b"]
    assert disk.unlink(tmp_path / "b")
