"""Every byte cut off and every bit flipped in the files of a small store: found and named, or without any effect."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from firsthand.errors import StoreDamaged, StoreError
from firsthand.event import Draft, Kind
from firsthand.log.sqlite.schema import DATABASE_FILE
from stores import SOAK, index_problems, open_log

BITS = range(8) if SOAK else (None,)
LARGE = b"".join(b"line %d of a result\n" % number for number in range(150))


def make(root: Path) -> None:
    """Make a small store with small pages: events, a record, an artifact, an erased event."""
    log = open_log(root, inline_max=1_000, indexes=())
    for number in range(6):
        log.append([Draft(Kind.NOTE, b"event %d" % number, agent="a")], namespace="default", session=f"s{number % 2}")
    log.append([Draft(Kind.TOOL_RESULT, LARGE, meta={"tool": "t"})], namespace="default", session="s0")
    log.erase("default", [next(log.reader.events("default")).id])
    log.close()


def said(root: Path) -> tuple[bytes, list[bytes | None]]:
    """Give what a store tells: its export without the line on the store itself, and the bytes of each event."""
    log = open_log(root, read_only=True, indexes=())
    try:
        out = io.BytesIO()
        log.export(out)
        contents = [None if e.erased else log.reader.content(e) for e in log.reader.events("default")]
        return out.getvalue().split(b"\n", 1)[1], contents
    finally:
        log.close()


def noticed(root: Path) -> bool:
    """Say whether opening or verifying names the damage; then every event that is given is still a right one."""
    try:
        log = open_log(root, read_only=True, indexes=())
    except StoreError:
        return True
    try:
        return not log.verify().ok
    except StoreError:
        return True
    finally:
        log.close()


def good_events(root: Path, contents: list[bytes | None]) -> int:
    """Read each event by itself: it is right, or refused with its reason. Say how many were right."""
    try:
        log = open_log(root, read_only=True, indexes=())
    except StoreError:
        return 0
    right = 0
    try:
        for position, content in enumerate(contents, 1):
            try:
                event = log.reader.event_at("default", position)
                if event is None:
                    continue
                assert event.position == position
                assert event.erased or log.reader.content(event) == content
                right += 1
            except StoreError:
                continue
    finally:
        log.close()
    return right


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    root = tmp_path_factory.mktemp("small") / "store"
    make(root)
    return root, *said(root)


def copied(root: Path, target: Path) -> Path:
    shutil.copytree(root, target, ignore=shutil.ignore_patterns("*-shm", "queue", "lock"))
    return target


def assert_noticed_or_harmless(
    root: Path, name: str, export: bytes, contents: list[bytes | None], what: object
) -> bool:
    """Assert that damage is reported, or that the store says exactly what it said before; say which."""
    if noticed(root):
        good_events(root, contents)
        return True
    assert said(root) == (export, contents), f"{name} {what}"
    return False


@pytest.mark.parametrize("part", range(4))
def test_every_flipped_bit_is_noticed_or_harmless(small, tmp_path, part):
    """One flipped bit anywhere in the database: reported by name, or the store tells the same as before."""
    original, export, contents = small
    root = copied(original, tmp_path / "store")
    file = root / DATABASE_FILE
    good = file.read_bytes()
    found = 0
    places = range(part, len(good), 4 if SOAK else 20)  # the long form flips each of them
    for at in places:
        if not SOAK and not good[at] and not any(good[max(0, at - 40) : at + 40]):
            continue  # in the middle of free space
        for bit in BITS:
            flipped = bytearray(good)
            flipped[at] ^= 1 << (at * 7 % 8 if bit is None else bit)
            file.write_bytes(flipped)
            found += assert_noticed_or_harmless(root, DATABASE_FILE, export, contents, (at, bit))
            for left in root.glob(f"{DATABASE_FILE}-*"):
                left.unlink()
    assert found > 50


def test_every_flipped_bit_of_an_artifact_is_noticed(small, tmp_path):
    """One flipped bit anywhere in an artifact's file is reported; its bytes are refused, all other events are given."""
    original, _, contents = small
    root = copied(original, tmp_path / "store")
    (file,) = (root / "artifacts").rglob("*.zst")
    good = file.read_bytes()
    for at in range(len(good)):
        for bit in range(8) if SOAK else (at % 8,):
            flipped = bytearray(good)
            flipped[at] ^= 1 << bit
            file.write_bytes(flipped)
            log = open_log(root, read_only=True, indexes=())
            assert [problem.where for problem in log.verify().problems] == ["artifact"], (at, bit)
            assert good_events(root, contents) >= len(contents) - 1
            log.close()
    file.unlink()
    log = open_log(root, read_only=True, indexes=())
    assert "missing" in str(log.verify().problems[0])
    with pytest.raises(StoreDamaged):
        log.reader.content(log.reader.event_at("default", 7))
    log.close()


