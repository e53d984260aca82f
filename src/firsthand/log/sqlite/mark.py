"""The high-water mark: the last acknowledged position of each namespace, kept outside the database.

Two files of fixed records hold it: ``mark`` in the store's folder, and one in the user's
state directory (``heads/UUID-PLACE.mark``), which a rollback of the whole folder does not
reach. After each commit, before it is acknowledged, both are overwritten in place, without
a sync of their own: a write that was made survives the death of the process, and that of
the machine once the system has written it out (or `sync` was called).

    header   0     magic (16), uuid (16), inode of the store's folder u64, path (u16, bytes), CRC-32 at 1,020
    record   1,024 + 64 * slot: key u64, position u64, head (32), CRC-32; slot 0 is the last commit's namespace,
             slot k the namespace with key k

The invariant: a mark never runs ahead of what is on disk, so a log that ends before its
mark has lost events. It may lag behind (a crash between the commit and its mark): a log
that ends behind its mark is whole.

This module knows no database. No symbolic link is followed, and what it makes only the
owner can read.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from firsthand.log.results import EarlierStore
from firsthand.value import value

from .inodes import inode_of

MARK_FILE = "mark"
SYNC_COMMITS = 500
HEADER_BYTES, RECORD_BYTES = 1_024, 64
_MAGIC = b"firsthand mark 1"
_HEADER = struct.Struct("<16s16sQH")
_RECORD = struct.Struct("<QQ32s")
_CHECKSUM = struct.Struct("<I")
_PADDING = bytes(RECORD_BYTES - _RECORD.size - _CHECKSUM.size)
_PATH_BYTES_MAX = HEADER_BYTES - _HEADER.size - _CHECKSUM.size
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in the place of a file holds nothing up


@value
class Mark:
    """One namespace's last acknowledged position, with the head there.

    Attributes:
        key: the namespace's number in its store.
    """

    key: int
    position: int
    head: bytes

    def ahead_of(self, position: int, head: bytes) -> bool:
        """Say whether a log that ends at a position, with this head, lacks what was acknowledged."""
        return self.position > position or (self.position == position and self.head != head)


@value
class Home:
    """Which store a file of marks belongs to, and where that lay when it was last written.

    Attributes:
        inode: of the store's folder. Its device is left out: a container sees the same folder under another one.
    """

    uuid: bytes
    inode: int
    path: str


def home_of(root: Path, uuid: bytes) -> Home:
    """Say where a store lies now; its folder may be gone."""
    resolved = root.resolve()
    return Home(uuid, resolved.stat().st_ino if resolved.exists() else 0, str(resolved))


class MarkFile:
    """One open file of marks.

    Attributes:
        home: what its header says; None when that is damaged.
        damaged: slots that held something else than was written, as far as they were read.
    """

    def __init__(self, descriptor: int, uuid: bytes | None) -> None:
        self.descriptor = descriptor
        self.damaged: set[int] = set()
        self.home = self._read_home()
        self._uuid = uuid if uuid is not None else self.home.uuid if self.home is not None else b""

    @classmethod
    def open(cls, path: Path | str, uuid: bytes | None, *, write: bool, folder: int | None = None) -> MarkFile | None:
        """Open a file of marks, of the store that its header names where none is given; None where there is none."""
        try:
            return cls(os.open(path, (os.O_RDWR if write else os.O_RDONLY) | _FLAGS, dir_fd=folder), uuid)
        except (FileNotFoundError, NotADirectoryError):
            return None

    @classmethod
    def make(cls, path: Path | str, home: Home, *, folder: int | None = None) -> MarkFile:
        """Make a file of marks; one that another process made a moment ago is taken as it is."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600, dir_fd=folder)
        os.fchmod(descriptor, 0o600)  # whatever the umask
        made = cls(descriptor, home.uuid)
        if made.home is None:
            made.settle(home)
        return made

    def settle(self, home: Home) -> None:
        """Write down where the store lies."""
        path = os.fsencode(home.path)[:_PATH_BYTES_MAX]
        header = _HEADER.pack(_MAGIC, home.uuid, home.inode, len(path)) + path
        header = header.ljust(HEADER_BYTES - _CHECKSUM.size, b"\0")
        os.pwrite(self.descriptor, header + _CHECKSUM.pack(zlib.crc32(header)), 0)
        self.home = home

    def read(self, slot: int) -> Mark | None:
        """Read a slot's mark; None where nothing was written, or something else stands there now."""
        return self._unpacked(slot, os.pread(self.descriptor, RECORD_BYTES, HEADER_BYTES + slot * RECORD_BYTES))

    def marks(self) -> Iterator[Mark]:
        """Yield the marks of all namespaces."""
        size = max(0, os.fstat(self.descriptor).st_size - HEADER_BYTES)
        data = os.pread(self.descriptor, size, HEADER_BYTES)
        for slot in range(1, -(-len(data) // RECORD_BYTES)):
            mark = self._unpacked(slot, data[slot * RECORD_BYTES : (slot + 1) * RECORD_BYTES])
            if mark is not None:
                yield mark

    def write(self, marks: Sequence[Mark]) -> None:
        """Overwrite the marks of some namespaces; the last of them is that of the last commit."""
        for at, data in self.records(marks):
            os.pwrite(self.descriptor, data, at)

    def records(self, marks: Sequence[Mark]) -> list[tuple[int, bytes]]:
        """Give what `write` writes, and where: of all files of one store it is the same."""
        last = marks[-1]
        if last.key == 1 and len(marks) == 1:  # most stores have one namespace: this stands on the way of every append
            return [(HEADER_BYTES, self._packed(0, last) + self._packed(1, last))]
        records: list[tuple[int, bytes]] = []
        for slot, mark in sorted(({mark.key: mark for mark in marks} | {0: last}).items()):
            data, at = self._packed(slot, mark), HEADER_BYTES + slot * RECORD_BYTES
            if records and records[-1][0] + len(records[-1][1]) == at:
                records[-1] = records[-1][0], records[-1][1] + data
            else:
                records.append((at, data))
        return records

    def clear(self) -> None:
        """Drop all marks."""
        os.ftruncate(self.descriptor, HEADER_BYTES)

    def sync(self) -> None:
        """Wait until all marks are on the medium."""
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)

    def _read_home(self) -> Home | None:
        header = os.pread(self.descriptor, HEADER_BYTES, 0)
        if len(header) < HEADER_BYTES:
            return None
        body, (checksum,) = header[: -_CHECKSUM.size], _CHECKSUM.unpack(header[-_CHECKSUM.size :])
        magic, uuid, inode, length = _HEADER.unpack_from(body)
        if zlib.crc32(body) != checksum or magic != _MAGIC:
            return None
        return Home(uuid, inode, os.fsdecode(body[_HEADER.size : _HEADER.size + length]))

    def _packed(self, slot: int, mark: Mark) -> bytes:
        record = _RECORD.pack(mark.key, mark.position, mark.head)
        return record + _CHECKSUM.pack(self._checksum(slot, record)) + _PADDING

    def _unpacked(self, slot: int, data: bytes) -> Mark | None:
        if not any(data):
            return None
        record, checksum = data[: _RECORD.size], data[_RECORD.size : _RECORD.size + _CHECKSUM.size]
        if checksum != _CHECKSUM.pack(self._checksum(slot, record)) or any(data[_RECORD.size + _CHECKSUM.size :]):
            self.damaged.add(slot)
            return None
        return Mark(*_RECORD.unpack(record))

    def _checksum(self, slot: int, record: bytes) -> int:
        return zlib.crc32(record, zlib.crc32(self._uuid + slot.to_bytes(8, "little")))


class Marks:
    """Both files of one store's marks; each does without the other.

    Args:
        root: the store's folder.
        uuid: the store's identity.
        state: the user's state directory for heads; None keeps marks in the folder alone.
        write: make what is missing, and keep marks.

    Attributes:
        faults: sentences on a file that cannot be opened, read or written.
        copied: the folder is a copy: its marks were written for another folder, and none for this one.
    """

    def __init__(self, root: Path, uuid: bytes, state: Path | None, *, write: bool) -> None:
        self.home = home_of(root, uuid)
        self.faults: list[str] = []
        self._root, self._state, self._write, self._unsynced = root, state, write, 0
        self._files: list[MarkFile] = []
        here, there = self._opened(root / MARK_FILE, self._in_folder), None
        if state is not None:
            there = self._opened(state, self._in_state)
        else:
            self.faults.append("there is no state directory, so a rollback of the whole folder cannot be noticed")
        self.copied = there is None and here is not None and not self._at_home(here)
        if write and here is None:
            self._opened(root / MARK_FILE, self._make_in_folder)
        if write and state is not None and there is None:
            self._opened(state, self._make_in_state)

    # reading -----------------------------------------------------------------------------------------

    @property
    def damaged(self) -> set[int]:
        """Give the slots that hold something else than was written, as far as they were read; -1 for a header."""
        headers = {-1 for file in self._files if file.home is None}
        return headers.union(*(file.damaged for file in self._files))

    def last(self) -> list[Mark]:
        """Read what was committed last, as each file has it."""
        return self.of(0)

    def of(self, slot: int) -> list[Mark]:
        """Read a namespace's marks, as each file has them."""
        marks = [file.read(slot) for file in self._files]
        return [mark for number, mark in enumerate(marks) if mark is not None and mark not in marks[:number]]

    def all(self) -> list[Mark]:
        """Read the marks of all namespaces, as each file has them, in order of their keys."""
        return sorted(
            {mark for file in self._files for mark in file.marks()}, key=lambda mark: (mark.key, mark.position)
        )

    def known(self) -> list[Mark]:
        """Give what a log must hold: all marks, but none of a copy, whose marks are its original's."""
        return [] if self.copied else list(dict.fromkeys([*self.all(), *self.last()]))

    def notes(self) -> tuple[str, ...]:
        """Say what is worth knowing of the files themselves, once they were read."""
        notes = []
        if self.damaged:
            notes.append("the high-water mark is damaged itself; what is written next marks anew what it concerns")
        if self.copied:
            notes.append("this folder is a copy: its marks are the original's, so its end is not compared with them")
        return (*notes, *map(str, self.earlier()))

    def earlier(self, *, forget: bool = False) -> tuple[EarlierStore, ...]:
        """Give the stores that were at this path before, and are gone.

        Args:
            forget: remove what is known of them.
        """
        earlier: list[EarlierStore] = []
        # A folder that cannot be read is a fault already.
        with suppress(FileNotFoundError if forget else OSError), _folder(self._state) as folder:
            for name in os.listdir(folder):  # noqa: PTH208 - by its descriptor, so that no link is followed
                if not name.endswith(self._name(self.home)[32:]) or name == self._name(self.home):
                    continue
                file = MarkFile.open(name, None, write=False, folder=folder)
                marks = list(file.marks()) if file is not None else []
                if file is not None:
                    file.close()
                if marks:
                    earlier.append(EarlierStore(self.home.path, sum(mark.position for mark in marks), len(marks)))
                if forget:
                    os.unlink(name, dir_fd=folder)
        return tuple(earlier)

    # writing -----------------------------------------------------------------------------------------

    def keep(self, marks: Sequence[Mark]) -> None:
        """Overwrite the marks of namespaces that a commit changed; the last of them is that of the last commit.

        What cannot be written is a fault and no error: the commit is on disk, and `verify` says that its mark
        lags behind.
        """
        records = self._files[0].records(marks) if self._files else []
        for file in self._files:
            try:  # not through `_attempt`: this stands on the way of every append
                for at, data in records:
                    os.pwrite(file.descriptor, data, at)
            except OSError as error:
                self._note(error, "write")
        self._unsynced += 1
        if self._unsynced >= SYNC_COMMITS:
            self.sync()

    def adopt(self, uuid: bytes, marks: Sequence[Mark]) -> None:
        """Begin anew with these for a store that took over another identity; `earlier` has no word of its first one.

        Raises:
            OSError: a file cannot be written.
        """
        before, self.home = self.home, home_of(self._root, uuid)
        self.close()
        with suppress(FileNotFoundError), _folder(self._state) as folder:
            try:  # a store of the new identity that was here and is gone: `earlier` has it under the old name
                os.rename(self._name(self.home), self._name(before), src_dir_fd=folder, dst_dir_fd=folder)
            except FileNotFoundError:
                os.unlink(self._name(before), dir_fd=folder)
        self._opened(self._root / MARK_FILE, self._make_in_folder)
        if self._state is not None:
            self._opened(self._state, self._make_anew_in_state)
        self._begin(marks)

    def reset(self, marks: Sequence[Mark]) -> None:
        """Drop all marks and begin with these, at the place where the store lies now.

        Raises:
            OSError: a file cannot be written.
        """
        self._begin(marks)
        self.earlier(forget=True)

    def _begin(self, marks: Sequence[Mark]) -> None:
        for file in self._files:
            file.clear()
            file.settle(self.home)
            if marks:
                file.write(marks)
        self.copied = False
        self.sync()

    def settle(self) -> None:
        """Write down where the store lies now, if it was moved."""
        for file in self._files:
            if file.home != self.home:
                self._attempt(partial(file.settle, self.home), "write")

    def sync(self) -> None:
        """Wait until all marks are on the medium."""
        self._unsynced = 0
        for file in self._files:
            self._attempt(file.sync, "sync")

    def close(self) -> None:
        """Sync what was written and close both files."""
        if self._unsynced:
            self.sync()
        for file in self._files:
            file.close()
        self._files = []

    # the files ---------------------------------------------------------------------------------------

    def _opened(self, path: Path, attempt: Callable[[], MarkFile | None]) -> MarkFile | None:
        """Open or make a file; None where there is none, or it cannot be, which is a fault."""
        try:
            file = attempt()
        except OSError as error:
            self._note(error, f"open {path}")
            return None
        if file is not None:
            self._files.append(file)
        return file

    def _attempt(self, action: Callable[[], None], doing: str) -> None:
        try:
            action()
        except OSError as error:
            self._note(error, doing)

    def _note(self, error: OSError, doing: str) -> None:
        sentence = f"the high-water mark: cannot {doing}: {error.strerror or error}"
        if sentence not in self.faults:
            self.faults.append(sentence)

    def _at_home(self, file: MarkFile) -> bool:
        """Say whether a file was written for this folder: at this path, or before the folder was moved."""
        return file.home is None or self.home.path == file.home.path or self.home.inode == file.home.inode

    def _in_folder(self) -> MarkFile | None:
        return MarkFile.open(self._root / MARK_FILE, self.home.uuid, write=self._write)

    def _make_in_folder(self) -> MarkFile:
        return MarkFile.make(self._root / MARK_FILE, self.home)

    def _in_state(self) -> MarkFile | None:
        """Open this place's file; None where there is none."""
        with suppress(FileNotFoundError), _folder(self._state) as folder:
            return MarkFile.open(self._name(self.home), self.home.uuid, write=self._write, folder=folder)
        return None

    def _make_in_state(self) -> MarkFile:
        """Make this place's file; a store that was moved here brings along what was marked where it lay before."""
        assert self._state is not None  # asked for only with one
        for path in (self._state.parent, self._state):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                path.mkdir(mode=0o700)
        with _folder(self._state) as folder:
            earlier = self._elsewhere(folder)
            file = MarkFile.make(self._name(self.home), self.home, folder=folder)
            if earlier:
                file.write(earlier)
        return file

    def _make_anew_in_state(self) -> MarkFile:
        """Make this place's file, with nothing of another place."""
        with _folder(self._state) as folder:
            return MarkFile.make(self._name(self.home), self.home, folder=folder)

    def _elsewhere(self, folder: int) -> list[Mark]:
        """Read what was marked of the same folder under another path, and drop it if the folder left that path."""
        marks: list[Mark] = []
        for name in os.listdir(folder):
            if not name.startswith(self.home.uuid.hex()):
                continue
            file = MarkFile.open(name, self.home.uuid, write=False, folder=folder)
            if file is None:
                continue
            if file.home is not None and file.home.inode == self.home.inode:
                last = file.read(0)
                marks += [*file.marks(), *([last] if last is not None else [])]
                if (inode_of(file.home.path) or (0, 0))[1] != file.home.inode:
                    os.unlink(name, dir_fd=folder)
            file.close()
        return marks

    @staticmethod
    def _name(home: Home) -> str:
        place = hashlib.sha256(os.fsencode(home.path)).hexdigest()[:16]
        return f"{home.uuid.hex()}-{place}.{MARK_FILE}"


@contextmanager
def _folder(path: Path | None) -> Iterator[int]:
    """Open a folder of ours for a block; that of the name above it must be no link either.

    Raises:
        FileNotFoundError: there is none.
    """
    if path is None:
        raise FileNotFoundError
    above = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    try:
        folder = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=above)
    finally:
        os.close(above)
    try:
        yield folder
    finally:
        os.close(folder)
