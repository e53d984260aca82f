"""Disks that are full, folders that cannot be written, and files of another version of the library."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from firsthand.errors import NotAStore, StoreFailed, StoreFull, StoreNewer, StoreReadOnly
from firsthand.event import Draft, Kind
from firsthand.log.results import Appended
from firsthand.log.sqlite import schema
from firsthand.log.sqlite.schema import DATABASE_FILE
from stores import assert_whole, open_log, quick_folder

HERE = Path(__file__).parent


def note(content: bytes) -> list[Draft]:
    return [Draft(Kind.NOTE, content)]


def append(log, content: bytes, namespace: str = "default"):
    return log.append(note(content), namespace=namespace, session="s")[0]


def in_a_child(code: str, *arguments: object) -> str:
    """Run code in a process of its own and give what it printed."""
    script = f"import sys; sys.path[:0] = {[str(HERE.parent), str(HERE)]!r}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def fingerprint(root: Path) -> dict[str, str]:
    """Give the hash of each file that holds the truth."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal", ".slot")) and path.name != "lock"
    }


FILL = """
import os, random, resource, signal
from pathlib import Path
from stores import open_log, assert_whole
from firsthand.errors import StoreFull
from firsthand.event import Draft, Kind
root, artifacts = Path(sys.argv[1]), sys.argv[2] == "artifacts"
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = open_log(root)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
told, full = [], 0
for number in range(400):
    size = 700_000 if artifacts and number % 7 == 3 else 9_000
    content = random.Random(number).randbytes(size)
    try:
        told.append((log.append([Draft(Kind.NOTE, content)], namespace="default", session="s")[0], content))
    except StoreFull:
        full += 1
        if full > 3: break
assert full > 3, full
for one, content in told:
    assert log.reader.content(log.reader.event("default", one.id)) == content
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
log.append([Draft(Kind.NOTE, b"there is space again")], namespace="default", session="s")
assert_whole(log)
log.close()
print(len(told))
"""


@pytest.mark.parametrize("what", ["events", "artifacts"])
def test_a_file_size_limit_is_a_full_store(tmp_path, what):
    """At a file size limit appends fail as `StoreFull`, earlier events are readable, and with space it goes on."""
    assert int(in_a_child(FILL, tmp_path / "store", what)) > 3


