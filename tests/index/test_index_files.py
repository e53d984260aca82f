"""One index file a namespace: opened on demand, never another's, behind after a crash and never wrong."""

from __future__ import annotations

import os
import shutil

import apsw
import pytest

from firsthand import Memory
from firsthand.log.sqlite.append import BACKLOG_EVENTS
from firsthand.log.sqlite.index_files import namespaces_in, path_of
from stores import open_log


def fill(root, namespace: str, word: str, number: int = BACKLOG_EVENTS + 8) -> None:
    with Memory.open(root, namespace=namespace) as memory:
        session = memory.session("s")
        for count in range(number):
            session.user(f"{word} {count}")


def statements(root, namespace: str) -> int:
    """Count what SQLite runs to open a store and append one event to a namespace."""
    ran = []
    hook = apsw.connection_hooks
    before = list(hook)
    hook.append(lambda db: setattr(db, "exec_trace", lambda _db, sql, _values: ran.append(sql) is None))
    try:
        log = open_log(root)
        with Memory.open(root, namespace=namespace) as memory:
            memory.session("s").user("one more")
        log.close()
    finally:
        hook[:] = before
    return len(ran)


def test_opening_and_appending_costs_the_same_with_a_thousand_namespaces(tmp_path):
    """With 1,000 namespaces as many statements run, tables are read and index files are open as with ten."""
    few, many = tmp_path / "few", tmp_path / "many"
    for root, number in ((few, 10), (many, 1_000)):
        log = open_log(root)
        for count in range(number):
            log.namespace_key(f"tenant {count}")
        log.close()
        fill(root, "tenant 3", "crow")
    counted = {root: statements(root, "tenant 3") for root in (few, many)}
    assert counted[few] == counted[many] > 0
    for root in (few, many):
        db = open_log(root, read_only=True).reader.db
        assert db.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").get < 10
        assert namespaces_in(root) == [4]


def test_a_tenants_query_opens_no_other_tenants_index(tmp_path):
    """A recall of one namespace has its own index file attached, and finds none of another's words."""
    fill(tmp_path / "s", "a", "albatross canary-of-a")
    fill(tmp_path / "s", "b", "buzzard canary-of-b")
    shutil.move(path_of(tmp_path / "s", 2), tmp_path / "away")
    with Memory.open(tmp_path / "s", namespace="a", read_only=True) as memory:
        assert memory.recall("albatross").hits
        assert memory.recall("buzzard").hits == ()
        names = memory.log.reader.db.db_names()
        assert [name for name in names if name.startswith("index_")] == ["index_1"]


@pytest.mark.parametrize("harm", ["deleted", "another namespace's", "another store's", "garbage", "cut in half"])
def test_a_missing_or_foreign_index_file_makes_no_answer_wrong(tmp_path, harm):
    """Whatever stands in the place of an index file, the log's events are found, and a rebuild mends it."""
    root = tmp_path / "s"
    fill(root, "default", "crow")
    fill(root, "other", "heron")
    fill(tmp_path / "foreign", "default", "swan", BACKLOG_EVENTS + 28)
    last = BACKLOG_EVENTS + 9
    file = path_of(root, 1)
    if harm == "deleted":
        file.unlink()
    elif harm == "another namespace's":
        shutil.copy(path_of(root, 2), file)
    elif harm == "another store's":
        shutil.copy(path_of(tmp_path / "foreign", 1), file)
    elif harm == "garbage":
        file.write_bytes(os.urandom(40_000))
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    with Memory.open(root) as memory:
        assert {hit.position for hit in memory.recall("crow 7", hits_max=50).hits} <= set(range(1, last))
        assert memory.recall("crow 7").hits[0].position == 8
        assert memory.recall("swan").hits == memory.recall("heron").hits == ()
        memory.session("s").user("crow, one more")
        assert any(hit.position == last for hit in memory.recall("crow one more").hits)
        memory.rebuild()
        assert memory.log.reader.index_faults("default") == {}
        assert memory.verify(deep=True).problems == ()
        assert memory.recall("crow 7").hits[0].position == 8


def test_an_index_that_is_missing_catches_up_some_events_at_a_time(tmp_path, monkeypatch):
    """Each append indexes a bounded number of older events until the index reaches the newest one."""
    root = tmp_path / "s"
    fill(root, "default", "crow", 100)
    path_of(root, 1).unlink()
    monkeypatch.setattr("firsthand.log.sqlite.append.CATCH_UP_EVENTS", 40)
    with Memory.open(root) as memory:
        reached = []
        for number in range(3):
            memory.session("s").user(f"heron {number}")
            reached.append(memory.log.reader.reached(1, "text").position)
            assert memory.recall("crow 99").hits[0].position == 100
        assert reached == [40, 80, 103]
        assert memory.verify(deep=True).problems == ()


def test_an_index_of_a_past_that_was_rolled_back_is_not_believed(tmp_path):
    """A log that was put back to an earlier state does not take the index of the later one for its own."""
    root = tmp_path / "s"
    fill(root, "default", "crow", 10)
    shutil.copytree(root, tmp_path / "before")
    fill(root, "default", "heron", 60)
    shutil.copy(tmp_path / "before" / "firsthand.db", root / "firsthand.db")
    with Memory.open(root) as memory:
        assert memory.recall("heron").hits == ()
        assert memory.recall("crow 3").hits[0].position == 4
        for number in range(60):
            memory.session("s").user(f"swan {number}")
        assert memory.recall("heron").hits == ()
        assert memory.verify(deep=True).problems == ()
