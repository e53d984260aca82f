"""Records out of a database whose pages SQLite can no longer walk.

A damaged page of a table's tree hides every row below it from SQL, and a damaged first
page hides the whole database, although the other pages are as they were written. Here
each page is taken by itself: every record on a leaf of a table or on a page of an index
is read (https://www.sqlite.org/fileformat2.html#b_tree_pages). Pages that only the WAL
has are taken from there (`wal`).

The invariant: no record is believed here; a caller knows its own by their shape and
checks them. Only reads; knows no SQL and no table.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firsthand.value import value

from . import wal

_TABLE_LEAF, _TABLE_INTERIOR, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x05, 0x0A, 0x02
_INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
_LENGTH_MAX = 1 << 30
_GAP_BYTES_MAX = 100  # between the rows of a page; an event, with its hashes, is longer
_HEADER_BYTES_MAX = 100  # of a record: an event has 19 columns
_READS_MAX = 5


@value
class Record:
    """One row.

    Attributes:
        key: its integer key; None in an index, and in a table without one.
        values: its columns; that of the integer key itself is None.
    """

    key: int | None
    values: tuple[Any, ...]


@value
class _Cell:
    """A record on a page, and where it ends there."""

    record: Record
    end: int


class Pages:
    """The newest committed version of each page of one database.

    Args:
        file: the database; its WAL stands beside it.
        behind: also take what the WAL has behind a damaged frame.

    Raises:
        OSError: a file cannot be read.
    """

    def __init__(self, file: Path, *, behind: bool = True) -> None:
        self._data, log = _read_both(file)
        size = int.from_bytes(self._data[16:18], "big")
        size = 65_536 if size == 1 else size
        if size < 512 or size & size - 1:
            size = wal.PAGE_BYTES  # the header is damaged
        self.wal = wal.parse(log, size)
        self.size = self.wal.page_bytes if self.wal.header_whole else size
        self._newer = self.wal.pages(behind=behind) if self.wal.page_bytes == self.size else {}
        self.count = max(len(self._data) // self.size, *self._newer, 0) if self._newer else len(self._data) // self.size

    def page(self, number: int) -> bytes:
        """Give a page; empty where there is none."""
        return self._newer.get(number) or self._data[(number - 1) * self.size : number * self.size]

    def records(self) -> Iterator[Record]:
        """Yield every record that can be read."""
        for number in range(1, self.count + 1):
            page = self.page(number)
            if len(page) == self.size:
                yield from self._of_page(page, 100 if number == 1 else 0)

    def _of_page(self, page: bytes, at: int) -> Iterator[Record]:
        kind = page[at]
        if kind in {_INDEX_LEAF, _INDEX_INTERIOR}:
            for start in self._starts(page, at, 8 if kind == _INDEX_LEAF else 12):
                cell = self._cell(page, start + 4 * (kind == _INDEX_INTERIOR), index=True)
                if cell is not None:
                    yield cell.record
            return
        if kind == 0 or (kind == _TABLE_INTERIOR and self._is_interior(page, at)):
            return  # the continuation of a long record, a free page, or one with keys alone
        starts = sorted(self._starts(page, at, 8)) if kind == _TABLE_LEAF else []
        cells = [self._cell(page, start, index=False) for start in starts]
        (content,) = struct.unpack_from(">H", page, at + 5)
        ends = [content, *(cell.end if cell is not None else -self.size for cell in cells)]
        gaps = [start - end for start, end in zip([*starts, self.size], ends, strict=True)]
        if not 0 <= max(gaps) < _GAP_BYTES_MAX or kind != _TABLE_LEAF:
            # The list of the cells is damaged: what looks like a record is taken, wherever it begins.
            cells += [self._cell(page, start, index=False) for start in range(at + 8, self.size - 8)]
        yield from (cell.record for cell in cells if cell is not None)

    def _is_interior(self, page: bytes, at: int) -> bool:
        (right,) = struct.unpack_from(">I", page, at + 8)
        return bool(0 < right <= self.count)

    def _starts(self, page: bytes, at: int, header: int) -> list[int]:
        """Give where the cells of a page begin."""
        (cells,) = struct.unpack_from(">H", page, at + 3)
        fit = min(cells, (self.size - at - header) // 2)
        return [start for start in struct.unpack_from(f">{fit}H", page, at + header) if start < self.size]

    def _cell(self, page: bytes, start: int, *, index: bool) -> _Cell | None:
        """Read a cell; None for what is none."""
        try:
            length, start = _varint(page, start)
            key = None
            if not index:
                key, start = _varint(page, start)
            payload, end = self._payload(page, start, length, index=index)
            return _Cell(Record(key, _values(payload)), end)
        except (IndexError, ValueError, struct.error):
            return None

    def _payload(self, page: bytes, start: int, length: int, *, index: bool) -> tuple[bytes, int]:
        """Give a cell's payload with what spilled over to other pages, and where the cell ends."""
        most, least = self.size - 35, (self.size - 12) * 32 // 255 - 23
        if index:
            most = (self.size - 12) * 64 // 255 - 23
        if length <= most:
            return page[start : start + length], start + length
        if length > _LENGTH_MAX or _length(page, start) != length:
            raise ValueError("not a record")
        local = least + (length - least) % (self.size - 4)
        local = local if local <= most else least
        out = bytearray(page[start : start + local])
        (following,) = struct.unpack_from(">I", page, start + local)
        while len(out) < length and following:
            spilled = self.page(following)
            (following,) = struct.unpack_from(">I", spilled)
            out += spilled[4 : 4 + length - len(out)]
        if len(out) != length:
            raise ValueError("the payload is cut off")
        return bytes(out), start + local + 4


def _read_both(file: Path) -> tuple[bytes, bytes]:
    """Read a database and its WAL as they stood together: a checkpoint in between begins the WAL anew."""
    log = Path(f"{file}-wal")
    for _ in range(_READS_MAX):
        before = _bytes(log)
        data = _bytes(file)
        if _bytes(log)[: wal.HEADER_BYTES] == before[: wal.HEADER_BYTES]:
            break
    return data, before


def _bytes(file: Path) -> bytes:
    """Read a file; empty where there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:  # a database that was closed has no WAL
        return b""


def _length(data: bytes, start: int) -> int:
    """Add up a record's header and columns."""
    end, at = _varint(data, start)
    if end > _HEADER_BYTES_MAX:
        raise ValueError("not a record")
    total, end = end, start + end
    while at < end:
        kind, at = _varint(data, at)
        total += _INTEGER_BYTES[kind] if kind <= 6 else 8 if kind == 7 else 0 if kind < 12 else (kind - 12) // 2
    return total


def _values(payload: bytes) -> tuple[Any, ...]:
    """Read a record.

    Raises:
        ValueError, IndexError: it is none.
    """
    end, at = _varint(payload, 0)
    if not 2 <= end <= len(payload) or _length(payload, 0) != len(payload):
        raise ValueError("not a record")
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end:
        raise ValueError("not a record")
    values: list[Any] = []
    for kind in kinds:
        column, at = _column(payload, at, kind)
        values.append(column)
    return tuple(values)


def _column(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind <= 6:
        width = _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at : at + width], "big", signed=True), at + width
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in {8, 9}:
        return kind - 8, at
    if kind < 12:
        raise ValueError("not a column")
    width = (kind - 12) // 2
    data = payload[at : at + width]
    return (data if kind % 2 == 0 else data.decode()), at + width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            return number << 8 | byte, at + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + count + 1
    raise ValueError("not a number")
