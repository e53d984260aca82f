"""Erasure: nothing of the content is left in any file of the store, and the log still proves itself."""

from __future__ import annotations

import io
import os
import threading
import time
from pathlib import Path

import apsw
import pytest

from firsthand import pointer, record
from firsthand.errors import Erased, InvalidDraft, StoreBusy, Unresolvable
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.prepare import ERASE_EVENTS_MAX, REASON_CHARACTERS_MAX
from firsthand.log.restore import restore
from firsthand.log.sqlite.schema import DATABASE_FILE
from stores import assert_whole, open_log

WORD = b"qzxcanaryword"


def append(log, *drafts: Draft, session: str = "s", namespace: str = "default"):
    return log.append(list(drafts), namespace=namespace, session=session)


def files_with(root: Path, *needles: bytes) -> list[str]:
    """Name the files of a store that hold one of the byte strings."""
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    )


def marks(content: bytes) -> list[bytes]:
    """Give pieces of the content, of which most stand in any file with it: a frame's match may cut through one."""
    return [content[at : at + 16] for at in range(0, 400, 40)]


def canary() -> bytes:
    """Make content that no compression hides: random bytes, and a word for the index."""
    return os.urandom(400) + b" " + WORD + b" "


def test_nothing_of_an_erased_event_is_left_in_any_file(tmp_path):
    """Content, salt and words of an erased event are in no file of the store, neither before nor after it is closed."""
    log = open_log(tmp_path / "store")
    append(log, Draft(Kind.NOTE, b"stays"))
    content = canary()
    (one,) = append(log, Draft(Kind.NOTE, content, meta={"secret": "qzxmetaword"}))
    append(log, *(Draft(Kind.NOTE, b"later %d " % n + os.urandom(500)) for n in range(20)))
    salt = log.writer.execute("SELECT salt FROM event WHERE key = ?", (one.position,)).get
    assert files_with(log.root, *marks(content)) != []
    assert files_with(log.root, WORD[2:]) != []  # its beginning may be shared with the word before it
    done = log.erase("default", [one.id], "asked for")
    assert (done.erased, done.already, done.artifacts_removed, done.artifacts_kept) == ((one.id,), (), 0, 0)
    assert files_with(log.root, *marks(content), salt, WORD[2:], b"qzxmeta") == []
    event = log.reader.event("default", one.id)
    assert (event.content, event.artifact, event.erased, dict(event.meta)) == (None, None, True, {})
    with pytest.raises(Erased):
        list(log.reader.expand("default", pointer.parse(one.id)))
    (record_of_it,) = [event for event in log.reader.events("default") if event.kind is Kind.ERASURE]
    assert done.pointers == (f"fh:{record_of_it.id}",)
    assert one.id.encode() in record_of_it.content
    verified = assert_whole(log)
    assert (verified.erased, verified.events) == (1, 23)
    log.close()
    assert files_with(log.root, *marks(content), salt, WORD[2:]) == []


def test_nothing_is_left_in_what_waiting_writers_wrote(tmp_path):
    """The slots by which waiting writers hand over their batches hold nothing of an erased event either."""
    first, second = open_log(tmp_path / "store"), open_log(tmp_path / "store", timeout_ms=60_000)
    append(second, Draft(Kind.NOTE, b"first"))
    content = canary()
    inside, leave = threading.Event(), threading.Event()
    holder = threading.Thread(target=first.exclusively, args=(lambda _db: (inside.set(), leave.wait(30)),))
    holder.start()
    inside.wait(10)
    writer = threading.Thread(target=append, args=(second, Draft(Kind.NOTE, content)))
    writer.start()
    deadline = time.monotonic() + 25  # a busy machine may take long to let the writer begin to wait
    while not (waiting := files_with(first.root / "queue", *marks(content))) and time.monotonic() < deadline:
        time.sleep(0.005)
    leave.set()
    assert waiting != []
    holder.join()
    writer.join()
    (one,) = [event for event in first.reader.events("default") if event.content == content]
    first.erase("default", [one.id])
    assert files_with(first.root, *marks(content), WORD[2:]) == []
    append(second, Draft(Kind.NOTE, b"goes on"))
    assert_whole(first)
    first.close()
    second.close()


def test_a_retry_does_not_bring_erased_content_back(log):
    """Appending an erased event again, as a retry does, adds nothing and stores nothing, inline or out of line."""
    small, large = canary(), os.urandom(60_000)
    drafts = [Draft(Kind.NOTE, small, id=IdMaker()()), Draft(Kind.NOTE, large, id=IdMaker()())]
    first = append(log, *drafts)
    export = io.BytesIO()
    log.export(export)
    log.erase("default", [one.id for one in first])
    for again in (append(log, *drafts), append(log, drafts[0]), append(log, drafts[1])):
        assert [one.new for one in again] == [False] * len(again)
    export.seek(0)
    assert restore(log, export).new == 0
    assert [event.erased for event in log.reader.events("default")][:2] == [True, True]
    assert files_with(log.root, small[:64], large[:64]) == []
    assert list(log.artifacts.listing(log.namespace_key("default"))) == []


