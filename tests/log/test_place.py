"""Where a store may lie."""

from __future__ import annotations

import pytest

from firsthand import Memory, NotAStore
from firsthand.errors import StoreFailed
from firsthand.log.sqlite import place

LINE = "36 35 98:0 / {point} rw,noatime master:1 - {kind} source rw\n"


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Give the file that the system is asked for its mounts, in place of the real one."""
    file = tmp_path / "mountinfo"
    monkeypatch.setattr(place.file_system, "__defaults__", (file,))
    return file


def test_the_innermost_mount_names_the_file_system(tmp_path, mounts):
    """A path lies on the file system of the longest mount point above it, spaces in names included."""
    inner = tmp_path / "with space"
    inner.mkdir()
    mounts.write_text(
        LINE.format(point="/", kind="ext4")
        + "a line that is none\n"
        + LINE.format(point=str(inner).replace(" ", "\\040"), kind="nfs4")
        + LINE.format(point=tmp_path, kind="tmpfs")
    )
    kinds = [place.file_system(path) for path in (inner / "x", inner, tmp_path, tmp_path.with_name("beside"))]
    assert kinds == ["nfs4", "nfs4", "tmpfs", "ext4"]


def test_a_system_that_does_not_say_is_not_refused(tmp_path, mounts):
    """Where there is no table of mounts, the name is empty and a store is made."""
    assert not mounts.exists()
    assert place.file_system(tmp_path) == ""
    with Memory.open(tmp_path / "store") as memory:
        assert memory.session("s").note("x").position == 1


@pytest.mark.parametrize("kind", sorted(place.NETWORK_FILE_SYSTEMS))
def test_no_store_is_written_on_a_network_file_system(tmp_path, mounts, kind):
    """A store is neither made nor opened for writing where locks do not hold; one that is there can be read."""
    with Memory.open(tmp_path / "store") as memory:
        memory.session("s").note("x")
    mounts.write_text(LINE.format(point=tmp_path, kind=kind))
    for name in ("store", "fresh"):
        with pytest.raises(StoreFailed, match=f"network file system \\({kind}\\)"):
            Memory.open(tmp_path / name)
    assert not (tmp_path / "fresh").exists()
    with Memory.open(tmp_path / "store", read_only=True) as memory:
        assert [one.text for one in memory.events()] == ["x"]


def test_what_hooks_leave_first_is_no_other_program(tmp_path):
    """A store is made where settings, a runtime folder or payloads of hooks lie already; beside others it is not."""
    store = tmp_path / "store"
    for name in ("run", "hooks"):
        (store / name).mkdir(parents=True)
    (store / "settings.json").write_text("{}")
    with Memory.open(store) as memory:
        assert memory.session("s").note("x").position == 1
        assert memory.verify().ok
    (tmp_path / "other" / "mail").mkdir(parents=True)
    with pytest.raises(NotAStore, match="holds files but no Firsthand store"):
        Memory.open(tmp_path / "other")


@pytest.mark.parametrize("left", [b"", bytes(512), b"\xd9\xd5\x05\xf9 \xa1c\xd7" + bytes(504)])
def test_a_power_loss_while_a_store_is_made_leaves_a_place_for_one(tmp_path, left):
    """A journal that was left without its database, as a power loss leaves it, keeps nobody from making the store."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "firsthand.db-journal").write_bytes(left)
    with Memory.open(store) as memory:
        assert memory.session("s").note("x").position == 1
        assert memory.verify().ok
    assert not (store / "firsthand.db-journal").exists()
