"""The trees of keys: what was forgotten is never derived again, and nothing else is lacking."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument, KeyMissing, StoreFailed
from firsthand.log.postgres.keys import MARK, KeyRing, KeyTree, key_home

LEAVES = st.integers(64, 127)  # of a tree of six levels


def tree() -> KeyTree:
    return KeyTree(b"tree", {1: bytes(32)})


@given(st.lists(LEAVES, max_size=40), LEAVES)
def test_forgetting_takes_those_leaves_and_no_others(forgotten, between) -> None:
    """In whatever order leaves are forgotten, also of a ring that was written and read, all others keep their keys."""
    ring = KeyRing("shop", [tree()])
    keys = {leaf: tree().key(leaf) for leaf in range(64, 128)}
    for leaf in forgotten:
        ring.trees[0].key(between)  # what is remembered of a way to a leaf must not outlive it
        ring.trees[0].forget(leaf)
        ring = KeyRing.decode(ring.encode(), "a test") if leaf % 2 else ring
    assert {leaf: ring.trees[0].key(leaf) for leaf in keys} == {
        leaf: None if leaf in forgotten else key for leaf, key in keys.items()
    }
    assert len(set(keys.values())) == 64


def test_a_forgotten_event_costs_a_node_a_level() -> None:
    """Nothing that is left leads to the leaf: no node on the way to it, and none of its own bytes."""
    punctured, leaf = tree(), (2 << 40) | 77
    key = punctured.key(leaf)
    punctured.forget(leaf)
    assert len(punctured.nodes) == leaf.bit_length() - 1
    assert not {leaf >> depth for depth in range(42)} & punctured.nodes.keys()
    assert key is not None
    assert key.hex() not in KeyRing("shop", [punctured]).encode().decode()


def test_a_new_tree_leaves_the_earlier_ones() -> None:
    """After a renewal what was sealed before is opened with its own tree, and the newest one writes."""
    ring = KeyRing("shop", [])
    ring.renew()
    first = ring.trees[-1]
    ring.renew()
    assert ring.tree(first.identity) is first
    assert ring.trees[-1].key(5) != first.key(5)
    assert ring.tree(b"none") is None


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"firsthand_keys": 2, "namespace": "n", "trees": []}', b"\xff"]
)
def test_what_is_no_ring_is_named(content) -> None:
    """Another file in place of keys is an error that names it."""
    with pytest.raises(KeyMissing, match="/keys/file"):
        KeyRing.decode(content, "/keys/file")


def test_a_home_is_a_folder_or_a_command(tmp_path) -> None:
    """Stores that share a folder share no file, and a command without a program is refused."""
    first, second = (key_home(str(tmp_path), store) for store in ("a", "b"))
    first.mark()
    first.write(1, b"ring")
    assert (first.read(1), second.read(1), key_home("", "a")) == (b"ring", None, None)
    with pytest.raises(InvalidArgument, match="got no program"):
        key_home("command: ", "a")


def test_a_writer_that_was_cut_short_leaves_no_ring(tmp_path):
    """What a writer left beside a ring when it died is overwritten and removed by the next write, whoever makes it."""
    home = key_home(str(tmp_path), "a")
    home.mark()
    home.write(1, b"first")
    folder = tmp_path / "a"
    left, other = folder / f"{1:016x}.999999.new", folder / f"{2:016x}.999999.new"
    for file in (left, other):
        file.write_bytes(b"secret")
    os.link(left, tmp_path / "same")  # what the disk has of it
    home.write(1, b"second")
    assert (home.read(1), left.exists(), other.read_bytes()) == (b"second", False, b"secret")
    assert (tmp_path / "same").read_bytes() == bytes(6)


def test_a_write_that_fails_leaves_nothing_of_the_ring(tmp_path):
    """On a disk that takes half a ring the earlier one stays, with no file beside it and no file open."""
    home = key_home(str(tmp_path), "a")
    home.mark()
    home.write(1, b"first")
    files, (soft, hard) = len([*Path("/proc/self/fd").iterdir()]), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(StoreFailed):
            home.write(1, bytes(3_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (home.read(1), sorted(file.name for file in (tmp_path / "a").iterdir())) == (
        b"first", [f"{1:016x}.json", MARK]
    )  # fmt: skip
    assert len([*Path("/proc/self/fd").iterdir()]) == files
