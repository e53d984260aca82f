"""Log and index are two files, committed one after the other: what reads both reads them as of one moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from firsthand import Memory, Outcome
from firsthand.event import Draft, Kind
from firsthand.log.sqlite import rebuild
from firsthand.log.sqlite.append import BACKLOG_EVENTS
from stores import assert_whole, open_log

EVENTS = BACKLOG_EVENTS + 28


@contextmanager
def before_statement(part: str, action: Callable[[], object]) -> Iterator[list[str]]:
    """Do something once, before SQLite first runs a statement that holds these words; give the statement."""
    ran: list[str] = []

    def trace(_db: apsw.Connection, sql: str, _values: object) -> bool:
        if part in sql and not ran:
            ran.append(sql)
            action()
        return True

    hooks = list(apsw.connection_hooks)
    apsw.connection_hooks.append(lambda db: setattr(db, "exec_trace", trace))
    try:
        yield ran
    finally:
        apsw.connection_hooks[:] = hooks


def say(memory: Memory, word: str, number: int = EVENTS) -> None:
    for count in range(number):
        memory.session(word).user(f"{word} at address{count}")


def once(action: Callable[[], object], at: int = 7) -> Callable[[int, int], None]:
    """Do something once between two steps of a rebuild, when so many events are done."""
    waiting = [action]
    return lambda done, _total: waiting.pop()() if done == at and waiting else None


def begin_rebuild(memory: Memory) -> None:
    """Rebuild, and stop after the first step, as when it is killed."""
    with suppress(ZeroDivisionError):
        memory.rebuild(progress=lambda _done, _total: 1 // 0)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """Rebuild a few events at a time."""
    monkeypatch.setattr(rebuild, "REBUILD_EVENTS", 7)


@pytest.mark.parametrize(
    "step", ["FROM store", "salt IS NOT NULL", "text_block", "count(*) FROM text_1_docsize", "fts5vocab", "words FROM"]
)
def test_a_proof_compares_an_index_with_the_log_of_its_own_moment(tmp_path, step):
    """Whenever another process appends and indexes during a proof, there is no difference."""
    with Memory.open(tmp_path / "s") as other:
        say(other, "crow")
        write = before_statement(step, lambda: say(other, "address", BACKLOG_EVENTS + 8))
        with write as ran, Memory.open(tmp_path / "s") as memory:
            assert memory.verify(deep=True).problems == ()
            assert ran
        assert other.verify(deep=True).problems == ()


@pytest.mark.parametrize("step", [".reach WHERE", "max(id)", "MATCH", "text_block", "_terms WHERE"])
@pytest.mark.parametrize("action", [begin_rebuild, lambda other: say(other, "heron")], ids=["rebuilds", "indexes"])
def test_a_recall_is_of_one_moment_while_another_process(tmp_path, step, action):
    """It finds what is indexed, however the index changes meanwhile, and shows nothing behind the position it names."""
    with Memory.open(tmp_path / "s") as other:
        say(other, "crow")
        with before_statement(step, lambda: action(other)) as ran, Memory.open(tmp_path / "s") as memory:
            answer = memory.recall("address20")
            assert ran
        assert (answer.outcome, answer.through) == (Outcome.FOUND, EVENTS)
        assert answer.hits[0].position == 21
        assert {hit.position for hit in answer.hits} <= set(range(1, EVENTS + 1))
        other.rebuild()
        assert other.verify(deep=True).problems == ()


def test_a_writer_and_a_second_rebuild_beside_a_rebuild_leave_no_gap(tmp_path):
    """Who indexes goes on from what is there, whatever was there before; and so it goes on afterwards."""
    with Memory.open(tmp_path / "s") as writer, Memory.open(tmp_path / "s") as other:
        say(writer, "crow")
        other.rebuild(progress=once(lambda: say(writer, "heron", 45)))
        assert writer.verify(deep=True).problems == ()
        writer.rebuild(progress=once(lambda: begin_rebuild(other), at=21))
        assert writer.verify(deep=True).problems == ()
        assert writer.log.reader.reached(1, "text").position == EVENTS + 45
        say(writer, "swan", BACKLOG_EVENTS)
        assert writer.log.reader.reached(1, "text").position == EVENTS + 45 + BACKLOG_EVENTS
        assert writer.verify(deep=True).problems == ()


class IndexVFS(apsw.VFS):
    """SQLite's files; before each write to the WAL of an index file `_Wal.before_write` is called."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "unix")
        self.name = name

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        return (_Wal if "/index/" in path and path.endswith("-wal") else apsw.VFSFile)("unix", name, flags)


