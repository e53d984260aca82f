"""The high-water mark: what was acknowledged last, in the store's folder and in the user's state directory."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from firsthand.log.sqlite.mark import HEADER_BYTES, MARK_FILE, RECORD_BYTES, Mark, Marks

UUID = bytes(range(16))


def mark(key: int, position: int, head: int = 0) -> Mark:
    return Mark(key, position, bytes((head or position % 256,)) * 32)


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path) -> Path:
    return tmp_path / "state" / "firsthand" / "heads"


def opened(root: Path, state: Path | None, *, write: bool = True) -> Marks:
    return Marks(root, UUID, state, write=write)


def test_marks_are_read_as_they_were_written(root, state):
    """What was kept of several namespaces comes back from both files, the last commit's namespace as the last."""
    marks = opened(root, state)
    marks.keep([mark(1, 5), mark(3, 9)])
    marks.keep([mark(2, 7)])
    marks.close()
    again = opened(root, state, write=False)
    assert again.last() == [mark(2, 7)]
    assert again.all() == [mark(1, 5), mark(2, 7), mark(3, 9)]
    assert (again.of(3), again.of(4), again.faults, again.damaged, again.copied) == ([mark(3, 9)], [], [], set(), False)
    again.close()


def test_a_mark_is_ahead_of_less_and_of_another_head():
    """A log lacks something when it ends before its mark, or at its position with another head; not when behind it."""
    kept = mark(1, 5)
    assert kept.ahead_of(4, kept.head)
    assert kept.ahead_of(5, bytes(32))
    assert not kept.ahead_of(5, kept.head)
    assert not kept.ahead_of(6, bytes(32))


def test_a_folder_that_was_rolled_back_is_noticed_by_the_other_file(root, state, tmp_path):
    """An older copy of the folder put in its place has the older mark; the state directory has the newer one."""
    marks = opened(root, state)
    marks.keep([mark(1, 5)])
    shutil.copytree(root, tmp_path / "older")
    marks.keep([mark(1, 8)])
    marks.close()
    shutil.rmtree(root)
    shutil.copytree(tmp_path / "older", root)
    again = opened(root, state)
    assert again.last() == [mark(1, 5), mark(1, 8)]
    assert not again.copied
    again.reset([mark(1, 5)])
    again.close()
    assert opened(root, state, write=False).all() == [mark(1, 5)]


def test_a_copy_gets_marks_of_its_own(root, state, tmp_path):
    """A copy elsewhere is told from the original, and neither changes the other's marks."""
    marks = opened(root, state)
    marks.keep([mark(1, 5)])
    shutil.copytree(root, tmp_path / "copy")
    copy = opened(tmp_path / "copy", state)
    assert copy.copied
    copy.reset([mark(1, 4)])
    marks.keep([mark(1, 6)])
    assert (copy.all(), marks.all()) == ([mark(1, 4)], [mark(1, 6)])
    for each in (copy, marks):
        each.close()
    assert not opened(tmp_path / "copy", state).copied
    assert len(list(state.iterdir())) == 2


def test_a_folder_that_was_moved_keeps_its_marks(root, state, tmp_path):
    """Under another path the same folder goes on with what was marked before, in one file of the state directory."""
    marks = opened(root, state)
    marks.keep([mark(1, 5), mark(2, 2)])
    marks.close()
    (root / MARK_FILE).unlink()
    moved = root.rename(tmp_path / "moved")
    again = opened(moved, state)
    assert (again.copied, again.all(), again.last()) == (False, [mark(1, 5), mark(2, 2)], [mark(2, 2)])
    assert len(list(state.iterdir())) == 1


@pytest.mark.parametrize("lost", ["folder", "state"])
def test_one_file_does_without_the_other(root, state, lost):
    """With either file gone the marks of the other are read, and both are kept again."""
    marks = opened(root, state)
    marks.keep([mark(1, 5)])
    marks.close()
    if lost == "folder":
        (root / MARK_FILE).unlink()
    else:
        shutil.rmtree(state)
    again = opened(root, state)
    assert (again.all(), again.copied, again.faults) == ([mark(1, 5)], False, [])
    again.keep([mark(1, 6)])
    again.close()
    for read in (opened(root, None, write=False), opened(root, state, write=False)):
        assert mark(1, 6) in read.all()


def test_no_state_directory_is_a_fault_and_no_error(root, tmp_path):
    """Without a home, or with a state directory that cannot be made, the folder's own file is kept."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for state in (None, blocked / "firsthand" / "heads"):
        marks = opened(root, state)
        assert marks.faults
        marks.keep([mark(1, 5)])
        marks.close()
        assert opened(root, state, write=False).all() == [mark(1, 5)]


def test_every_flipped_bit_is_known(root):
    """One flipped bit anywhere in a file of marks gives no wrong mark: the slot, or the header, counts as damaged."""
    marks = opened(root, None)
    wanted = [mark(1, 5), mark(2, 7)]
    marks.keep(wanted)
    marks.close()
    file = root / MARK_FILE
    good = file.read_bytes()
    assert len(good) == HEADER_BYTES + 3 * RECORD_BYTES
    for place in range(len(good)):
        file.write_bytes(good[:place] + bytes((good[place] ^ 1 << place % 8,)) + good[place + 1 :])
        damaged = opened(root, None, write=False)
        assert set(damaged.all()) | set(damaged.last()) <= set(wanted)
        assert damaged.damaged == {-1 if place < HEADER_BYTES else (place - HEADER_BYTES) // RECORD_BYTES}, place
        damaged.close()


def test_every_cut_is_no_wrong_mark(root):
    """A file of marks cut at any byte gives marks that were written, or none."""
    marks = opened(root, None)
    wanted = [mark(1, 5), mark(2, 7)]
    marks.keep(wanted)
    marks.close()
    file = root / MARK_FILE
    good = file.read_bytes()
    for length in range(len(good)):
        file.write_bytes(good[:length])
        cut = opened(root, None, write=False)
        assert set(cut.all()) | set(cut.last()) <= set(wanted)
        cut.close()


def test_the_marks_of_another_store_are_not_believed(root, tmp_path):
    """A file of marks from another store gives no mark: the store's id is in every checksum."""
    other = tmp_path / "other"
    other.mkdir()
    marks = Marks(other, bytes(16), None, write=True)
    marks.keep([mark(1, 5)])
    marks.close()
    shutil.copy(other / MARK_FILE, root / MARK_FILE)
    read = opened(root, None)
    assert (read.all(), read.damaged) == ([], {1})


def test_nothing_is_followed_or_shared(root, state, tmp_path):
    """Files are the owner's alone whatever the umask, and a symbolic link in the place of one is never written to."""
    target = tmp_path / "target"
    target.write_bytes(b"keep me")
    (root / MARK_FILE).symlink_to(target)
    before = os.umask(0)
    try:
        marks = opened(root, state)
    finally:
        os.umask(before)
    marks.keep([mark(1, 5)])
    marks.close()
    assert target.read_bytes() == b"keep me"
    assert "symbolic links" in marks.faults[0]
    (file,) = state.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, state, state.parent)] == [0o600, 0o700, 0o700]
    shutil.rmtree(state)
    (tmp_path / "elsewhere").mkdir()
    state.symlink_to(tmp_path / "elsewhere")
    opened(root, state).keep([mark(1, 5)])
    assert list((tmp_path / "elsewhere").iterdir()) == []
