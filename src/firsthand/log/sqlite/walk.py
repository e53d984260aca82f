"""Walking every event of a namespace, whatever the state of the pages below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from firsthand.log.rows import POSITION_MAX, STORED, key_of

from .salvage import Salvage

_PAGE = 512
_EMPTY_WINDOWS_MAX = 20
_BEYOND = 1 << 62
_TENANTS_MAX = 1 << 22


class Rows:
    """Every position of a namespace with its row, whatever the state of the pages.

    What SQL cannot reach is asked for position by position, then looked for page by
    page in the file (`salvage`). The rows are not checked here.

    Attributes:
        salvaged: how many rows only the last way gave.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._found_in_pages: dict[int, tuple[Any, ...]] | None = None
        self.salvaged = 0

    def namespaces(self) -> list[int]:
        """Give the keys of the namespaces that there are rows of, in order."""
        keys: list[int] = []
        key = self._next(0)
        while key < _BEYOND and len(keys) < _TENANTS_MAX:
            keys.append((key >> 40) + 1)
            key = self._next(key | POSITION_MAX)
        return keys

    def last_position(self, namespace: int) -> int:
        """Give the last position of a namespace that there is a row for; 0 for none."""
        low, high = key_of(namespace, 0), key_of(namespace, POSITION_MAX)
        try:
            last = self._db.execute("SELECT max(key) FROM event WHERE key > ? AND key <= ?", (low, high)).get
        except (apsw.Error, UnicodeDecodeError):
            last = max((key for key in self._in_pages() if low < key <= high), default=None)
        return last & POSITION_MAX if isinstance(last, int) else 0

    def read(self, namespace: int, total: int) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
        """Yield positions 1 to ``total`` with their rows; None where there is none to be had.

        Read in windows of positions, not row after row: so a damaged key hides nothing that
        follows it. Of a gap only the first windows are yielded position by position, since one
        flipped bit can claim a gap of any length.
        """
        position = empty = 0
        base = key_of(namespace, 0)
        sql = f"SELECT {STORED} FROM event WHERE key > ? AND key <= ? ORDER BY key"  # noqa: S608 - constants
        while position < total:
            end = min(position + _PAGE, total)
            try:
                page: list[Any] = self._db.execute(sql, (base + position, base + end)).fetchall()
            except (apsw.Error, UnicodeDecodeError):
                page = self._one_by_one(base + position, base + end)
            by_position = {row[0]: row for row in page}
            empty = 0 if page else empty + 1
            if empty <= _EMPTY_WINDOWS_MAX:
                for wanted in range(position + 1, end + 1):
                    yield wanted, by_position.get(wanted)
            else:
                end = max(end, min(self._next(base + end) - base, total) - 1)
            position = end

    def _next(self, after: int) -> int:
        """Give the next key that has a row; one beyond all when there is none to be found."""
        try:
            return int(self._db.execute("SELECT min(key) FROM event WHERE key > ?", (after,)).get or _BEYOND)
        except (apsw.Error, UnicodeDecodeError):
            return min((key for key in self._in_pages() if key > after), default=_BEYOND)

    def at(self, namespace: int, position: int) -> tuple[Any, ...] | None:
        """Read one row."""
        key = key_of(namespace, position)
        rows = self._one_by_one(key - 1, key)
        return rows[0] if rows else None

    def _one_by_one(self, after: int, through: int) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        sql = f"SELECT {STORED} FROM event WHERE key = ?"  # noqa: S608 - constants
        for key in range(after + 1, through + 1):
            try:
                rows.extend(self._db.execute(sql, (key,)).fetchall())
            except (apsw.Error, UnicodeDecodeError):
                if (row := self._in_pages().get(key)) is not None:
                    self.salvaged += 1
                    rows.append(row)
        return rows

    def _in_pages(self) -> dict[int, tuple[Any, ...]]:
        if self._found_in_pages is None:
            self._found_in_pages = Salvage(Path(self._db.filename), behind=False).rows
        return self._found_in_pages
