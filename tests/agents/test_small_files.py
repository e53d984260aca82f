"""Small files are written whole, and what the operating system refuses is an error of ours."""

from __future__ import annotations

import pytest

from firsthand.agents import small_files
from firsthand.errors import StoreError


def test_a_file_comes_back_as_written_and_leaves_nothing_beside_it(tmp_path):
    """Written twice, the second is there alone."""
    path = tmp_path / "a" / "b.json"
    small_files.write(path, b"one")
    small_files.write(path, b"two")
    assert small_files.read(path) == b"two"
    assert [one.name for one in path.parent.iterdir()] == ["b.json"]
    assert small_files.names(path.parent, ".json", 9) == ["b.json"]
    small_files.remove(path)
    assert small_files.read(path) is None
    assert not small_files.is_file(str(path))


def test_what_cannot_be_done_is_a_store_error(tmp_path):
    """A folder in the place of a file, and a file in the place of a folder."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="write"):
        small_files.write(tmp_path / "file" / "x", b"")
    with pytest.raises(StoreError, match="read"):
        small_files.read(tmp_path)
    with pytest.raises(StoreError, match="list"):
        small_files.names(tmp_path / "file", "", 1)


def test_a_file_over_its_limit_is_not_read(tmp_path):
    """What is larger than any of ours is named, not loaded."""
    (tmp_path / "x").write_bytes(b"a" * (small_files.BYTES_MAX + 1))
    with pytest.raises(StoreError, match="at most"):
        small_files.read(tmp_path / "x")


def test_a_line_behind_a_torn_one_is_a_line_of_its_own(tmp_path):
    """What a full disk tore takes no other line with it; a file that is too large is handed over first."""
    path = tmp_path / "lines"
    full = []
    small_files.add_line(path, b"one two", bytes_max=100, over=lambda: full.append("never"))
    with path.open("ab") as file:
        file.write(b"thr")
    small_files.add_line(path, b"four", bytes_max=10, over=lambda: full.append(path.write_bytes(b"")))
    small_files.add_line(path, b"five", bytes_max=100, over=lambda: full.append("never"))
    assert (path.read_bytes(), len(full)) == (b"four\nfive\n", 1)
    with path.open("ab") as file:
        file.write(b"si")
    small_files.add_line(path, b"seven", bytes_max=100, over=lambda: full.append("never"))
    assert path.read_bytes() == b"four\nfive\nsi\nseven\n"


def test_a_lock_is_held_by_one_until_it_lets_go(tmp_path):
    """The second is told at once, or after the time it waits; afterwards the lock is free."""
    path = tmp_path / "a" / "lock"
    with (
        small_files.alone(path) as first,
        small_files.alone(path) as second,
        small_files.alone(path, wait_s=0.02) as third,
    ):
        assert (first, second, third) == (True, False, False)
    with small_files.alone(path, wait_s=0.02) as again:
        assert again
    with pytest.raises(StoreError, match="lock"), small_files.alone(tmp_path):
        pass