def test_a_shared_artifact_stays_until_its_last_holder_is_erased(log):
    """The file of a payload goes with the last event that holds it, and each namespace has its own."""
    payload = os.urandom(50_000)
    one, two = append(log, Draft(Kind.NOTE, payload), Draft(Kind.NOTE, payload))
    (other,) = append(log, Draft(Kind.NOTE, payload), namespace="other")
    done = log.erase("default", [one.id])
    assert (done.artifacts_removed, done.artifacts_kept) == (0, 1)
    assert log.reader.content(log.reader.event("default", two.id)) == payload
    done = log.erase("default", [two.id])
    assert (done.artifacts_removed, done.artifacts_kept) == (1, 0)
    assert list(log.artifacts.listing(log.namespace_key("default"))) == []
    assert log.reader.content(log.reader.event("other", other.id)) == payload
    assert log.erase("other", [other.id]).artifacts_removed == 1
    assert files_with(log.root, payload[:64]) == []


def test_the_parts_of_a_record_go_together(log):
    """Erasing one event of a source record erases all of it, since its envelope may hold words of the others."""
    raw = b'{"first": "one thing", "second": "another thing", "third": 3}'
    parts = [Draft(Kind.NOTE, b"one thing"), Draft(Kind.NOTE, b"another thing")]
    ids = [one.id for one in append(log, *record.make(raw, parts).drafts)]
    (alone,) = append(log, Draft(Kind.NOTE, b"alone"))
    assert log.reader.source_of(log.reader.event("default", ids[1])) == raw
    done = log.erase("default", [ids[1]])
    assert done.erased == tuple(ids)
    assert [event.erased for event in log.reader.events("default")] == [True, True, False, False]
    with pytest.raises(Erased):
        log.reader.source_of(log.reader.event("default", ids[0]))
    assert log.erase("default", [ids[0], alone.id]).erased == (alone.id,)


def test_a_part_without_its_record_is_erased_too(log):
    """An event that says it is a part, without the parts before it, is erased like any other."""
    (one,) = append(log, Draft(Kind.NOTE, b"x", part=5))
    assert log.erase("default", [one.id]).erased == (one.id,)
    assert log.reader.event("default", one.id).erased


def test_what_cannot_be_erased(log):
    """Unknown ids, ids of another namespace, records of erasures and too much at once are refused, and nothing goes."""
    (one,) = append(log, Draft(Kind.NOTE, b"x"))
    for wrong in ([IdMaker()()], [one.id, IdMaker()()]):
        with pytest.raises(Unresolvable):
            log.erase("default", wrong)
    with pytest.raises(Unresolvable):
        log.erase("other", [one.id])
    with pytest.raises(InvalidDraft):
        log.erase("default", [one.id] * (ERASE_EVENTS_MAX + 1))
    with pytest.raises(InvalidDraft):
        log.erase("default", [one.id], "r" * (REASON_CHARACTERS_MAX + 1))
    assert log.reader.event("default", one.id).content == b"x"
    (made,) = log.erase("default", [one.id]).pointers
    with pytest.raises(InvalidDraft, match="records an erasure"):
        log.erase("default", [made.removeprefix("fh:")])
    again = log.erase("default", [one.id])
    assert (again.erased, again.already, again.pointers) == ((), (one.id,), ())


def test_an_erasure_that_a_reader_held_up_is_finished_by_the_next(tmp_path):
    """While a reader uses the old pages the erasure is not claimed to be done; erasing again finishes it."""
    log = open_log(tmp_path / "store")
    content, large = canary(), os.urandom(40_000)
    one, two = append(log, Draft(Kind.NOTE, content), Draft(Kind.NOTE, large))
    reader = apsw.Connection(str(log.root / DATABASE_FILE), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM event").fetchall()
    log.writer.set_busy_timeout(10)
    with pytest.raises(StoreBusy):
        log.erase("default", [one.id, two.id])
    assert log.reader.event("default", one.id).erased
    assert log.verify().notes != ()
    reader.execute("COMMIT")
    reader.close()
    assert log.erase("default", [one.id, two.id]).already == (one.id, two.id)
    assert files_with(log.root, *marks(content), large[:64], WORD[2:]) == []
    assert assert_whole(log).notes == ()
    log.close()
