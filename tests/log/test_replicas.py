"""Several processes prune a machine's replicas at once; no server is needed for what that promises."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed")

from firsthand.log.disk import open_locked, open_private
from firsthand.log.postgres import replicas
from firsthand.log.postgres.replica_folder import HEADER_FILE
from firsthand.log.postgres.replicas import listing, prune


def rest(folder: Path, number: int) -> Path:
    """Make a replica that nobody has open."""
    root = folder / "store" / f"{number:016x}"
    root.mkdir(parents=True)
    header = {"engine": "00", "namespace": f"n{number}", "position": 0, "head": "", "bytes": 100}
    (root / HEADER_FILE).write_text(json.dumps(header), encoding="utf-8")
    root.with_suffix(".use").touch()
    return root


def test_one_that_was_deleted_and_opened_anew_is_let_be(tmp_path, monkeypatch):
    """Who prunes holds the lock of a file that another deleted: the replica made in its place, and open, stays."""
    root, reader = rest(tmp_path, 1), []

    def paused(path, flags):
        descriptor = open_private(path, flags)
        monkeypatch.setattr(replicas, "open_private", open_private)
        assert prune(tmp_path, 0) == 100
        rest(tmp_path, 1)
        reader.append(open_locked(root.with_suffix(".use"), fcntl.LOCK_SH))
        return descriptor

    monkeypatch.setattr(replicas, "open_private", paused)
    assert prune(tmp_path, 0) == 0
    assert (root / HEADER_FILE).exists()
    os.close(reader[0])
    assert prune(tmp_path, 0) == 100


def test_what_another_deletes_meanwhile_is_passed_over(tmp_path, monkeypatch):
    """A replica that goes after it was listed, or while files are, is no failure of who prunes beside it."""
    for number in range(3):
        rest(tmp_path, number)
    listed = replicas.listing

    def paused(folder):
        resting = [*listed(folder)]
        monkeypatch.setattr(replicas, "listing", listed)
        assert prune(tmp_path, 200) == 100
        return iter(resting)

    monkeypatch.setattr(replicas, "listing", paused)
    assert prune(tmp_path, 0) == 200
    # A file that is listed and then cannot be found, as one that goes between the two.
    (tmp_path / "store" / "1.use").symlink_to("nowhere")
    assert [*listing(tmp_path)] == []
