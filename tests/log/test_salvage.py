"""What is whole of a store is had without SQLite, whatever page of its database is damaged."""

from __future__ import annotations

import io
import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from firsthand.errors import FormatError, NotAStore, StoreDamaged, StoreError
from firsthand.event import Draft, Kind
from firsthand.log.restore import restore
from firsthand.log.sqlite.export import export_salvage
from firsthand.log.sqlite.pages import Pages
from firsthand.log.sqlite.salvage import Salvage
from firsthand.log.sqlite.schema import DATABASE_FILE
from firsthand.memory import Memory
from stores import SOAK, assert_whole, open_log

PAGE = 4_096


def _store(root: Path, events: int) -> Path:
    """A store whose event table has pages above its leaves, and its file, closed."""
    with Memory.open(root, embedder="none") as memory:
        session = memory.session("a")
        for number in range(events):
            session.user(os.urandom(300).hex() + f" event {number}")
        session.user(os.urandom(7_000).hex())  # spills over to further pages
    return root / DATABASE_FILE


def _damage(file: Path, page: int) -> None:
    with file.open("r+b") as opened:
        opened.seek((page - 1) * PAGE)
        opened.write(b"\x99" * PAGE)


def _pages(file: Path, table: str) -> list[int]:
    """Give the pages of a table's tree, its root first."""
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    db.close()
    data, numbers = file.read_bytes(), [int(root)]
    start = (numbers[0] - 1) * PAGE
    if data[start] == 0x05:
        cells = int.from_bytes(data[start + 3 : start + 5], "big")
        for cell in range(cells):
            place = int.from_bytes(data[start + 12 + 2 * cell : start + 14 + 2 * cell], "big")
            numbers.append(int.from_bytes(data[start + place : start + place + 4], "big"))
        numbers.append(int.from_bytes(data[start + 8 : start + 12], "big"))
    return numbers


def test_salvage_gives_the_rows_that_sql_gives(tmp_path: Path) -> None:
    """In a whole store, the rows that are read page by page are those of the table."""
    file = _store(tmp_path / "s", 120)
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    expected = {row[0]: row for row in db.execute("SELECT * FROM event")}
    db.close()
    assert Salvage(file, behind=False).rows == expected


def test_salvage_reads_what_only_the_wal_has(tmp_path: Path) -> None:
    """Committed pages that were not yet moved into the file are seen."""
    memory = Memory.open(tmp_path / "s", embedder="none")
    memory.session("a").user("one")
    memory.session("a").user("two")
    assert sorted(Salvage(tmp_path / "s" / DATABASE_FILE, behind=False).rows) == [1, 2]
    memory.close()


def test_a_damaged_root_page_hides_no_event(tmp_path: Path) -> None:
    """With the root of the event table gone, verify reads and checks every event all the same."""
    file = _store(tmp_path / "s", 120)
    _damage(file, _pages(file, "event")[0])
    with Memory.open(tmp_path / "s", read_only=True, embedder="none") as memory:
        verified = memory.verify()
        assert not verified.ok
        assert verified.events == 121
        assert any("121 events were read page by page" in problem.what for problem in verified.problems)
        assert not [problem for problem in verified.problems if problem.where == "event"]


def test_a_damaged_leaf_costs_only_its_own_events(tmp_path: Path) -> None:
    """The events of one leaf are lost and named; a salvaging export holds all others and cannot be restored."""
    file = _store(tmp_path / "s", 120)
    _damage(file, _pages(file, "event")[5])
    with Memory.open(tmp_path / "s", read_only=True, embedder="none") as memory:
        verified = memory.verify()
        lost = [problem.position for problem in verified.problems if problem.where == "event"]
        assert 1 <= len(lost) <= 8
        assert verified.events >= 121 - len(lost) - 1
        with pytest.raises(StoreDamaged, match="--salvage"):
            memory.export(io.BytesIO())
    out = io.BytesIO()
    exported = export_salvage(tmp_path / "s", out)
    assert (exported.events, exported.damaged) == (121 - len(lost), len(lost))
    assert json.loads(out.getvalue().splitlines()[-2])["damaged"]["position"] == lost[0]
    with Memory.open(tmp_path / "t", embedder="none") as other, pytest.raises(FormatError, match="salvaged"):
        other.restore(io.BytesIO(out.getvalue()))


# the first page and the schema -----------------------------------------------------------------------


def _two_tenants(root: Path) -> list[str]:
    """Make a store of two namespaces with an artifact and an erased event; give the lines of its export."""
    log = open_log(root, inline_max=1_000, indexes=())
    for number in range(4):
        for namespace in ("default", "other"):
            log.append(
                [Draft(Kind.NOTE, b"event %d" % number, agent="a", origin="o")], namespace=namespace, session="s"
            )
    log.append(
        [Draft(Kind.TOOL_RESULT, b"".join(b"line %d\n" % n for n in range(400)))], namespace="other", session="t"
    )
    log.erase("default", [next(log.reader.events("default")).id])
    out = io.BytesIO()
    log.export(out)
    assert_whole(log)
    log.close()
    return sorted(line for line in out.getvalue().decode().splitlines() if line.startswith('{"event"'))


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    root = tmp_path_factory.mktemp("tenants") / "store"
    return root, _two_tenants(root)


