"""Opening sources: what is refused, and how a change of what was read is seen."""

from __future__ import annotations

import os

import pytest

from firsthand.errors import SourceRejected
from firsthand.hosts.source import PREFIX_EDGE_BYTES, SPARSE_FROM_BYTES, OpenSource, Prefix, shown, standing
from firsthand.hosts.transcript import HEAD_BYTES


def test_pieces_are_the_bytes_from_the_offset_to_the_size_at_opening(tmp_path):
    """Pieces, joined, are the file from the offset on, without what was appended after opening."""
    data = bytes(range(256)) * 10_000
    path = tmp_path / "x"
    path.write_bytes(data)
    with OpenSource(path) as source:
        with path.open("ab") as file:
            file.write(b"later")
        assert b"".join(source.pieces(0)) == data
        assert b"".join(source.pieces(1_234_567)) == data[1_234_567:]
        assert source.head() == data[:HEAD_BYTES]


def test_a_file_that_shrinks_while_it_is_read_ends_early(tmp_path):
    """A truncated file gives a prefix of what it was, and no error."""
    path = tmp_path / "x"
    path.write_bytes(b"x" * 3_000_000)
    with OpenSource(path) as source:
        pieces = source.pieces(0)
        first = next(pieces)
        os.truncate(path, len(first))
        assert list(pieces) == []


def test_a_prefix_read_record_by_record_equals_the_one_read_from_the_file(tmp_path):
    """The digest kept while reading is the one found again in the file, whatever the records' sizes."""
    path = tmp_path / "x"
    records = [bytes([number % 251]) * (number * 97 % 40_000) for number in range(50)] + [b"long" * PREFIX_EDGE_BYTES]
    path.write_bytes(b"".join(records) + b"and more")
    grown = Prefix()
    for record in records:
        grown.add(record)
        with OpenSource(path) as source:
            assert source.prefix(grown.offset).digest() == grown.digest()


def test_a_changed_beginning_or_end_of_the_prefix_is_seen(tmp_path):
    """A byte changed in the first or the last 64 KiB of what was read changes the digest."""
    path = tmp_path / "x"
    data = bytearray(b"a" * 300_000)
    path.write_bytes(data)
    with OpenSource(path) as source:
        before = source.prefix(len(data)).digest()
    for at in (0, PREFIX_EDGE_BYTES - 1, len(data) - PREFIX_EDGE_BYTES, len(data) - 1):
        changed = data[:]
        changed[at] = 98
        path.write_bytes(changed)
        with OpenSource(path) as source:
            assert source.prefix(len(data)).digest() != before


def test_a_file_of_holes_is_refused(tmp_path):
    """A huge file that was never written is no transcript."""
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(SPARSE_FROM_BYTES * 4)
    with pytest.raises(SourceRejected, match="nearly all holes"):
        OpenSource(path)


def test_a_file_over_the_limit_is_refused_by_its_size(tmp_path):
    """A size over the limit is refused without reading a byte."""
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(1 << 43)
    with pytest.raises(SourceRejected, match="a source has at most"):
        standing(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path):
    """What may not be read is refused with the system's reason."""
    path = tmp_path / "x"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(SourceRejected, match="Permission denied"):
        OpenSource(path)


def test_a_link_put_in_place_of_a_file_is_not_followed(tmp_path):
    """A link at the end of the path is refused when the file is opened, not only when it is found."""
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(SourceRejected, match="symbolic link"):
        OpenSource(tmp_path / "link")


def test_a_path_of_any_bytes_is_shown_as_text():
    """Bytes that are no UTF-8 show as escapes."""
    assert shown(os.fsdecode(b"/tmp/caf\xe9")) == "/tmp/caf\\udce9"
