"""Rebuilding the indexes of a store with damaged events: the whole ones are indexed, the others told."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.event import Draft, Kind
from firsthand.log.sqlite.rebuild import Rebuilt
from stores import open_log

DAMAGE = {
    "a body of other bytes": "UPDATE event SET body = x'00414243' WHERE key = 3",
    "a body that is a text": "UPDATE event SET body = CAST(x'00ff41' AS TEXT) WHERE key = 3",
    "half a body": "UPDATE event SET body = NULL WHERE key = 3",
    "a kind that there is not": "UPDATE event SET kind = 99 WHERE key = 3",
    "a name that is missing": "UPDATE event SET agent = 99 WHERE key = 3",
}


def make(root) -> None:
    """Make a store of five notes, each with a word of its own."""
    with Memory.open(root) as memory:
        memory.append([Draft(Kind.NOTE, b"common word%d" % n) for n in range(1, 6)], session="s")


@pytest.fixture(params=DAMAGE.values(), ids=DAMAGE)
def damaged(request, tmp_path):
    """Give the folder of a store whose third event of five is damaged."""
    make(tmp_path / "store")
    log = open_log(tmp_path / "store")
    log.writer.execute(request.param).fetchall()
    log.close()
    return tmp_path / "store"


def test_a_damaged_event_is_left_out_of_a_rebuild_and_told(damaged):
    """A rebuild indexes the four whole events, names the position of the fifth, and recall finds the four by index."""
    with Memory.open(damaged) as memory:
        assert memory.rebuild() == Rebuilt(4, (3,))
        assert {hit.position for hit in memory.recall("common")} == {1, 2, 4, 5}
        answer = memory.recall("word3")
        assert (answer.outcome, "event 3 could not be read" in " ".join(answer.notes)) == (Outcome.DEGRADED, True)
        assert memory.log.reader.index_faults("default") == {}


def test_a_damaged_event_is_reported_once_and_the_index_still_compared(damaged):
    """Verify names the event, says that the index was compared without it, and finds no fault with the index."""
    with Memory.open(damaged) as memory:
        memory.rebuild()
        verified = memory.verify(deep=True)
        assert {problem.position for problem in verified.problems if problem.where == "event"} == {3}
        assert [problem for problem in verified.problems if problem.where == "index"] == []
        assert "the text index was compared with the log without 1 damaged events" in verified.notes
        memory.log.writer.execute("INSERT INTO text_1 (rowid, terms) VALUES (9, 'more')").fetchall()
        memory.log.writer.execute("DELETE FROM text_1 WHERE rowid = 5").fetchall()
        assert any(problem.where == "index" for problem in memory.verify(deep=True).problems)


def test_a_damaged_event_hides_no_other_from_an_index(damaged):
    """The reader gives the whole events of a page, the position of the damaged one, and how far it looked."""
    log = open_log(damaged, read_only=True)
    read = log.reader.entries(1, 0, 100)
    assert ([entry.event.position for entry in read.entries], read.damaged, read.through) == ([1, 2, 4, 5], (3,), 5)
    assert log.reader.entries(1, 2, 1).damaged == (3,)
    assert (log.reader.entries(1, 5, 100).entries, log.reader.entries(1, 5, 100).through) == ((), 5)
    log.close()


def test_an_event_with_a_damaged_payload_is_left_out_and_told(tmp_path):
    """A payload out of line that is not what was written costs its own event only."""
    with Memory.open(tmp_path / "store") as memory:
        for n in range(3):
            memory.session("s").tool_result("call", b"common %d " % n * 5_000)
        memory.session("s").note("common")
        digest = memory.event(f"fh:{next(memory.events(after=1)).id}").artifact.digest.hex()
        (file,) = (tmp_path / "store").rglob(f"{digest}*")
        file.write_bytes(file.read_bytes()[:-40] + bytes(40))
        assert memory.rebuild() == Rebuilt(3, (2,))
        assert {hit.position for hit in memory.recall("common")} == {1, 3, 4}
        verified = memory.verify(deep=True)
        assert [(problem.where, problem.position) for problem in verified.problems] == [("artifact", 2)]


def test_a_store_without_damage_leaves_nothing_out(tmp_path):
    """A rebuild of a whole store, erased events in it, indexes every event that has content."""
    make(tmp_path / "store")
    with Memory.open(tmp_path / "store") as memory:
        memory.erase([f"fh:{next(memory.events()).id}"])
        told = []
        assert memory.rebuild(progress=lambda done, total: told.append((done, total))) == Rebuilt(5)
        assert told == [(6, 6)]
        assert memory.verify(deep=True).ok
