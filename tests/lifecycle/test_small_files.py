"""Small files are written whole, and what the operating system refuses is an error of ours."""

from __future__ import annotations

import pytest

from firsthand.errors import StoreError
from firsthand.lifecycle import small_files


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