@pytest.mark.parametrize("name", [DATABASE_FILE, f"{DATABASE_FILE}-wal", "artifact"])
def test_every_cut_is_noticed_or_older(small, tmp_path, name):
    """A file cut at any byte: reported, or (a WAL) the store as it was earlier, which a kept head convicts."""
    original, export, contents = small
    if name.endswith("-wal"):
        root = tmp_path / "live"
        log = open_log(root, indexes=())
        for number in range(5):
            log.append([Draft(Kind.NOTE, b"event %d" % number)], namespace="default", session="s")
        head = log.verify().head
        live = copied(root, tmp_path / "copy")
        log.close()
        root, file = live, live / name
        before = (root / DATABASE_FILE).read_bytes()
    else:
        root, head = copied(original, tmp_path / "store"), ""
        file = root / DATABASE_FILE if name == DATABASE_FILE else next((root / "artifacts").rglob("*.zst"))
    good = file.read_bytes()
    step = max(1, len(good) // (4_000 if SOAK else 150))
    for length in [*range(0, len(good), step), len(good) - 1]:
        file.write_bytes(good[:length])
        if not head:
            assert_noticed_or_harmless(root, name, export, contents, length)
        else:
            cut = open_log(root, indexes=())
            assert cut.verify().ok
            kept = [event.content for event in cut.reader.events("default")]
            assert kept == [b"event %d" % number for number in range(len(kept))]
            assert cut.verify(heads=[head]).ok == (len(kept) == 5)
            cut.close()
            (root / DATABASE_FILE).write_bytes(before)
        for left in root.glob(f"{DATABASE_FILE}-*"):
            left.unlink()
    if name == DATABASE_FILE:
        file.write_bytes(b"")
        with pytest.raises(StoreError):
            open_log(root, read_only=True).reader.head("default")


def test_good_events_stay_readable_beside_a_damaged_one(tmp_path):
    """With one event's bytes flipped, exactly that event is refused and named; every other is given and verified."""
    log = open_log(tmp_path / "store")
    needles = [bytes((65 + number,)) * 4 + bytes(range(number, number + 60)) for number in range(12)]
    for needle in needles:
        log.append([Draft(Kind.NOTE, needle)], namespace="default", session="s")
    log.close()
    file = tmp_path / "store" / DATABASE_FILE
    good = file.read_bytes()
    for number, needle in enumerate(needles, 1):
        at = good.rindex(needle[4:]) + 20
        file.write_bytes(good[:at] + bytes((good[at] ^ 1,)) + good[at + 1 :])
        damaged = open_log(tmp_path / "store", read_only=True)
        verified = damaged.verify()
        assert [(problem.where, problem.position) for problem in verified.problems] == [("event", number)]
        assert verified.events == 11
        for position in range(1, 13):
            if position == number:
                with pytest.raises(StoreDamaged, match=f"position {number}"):
                    damaged.reader.event_at("default", position)
            else:
                assert damaged.reader.event_at("default", position).content == needles[position - 1]
        damaged.close()
    file.write_bytes(good)


def test_a_removed_row_is_named(tmp_path):
    """Rows changed or removed behind the library's back are named: an event, a session, a name, the head, a use."""
    changes = {
        "DELETE FROM event WHERE key = 3": ("event", 3),
        "DELETE FROM event WHERE key = 6": ("head", 5),
        "UPDATE event SET turn = 5 WHERE key = 2": ("event", 2),
        "UPDATE event SET time = 1, time_offset = 0 WHERE key = 2": ("event", 2),
        "UPDATE event SET salt = NULL, body = NULL WHERE key = 4": ("event", 4),
        "UPDATE event SET key = 1099511627775 WHERE key = 4": ("event", 4),
        "UPDATE event SET session = 99 WHERE key = 4": ("event", 4),
        "UPDATE session SET length = 9": ("session", 6),
        "UPDATE session SET head = zeroblob(32)": ("session", 6),
        "UPDATE name SET text = 'else' WHERE text = 'agent'": ("event", 1),
        "UPDATE namespace SET name = 'else'": ("event", 1),
        "UPDATE namespace SET head = zeroblob(32)": ("head", 6),
        "UPDATE namespace SET head_position = 1099511627775": ("event", 7),
        "UPDATE namespace SET head = 'x'": ("head", 0),
        "DELETE FROM artifact_use": ("artifact", 6),
        "UPDATE artifact_use SET position = 2": ("artifact", 6),
    }
    log = open_log(tmp_path / "good", inline_max=1_000)
    for number in range(5):
        log.append([Draft(Kind.NOTE, b"%d" % number, agent="agent")], namespace="default", session="s")
    log.append([Draft(Kind.NOTE, LARGE, agent="agent")], namespace="default", session="s")
    log.close()
    for number, (sql, expected) in enumerate(changes.items()):
        root = copied(tmp_path / "good", tmp_path / str(number))
        damaged = open_log(root)
        damaged.writer.execute(sql).fetchall()
        found = damaged.verify()
        assert expected in {(problem.where, problem.position) for problem in found.problems}, sql
        damaged.close()


def test_edited_index_rows_are_found(tmp_path):
    """Rows removed from the text index are found by counting."""
    log = open_log(tmp_path / "store")
    for number in range(5):
        log.append([Draft(Kind.NOTE, b"word%d" % number)], namespace="default", session="s")
    log.rebuild()
    assert index_problems(log) == []
    log.writer.execute("DELETE FROM text_1 WHERE rowid = 2")
    assert index_problems(log) != []
    log.rebuild()
    assert index_problems(log) == []
    log.close()
