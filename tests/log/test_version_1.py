"""Stores of version 1, made by the first edition (`make_version_1.py`), and what they are in this version."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import apsw
import pytest

from firsthand import Kind, Memory
from firsthand.errors import StoreOlder
from firsthand.log.sqlite import schema
from firsthand.log.sqlite.erase import UNFINISHED
from stores import open_log

ARCHIVE = Path(__file__).parent / "version_1.tar.xz"


@pytest.fixture
def said(tmp_path):
    """What the stores said of themselves in version 1; they lie in the test's folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return json.loads((tmp_path / "said.json").read_text())


def test_one_namespace_keeps_its_head_and_its_rows(said, tmp_path):
    """A store with one namespace has the head, the positions and the pointers that it had."""
    before = said["single"]
    with Memory.open(tmp_path / "single") as memory:
        assert memory.head() == before["head"]
        assert memory.verify(heads=[before["head"], before["kept_head"]], deep=True).problems == ()
        assert memory.expand(before["pointers"][0]) == b"red boat"
        assert [event.position for event in memory.events()] == [1, 2, 3, 4]
        assert next(iter(memory.recall("green boat").hits)).position == 3
        added = memory.session("s").user("a new boat")
        assert added.position == 5
        assert memory.verify(deep=True).problems == ()


def test_several_namespaces_keep_positions_pointers_chains_and_kept_heads(said, tmp_path):
    """Each event is where it was, with its chain; a head kept of the whole store is still met again, in either one."""
    before = said["several"]
    for namespace, events in before["events"].items():
        with Memory.open(tmp_path / "several", namespace=namespace) as memory:
            assert [[event.id, event.position, event.chain.hex()] for event in memory.events()] == events
            assert [memory.event(f"fh:{identifier}").position for identifier, *_ in events] == [
                at for _, at, _ in events
            ]
            assert memory.head().startswith(f"{events[-1][1]}:")
            verified = memory.verify(heads=[before["head"], before["kept_head"], memory.head()], deep=True)
            assert verified.problems == ()
            assert memory.recall("module7" if namespace == "work" else "thought").hits


def test_what_names_positions_means_what_it_meant(said, tmp_path):
    """Calls are replayed from the same events, and what decisions say of positions is true of the events there.

    Their task states were read from words, which no version does any more, and stood elsewhere in the request: what
    is not the prompt that was recorded is said not to be it.
    """
    before = said["several"]
    with Memory.open(tmp_path / "several", namespace="work") as work:
        for pointer, (digest, through) in before["replays"].items():
            record, replayed = work.anatomy(pointer), work.replay(pointer)
            assert (record.sha256, record.through) == (digest, through)
            assert replayed.same or "recorded" in replayed.note
        assert before["receipts"] == sum(1 for _ in work.events(kind=Kind.RECEIPT)) > 0
        assert work.session("s").window(2_000).state.cycle == before["receipts"]
    with Memory.open(tmp_path / "several", namespace="home") as home:
        decisions = [(one, json.loads(one.text)["through"]) for one in home.events("ledger")]
        assert [[one.id, one.position, through] for one, through in decisions] == before["decisions"]
        assert [event.id for event in home.events("ledger", before=23)] == [before["decisions"][0][0]]


def test_new_events_count_for_their_own_namespace(said, tmp_path):
    """After the last position that it had each namespace goes on by one, whatever the others do."""
    before = said["several"]
    log = open_log(tmp_path / "several")
    work, home = (Memory.open(tmp_path / "several", namespace=name) for name in ("work", "home"))
    for number in range(3):
        for memory in (work, home):
            last = before["events"][memory.namespace][-1][1]
            assert memory.session("new").user(f"event {number}").position == last + number + 1
    work.close()
    home.close()
    assert log.verify().problems == ()
    log.close()


