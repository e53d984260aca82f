"""A write-ahead log read without SQLite: which frames are whole, and what broke the others.

SQLite believes a WAL up to the first frame whose checksum does not fit, and drops what
stands behind it without a word. Here each frame is checked against the checksum that is
stored in the frame before it, so one bad frame hides no good one behind it
(https://www.sqlite.org/fileformat2.html#walformat).

The invariant: a page is given only out of a frame whose checksum fits, and only if a
commit stands at or behind it. Only reads; knows no table.
"""

from __future__ import annotations

import struct
from collections import Counter

from firsthand.value import replace, value

HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
PAGE_BYTES = 4_096
"""What stores are made with: the page size where the header that says so is damaged."""
_MAGIC_LITTLE, _MAGIC_BIG = 0x377F0682, 0x377F0683
_MASK = 0xFFFFFFFF
_SALT_VOTES = 3  # of the first frames, on the salt of a header that is damaged


@value
class Frame:
    """One page as a transaction wrote it.

    Attributes:
        number: from 0, in the order of the file.
        page: the page's number in the database.
        pages: the size of the database after the commit that this frame ends; 0 if it ends none.
        start: where the page begins in the file.
        whole: page and numbers are what was written, of the generation of the file's header.
        believed: SQLite takes it, if it takes all before it.
    """

    number: int
    page: int
    pages: int
    start: int
    whole: bool
    believed: bool

    def of_generation(self, data: bytes, salt: bytes) -> bool:
        """Say whether the frame carries the salt of a generation."""
        return data[self.start - 16 : self.start - 8] == salt


@value
class Wal:
    """The frames of one WAL.

    Attributes:
        accepted: how many frames SQLite would read: whole ones without a gap, up to a commit.
        generation: how many frames are of the newest generation, damaged ones between whole ones counted.
        header_whole: the file's own header is what was written.
    """

    data: bytes
    page_bytes: int
    frames: tuple[Frame, ...]
    accepted: int
    generation: int
    header_whole: bool

    @property
    def commits_behind(self) -> int:
        """Count the commits that stand behind the first frame which SQLite does not believe."""
        return sum(frame.whole and frame.pages > 0 for frame in self.frames[self.accepted :])

    @property
    def rotten(self) -> bool:
        """Say whether the file shows by itself that acknowledged commits are cut off; a mark may show more.

        A crash tears one transaction that was never acknowledged. Behind an acknowledged one stands another: a
        writer begins the next only when the one before is on disk.
        """
        return self.commits_behind > 1

    def pages(self, *, behind: bool) -> dict[int, bytes]:
        """Give the newest committed version of each page.

        Args:
            behind: also out of whole frames behind a damaged one, up to the last commit.
        """
        frames = [frame for frame in self.frames if frame.whole] if behind else self.frames[: self.accepted]
        last = max((frame.number for frame in frames if frame.pages), default=-1)
        return {
            frame.page: self.data[frame.start : frame.start + self.page_bytes]
            for frame in frames
            if frame.number <= last
        }


def parse(data: bytes, page_bytes: int = PAGE_BYTES) -> Wal:
    """Read a WAL.

    Args:
        page_bytes: what to take where the header is damaged.
    """
    header = _header(data)
    if header is not None:
        magic, salt = header
        page_bytes = int.from_bytes(data[8:12], "big")
        return _read(data, page_bytes, ">" if magic == _MAGIC_BIG else "<", salt, header_whole=True)
    salt = _voted_salt(data, page_bytes)
    read = [_read(data, page_bytes, order, salt, header_whole=False) for order in "<>"]
    return max(read, key=lambda wal: wal.generation)


def _header(data: bytes) -> tuple[int, bytes] | None:
    """Give magic number and salt of the file; None when its header is not what was written."""
    if len(data) < HEADER_BYTES:
        return None
    (magic,) = struct.unpack_from(">I", data)
    if magic not in {_MAGIC_LITTLE, _MAGIC_BIG}:
        return None
    size = int.from_bytes(data[8:12], "big")
    if not 512 <= size <= 65_536 or size & size - 1:
        return None
    computed = _checksum(data[:24], (0, 0), ">" if magic == _MAGIC_BIG else "<")
    return (magic, data[16:24]) if computed == struct.unpack_from(">II", data, 24) else None


def _voted_salt(data: bytes, page_bytes: int) -> bytes:
    """Give the salt of the first frames, which are always of the newest generation."""
    starts = range(HEADER_BYTES, len(data) - FRAME_HEADER_BYTES - page_bytes + 1, FRAME_HEADER_BYTES + page_bytes)
    votes = Counter(data[start + 8 : start + 16] for start in starts[:_SALT_VOTES])
    return votes.most_common(1)[0][0] if votes else b""


def _read(data: bytes, page_bytes: int, order: str, salt: bytes, *, header_whole: bool) -> Wal:
    frames = tuple(_frames(data, page_bytes, order, salt))
    accepted = 0
    for frame in frames if header_whole else ():
        if not frame.believed:
            break
        accepted = frame.number + 1 if frame.pages else accepted
    generation = max((frame.number + 1 for frame in frames if frame.whole), default=0)
    return Wal(data, page_bytes, frames, accepted, generation, header_whole)


def _frames(data: bytes, page_bytes: int, order: str, salt: bytes) -> list[Frame]:
    """Check each frame against the checksum stored in the frame before it.

    If that fails, against the one that should be stored there: if this fits, nothing but the stored
    checksum of the frame before is damaged. The salt is under no checksum: a frame of an older
    generation has another one, but does not fit to a frame of the newest before it.
    """
    frames: list[Frame] = []
    header = data[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0")
    stored, computed = struct.unpack_from(">II", header, 24), _checksum(header[:24], (0, 0), order)
    size = FRAME_HEADER_BYTES + page_bytes
    for number, start in enumerate(range(HEADER_BYTES, len(data) - size + 1, size)):
        page, pages = struct.unpack_from(">II", data, start)
        covered = data[start : start + 8] + data[start + FRAME_HEADER_BYTES : start + size]
        own = struct.unpack_from(">II", data, start + 16)
        before_stored, before_computed = stored, computed
        stored, computed = own, _checksum(covered, before_stored, order)
        fits = computed == own and page > 0
        believed = fits and data[start + 8 : start + 16] == salt
        if not fits and before_stored != before_computed:
            again = _checksum(covered, before_computed, order)
            if again == own and page > 0:
                fits, computed = True, again
                if frames and frames[-1].of_generation(data, salt):
                    frames[-1] = replace(frames[-1], whole=True)
        whole = fits and (data[start + 8 : start + 16] == salt or not frames or frames[-1].whole)
        frames.append(Frame(number, page, pages, start + FRAME_HEADER_BYTES, whole, believed))
    return frames


def _checksum(data: bytes, start: tuple[int, ...], order: str) -> tuple[int, int]:
    first, second = start[0], start[1]
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = first + even + second & _MASK
        second = second + odd + first & _MASK
    return first, second
