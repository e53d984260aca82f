"""Events are found page by page when the tree above them is damaged."""

from __future__ import annotations

import io
import os
from pathlib import Path

import apsw
import pytest

from firsthand.errors import FormatError, StoreDamaged
from firsthand.log import salvage
from firsthand.memory import Memory

PAGE = 4_096


def _store(root: Path, events: int) -> Path:
    """A store whose event table has pages above its leaves, and its file, closed."""
    with Memory.open(root) as memory:
        session = memory.session("a")
        for number in range(events):
            session.user(os.urandom(300).hex() + f" event {number}")
        session.user(os.urandom(7_000).hex())  # spills over to further pages
    return root / "firsthand.db"


def _damage(file: Path, page: int) -> None:
    with file.open("r+b") as opened:
        opened.seek((page - 1) * PAGE)
        opened.write(b"\x99" * PAGE)


def _root_page(file: Path) -> int:
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'event'").get
    db.close()
    return int(root)


def test_salvage_gives_the_rows_that_sql_gives(tmp_path: Path) -> None:
    """In a whole store, the rows found page by page are those of the table."""
    file = _store(tmp_path / "s", 120)
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    expected = {row[0]: row for row in db.execute("SELECT * FROM event")}
    db.close()
    assert salvage.rows(file) == expected


def test_salvage_reads_what_only_the_wal_has(tmp_path: Path) -> None:
    """Committed pages that were not yet moved into the file are seen."""
    memory = Memory.open(tmp_path / "s")
    memory.session("a").user("one")
    memory.session("a").user("two")
    assert sorted(salvage.rows(tmp_path / "s" / "firsthand.db")) == [1, 2]
    memory.close()


def test_a_damaged_root_page_hides_no_event(tmp_path: Path) -> None:
    """With the root of the event table gone, verify reads and checks every event all the same."""
    file = _store(tmp_path / "s", 120)
    _damage(file, _root_page(file))
    with Memory.open(tmp_path / "s", read_only=True) as memory:
        verified = memory.verify()
        assert not verified.ok
        assert verified.events == 121
        assert any("121 events were read page by page" in problem.what for problem in verified.problems)
        assert not [problem for problem in verified.problems if problem.where == "event"]


def test_a_damaged_leaf_costs_only_its_own_events(tmp_path: Path) -> None:
    """The events of one leaf are lost and named; a salvaging export holds all others and cannot be restored."""
    file = _store(tmp_path / "s", 120)
    leaf = next(
        number + 1
        for number in range(20, file.stat().st_size // PAGE)
        if file.read_bytes()[number * PAGE] == 0x0D
        and b"event" in file.read_bytes()[:PAGE]
        and any(True for _ in salvage._leaf(file.read_bytes()[number * PAGE : (number + 1) * PAGE], 0, {}, PAGE))
    )
    _damage(file, leaf)
    with Memory.open(tmp_path / "s", read_only=True) as memory:
        verified = memory.verify()
        lost = [problem.position for problem in verified.problems if problem.where == "event"]
        assert 1 <= len(lost) <= 8
        assert verified.events >= 121 - len(lost) - 1
        with pytest.raises(StoreDamaged, match="--salvage"):
            memory.export(io.BytesIO())
        out = io.BytesIO()
        exported = memory.export(out, salvage=True)
        assert (exported.events, exported.damaged) == (121 - len(lost), len(lost))
    with Memory.open(tmp_path / "t") as other, pytest.raises(FormatError, match="salvaged"):
        other.restore(io.BytesIO(out.getvalue()))