def test_an_export_of_a_store_of_version_1_comes_back_with_its_positions(said, tmp_path):
    """A migrated store and its restored export have the same heads, also where positions have gaps."""
    with Memory.open(tmp_path / "several", namespace="work") as memory:
        out = io.BytesIO()
        memory.export(out, everything=True)
        heads = memory.log.verify(namespace="work").heads
        bodies = [memory.replay(pointer).body for pointer in said["several"]["replays"]]
    with Memory.open(tmp_path / "restored", namespace="work") as restored:
        out.seek(0)
        restored.restore(out)
        assert restored.verify(deep=True).problems == ()
        assert restored.log.verify(namespace="work").heads == heads
        assert [restored.replay(pointer).body for pointer in said["several"]["replays"]] == bodies


@pytest.mark.parametrize("last", ["UPDATE event SET key", "DROP TABLE", "UPDATE store SET value = 2"])
def test_a_migration_that_is_cut_short_leaves_the_old_store(said, tmp_path, last):
    """Stopped at any statement the store is of version 1, row for row, and the next opening migrates it."""
    file = tmp_path / "several" / "firsthand.db"
    db = apsw.Connection(str(file))
    before = db.execute("SELECT position, chain FROM event ORDER BY position").fetchall()

    def stop(_cursor, sql, _bindings):
        return not sql.startswith(last)

    db.exec_trace = stop
    with pytest.raises(apsw.ExecTraceAbort):
        schema.migrate(db, 1, bytes(16), 0, bytes(16))
    db.exec_trace = None
    assert db.pragma("user_version") == 1
    assert db.execute("SELECT position, chain FROM event ORDER BY position").fetchall() == before
    db.close()
    with Memory.open(tmp_path / "several", namespace="work") as memory:
        assert memory.verify(deep=True).problems == ()


def test_a_store_that_may_not_be_written_is_refused_with_the_next_step(said, tmp_path):
    """Opened for reading a store of version 1 stays as it is, and the error says what to do."""
    file = tmp_path / "single" / "firsthand.db"
    before = file.read_bytes()
    with pytest.raises(StoreOlder, match="Open it once for writing"):
        Memory.open(tmp_path / "single", read_only=True)
    assert file.read_bytes() == before


def test_an_event_that_was_lost_in_version_1_is_named_after_the_migration(said, tmp_path):
    """The order that the namespaces shared is still checked: which position is missing, in any of them."""
    shutil.copytree(tmp_path / "several", tmp_path / "broken")
    db = apsw.Connection(str(tmp_path / "broken" / "firsthand.db"))
    last = said["several"]["events"]["home"][-1]
    db.execute("DELETE FROM event WHERE position = ?", (last[1],))
    db.close()
    with Memory.open(tmp_path / "broken", namespace="home") as memory:
        missing = [problem for problem in memory.verify().problems if problem.what == "is missing in every namespace"]
        assert [problem.position for problem in missing] == [last[1]]


def test_an_erasure_that_was_cut_short_in_version_1_is_finished_here(said, tmp_path):
    """What an erasure had still to destroy is destroyed by the next one."""
    db = apsw.Connection(str(tmp_path / "single" / "firsthand.db"))
    db.execute("INSERT INTO store VALUES (?, '[[1, \"\"]]')", (UNFINISHED,))
    db.close()
    with Memory.open(tmp_path / "single") as memory:
        assert "cut short" in memory.verify().notes[0]
        memory.erase([said["single"]["pointers"][0]])
        verified = memory.verify()
        assert (verified.problems, verified.notes) == ((), ())


def test_a_rotten_wal_is_kept_aside_before_it_is_migrated(said, tmp_path):
    """A store of version 1 whose WAL shows rot is copied into ``damaged/`` as it was, since migrating moves the WAL."""
    root, crashed = tmp_path / "single", tmp_path / "crashed"
    db = apsw.Connection(str(root / "firsthand.db"))
    for _ in range(4):
        db.execute("UPDATE store SET value = value + 1 WHERE key = 'created'")
    shutil.copytree(root, crashed)  # as a process that was killed leaves it
    db.close()
    wal = crashed / "firsthand.db-wal"
    rotten = bytearray(wal.read_bytes())
    rotten[100] ^= 1
    wal.write_bytes(rotten)
    open_log(crashed, indexes=()).close()
    (copy,) = (crashed / "damaged").iterdir()
    assert (copy / wal.name).read_bytes() == rotten
    open_log(root, indexes=()).close()
    assert not (root / "damaged").exists()
