"""What was acknowledged is there, or is named as missing: damage to the WAL, files that go astray, rollbacks."""

from __future__ import annotations

import io
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from medium import Failing, FailingVFS

from firsthand import moment
from firsthand.answer import Outcome
from firsthand.errors import InvalidDraft, StoreDamaged, StoreError, StoreReplaced
from firsthand.event import Draft, Kind
from firsthand.log.disk import Disk
from firsthand.log.loss import SESSION
from firsthand.log.restore import restore
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.mark import MARK_FILE
from firsthand.log.sqlite.mend import FOLDER
from firsthand.log.sqlite.schema import DATABASE_FILE
from firsthand.log.sqlite.wal import parse
from firsthand.memory import Memory
from stores import SOAK, assert_whole, open_log

EVENTS = 150
WAL = f"{DATABASE_FILE}-wal"


def append(log: Log, content: bytes, namespace: str = "x", session: str = "s"):
    (appended,) = log.append([Draft(Kind.NOTE, content)], namespace=namespace, session=session)
    return appended


def in_a_killed_process(work: Callable[[], None]) -> None:
    """Do something in a process that is then killed, so that nothing of it is closed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def killed_writer(root: Path, events: int = EVENTS, **options) -> list[str]:
    """Make a store whose writer was killed; give the ids that it acknowledged, which are all."""

    def work() -> None:
        log = open_log(root, indexes=(), **options)
        for number in range(events):
            appended = append(log, b"event %d" % number, session=f"s{number % 3}")
            os.write(write, f"{appended.id}\n".encode())

    read, write = os.pipe()
    in_a_killed_process(work)
    os.close(write)
    with os.fdopen(read) as said:
        ids = said.read().split()
    assert len(ids) == events
    return ids


def flip(file: Path, place: int, bit: int = 0) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        (byte,) = opened.read(1)
        opened.seek(place)
        opened.write(bytes((byte ^ 1 << bit,)))


def assert_accounted(log: Log, ids: list[str], namespace: str = "x") -> set[int]:
    """Assert that every acknowledged event is there at its position, or recorded as lost; give the lost positions."""
    there = {event.position: event.id for event in log.reader.events(namespace) if event.kind is Kind.NOTE}
    lost = {position for loss in log.verify().losses for each in loss.missing for position in each}
    for position, identifier in enumerate(ids, 1):
        assert there.get(position) == identifier or position in lost
    assert not lost & there.keys()
    return lost


def test_a_flipped_bit_in_the_wal_costs_nothing_that_was_written_again(tmp_path):
    """150 events, kill -9, a bit flipped a third into the WAL: it is named, and all are there once it was mended."""
    root = tmp_path / "store"
    ids = killed_writer(root)
    flip(root / WAL, (root / WAL).stat().st_size // 3)
    reader = open_log(root, read_only=True, indexes=())
    end = reader.reader.head("x")[0]
    assert end < 60
    problems = [str(problem) for problem in reader.verify().problems]
    missing = f"{EVENTS - end} acknowledged events of namespace x are missing: positions {end + 1} to {EVENTS}"
    assert problems == [f"mark: {missing}"]
    reader.close()
    log = open_log(root, indexes=())
    assert assert_accounted(log, ids) == set()
    assert_whole(log)
    assert append(log, b"next").position == EVENTS + 1
    assert_whole(log)
    log.close()


def test_rot_in_the_wal_is_named_without_marks(tmp_path, heads):
    """With no mark left, verify, doctor's comparison and what cannot be read name a WAL that shows rot by itself."""
    root = tmp_path / "store"
    killed_writer(root)
    (root / MARK_FILE).unlink()
    flip(root / WAL, (root / WAL).stat().st_size // 3)
    reader = open_log(root, read_only=True, heads=heads, indexes=())
    (problem,) = reader.verify().problems
    assert str(problem).startswith("mark: the WAL is damaged at frame ")
    assert reader.compared().rot == reader.unread("x") == problem.what
    reader.close()
    log = open_log(root, indexes=())
    assert_whole(log)
    log.close()


def test_nothing_is_absent_while_acknowledged_events_cannot_be_read(tmp_path):
    """A recall that matches nothing is degraded, and says why, where the log ends before its mark."""
    root = tmp_path / "store"

    def work() -> None:
        session = Memory.open(root, embedder="none").session("s")
        for number in range(60):
            session.user(f"topic{number}")

    in_a_killed_process(work)
    flip(root / WAL, (root / WAL).stat().st_size // 3)
    with Memory.open(root, embedder="none", read_only=True) as memory:
        answer = memory.recall("topic59")
        assert answer.outcome is Outcome.DEGRADED
        assert "acknowledged events of namespace default are missing" in answer.notes[-1]
        assert memory.recall("topic1").outcome is Outcome.FOUND
    with Memory.open(root, embedder="none") as memory:
        assert memory.recall("topic59").outcome is Outcome.FOUND
        assert memory.recall("zebra").outcome is Outcome.ABSENT
        assert memory.verify().ok


def test_a_pipe_in_the_place_of_the_mark_holds_nothing_up(tmp_path, heads):
    """A store whose mark is a pipe opens, appends and verifies; the comparison says that it cannot be read."""
    root = tmp_path / "store"
    log = open_log(root, indexes=())
    append(log, b"before")
    log.close()
    (root / MARK_FILE).unlink()
    os.mkfifo(root / MARK_FILE)
    log = open_log(root, heads=heads, indexes=())
    assert append(log, b"after").position == 2
    assert "the high-water mark: cannot open" in log.compared().notes[0]
    assert_whole(log)
    log.close()


@pytest.mark.parametrize("part", range(4))
def test_wherever_a_bit_of_the_wal_flips(tmp_path, part):
    """After any flip in the WAL of a killed writer each event is there or recorded as lost; no position is reused."""
    original = tmp_path / "original"
    ids = killed_writer(original, 12)
    data = (original / WAL).read_bytes()
    size = 4_096 + 24
    headers = [*range(0, 32, 3), *(32 + frame * size + byte for frame in (0, 7, 20) for byte in range(0, 24, 5))]
    places = sorted({*headers, *range(60, len(data), len(data) // 25), len(data) - 1, len(data) - size - 1})
    root = original.parent / "store"
    for place in range(part, len(data), 4 * 61) if SOAK else places[part::4]:
        shutil.copytree(original, root, ignore=shutil.ignore_patterns("*-shm", "queue", "lock"))
        original.rename(tmp_path / "away")  # the copy stands where the store stood
        root.rename(original)
        flip(original / WAL, place, place % 8)
        log = open_log(original, indexes=())
        lost = assert_accounted(log, ids)
        assert append(log, b"next").position == len(ids) + 1 + bool(lost)
        assert_whole(log)
        log.close()
        shutil.rmtree(original)
        (tmp_path / "away").rename(original)


@pytest.fixture
def lossy(tmp_path) -> tuple[Log, list[str], int]:
    """A store that lost the end of its WAL, opened again; with the ids, and how many events are left."""
    root = tmp_path / "store"
    ids = killed_writer(root)
    os.truncate(root / WAL, (root / WAL).stat().st_size // 3)
    before = open_log(root, read_only=True, indexes=())
    left = before.reader.head("x")[0]
    before.close()
    return open_log(root, indexes=()), ids, left


def test_what_cannot_be_read_is_recorded_as_lost(lossy):
    """The loss is an event behind the last acknowledged position, and names those that are missing."""
    log, ids, left = lossy
    assert assert_accounted(log, ids) == set(range(left + 1, EVENTS + 1))
    (recorded,) = log.reader.events("x", session=SESSION)
    assert (recorded.position, recorded.kind, recorded.trust) == (EVENTS + 1, Kind.LOSS, "trusted")
    verified = assert_whole(log)
    missing = f"{EVENTS - left} acknowledged events of namespace x are missing: positions {left + 1} to {EVENTS}"
    assert [str(loss) for loss in verified.losses] == [f"{missing}; recorded at position {EVENTS + 1}"]
    key = log.namespace_key("x")
    entries = log.reader.entries(key, 0, 1_000)
    assert entries.lost == (range(left + 1, EVENTS + 1),)
    assert [entry.event.position for entry in entries.entries] == [*range(1, left + 1), EVENTS + 1]
    appended = append(log, b"next", session="s0")
    assert appended.position == EVENTS + 2
    event = log.reader.event("x", appended.id)
    assert (event.unchecked, event.sequence) == ("", sum(number % 3 == 0 for number in range(left)))
    log.close()
    again = open_log(log.root, indexes=())
    assert len(list(again.reader.events("x", session=SESSION))) == 1
    assert_whole(again)
    again.close()


def test_the_damaged_files_are_set_aside(lossy, tmp_path):
    """The database and its WAL are kept as they were found, for the owner alone."""
    log, _, _ = lossy
    (folder,) = (log.root / FOLDER).iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [DATABASE_FILE, WAL, MARK_FILE]
    assert [path.stat().st_mode & 0o77 for path in (folder, *folder.iterdir())] == [0, 0, 0, 0]
    log.close()


def test_an_erasure_reaches_what_was_set_aside(lossy):
    """Content that is erased is not left in a copy of the damaged files."""
    log, ids, _ = lossy
    log.erase("x", ids[:1])
    assert not (log.root / FOLDER).exists()
    assert_whole(log)
    log.close()


def test_what_was_erased_does_not_come_back_with_a_damaged_wal(tmp_path):
    """Wherever the WAL of an erasure that was cut short rots, what it names stays erased, or it is named as lost."""
    root, secret = tmp_path / "store", os.urandom(3_000)
    names: list[str] = []

    class Dying(Disk):
        def call(self, function, *args, **kwargs):
            if function is os.rename and names:  # the artifact loses its address: the transaction is on disk
                (tmp_path / "names").write_text(" ".join(names))
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

    def work() -> None:
        log = open_log(root, indexes=(), inline_max=4_000, disk=Dying())
        erased = [append(log, secret).id, append(log, os.urandom(9_000)).id]
        for _ in range(4):
            append(log, os.urandom(3_000))
        names.extend(erased)
        log.erase("x", erased)

    in_a_killed_process(work)
    erased, kept = (tmp_path / "names").read_text().split(), tmp_path / "kept"
    frames = parse((root / WAL).read_bytes()).frames
    last = max(frame.number for frame in frames[:-1] if frame.pages)
    root.rename(kept)
    again = lost = 0
    for frame in frames[last + 1 :]:
        shutil.copytree(kept, root)
        flip(root / WAL, frame.start + 2_000)
        log = open_log(root, indexes=())
        gone = [log.reader.event("x", name).erased for name in erased]
        assert all(gone) or assert_whole(log).losses
        lost += bool(assert_whole(log).losses)
        again += "an erasure was cut short" in " ".join(log.verify().notes) and all(gone)
        log.close()
        shutil.rmtree(root)
    assert again > lost


def test_a_loss_goes_with_its_store(lossy, tmp_path):
    """An export of it restores to the same head, and a backup of it verifies; both still name what is missing."""
    log, _, _ = lossy
    append(log, b"later", session="s1")
    verified = assert_whole(log)
    out = io.BytesIO()
    log.export(out)
    log.backup(tmp_path / "backup")
    restored = open_log(tmp_path / "restored", indexes=())
    restore(restored, io.BytesIO(out.getvalue()))
    backup = open_log(tmp_path / "backup", indexes=())
    for copy in (restored, backup):
        again = assert_whole(copy)
        assert (again.heads, again.losses) == (verified.heads, verified.losses)
        copy.close()
    log.close()


def test_a_loss_is_made_and_erased_by_nobody(lossy):
    """An event of kind loss is refused as a draft, and one that is there is not erased."""
    log, _, _ = lossy
    with pytest.raises(InvalidDraft, match="made by the log alone"):
        log.append([Draft(Kind.LOSS, b"{}")], namespace="x", session="s")
    (recorded,) = log.reader.events("x", session=SESSION)
    with pytest.raises(InvalidDraft, match="holds no content of others"):
        log.erase("x", [recorded.id])
    log.close()


def test_a_torn_tail_is_no_loss(tmp_path):
    """What a crash left of a transaction that was never acknowledged is dropped without a word."""
    root = tmp_path / "store"
    ids = killed_writer(root, 20)
    with (root / WAL).open("ab") as wal:
        wal.write(os.urandom(9_000))
    log = open_log(root, indexes=())
    assert assert_accounted(log, ids) == set()
    assert log.reader.head("x")[0] == len(ids)
    assert not (root / FOLDER).exists()
    assert_whole(log)
    log.close()


def test_an_unlinked_wal_is_named_when_the_store_is_opened(tmp_path):
    """A WAL that somebody removed while no process had the store open took its events along, and that is said."""
    root = tmp_path / "store"
    ids = killed_writer(root)
    (root / WAL).unlink()
    log = open_log(root, indexes=())
    assert assert_accounted(log, ids) == set(range(1, EVENTS + 1))
    assert append(log, b"next").position == EVENTS + 2
    assert_whole(log)
    log.close()


@pytest.mark.parametrize("gone", ["unlink", "empty"])
def test_a_database_that_is_gone_is_not_begun_anew(tmp_path, gone):
    """Without its database, a folder whose mark says that it held events is refused, for reading and writing."""
    root = tmp_path / "store"
    log = open_log(root, indexes=())
    append(log, b"event")
    log.close()
    file = root / DATABASE_FILE
    file.unlink() if gone == "unlink" else os.truncate(file, 0)
    for read_only in (False, True):
        with pytest.raises(StoreDamaged, match="held 1 events in 1 namespaces"):
            open_log(root, read_only=read_only, indexes=())
    (root / MARK_FILE).unlink()
    shutil.rmtree(root / "artifacts", ignore_errors=True)


# files that change under a writer --------------------------------------------------------------------


@pytest.mark.parametrize("how", ["unlink", "replace"])
@pytest.mark.parametrize("name", [DATABASE_FILE, WAL])
def test_a_file_that_changes_under_a_writer_stops_it(tmp_path, name, how):
    """After WAL or database is removed or replaced nothing more is acknowledged, and nothing gets lost unnamed."""
    root = tmp_path / "store"
    log = open_log(root, indexes=())
    ids = [append(log, b"event %d" % number).id for number in range(5)]
    saved = (root / name).read_bytes()
    (root / name).unlink()
    if how == "replace":
        (root / name).write_bytes(saved)
    for _ in range(2):
        with pytest.raises(StoreReplaced, match=r"while (the store|it) was open"):
            append(log, b"not acknowledged")
    log.close()
    if name == DATABASE_FILE and how == "unlink":
        with pytest.raises(StoreDamaged, match="is gone or empty"):
            open_log(root, indexes=())
        return
    again = open_log(root, indexes=())
    lost = assert_accounted(again, ids)
    if name == WAL and how == "unlink":
        assert lost == set()  # what the writer still had of it was moved into the database
    append(again, b"next")
    assert_whole(again)
    again.close()


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_database_that_is_cut_off_stops_its_writer(tmp_path, share):
    """After its database was shortened in place a writer acknowledges nothing more, and what is gone is named."""
    root = tmp_path / "store"
    log = open_log(root, indexes=())
    other = open_log(root, indexes=())
    ids = [append(handle, os.urandom(9_000)).id for handle in (log, other) for _ in range(15)]
    log.exclusively(lambda db: db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
    size = (root / DATABASE_FILE).stat().st_size
    os.truncate(root / DATABASE_FILE, int(size * share))
    for handle in (log, other, log):
        with pytest.raises(StoreReplaced, match=f"was cut off, .* to {int(size * share):,}, while"):
            append(handle, b"not acknowledged")
    os.truncate(root / DATABASE_FILE, size)  # as a later commit's checkpoint would lengthen it
    with pytest.raises(StoreReplaced):
        append(log, b"not acknowledged")
    os.truncate(root / DATABASE_FILE, int(size * share))
    for handle in (log, other):
        handle.close()
    try:
        again = open_log(root, read_only=True, indexes=())
        there = {event.id for event in again.reader.events("x", damaged=lambda *_: None)}
        assert set(ids) <= there or again.verify().problems
        again.close()
    except StoreError as error:
        assert str(root) in str(error)  # noqa: PT017 - one of two good outcomes


def test_a_checkpoint_that_a_kill_cut_short_stops_nobody(tmp_path):
    """A database that is shorter than it says, with the rest in its WAL, is what a killed checkpoint leaves."""
    log = open_log(tmp_path / "store", indexes=())
    ids = [append(log, os.urandom(9_000)).id for _ in range(30)]
    vfs = FailingVFS(f"cut {tmp_path}", Failing(40, "error", only="write"))
    dying = apsw.Connection(str(log.root / DATABASE_FILE), vfs=vfs.name)
    dying.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    assert dying.execute("SELECT count(*) FROM event").get == len(ids)
    with pytest.raises(apsw.IOError):
        dying.wal_checkpoint()
    dying.close()
    assert (log.root / DATABASE_FILE).stat().st_size < 50 * 4_096
    ids.append(append(log, b"next").id)
    assert assert_accounted(log, ids) == set()
    assert_whole(log)
    log.close()


def test_a_database_that_an_erasure_shortened_goes_on(tmp_path):
    """After another handle erased, and the database became shorter by that, every writer goes on."""
    log, other = (open_log(tmp_path / "store", indexes=()) for _ in range(2))
    ids = [append(log, os.urandom(9_000)).id for _ in range(30)]
    log.exclusively(lambda db: db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
    append(other, b"other")
    size = (log.root / DATABASE_FILE).stat().st_size
    log.erase("x", ids)
    assert (log.root / DATABASE_FILE).stat().st_size < size / 2
    for handle in (other, log):
        append(handle, b"next")
        assert_whole(handle)
        handle.close()


@pytest.mark.parametrize("part", ["", "queue"])
def test_a_store_whose_folder_is_moved_stops_its_writer(tmp_path, part):
    """A writer whose store, or its queue, is moved away acknowledges nothing more; the store goes on where it is."""
    root = tmp_path / "store"
    log = open_log(root, indexes=())
    ids = [append(log, b"event").id]
    (root / part).rename(tmp_path / "moved")
    with pytest.raises(StoreReplaced, match="open the store where it is now"):
        append(log, b"not acknowledged")
    log.close()
    again = open_log(root if part else tmp_path / "moved", indexes=())
    assert assert_accounted(again, ids) == set()
    append(again, b"next")
    assert_whole(again)
    again.close()


# rollbacks, copies, moves ----------------------------------------------------------------------------


@pytest.fixture
def heads(tmp_path) -> Path:
    return tmp_path / "state" / "firsthand" / "heads"


def rolled_back(root: Path, heads: Path, events: int = 5, more: int = 3) -> list[str]:
    """Make a store, and put an older copy of its whole folder in its place; give the ids of all its events."""
    log = open_log(root, heads=heads, indexes=())
    ids = [append(log, b"event %d" % number).id for number in range(events)]
    log.close()
    shutil.copytree(root, root.with_name("older"))
    log = open_log(root, heads=heads, indexes=())
    ids += [append(log, b"more %d" % number).id for number in range(more)]
    log.close()
    shutil.rmtree(root)
    root.with_name("older").rename(root)
    return ids


def test_a_rollback_of_the_whole_folder_is_noticed(tmp_path, heads):
    """An older copy in the place of a store is named by verify, and what is missing is recorded by the next writer."""
    root = tmp_path / "store"
    ids = rolled_back(root, heads)
    reader = open_log(root, heads=heads, read_only=True, indexes=())
    assert [str(problem) for problem in reader.verify().problems] == [
        "mark: 3 acknowledged events of namespace x are missing: positions 6 to 8"
    ]
    reader.close()
    log = open_log(root, heads=heads, indexes=())
    assert assert_accounted(log, ids) == {6, 7, 8}
    assert append(log, b"next").position == 10
    assert_whole(log)
    log.close()


def test_a_rollback_that_was_written_to_is_noticed(tmp_path, heads):
    """An older copy that grew past the mark elsewhere, unmarked, is named: its history is not the acknowledged one."""
    root = tmp_path / "store"
    rolled_back(root, heads)
    elsewhere = open_log(root, indexes=())  # a process of another user: without the heads of this one
    for number in range(6):
        append(elsewhere, b"other %d" % number)
    elsewhere.close()
    log = open_log(root, heads=heads, read_only=True, indexes=())
    assert [problem.where for problem in log.verify().problems] == ["mark"]
    assert "up to position 8 is not the one that was acknowledged" in str(log.verify().problems[0])
    log.close()


def test_a_backup_restored_on_purpose_is_accepted(tmp_path, heads):
    """After `accept_head` on a store that is opened for it, nothing is missing and positions go on from there."""
    root = tmp_path / "store"
    rolled_back(root, heads)
    log = Log(root, heads=heads, mend=False)
    (lack,) = log.accept_head()
    assert (lack.namespace, lack.loss.missing) == ("x", (range(6, 9),))
    assert assert_whole(log).losses == ()
    assert append(log, b"next").position == 6
    assert assert_whole(log).losses == ()
    log.close()
    again = open_log(root, heads=heads, indexes=())
    assert assert_whole(again).losses == ()
    again.close()


def test_a_copy_raises_no_alarm(tmp_path, heads):
    """A copy of a store that goes on being written to is a store of its own, and neither changes the other's marks."""
    log = open_log(tmp_path / "store", heads=heads, indexes=())
    append(log, b"event")
    shutil.copytree(log.root, tmp_path / "copy")
    append(log, b"more")
    shutil.copy(log.root / MARK_FILE, tmp_path / "copy" / MARK_FILE)  # copied last, as `cp -r` may
    reader = open_log(tmp_path / "copy", heads=heads, read_only=True, indexes=())
    verified = assert_whole(reader)
    assert [note for note in verified.notes if "copy" in note]
    reader.close()
    copy = open_log(tmp_path / "copy", heads=heads, indexes=())
    append(copy, b"another")
    assert copy.verify().losses == log.verify().losses == ()
    assert_whole(copy)
    assert_whole(log)
    for each in (log, copy):
        each.close()


def test_a_store_that_was_removed_is_named_where_a_new_one_begins(tmp_path, heads):
    """A new store at the path of one that is gone says so, on open, by verify and doctor, until that is accepted."""
    root = tmp_path / "store"
    log = open_log(root, heads=heads, indexes=())
    assert (append(log, b"event").position, log.earlier) == (1, ())
    log.close()
    shutil.rmtree(root)
    log = open_log(root, heads=heads, indexes=())
    (earlier,) = log.earlier
    assert str(earlier).startswith(f"another store was at {root} before this one, and is gone with its 1 events in 1 ")
    append(log, b"anew")
    assert assert_whole(log).notes == log.compared().notes == (str(earlier),)
    log.close()
    log = open_log(root, heads=heads, indexes=())
    assert (log.earlier, log.accept_head()) == ((), ())
    assert assert_whole(log).notes == log.compared().notes == ()
    log.close()
    log = open_log(root.rename(tmp_path / "moved"), heads=heads, indexes=())  # it is gone from there, and not lost
    append(log, b"moved")
    log.close()
    log = open_log(root, heads=heads, indexes=())
    assert log.earlier == assert_whole(log).notes == ()
    log.close()


def test_one_append_in_many_namespaces_is_compared(tmp_path, heads):
    """A namespace whose mark is ahead is mended at its first use, though the last commit was another's."""
    root = tmp_path / "store"
    log = open_log(root, heads=heads, indexes=())
    for number in range(3):
        append(log, b"event %d" % number, namespace="x")
        append(log, b"event %d" % number, namespace="y")
    log.close()
    log = open_log(root, heads=heads, indexes=())
    log._marks.keep([log._marks.of(1)[0].__class__(1, 7, bytes(32)), *log._marks.of(2)])
    log.close()
    again = open_log(root, heads=heads, indexes=())
    assert [problem.where for problem in again.verify().problems] == ["mark"]
    assert append(again, b"next", namespace="x").position == 9
    assert append(again, b"next", namespace="y").position == 4
    verified = assert_whole(again)
    assert [(loss.namespace, loss.missing) for loss in verified.losses] == [("x", (range(4, 8),))]
    again.close()


def test_memory_keeps_heads_in_the_state_directory(tmp_path, monkeypatch):
    """A store that is opened as people open it is marked in the user's state directory too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        memory.session("s").user("hello")
        assert memory.verify().ok
    (file,) = (tmp_path / "state" / "firsthand" / "heads").iterdir()
    assert file.name.endswith(f".{MARK_FILE}")


@pytest.mark.parametrize("how", ["unlink", "replace", "write"])
@pytest.mark.parametrize("name", [DATABASE_FILE, WAL])
def test_a_file_that_changes_within_an_append(tmp_path, name, how):
    """A file that is removed, replaced or written into while an append is at work: nothing is falsely acknowledged."""
    root = tmp_path / "store"

    def clock():
        if armed:
            armed.clear()
            data = (root / name).read_bytes()
            if how == "write":
                flip(root / name, len(data) // 2)
                return moment.now()
            (root / name).unlink()
            if how == "replace":
                (root / name).write_bytes(data)
        return moment.now()

    armed: list[bool] = []
    log = open_log(root, indexes=(), clock=clock)
    ids = [append(log, b"event %d" % number).id for number in range(6)]
    armed.append(True)
    try:
        ids.append(append(log, b"perhaps").id)
        assert how == "write"
    except StoreReplaced:
        assert how != "write"
    with suppress(StoreError):
        log.close()
    try:
        again = open_log(root, indexes=())
    except StoreError:
        return  # it says what is wrong, and acknowledges nothing
    named = [*again.verify().problems, *again.verify().losses]
    there = {event.id for event in again.reader.events("x", damaged=lambda *_: None)}
    assert set(ids) <= there or named
    again.close()


def test_a_flip_in_any_file_of_a_store_is_named_or_irrelevant(tmp_path):
    """Over database, WAL, artifacts, marks and side files as one unit: a flip is said, or the store says the same."""
    original, heads = tmp_path / "store", tmp_path / "heads"

    def work() -> None:
        log = open_log(original, indexes=(), inline_max=500, heads=heads)
        for number in range(8):
            append(log, b"event %d" % number, session=f"s{number % 2}")
        append(log, os.urandom(3_000))

    in_a_killed_process(work)
    (original / f"{DATABASE_FILE}-shm").unlink()
    whole = open_log(original, read_only=True, indexes=(), heads=heads)
    wanted = [(event.id, whole.reader.content(event)) for event in whole.reader.events("x")]
    assert whole.verify().problems == ()
    whole.close()
    kept = tmp_path / "kept"
    shutil.copytree(original, kept)
    named = 0
    files = sorted(path.relative_to(kept) for path in kept.rglob("*") if path.is_file() and path.stat().st_size)
    assert len(files) >= 4
    for file in files:
        size = (kept / file).stat().st_size
        for place in range(0, size, 1 if SOAK else max(1, size // 12)):
            for path in original.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.copytree(kept, original, dirs_exist_ok=True)
            flip(original / file, place, place % 8)
            try:
                log = open_log(original, read_only=True, indexes=(), heads=heads)
            except StoreError:
                named += 1
                continue
            verified = log.verify()
            said = [*verified.problems, *verified.notes, *verified.losses]
            named += bool(said)
            if not said:
                events = [(event.id, log.reader.content(event)) for event in log.reader.events("x")]
                assert events == wanted, (file, place)
            log.close()
    assert named > 20
