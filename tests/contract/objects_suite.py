"""What every object store promises: one suite, inherited by the tests of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firsthand.errors import InvalidDraft


class ObjectsSuite:
    """Inherit it and give a fixture ``objects``, empty."""

    def test_an_object_comes_back_whole_and_by_range(self, objects) -> None:
        """What was put in pieces is read from any place, and shorter where it ends."""
        data = bytes(range(256)) * 40_000
        objects.put("00/a", [data[:7], b"", data[7:]])
        assert objects.read("00/a", 0, len(data)) == data
        assert objects.read("00/a", 9_999_990, 20) == data[9_999_990:10_000_010]
        assert objects.read("00/a", len(data) - 3, 100) == data[-3:]
        assert objects.read("00/a", len(data) + 3, 100) == b""

    def test_what_is_not_there_is_none(self, objects) -> None:
        """A name that was never put, or was removed, reads as None, and is removed once."""
        assert objects.read("00/a", 0, 1) is None
        objects.put("00/a", [b"x"])
        assert (objects.remove("00/a"), objects.remove("00/a"), objects.read("00/a", 0, 1)) == (True, False, None)

    def test_a_listing_names_the_objects_of_a_folder_that_are_old_enough(self, objects) -> None:
        """Those of another folder and those that were put a moment ago are left out."""
        for name in ("00/b", "00/a", "01/a"):
            objects.put(name, [b"x"])
        assert sorted(objects.listing("00", 0)) == ["00/a", "00/b"]
        assert list(objects.listing("00", 60)) == []
        assert list(objects.listing("02", 0)) == []

    def test_a_put_that_fails_leaves_nothing(self, objects) -> None:
        """Where the pieces end in an error, no object is there, and the error is the source's own."""

        def pieces() -> Iterator[bytes]:
            yield b"x" * (9 << 20)
            raise InvalidDraft("the source ended")

        with pytest.raises(InvalidDraft):
            objects.put("00/a", pieces())
        assert (objects.read("00/a", 0, 1), list(objects.listing("00", 0))) == (None, [])
