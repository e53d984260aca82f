"""The file of a store's primaries: every namespace has exactly one, and a move is written into it whole."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from firsthand.errors import InvalidArgument
from firsthand.log.postgres.primaries import BUCKETS, Primaries, label_of

A, B = "postgresql://app@a.example/store", "host=b.example port=5433 dbname=store user=app password=secret"
FIELDS = {"primaries": {"a": A, "b": B}, "buckets": {"0-2047": "a", "2048-4095": "b"}, "namespaces": {"acme": "b"}}


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "primaries.json"
    path.write_text(json.dumps(FIELDS), encoding="utf-8")
    return path


def test_buckets_share_namespaces_out(file) -> None:
    """A thousand namespaces come to both primaries, each always to the same one; a named one to its own."""
    primaries = Primaries(file)
    counts = Counter(primaries.dsn(f"tenant-{number}") for number in range(1_000))
    assert set(counts) == {A, B}
    assert min(counts.values()) > 400
    assert [primaries.dsn("acme"), Primaries(file).dsn("tenant-7")] == [B, primaries.dsn("tenant-7")]


def test_a_move_is_written_whole(file) -> None:
    """What a move assigns is read by the next, by the primary's address; everything else stays."""
    file.chmod(0o640)
    primaries = Primaries(file)
    primaries.assign("shop", primaries.name_of(label_of("postgresql://owner@a.example:5432/store")))
    assert json.loads(file.read_text(encoding="utf-8")) == FIELDS | {"namespaces": {"acme": "b", "shop": "a"}}
    assert (Primaries(file).dsn("shop"), file.stat().st_mode & 0o777) == (A, 0o640)
    with pytest.raises(InvalidArgument, match=r"expected a primary of .*; got c\.example:5432/store"):
        primaries.name_of("c.example:5432/store")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"buckets": {"0-4094": "a"}}, f"each bucket from 0 to {BUCKETS - 1} once"),
        ({"buckets": {"0-4095": "a", "7": "b"}}, "each bucket"),
        ({"buckets": {"0-4095": "c"}}, "names no primary 'c'"),
        ({"namespaces": {"acme": "c"}}, "names no primary 'c'"),
        ({"buckets": {"all": "a"}}, "expected a JSON file with primaries and buckets"),
        ({"primaries": []}, "expected a JSON file with primaries and buckets"),
    ],
)  # fmt: skip
def test_a_file_that_leaves_a_namespace_without_a_primary_is_refused(file, change, expected) -> None:
    """Gaps, overlaps and unknown names are said when the file is read."""
    file.write_text(json.dumps(FIELDS | change), encoding="utf-8")
    with pytest.raises(InvalidArgument, match=expected):
        Primaries(file)


def test_a_label_names_no_secret() -> None:
    """What one primary says of another is its address, never its user or password."""
    assert label_of("postgresql://owner:secret@db.example:5433/store") == "db.example:5433/store"
    assert label_of(B) == "b.example:5433/store"
