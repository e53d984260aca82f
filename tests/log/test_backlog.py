"""The newest events are indexed some at a time; until then they are found in the log."""

from __future__ import annotations

import apsw

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.log.sqlite.append import BACKLOG_BYTES, BACKLOG_EVENTS
from firsthand.log.sqlite.index_files import path_of


def indexed(memory):
    """Give the positions that the text index has, and how far it says to reach."""
    file = path_of(memory.path, 1)
    if not file.exists():
        return [], (0, "")
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        reach = db.execute("SELECT position, fault FROM reach").fetchall()
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'text_1'").get:
            return [], reach[0]
        return [row for (row,) in db.execute("SELECT id FROM text_1_docsize ORDER BY id")], reach[0]
    finally:
        db.close()


def test_an_event_is_found_the_moment_its_append_returns(tmp_path):
    """Before the index has any of them, every event is found, and nothing is degraded."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("a")
        appended = [session.user(f"needle{number} in the hay") for number in range(BACKLOG_EVENTS - 1)]
        assert indexed(memory) == ([], (0, ""))
        for number, one in [*enumerate(appended)][::4]:
            answer = memory.recall(f"needle{number}")
            assert (answer.outcome, answer.hits[0].pointer) == (Outcome.FOUND, one.pointer)
            assert answer.notes == ()
        assert memory.recall("needle5", sessions=["b"]).outcome is Outcome.FILTERED
        assert memory.recall("absentword").outcome is Outcome.ABSENT
        assert memory.verify(deep=True).problems == ()


def test_the_index_is_written_when_enough_waits(tmp_path):
    """The append that fills the backlog indexes all of it in a transaction of its own."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("a")
        for number in range(BACKLOG_EVENTS + 3):
            session.user(f"crow {number}")
        assert indexed(memory) == (list(range(1, BACKLOG_EVENTS + 1)), (BACKLOG_EVENTS, ""))
        assert memory.log.reader.head("default")[0] == BACKLOG_EVENTS + 3
        assert memory.recall(f"crow {BACKLOG_EVENTS + 2}").hits[0].position == BACKLOG_EVENTS + 3
        assert memory.verify(deep=True).problems == ()


def test_large_events_do_not_wait(tmp_path):
    """What would be slow to search in the log is indexed at once."""
    with Memory.open(tmp_path / "s") as memory:
        memory.session("a").user("crow " * (BACKLOG_BYTES // 5 + 1))
        assert indexed(memory)[1] == (1, "")


def test_two_writers_share_the_backlog(tmp_path):
    """Events that another handle left waiting are indexed with one's own, in order, none twice."""
    with Memory.open(tmp_path / "s") as one, Memory.open(tmp_path / "s") as other:
        for number in range(BACKLOG_EVENTS):
            (one, other)[number % 2].session(f"s{number % 3}").user(f"crow {number}")
        assert indexed(one) == (list(range(1, BACKLOG_EVENTS + 1)), (BACKLOG_EVENTS, ""))
        assert one.verify(deep=True).problems == ()


def test_a_writer_that_died_leaves_its_backlog_to_the_next(tmp_path):
    """A new process goes on where the index ended."""
    with Memory.open(tmp_path / "s") as memory:
        for number in range(10):
            memory.session("a").user(f"crow {number}")
    with Memory.open(tmp_path / "s") as memory:
        assert len(memory.recall("crow").hits) == 10
        for number in range(BACKLOG_EVENTS):
            memory.session("a").user(f"heron {number}")
        assert indexed(memory)[1] == (BACKLOG_EVENTS, "")
        assert memory.verify(deep=True).problems == ()
        memory.follow()
        assert indexed(memory)[1] == (BACKLOG_EVENTS + 10, "")


def test_an_event_that_waits_can_be_erased(tmp_path):
    """The erasure first indexes what waits, then takes it out; nothing is found, everything holds."""
    with Memory.open(tmp_path / "s") as memory:
        gone = memory.session("a").user("zq7secret9xk")
        memory.session("a").user("crow")
        memory.erase([gone])
        assert memory.recall("zq7secret9xk").outcome is Outcome.ABSENT
        assert memory.recall("crow").outcome is Outcome.FOUND
        assert memory.verify(deep=True).problems == ()


def test_a_new_namespace_waits_by_itself(tmp_path):
    """A namespace whose events all wait is searched in the log, and sees nobody else's."""
    with Memory.open(tmp_path / "s", namespace="one") as one:
        for number in range(BACKLOG_EVENTS):
            one.session("a").user(f"crow {number}")
    with Memory.open(tmp_path / "s", namespace="two") as two:
        two.session("a").user("heron")
        assert two.recall("heron").outcome is Outcome.FOUND
        assert two.recall("crow").outcome is Outcome.ABSENT
        assert two.verify(deep=True).problems == ()
