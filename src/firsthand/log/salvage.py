"""Events out of a database whose pages SQLite can no longer walk.

A damaged page of a table's tree hides every row below it from SQL, although
their own pages are whole. Here the file is read page by page: every leaf of a
table is taken apart (file format: https://www.sqlite.org/fileformat2.html), and
what has the columns of an event is kept. Nothing found is believed: the caller
derives commitment and chain of each row again.

Only reads; knows no SQL.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .rows import POSITION_MAX

_LEAF = 0x0D
_COLUMNS = 19  # of the event table, in the order of `rows.STORED`
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
_OVERFLOW_PAGES_MAX = 20_000


def rows(file: Path) -> dict[int, tuple[Any, ...]]:
    """Read every row of the event table that stands on a whole leaf page, by its key."""
    data = file.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    size = 65_536 if size == 1 else size
    if size < 512 or size & size - 1:
        size = 4_096  # the header itself is damaged: stores are made with pages of this size
    pages = {number + 1: data[number * size : (number + 1) * size] for number in range(len(data) // size)}
    wal = Path(f"{file}-wal")
    if wal.exists():
        pages |= dict(_committed(wal.read_bytes(), size))
    found: dict[int, tuple[Any, ...]] = {}
    for number, page in pages.items():
        for key, row in _leaf(page, 100 if number == 1 else 0, pages, size):
            found.setdefault(key, row)
    return found


def _committed(wal: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the pages of a WAL up to its last commit; a later one of the same number counts."""
    salt = wal[16:24]
    pending: list[tuple[int, bytes]] = []
    for at in range(_WAL_HEADER, len(wal) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, commit = struct.unpack_from(">II", wal, at)
        if wal[at + 8 : at + 16] != salt:
            return
        pending.append((number, wal[at + _FRAME_HEADER : at + _FRAME_HEADER + size]))
        if commit:
            yield from pending
            pending = []


def _leaf(page: bytes, at: int, pages: Mapping[int, bytes], size: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the event rows of a page; nothing for a page that is no leaf of a table."""
    if len(page) < size or page[at] != _LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, at + 3)
    for cell in range(min(cells, (size - at - 8) // 2)):
        (start,) = struct.unpack_from(">H", page, at + 8 + 2 * cell)
        try:
            length, start = _varint(page, start)
            key, start = _varint(page, start)
            row = _row(key, _payload(page, start, length, pages, size))
        except (IndexError, ValueError, struct.error):  # not a cell of ours, or a damaged one: nothing to believe in
            continue
        if row is not None:
            yield key, row


def _payload(page: bytes, start: int, length: int, pages: Mapping[int, bytes], size: int) -> bytes:
    """Give a cell's payload with what spilled over to other pages."""
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        return page[start : start + length]
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    out = bytearray(page[start : start + local])
    (following,) = struct.unpack_from(">I", page, start + local)
    for _ in range(_OVERFLOW_PAGES_MAX):
        if len(out) >= length or not following:
            break
        spilled = pages.get(following, b"")
        (following,) = struct.unpack_from(">I", spilled)
        out += spilled[4 : 4 + length - len(out)]
    if len(out) != length:
        raise ValueError("the payload is cut off")
    return bytes(out)


def _row(key: int, payload: bytes) -> tuple[Any, ...] | None:
    """Read a record with the columns of an event; None for any other."""
    end, at = _varint(payload, 0)
    types: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        types.append(kind)
    if len(types) != _COLUMNS or at != end:
        return None
    values: list[Any] = []
    for kind in types:
        value, at = _value(payload, at, kind)
        values.append(value)
    values[0] = key & POSITION_MAX  # the key stands in the tree, not in the record
    blobs = values[1], values[15], values[16]
    if [len(blob) if isinstance(blob, bytes) else 0 for blob in blobs] != [16, 32, 32]:
        return None
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind <= 6:
        width = _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at : at + width], "big", signed=True), at + width
    if kind in {8, 9}:
        return kind - 8, at
    if kind < 12:
        raise ValueError("an event has no column of this type")
    width = (kind - 12) // 2
    if at + width > len(payload):
        raise ValueError("the value is cut off")
    data = payload[at : at + width]
    return (data if kind % 2 == 0 else data.decode()), at + width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise ValueError("not a number")
