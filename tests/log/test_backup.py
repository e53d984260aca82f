"""Backup: a whole store at every moment, while others write and erase."""

from __future__ import annotations

import os
import threading

import pytest

from firsthand.errors import StoreDamaged, StoreError, StoreFailed
from firsthand.event import Draft, Kind
from stores import assert_whole, open_log


def append(log, content: bytes, session: str = "s"):
    return log.append([Draft(Kind.NOTE, content)], namespace="default", session=session)[0]


def test_a_backup_is_the_same_store(make_log, tmp_path):
    """A backup opens as a store with the same events, artifacts and head, and takes new events of its own."""
    log = make_log()
    append(log, b"small")
    append(log, bytes(range(256)) * 400)
    made = log.backup(tmp_path / "copy")
    copy = make_log(tmp_path / "copy")
    assert (made.path, made.events, made.artifacts) == (tmp_path / "copy", 2, 1)
    assert made.heads == {"default": copy.verify().head} == {"default": log.verify().head}
    assert list(copy.reader.events("default")) == list(log.reader.events("default"))
    assert copy.reader.content(copy.reader.event_at("default", 2)) == bytes(range(256)) * 400
    append(copy, b"on its own")
    assert copy.verify(heads=[made.heads["default"]]).ok


def test_a_backup_while_writers_write_is_whole(make_log, tmp_path):
    """Each backup taken while others append verifies, and holds what was acknowledged before it began."""
    log = make_log()
    stop = threading.Event()
    told: list[str] = []

    def write() -> None:
        while not stop.is_set():
            told.append(append(log, os.urandom(300)).id)
            told.append(append(log, os.urandom(20_000)).id)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for number in range(4):
            before = list(told)
            made = log.backup(tmp_path / f"copy {number}")
            copy = open_log(tmp_path / f"copy {number}", read_only=True)
            verified = assert_whole(copy)
            assert set(before) <= {event.id for event in copy.reader.events("default")}
            assert verified.head == made.heads.get("default", f"0:{bytes(32).hex()}")
            copy.close()
    finally:
        stop.set()
        for writer in writers:
            writer.join()


def test_a_backup_holds_nothing_that_was_erased(make_log, tmp_path):
    """What was erased before a backup is in no file of it."""
    log = make_log()
    content, large = os.urandom(200), os.urandom(50_000)
    ids = [append(log, content).id, append(log, large).id]
    log.erase("default", ids)
    log.backup(tmp_path / "copy")
    data = b"".join(path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file())
    assert not any(content[at : at + 16] in data for at in range(0, 200, 40))
    assert large[:16] not in data


def test_where_a_backup_may_not_go(make_log, tmp_path):
    """A target that holds something, is a file, or lies in the store is refused and left as it was."""
    log = make_log()
    append(log, b"x")
    file = tmp_path / "file"
    file.write_text("mine")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    for target in (file, full, log.root, log.root / "inside"):
        with pytest.raises(StoreFailed, match="expected a"):
            log.backup(target)
    assert file.read_text() == "mine"
    assert [path.name for path in full.iterdir()] == ["mine"]
    assert not (log.root / "inside").exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    assert log.backup(empty).events == 1


def test_a_backup_of_a_store_that_lacks_a_payload_says_so(make_log, tmp_path):
    """When a payload's file is missing, the backup is not given out as whole: it is refused, naming the payload."""
    log = make_log(damaged=True)
    one = append(log, os.urandom(50_000))
    digest = log.reader.event("default", one.id).artifact.digest.hex()
    next((log.root / "artifacts").rglob(f"{digest}*")).unlink()
    with pytest.raises(StoreDamaged, match=digest):
        log.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists() or list((tmp_path / "copy").iterdir()) == []


@pytest.mark.parametrize("change", ["trust = 1, kind = 2", "body = x'00'"])
def test_a_backup_of_a_damaged_store_says_what_is_damaged(make_log, tmp_path, change):
    """An event whose header or body was changed is copied as it is, and named."""
    log = make_log(damaged=True)
    for number in range(3):
        append(log, b"event %d" % number)
    log.exclusively(lambda db: db.execute(f"UPDATE event SET {change} WHERE sequence = 1"))
    made = log.backup(tmp_path / "copy")
    assert made.damage == tuple(map(str, log.verify().problems))
    assert "at position 2 of namespace 'default'" in made.damage[0]


def test_a_backup_that_fails_leaves_nothing(make_log, tmp_path, monkeypatch):
    """A backup that cannot be finished removes what it had copied and says why."""
    log = make_log()
    append(log, b"x")
    target = tmp_path / "parent"
    target.mkdir()
    (target / "file").write_text("in the way")
    with pytest.raises(StoreError):
        log.backup(target / "file" / "copy")
    assert [path.name for path in target.iterdir()] == ["file"]
