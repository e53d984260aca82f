"""What was learned of a namespace, kept beside the log."""

from __future__ import annotations

import pytest

from firsthand.errors import StoreDamaged
from firsthand.event import Draft, Kind
from firsthand.index import learned
from firsthand.index.learned import Learned, Lesson
from firsthand.index.text import TextIndex
from firsthand.log.log import Log

LESSON = Lesson(7, "1:", '{"bias": 0.0}')


@pytest.fixture
def log(tmp_path):
    """A store that keeps what is learned, with one event in each of two namespaces."""
    one = Log(tmp_path / "store", indexes=(TextIndex(),), followers=(Learned(),))
    for namespace in ("default", "other"):
        one.append([Draft(Kind.USER_MESSAGE, b"red boat")], namespace=namespace, session="s")
    yield one
    one.close()


def keep(log: Log, namespace: int, name: str, lesson: Lesson) -> None:
    def run(db):
        with db:
            learned.write(db, namespace, name, lesson)

    log.exclusively(run)


def test_nothing_is_learned_at_first(log):
    """A store without the table answers None."""
    assert learned.read(log.reader.db, 1, "gate") is None


def test_what_was_learned_is_replaced_whole(log):
    """The last lesson of a name is the one that is read; names and namespaces stand apart."""
    keep(log, 1, "gate", LESSON)
    keep(log, 1, "gate", Lesson(9, "2:m", "{}"))
    keep(log, 2, "gate", LESSON)
    read = learned.read
    db = log.reader.db
    assert (read(db, 1, "gate"), read(db, 2, "gate"), read(db, 1, "x")) == (Lesson(9, "2:m", "{}"), LESSON, None)


def test_an_erasure_drops_what_was_learned_of_its_namespace(log):
    """The lessons of the erased event's namespace are gone, those of another stay, and the store verifies."""
    keep(log, 1, "gate", LESSON)
    keep(log, 2, "gate", LESSON)
    event = next(log.reader.events("default"))
    log.erase("default", [event.id], "")
    assert (learned.read(log.reader.db, 1, "gate"), learned.read(log.reader.db, 2, "gate")) == (None, LESSON)
    assert log.verify().ok


def test_an_erasure_needs_nothing_learned(log):
    """A store that never learned erases all the same."""
    log.erase("default", [next(log.reader.events("default")).id], "")
    assert learned.read(log.reader.db, 1, "gate") is None


def test_a_rebuild_drops_everything(log):
    """After a rebuild nothing is learned of any namespace."""
    keep(log, 1, "gate", LESSON)
    keep(log, 2, "gate", LESSON)
    log.rebuild(None)
    assert (learned.read(log.reader.db, 1, "gate"), learned.read(log.reader.db, 2, "gate")) == (None, None)


@pytest.mark.parametrize(
    "damage",
    ["version = CAST(x'ff31' AS TEXT)", "json = CAST(x'7bff' AS TEXT)", "json = x'7b7d'", "position = 'x'"],
)
def test_what_is_not_what_was_written_is_refused(log, damage):
    """Bytes that are no text any more, or another type, are `StoreDamaged`, with what to do."""
    keep(log, 1, "gate", LESSON)
    log.exclusively(lambda db: db.execute(f"UPDATE learned SET {damage}"))
    with pytest.raises(StoreDamaged, match="'firsthand store rebuild' drops it"):
        learned.read(log.reader.db, 1, "gate")