def _salvaged(root: Path) -> list[str]:
    """Give the event lines of a salvaging export, without what only their order in the file says."""
    out = io.BytesIO()
    export_salvage(root, out)
    return sorted(line for line in out.getvalue().decode().splitlines() if line.startswith('{"event"'))


def test_every_flip_of_the_first_page_leaves_every_event(tenants, tmp_path):
    """Whichever byte of page 1 is flipped, a salvaging export has every event as it was."""
    original, lines = tenants
    root = tmp_path / "store"
    shutil.copytree(original, root)
    file = root / DATABASE_FILE
    good = file.read_bytes()
    used = [place for place in range(PAGE) if good[place] or place < 100]
    assert len(used) > 1_000
    for number, place in enumerate(used if SOAK else [*range(100), *used[100::40]]):
        for bit in range(8) if SOAK else (number % 8,):
            file.write_bytes(good[:place] + bytes((good[place] ^ 1 << bit,)) + good[place + 1 :])
            assert _salvaged(root) == lines, (place, bit)


def test_a_store_that_sqlite_refuses_is_salvaged_and_restored(tenants, tmp_path):
    """Without its first page the store does not open; its salvage restores to the same events and heads."""
    original, lines = tenants
    root = tmp_path / "store"
    shutil.copytree(original, root)
    whole = open_log(root, read_only=True, indexes=())
    heads = whole.verify().heads
    whole.close()
    _damage(root / DATABASE_FILE, 1)
    with pytest.raises(StoreError):
        open_log(root, read_only=True, indexes=()).verify()
    out = io.BytesIO()
    exported = export_salvage(root, out)
    assert (exported.events, exported.artifacts, exported.damaged) == (len(lines), 1, 0)
    again = open_log(tmp_path / "again", indexes=())
    restore(again, io.BytesIO(out.getvalue()))
    assert again.verify().heads == heads
    assert_whole(again)
    again.close()


def test_names_are_read_where_their_table_is_gone(tenants, tmp_path):
    """Without the pages of sessions, names or namespaces, the indexes that repeat their texts name every event."""
    original, lines = tenants
    for table in ("session", "name", "namespace", "store"):
        root = tmp_path / table
        shutil.copytree(original, root)
        _damage(root / DATABASE_FILE, _pages(root / DATABASE_FILE, table)[0])
        assert _salvaged(root) == lines, table


def test_a_leaf_whose_cells_are_not_listed_is_searched(tenants, tmp_path):
    """A flipped bit in the header of an event page, its type included, loses no event that is whole itself."""
    original, lines = tenants
    root = tmp_path / "store"
    shutil.copytree(original, root)
    file = root / DATABASE_FILE
    good = file.read_bytes()
    start = (_pages(file, "event")[0] - 1) * PAGE
    assert good[start] == 0x0D
    for place in range(start, start + 8 + 2 * 10):
        for bit in range(8) if SOAK else (place % 8, (place + 3) % 8):
            file.write_bytes(good[:place] + bytes((good[place] ^ 1 << bit,)) + good[place + 1 :])
            assert _salvaged(root) == lines, (place - start, bit)


def test_no_salvage_gives_a_changed_event(tenants, tmp_path):
    """Wherever a bit of an event's page flips, each event comes out as it was written, or is named as damaged."""
    original, lines = tenants
    root = tmp_path / "store"
    shutil.copytree(original, root)
    file = root / DATABASE_FILE
    good = file.read_bytes()
    start = (_pages(file, "event")[0] - 1) * PAGE
    for place in range(start, start + PAGE, 1 if SOAK else 23):
        file.write_bytes(good[:place] + bytes((good[place] ^ 1 << place % 8,)) + good[place + 1 :])
        out = io.BytesIO()
        export_salvage(root, out)
        read = {line for line in out.getvalue().decode().splitlines() if line.startswith('{"event"')}
        without_places = {line for line in read if '"position"' not in line}
        assert without_places <= set(lines), place
        assert len(read) >= len(lines) - 1, place
        if len(read) < len(lines):
            assert '{"damaged"' in out.getvalue().decode(), place


def test_what_stands_behind_a_damaged_frame_is_salvaged(tmp_path):
    """A salvaging export has the events of a WAL behind a bad frame, which SQLite does not show."""
    log = open_log(tmp_path / "live", indexes=())
    for number in range(30):
        log.append([Draft(Kind.NOTE, b"event %d" % number)], namespace="default", session="s")
    root = tmp_path / "store"
    shutil.copytree(log.root, root, ignore=shutil.ignore_patterns("*-shm"))
    log.close()
    wal = root / f"{DATABASE_FILE}-wal"
    data = bytearray(wal.read_bytes())
    data[len(data) // 3] ^= 1
    wal.write_bytes(data)
    assert len(Salvage(root / DATABASE_FILE, behind=False).rows) < 15
    assert len(_salvaged(root)) == 30


def test_a_folder_without_a_store_is_refused(tmp_path):
    """There is nothing to salvage where no database is."""
    with pytest.raises(NotAStore, match="nothing to salvage"):
        export_salvage(tmp_path, io.BytesIO())


def test_a_file_of_junk_gives_nothing(tmp_path):
    """Random bytes in the place of the database give no event and no error."""
    (tmp_path / DATABASE_FILE).write_bytes(os.urandom(50_000))
    assert list(Salvage(tmp_path / DATABASE_FILE).rows) == []
    assert Pages(tmp_path / DATABASE_FILE).count == 12
