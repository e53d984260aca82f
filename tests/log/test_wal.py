"""A WAL is read frame by frame without SQLite, and rot in it is told from a tail that a crash tore."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from firsthand.log.sqlite.wal import FRAME_HEADER_BYTES, HEADER_BYTES, PAGE_BYTES, parse

ROWS = 12
FRAME = FRAME_HEADER_BYTES + PAGE_BYTES


@pytest.fixture
def wal(tmp_path) -> bytes:
    """The WAL of a database to which rows were added, one commit each."""
    return written(tmp_path / "rows.db")


def written(file: Path, rows: int = ROWS) -> bytes:
    db = apsw.Connection(str(file))
    db.pragma("journal_mode", "wal")
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, text)")
    for number in range(rows):
        db.execute("INSERT INTO row VALUES (?, ?)", (number, f"row {number} " * 20))
    data = Path(f"{file}-wal").read_bytes()
    db.close()
    return data


def rows_seen(file: Path, data: bytes) -> int:
    """Count the rows that SQLite shows with this WAL beside the database."""
    copy = file.with_name("copy.db")
    copy.write_bytes(file.read_bytes())
    Path(f"{copy}-shm").unlink(missing_ok=True)
    Path(f"{copy}-wal").write_bytes(data)
    db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    count = db.execute("SELECT count(*) FROM row").get if tables else 0
    db.close()
    return count


def flipped(data: bytes, place: int, bit: int = 0) -> bytes:
    return data[:place] + bytes((data[place] ^ 1 << bit,)) + data[place + 1 :]


def test_a_whole_wal_is_read_to_its_end(wal):
    """Every frame of an undamaged WAL is whole and accepted."""
    read = parse(wal)
    assert (read.accepted, read.generation, read.commits_behind) == (len(read.frames),) * 2 + (0,)
    assert len(read.frames) == (len(wal) - HEADER_BYTES) // FRAME
    assert (read.rotten, read.header_whole) == (False, True)


def test_a_flipped_bit_hides_no_frame_behind_it(tmp_path):
    """A bit flipped a third into the WAL damages one frame; SQLite drops all behind it, `parse` none."""
    file = tmp_path / "rows.db"
    data = written(file)
    damaged = flipped(data, len(data) // 3)
    read = parse(damaged)
    assert sum(not frame.whole for frame in read.frames) == 1
    assert read.rotten
    assert rows_seen(file, damaged) < ROWS // 2
    last = {page: bytes(content) for page, content in parse(data).pages(behind=False).items()}
    assert read.pages(behind=True) == last  # the page was written again behind the damage


def test_what_sqlite_accepts_is_known(tmp_path):
    """For a bit flipped in each header field and in pages, `accepted` is where SQLite stops."""
    file = tmp_path / "rows.db"
    data = written(file, rows=5)
    commits = [frame.number + 1 for frame in parse(data).frames if frame.pages]
    places = [*range(HEADER_BYTES), *(HEADER_BYTES + 2 * FRAME + byte for byte in range(FRAME_HEADER_BYTES + 40))]
    for place in [*places, len(data) - 1]:
        damaged = flipped(data, place, place % 8)
        read = parse(damaged)
        whole = sum(commit <= read.accepted for commit in commits)
        assert rows_seen(file, damaged) == max(0, whole - 1), place  # the first commit made the table
        assert read.header_whole == (place >= HEADER_BYTES)


def test_every_field_of_a_frame_may_rot(wal):
    """Wherever in one frame a bit flips, every frame behind it stays readable."""
    total = len(parse(wal).frames)
    start = HEADER_BYTES + 3 * FRAME
    for place in [*range(start, start + FRAME_HEADER_BYTES), start + FRAME_HEADER_BYTES + 100]:
        read = parse(flipped(wal, place, place % 8))
        assert {frame.number for frame in read.frames if not frame.whole} <= {3}
        assert (read.accepted, read.generation, read.rotten) == (3, total, True)


def test_a_damaged_header_hides_nothing(wal):
    """Whichever bit of the file's own header flips, every frame is still read."""
    pages = parse(wal).pages(behind=False)
    for place in range(HEADER_BYTES):
        read = parse(flipped(wal, place, place % 8))
        assert (read.accepted, read.rotten) == (0, True), place
        assert read.pages(behind=True) == pages, place


def test_a_torn_tail_is_no_rot(wal):
    """A file that ends in the middle of its last transaction, or whose last commit is damaged, is torn at most."""
    for end in range(len(wal) - FRAME, len(wal), 97):
        assert parse(wal[:end]).commits_behind == 0  # nothing stands behind the end
    assert parse(flipped(wal, len(wal) - 50)).commits_behind == 0
    before_last = parse(flipped(wal, len(wal) - FRAME - 50))
    assert (before_last.rotten, before_last.commits_behind) == (False, 1)


def test_frames_of_an_older_generation_are_not_believed(tmp_path):
    """After a checkpoint the WAL begins anew; what its older frames left behind is neither given nor called rot."""
    file = tmp_path / "rows.db"
    db = apsw.Connection(str(file))
    db.pragma("journal_mode", "wal")
    db.execute("CREATE TABLE row (number INTEGER PRIMARY KEY, text)")
    for number in range(20):
        db.execute("INSERT INTO row VALUES (?, ?)", (number, "older"))
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
    for number in range(20, 23):
        db.execute("INSERT INTO row VALUES (?, ?)", (number, "newer"))
    data = Path(f"{file}-wal").read_bytes()
    db.close()
    read = parse(data)
    assert read.accepted == read.generation < len(read.frames) - 10
    assert not read.rotten
    assert read.pages(behind=True) == read.pages(behind=False)
    for place in range(HEADER_BYTES):  # a damaged header does not bring them back
        again = parse(flipped(data, place))
        assert again.generation == read.generation, place


@pytest.mark.parametrize("data", [b"", b"x", bytes(HEADER_BYTES), bytes(200_000), b"\xff" * 50_000])
def test_what_is_no_wal_has_no_frames_to_give(data):
    """A file that is empty, cut off or of other bytes gives no page and no error."""
    read = parse(data)
    assert (read.accepted, read.generation, read.pages(behind=True)) == (0, 0, {})