def test_a_full_disk(tmp_path):
    """On a full disk appends fail as `StoreFull`, earlier events are readable, and with space it goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk], check=False, capture_output=True
    )
    if os.geteuid() != 0 or not mounted or mounted.returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        (disk / "ballast").write_bytes(bytes(1_000_000))
        log = open_log(disk / "store")
        told: list[tuple[Appended, bytes]] = []
        with pytest.raises(StoreFull):  # noqa: PT012 - which append it is depends on the file system
            while len(told) < 1_000:
                content = os.urandom(12_000)
                told.append((append(log, content), content))
        with pytest.raises(StoreFull):
            append(log, os.urandom(900_000))
        for one, content in told:
            assert log.reader.content(log.reader.event("default", one.id)) == content
        (disk / "ballast").unlink()
        append(log, b"there is space again")
        assert_whole(log)
        log.close()
    finally:
        subprocess.run(["umount", disk], check=True)


def as_another_user(action: Callable[[], object]) -> str:
    """Do something in a forked child without root's rights, and say what it gave, or how it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            said = repr(action())
        except BaseException as error:  # noqa: BLE001 - the child must end here whatever comes
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that another user can come to, as those of pytest are not."""
    with quick_folder() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("closed", [True, False])
def test_a_read_only_folder(reachable, closed):
    """A store in a folder that cannot be written opens for reading, and every write is `StoreReadOnly`."""
    root = reachable / "store"
    log = open_log(root)
    append(log, b"to be read")
    assert_whole(log)
    if closed:
        log.close()
    before = fingerprint(root)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)

    def read() -> list[object]:
        said: list[object] = []
        reader = open_log(root, read_only=True)
        said += [event.content for event in reader.reader.events("default")]
        for attempt in (lambda: append(reader, b"x"), lambda: open_log(root)):
            try:
                attempt()
            except StoreReadOnly:
                said.append("refused")
        said.append(assert_whole(reader).events)
        reader.close()
        return said

    assert as_another_user(read) == repr([b"to be read", "refused", "refused", 1])
    assert fingerprint(root) == before
    for path in [root, *root.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    log.close()


def test_opened_for_reading_only_refuses_every_write(tmp_path):
    """A handle opened with ``read_only`` refuses every verb that writes and leaves every file as it was."""
    root = tmp_path / "store"
    log = open_log(root)
    one = append(log, b"to be read")
    log.close()
    before = fingerprint(root)
    reader = open_log(root, read_only=True)
    for attempt in (
        lambda: append(reader, b"x"),
        lambda: append(reader, b"x", "another"),
        lambda: reader.append_group([], namespace="default"),
        lambda: reader.erase("default", [one.id]),
        lambda: reader.submit(()),
        reader.rebuild,
        lambda: reader.writer,
    ):
        with pytest.raises(StoreReadOnly, match="without read_only"):
            attempt()
    assert reader.reader.event("default", one.id).content == b"to be read"
    assert_whole(reader)
    reader.close()
    assert fingerprint(root) == before


def test_reading_where_there_is_no_store(tmp_path):
    """Opening for reading never makes a store; it says that there is none, and how to make one."""
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(NotAStore, match="there is no store"):
            open_log(missing, read_only=True)
    with pytest.raises(NotAStore, match="there is no store"):
        open_log(tmp_path / "none", create=False)
    assert list(tmp_path.iterdir()) == []


# versions ------------------------------------------------------------------------------------------


def aged(root: Path, reader_min: int) -> str:
    """Make a store look as if a newer version had written it, and give the id of its event."""
    log = open_log(root)
    one = append(log, b"from the future")
    log.writer.execute("UPDATE store SET value = ? WHERE key = 'reader_min'", (reader_min,))
    log.writer.pragma("user_version", schema.VERSION + 1)
    log.close()
    return one.id


def test_a_newer_store_that_says_so_is_read_and_never_written(tmp_path):
    """A store of a newer version that this one may read opens for reading; no byte of it changes."""
    root = tmp_path / "store"
    identifier = aged(root, schema.VERSION)
    before = fingerprint(root)
    log = open_log(root)
    assert (log.read_only, log.newer) == (True, True)
    assert log.reader.event("default", identifier).content == b"from the future"
    for attempt in (lambda: append(log, b"x"), lambda: log.erase("default", [identifier]), log.rebuild):
        with pytest.raises(StoreNewer, match="Upgrade"):
            attempt()
    log.close()
    assert fingerprint(root) == before


def test_a_newer_store_that_cannot_be_read_is_refused(tmp_path):
    """A store that says that this version cannot read it is refused with a hint, and no byte of it changes."""
    root = tmp_path / "store"
    aged(root, schema.VERSION + 1)
    before = fingerprint(root)
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreNewer, match="export"):
            open_log(root, **options)
    assert fingerprint(root) == before


def test_a_migration_cut_short_leaves_the_old_store(tmp_path, monkeypatch):
    """A step that fails in its middle leaves the version before it, whole; the next opening takes the step."""
    root = tmp_path / "store"
    log = open_log(root)
    one = append(log, b"before the step")
    log.close()

    def step(db: apsw.Connection) -> None:
        db.execute("CREATE TABLE added (a)")
        db.execute("UPDATE session SET turn = 99")
        if fail:
            raise apsw.FullError("no space in the middle of the step")

    monkeypatch.setitem(schema.MIGRATIONS, schema.VERSION + 1, step)
    newer = schema.VERSION + 1
    for module in (schema, sys.modules["firsthand.log.sqlite.log"]):
        monkeypatch.setattr(module, "VERSION", newer)
    fail = True
    with pytest.raises(StoreFull):
        open_log(root)
    db = apsw.Connection(str(root / DATABASE_FILE))
    assert db.pragma("user_version") == newer - 1
    assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'added'").get == 0
    assert db.execute("SELECT turn FROM session").get == 0
    db.close()
    fail = False
    log = open_log(root)
    assert log.writer.pragma("user_version") == newer
    assert log.writer.execute("SELECT count(*) FROM added").get == 0
    assert log.reader.event("default", one.id).content == b"before the step"
    log.close()


# what is no store ----------------------------------------------------------------------------------


def test_what_is_no_store_is_left_alone(tmp_path):
    """A file, a folder with other things, another program's database or junk is refused and not touched."""
    file = tmp_path / "file"
    file.write_text("a file")
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    db = apsw.Connection(str(foreign / DATABASE_FILE))
    db.execute("CREATE TABLE t (a)")
    db.close()
    junk = tmp_path / "junk"
    junk.mkdir()
    (junk / DATABASE_FILE).write_bytes(b"no database at all" * 400)
    before = fingerprint(tmp_path)
    for root in (file, other, foreign, junk):
        for options in ({}, {"read_only": True}):
            with pytest.raises(NotAStore):
                open_log(root, **options)
    assert fingerprint(tmp_path) == before


def test_a_folder_that_everybody_may_write_is_refused(tmp_path):
    """A store in a folder that every user may write to is refused, since anybody could swap its files."""
    root = tmp_path / "store"
    open_log(root).close()
    root.chmod(0o777)
    with pytest.raises(StoreFailed, match="chmod 700"):
        open_log(root)
