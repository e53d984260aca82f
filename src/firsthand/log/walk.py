"""Walking every event of a log, whatever the state of the pages below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from . import salvage
from .rows import COLUMNS

_PAGE = 512
_EMPTY_WINDOWS_MAX = 20
_BEYOND = 1 << 62


class Rows:
    """Every position of a log with its row, whatever the state of the pages.

    What SQL cannot reach is asked for position by position, then looked for page by
    page in the file (`salvage`). The rows are not checked here.

    Attributes:
        salvaged: how many rows only the last way gave.
        unreadable: positions that no way gave although SQLite met damage on the way to them.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._found_in_pages: dict[int, tuple[Any, ...]] | None = None
        self.salvaged = 0
        self.unreadable: set[int] = set()

    def last_position(self) -> int:
        """Give the last position there is a row for."""
        try:
            last = self._db.execute("SELECT max(position) FROM event").get
        except (apsw.Error, UnicodeDecodeError):
            return max(self._in_pages(), default=0)
        return last if isinstance(last, int) and 0 < last < 1 << 48 else 0

    def read(self, total: int) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
        """Yield positions 1 to ``total`` with their rows; None where there is none to be had.

        Read in windows of positions, not row after row: so a damaged key hides nothing that
        follows it. Of a gap only the first windows are yielded position by position, since one
        flipped bit can claim a gap of any length.
        """
        position = empty = 0
        sql = f"SELECT {COLUMNS} FROM event WHERE position > ? AND position <= ? ORDER BY position"  # noqa: S608
        while position < total:
            end = min(position + _PAGE, total)
            try:
                page: list[Any] = self._db.execute(sql, (position, end)).fetchall()
            except (apsw.Error, UnicodeDecodeError):
                page = self._one_by_one(position, end)
            by_position = {row[0]: row for row in page}
            empty = 0 if page else empty + 1
            if empty <= _EMPTY_WINDOWS_MAX:
                for wanted in range(position + 1, end + 1):
                    yield wanted, by_position.get(wanted)
            else:
                end = max(end, min(self._next(end), total) - 1)
            position = end

    def _next(self, after: int) -> int:
        """Give the next position that has a row; one beyond all when there is none to be found."""
        try:
            return int(self._db.execute("SELECT min(position) FROM event WHERE position > ?", (after,)).get or _BEYOND)
        except (apsw.Error, UnicodeDecodeError):
            return min((position for position in self._in_pages() if position > after), default=_BEYOND)

    def at(self, position: int) -> tuple[Any, ...] | None:
        """Read one row."""
        rows = self._one_by_one(position - 1, position)
        return rows[0] if rows else None

    def _one_by_one(self, after: int, through: int) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        sql = f"SELECT {COLUMNS} FROM event WHERE position = ?"  # noqa: S608 - constants
        for position in range(after + 1, through + 1):
            try:
                rows.extend(self._db.execute(sql, (position,)).fetchall())
            except (apsw.Error, UnicodeDecodeError):
                row = self._in_pages().get(position)
                if row is None:
                    self.unreadable.add(position)
                else:
                    self.salvaged += 1
                    rows.append(row)
        return rows

    def _in_pages(self) -> dict[int, tuple[Any, ...]]:
        if self._found_in_pages is None:
            self._found_in_pages = salvage.rows(Path(self._db.filename))
        return self._found_in_pages
