"""Object stores for large payloads: a folder, and what an address may be."""

from __future__ import annotations

import pytest
from objects_suite import ObjectsSuite

from firsthand import environment
from firsthand.errors import InvalidArgument, StoreBusy, StoreReadOnly
from firsthand.log.disk import Disk
from firsthand.log.postgres.objects import MARKER, ObjectFolder, open_objects


class TestFolder(ObjectsSuite):
    @pytest.fixture
    def objects(self, tmp_path) -> ObjectFolder:
        folder = ObjectFolder(tmp_path / "objects")
        folder.put(MARKER, [b"a store"])
        return folder


class Recording(Disk):
    """A disk that writes down what is synced and renamed, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def sync_open(self, descriptor: int) -> None:
        self.calls.append("sync")
        super().sync_open(descriptor)

    def rename(self, source, target) -> bool:
        self.calls.append("rename")
        return super().rename(source, target)

    def sync_folder(self, path) -> None:
        self.calls.append(f"sync {path.name}")
        super().sync_folder(path)


def test_an_object_is_synced_before_and_after_it_gets_its_name(tmp_path):
    """A power cut leaves no object under its name that is not whole, and none that was acknowledged is lost."""
    disk = Recording()
    objects = ObjectFolder(tmp_path, disk)
    objects.put(MARKER, [b"a store"])
    objects.put("00/a", [b"x"])
    assert disk.calls[-4:] == ["sync", "rename", "sync 00", "sync"]


@pytest.mark.parametrize("address", ["relative", "http://host/bucket", "s3://", "s3://key@bucket/p", "s3://b?secret=x"])
def test_an_address_that_is_none_is_refused(address):
    """An object store is an absolute folder or a bucket; credentials are no part of an address."""
    pytest.importorskip("obstore")
    with pytest.raises(InvalidArgument, match="expected"):
        open_objects(address)


def test_the_size_from_which_objects_are_used_is_a_number(monkeypatch):
    """A setting that is no number of bytes is refused, and names what is expected."""
    monkeypatch.setenv("FIRSTHAND_OBJECTS_OVER", "4096")
    assert environment.objects_over() == 4096
    monkeypatch.setenv("FIRSTHAND_OBJECTS_OVER", "1M")
    with pytest.raises(InvalidArgument, match="1048576"):
        environment.objects_over()


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    """The operating system's refusal comes as ours."""

    class Refusing(Disk):
        def call(self, function, *args, **kwargs):
            if function.__name__ == "mkdir":
                raise PermissionError(13, "Permission denied")
            return super().call(function, *args, **kwargs)

    with pytest.raises(StoreReadOnly):
        ObjectFolder(tmp_path / "objects", Refusing()).put(MARKER, [b"x"])


def test_a_folder_that_is_not_mounted_takes_nothing_and_loses_nothing(tmp_path):
    """Where the marker is not seen, a put, a read and a removal are refused, also when it goes during the put."""
    objects, marker, aside = ObjectFolder(tmp_path), tmp_path / MARKER, tmp_path / "aside"
    objects.put(MARKER, [b"a store"])

    def pieces():
        yield b"x"
        marker.rename(aside)

    for refused in (lambda: objects.put("00/a", pieces()), lambda: objects.put("01/a", [b"x"]),
                    lambda: objects.read("00/a", 0, 1), lambda: objects.remove("00/a")):  # fmt: skip
        with pytest.raises(StoreBusy, match="is mounted"):
            refused()
    assert [*(tmp_path / "00").iterdir()] == [*(tmp_path / "incoming").iterdir()] == []
    assert not (tmp_path / "01").exists()
    aside.rename(marker)
    objects.put("00/a", [b"x"])
    assert objects.read("00/a", 0, 1) == b"x"


def test_an_object_whose_bytes_were_removed_before_it_got_its_name_is_not_acknowledged(tmp_path):
    """A put that takes over a day, whose file a sweep took for one that a crash left, is refused."""
    objects = ObjectFolder(tmp_path)
    objects.put(MARKER, [b"a store"])

    def pieces():
        yield b"x"
        for name in objects.listing("incoming", 0):
            objects.remove(name)

    with pytest.raises(StoreBusy):
        objects.put("00/a", pieces())
    assert objects.read("00/a", 0, 1) is None
