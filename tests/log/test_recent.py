"""What indexes are handed of the newest events: as they were written, and only where all of them are known."""

from __future__ import annotations

import io

import pytest

from firsthand.errors import IdConflict
from firsthand.event import Draft, IdMaker, Kind, Trust
from firsthand.log.engine import Entry
from firsthand.log.prepare import prepare
from firsthand.log.sqlite import recent
from firsthand.log.sqlite.recent import RecentEvents
from firsthand.moment import Moment
from stores import open_log


class Recorder:
    """An index that keeps the events it is handed, and nothing of them in its file."""

    name = "recorder"

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.seen: set[bytes | None] = set()

    def begin(self, db, namespace_key) -> None:
        self.entries.clear()

    def apply(self, db, entries, contents) -> None:
        self.entries += entries
        self.seen |= {entry.event.content for entry in entries}

    def purge(self, db, namespace_key) -> None: ...


@pytest.fixture
def recorded(tmp_path):
    """A log with a recorder; at the end what that has is what the log reads."""
    recorder = Recorder()
    log = open_log(tmp_path / "store", indexes=(recorder,), inline_max=1_000)
    yield log, recorder
    log.flush_indexes("default")
    assert recorder.entries == list(log.reader.entries(1, 0, 1_000).entries)
    assert log.verify().problems == ()
    log.close()


def texts(*words: str) -> list[Draft]:
    return [Draft(Kind.USER_MESSAGE, word.encode()) for word in words]


def test_events_are_handed_over_as_the_log_gives_them(recorded):
    """Every field of an event that was just written is the one that is read back: meta, artifacts, parts, times."""
    log, recorder = recorded
    log.append(texts("one", "two"), namespace="default", session="s")
    log.append(
        [
            Draft(Kind.TOOL_CALL, b"{}", "application/json", {"tool": "bash", "n": [1, None]}, b"\0" * 9, agent="Ann",
                  origin="agent", trust=Trust.AGENT, time=Moment(5, -60), turn=7),
            Draft(Kind.TOOL_RESULT, b"\xff\xfe", part=1, time=Moment(1)),
            Draft(Kind.TOOL_RESULT, io.BytesIO(b"long line\n" * 500), meta={"tool": "make"}),
            Draft(Kind.RECEIPT, b"", time=None, id="0123456789abcdefghjkmnpqrs"),
        ],
        namespace="default",
        session="other",
    )  # fmt: skip
    log.flush_indexes("default")
    assert [entry.event.position for entry in recorder.entries] == [1, 2, 3, 4, 5, 6]


def test_what_another_handle_wrote_between_is_read(recorded):
    """Events that are not all one's own are read from the log, in order."""
    log, _ = recorded
    other = open_log(log.root, inline_max=1_000)
    for number in range(4):
        (log, other)[number % 2].append(texts(f"text {number}"), namespace="default", session="s")
    other.close()
    log.append(texts("mine again"), namespace="default", session="s")


def test_what_was_erased_before_it_was_indexed_is_not_handed_over(recorded):
    """An event that is erased while it waits reaches no index with its words."""
    log, recorder = recorded
    secret, _ = log.append(texts("zq7secret", "plain"), namespace="default", session="s")
    log.erase("default", [secret.id])
    log.flush_indexes("default")
    assert b"plain" in recorder.seen
    assert b"zq7secret" not in recorder.seen
    log.rebuild()


def test_a_refused_batch_leaves_nothing_to_hand_over(recorded):
    """A batch that is refused is in no index; what comes behind it is."""
    log, recorder = recorded
    (first,) = log.append(texts("one"), namespace="default", session="s")
    with pytest.raises(IdConflict):
        log.append([*texts("two"), Draft(Kind.NOTE, b"three", id=first.id)], namespace="default", session="s")
    log.append(texts("four"), namespace="default", session="s")
    log.flush_indexes("default")
    assert [entry.event.content for entry in recorder.entries] == [b"one", b"four"]


def test_behind_a_gap_only_what_follows_it_is_known(tmp_path):
    """Positions that were skipped, as behind a loss, are no events: what is before them is read from the log."""
    log = open_log(tmp_path / "store", indexes=())
    drafts = [prepare(draft, 1, log.artifacts, 1_000, IdMaker()) for draft in texts("one", "two", "three")]
    events = RecentEvents()
    for draft, position in zip(drafts, (4, 5, 9), strict=True):
        events.add(draft, "default", "s", 0, 0, position, Moment(0), b"")
    assert [events.after(1, position) for position in (3, 5, 9)] == [None] * 3
    known = events.after(1, 8)
    assert known is not None
    assert [(entry.event.position, entry.event.content) for entry in known.entries] == [(9, b"three")]
    events.clear()
    assert events.after(1, 8) is None
    log.close()


def test_only_so_much_is_kept(recorded, monkeypatch):
    """Beyond a bound of bytes what was written is forgotten, and read from the log when it is indexed."""
    monkeypatch.setattr(recent, "BYTES_MAX", 600)
    log, recorder = recorded
    for number in range(9):
        log.append(texts("word " * 40 + str(number)), namespace="default", session="s")
    (tenant,) = log._appender._work._tenants.values()
    assert 0 < len(tenant.recent._events) < 5
    log.flush_indexes("default")
    assert len(recorder.entries) == 9
    assert not tenant.recent._events
