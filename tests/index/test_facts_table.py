"""Facts beside the log, as the log knows them: erased along, dropped with the rest, nothing where nobody swept."""

from __future__ import annotations

import pytest

from firsthand.event import Draft, Kind
from firsthand.index import fact_rows as rows
from firsthand.index import facts
from firsthand.index.fact_rows import Reach, Row
from firsthand.index.facts import Facts, Out
from firsthand.index.text import TextIndex
from firsthand.log.log import Log

ROW = Row(1, 0, "port", ["number:80", "fh:x@0-3"])
REACH = Reach("1", 1, 0)


@pytest.fixture
def log(tmp_path):
    """A store that keeps facts, with one event in each of two namespaces."""
    one = Log(tmp_path / "store", indexes=(TextIndex(),), followers=(Facts(),))
    for namespace in ("default", "other"):
        one.append([Draft(Kind.USER_MESSAGE, b"red boat")], namespace=namespace, session="s")
    yield one
    assert one.verify().ok
    one.close()


def keep(log: Log, namespace: int, position: int) -> None:
    def run(db):
        with db:
            rows.write(db, namespace, Reach(), REACH, [Row(position, 0, "port", ROW.body)], {"s": ["a", "b", "c"]})
            out = Out(position, "fh:x@0-3", "port", "", next(log.reader.events("default")).id)
            assert not rows.keep_out(db, namespace, Reach(), 1, [out])  # somebody read on in the meantime
            assert rows.keep_out(db, namespace, REACH, 1, [out])

    log.exclusively(run)


def test_nothing_is_kept_at_first(log):
    """A store without the tables has no facts, no reach and nothing spoken of, and erases all the same."""
    db = log.reader.db
    assert (rows.reach(db, 1), rows.spoken(db, 1), [*rows.rows(db, 1, 9)]) == (Reach(), {}, [])
    log.erase("default", [next(log.reader.events("default")).id], "")
    assert not facts.is_there(db)


def test_what_is_kept_comes_back(log):
    """Rows, what was spoken of and the reach come back as they were written, each namespace its own."""
    keep(log, 1, 1)
    db = log.reader.db
    assert [*rows.rows(db, 1, 1)] == [*rows.named(db, 1, ["port"])] == [ROW]
    assert (rows.spoken(db, 1), rows.reach(db, 1)) == ({"s": ["a", "b", "c"]}, Reach("1", 1, 1))
    assert ([*rows.rows(db, 1, 0)], [*rows.rows(db, 2, 9)], rows.reach(db, 2)) == ([], [], Reach())


def test_an_erasure_takes_its_rows_and_leaves_the_other_namespace(log):
    """What was read of the event and what it decided is gone, and the rest is marked as to be read again."""
    keep(log, 1, 1)
    keep(log, 2, 2)
    log.erase("default", [next(log.reader.events("default")).id], "")
    db = log.reader.db
    assert ([*rows.rows(db, 1, 9)], rows.spoken(db, 1), rows.reach(db, 1)) == ([], {}, Reach("", 1, 0))
    assert (len([*rows.rows(db, 2, 9)]), [*rows.chunks(db, 1)]) == (1, [])
    assert db.execute("SELECT namespace FROM fact_out").get == 2


def test_an_erasure_by_a_version_without_this_table_takes_its_rows_too(log, tmp_path):
    """A log that is opened without followers, as an older version does, erases the rows of the namespace along."""
    keep(log, 1, 1)
    keep(log, 2, 2)
    older = Log(tmp_path / "store", indexes=(TextIndex(),))
    older.erase("default", [next(older.reader.events("default")).id], "")
    older.close()
    db = log.reader.db
    assert ([*rows.rows(db, 1, 9)], rows.spoken(db, 1), rows.reach(db, 1)) == ([], {}, Reach("", 1, 0))
    assert len([*rows.rows(db, 2, 9)]) == 1


def test_a_rebuild_drops_everything(log):
    """After a rebuild no table of facts is there, and an event can be erased all the same."""
    keep(log, 1, 1)
    log.rebuild(None)
    assert not facts.is_there(log.reader.db)
    log.erase("default", [next(log.reader.events("default")).id], "")


def test_the_position_of_the_newest_decision_is_known(log):
    """It is that of the session of decisions, and 0 where there is none."""
    assert facts.decided(log.reader.db, 1) == 0
    log.append([Draft(Kind.LEDGER, b"x")], namespace="default", session=facts.LEDGER_SESSION)
    assert (facts.decided(log.reader.db, 1), facts.decided(log.reader.db, 2)) == (3, 0)