class _Wal(apsw.VFSFile):
    before_write: Callable[[], object] = staticmethod(lambda: None)

    def xWrite(self, data, offset):  # noqa: N802 - SQLite's name
        _Wal.before_write()
        super().xWrite(data, offset)


def notes(word: str, number: int) -> list[Draft]:
    return [Draft(Kind.NOTE, f"{word} {count}".encode()) for count in range(number)]


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A store with an index of some events; what its index files are written through can be exchanged."""
    monkeypatch.setattr(_Wal, "before_write", lambda: None)
    vfs = IndexVFS(f"index {tmp_path}")
    opened = open_log(tmp_path / "s", vfs=vfs.name)
    opened.append(notes("zebrafinch", BACKLOG_EVENTS), namespace="default", session="s")
    yield opened
    opened.close()


def killed_before_the_index(monkeypatch, work: Callable[[], object]) -> None:
    """Do something in a process that is killed before it writes an index: after the log's commit."""
    child = os.fork()
    if not child:
        monkeypatch.setattr(_Wal, "before_write", lambda: os.kill(os.getpid(), signal.SIGKILL))
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_an_index_that_a_kill_left_behind_is_caught_up(log, monkeypatch):
    """Every event is in the log, no row of the index is wrong, and the next writer goes on."""
    more = notes("heron", BACKLOG_EVENTS)
    killed_before_the_index(monkeypatch, lambda: log.append(more, namespace="default", session="s"))
    assert log.reader.head("default")[0] == 2 * BACKLOG_EVENTS
    assert log.reader.reached(1, "text").position == BACKLOG_EVENTS
    assert_whole(log)
    log.append(notes("swan", 1), namespace="default", session="s")
    assert log.reader.reached(1, "text").position == 2 * BACKLOG_EVENTS + 1
    assert_whole(log)


def test_an_erasure_killed_before_the_index_is_finished_by_the_next(log, monkeypatch):
    """After the next erasure no index row is left of the event, and no word of it in any file."""
    ids = [event.id for event in log.reader.events("default")]
    killed_before_the_index(monkeypatch, lambda: log.erase("default", ids))
    assert log.reader.event("default", ids[0]).erased
    assert log.erase("default", ids).already == tuple(ids)
    assert_whole(log)
    files: list[Path] = [path for path in log.root.rglob("*") if path.is_file()]
    assert [path for path in files if b"zebrafinch" in path.read_bytes()] == []


def test_a_full_disk_below_the_index_does_not_make_an_append_fail_that_is_in_the_log(log, monkeypatch):
    """The append is acknowledged, says that it is not indexed, and the index catches up when there is room."""

    def full() -> None:
        raise apsw.exception_for(apsw.SQLITE_FULL)

    with monkeypatch.context() as patch:
        patch.setattr(_Wal, "before_write", full)
        appended = log.append(notes("heron", BACKLOG_EVENTS), namespace="default", session="s")
        assert {event.indexed for event in appended} == {False}
        assert log.reader.reached(1, "text").position == BACKLOG_EVENTS
    assert log.append(notes("swan", 1), namespace="default", session="s")[0].indexed
    assert log.reader.reached(1, "text").position == log.reader.head("default")[0] == 2 * BACKLOG_EVENTS + 1
    assert_whole(log)
