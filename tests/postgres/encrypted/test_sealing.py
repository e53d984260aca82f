"""A store whose content is encrypted: every promise of the log, and what can be read without a key."""

from __future__ import annotations

import io
import shutil
import stat
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from log_suite import NAMESPACE, LogSuite, user
from postgres_server import OWNER
from sealed_stores import events_of, exported, key_file, remember

from firsthand import Memory
from firsthand.cli.cli import main
from firsthand.errors import InvalidArgument, KeyMissing, StoreDamaged, StoreError
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.postgres.keys import KeyRing
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.seal import _KEY_LOCK
from firsthand.log.restore import restore
from firsthand.log.sqlite.log import Log


class TestEncrypted(LogSuite):
    """Every promise of the log holds."""


def test_an_export_is_the_one_of_a_plain_store(log, tmp_path) -> None:
    """The same events in a folder and in an encrypted store have the same heads, and the same export, byte for byte."""
    plain = Log(tmp_path / "plain", heads=None)
    plain.append([user("one"), Draft(Kind.TOOL_RESULT, b"payload" * 9_000)], namespace=NAMESPACE, session="s")
    plain.append([user("two", meta={"a": 1})], namespace=NAMESPACE, session="t")
    restore(log, io.BytesIO(exported(plain)))
    assert exported(log).split(b"\n", 1)[1] == exported(plain).split(b"\n", 1)[1]
    assert log.reader.head(NAMESPACE) == plain.reader.head(NAMESPACE)
    assert plain.verify().ok
    plain.close()


def test_without_the_key_the_chain_is_checked_and_words_say_what_is_not(log, again, keys, tmp_path) -> None:
    """Reads and appends name the key and where it was looked for; verify gives the head, and what it left out."""
    log.append([user("one"), user("two")], namespace=NAMESPACE, session="s")
    log.append([user("theirs")], namespace="other", session="s")
    head = log.verify(namespace=NAMESPACE).head
    shutil.copytree(keys, tmp_path / "moved")
    key_file(tmp_path / "moved", log).unlink()
    without = again(str(tmp_path / "moved"))
    where = str(key_file(tmp_path / "moved", log))
    for attempt in (
        lambda: list(without.reader.events(NAMESPACE)),
        lambda: without.append([user("three")], namespace=NAMESPACE, session="s"),
        lambda: exported(without),
    ):
        with pytest.raises(KeyMissing, match=where):
            attempt()
    verified = without.verify(namespace=NAMESPACE, heads=[head])
    assert (verified.ok, verified.head) == (True, head)
    assert "not the contents of 2 events" in verified.notes[0]
    assert where in verified.notes[0]
    assert events_of(without, "other") == [b"theirs"]
    assert [each.events for each in without.reader.sessions(NAMESPACE)] == [2]
    with pytest.raises(KeyMissing, match="FIRSTHAND_KEYS"):
        events_of(again(""))


def test_a_machine_without_keys_verifies_what_it_can(
    log, again, as_owner, server, database, keys, tmp_path, monkeypatch
):
    """Where the replica lacks events that this machine cannot read, chain, head and payloads' places are checked."""
    for name in ("CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    address = f"postgresql://application@/{database}?host={server.folder}"
    log.append([user("one")], namespace=NAMESPACE, session="s")
    monkeypatch.setenv("FIRSTHAND_KEYS", str(keys))
    with Memory(address, namespace=NAMESPACE, embedder="none") as memory:
        assert memory.verify().notes == ()
    log.append([Draft(Kind.TOOL_RESULT, b"x" * 20_000)], namespace=NAMESPACE, session="s")
    monkeypatch.setenv("FIRSTHAND_KEYS", str(tmp_path / "none"))
    with Memory(address, namespace=NAMESPACE, embedder="none") as memory:
        verified = memory.verify()
        assert (verified.ok, verified.head) == (True, log.verify(namespace=NAMESPACE).head)
        assert "not the contents of 2 events" in verified.notes[0]
        assert "replica holds the store up to position 1, and not what came after it" in verified.notes[-1]
        as_owner("ALTER TABLE artifact RENAME TO elsewhere; CREATE TABLE artifact (LIKE elsewhere); "
                 "GRANT SELECT ON artifact TO firsthand_application")  # fmt: skip
        assert "is missing" in memory.verify().problems[0].what
        as_owner("DROP TABLE artifact; ALTER TABLE elsewhere RENAME TO artifact")


def test_a_chain_that_was_changed_is_seen_without_the_key(log, again, as_owner, tmp_path) -> None:
    """Verification without keys names an event whose header is not what was written."""
    log.append([user("one"), user("two")], namespace=NAMESPACE, session="s")
    as_owner("UPDATE event SET agent = 'mallory' WHERE position = 1")
    assert [problem.position for problem in again(str(tmp_path / "none")).verify(namespace=NAMESPACE).problems] == [1]
    as_owner("UPDATE event SET agent = '' WHERE position = 1")


def test_ciphertexts_cannot_be_swapped(log, as_owner) -> None:
    """A body or a piece that was moved to another event, or another payload, is named as damaged."""
    log.append([user("yes"), user("no ")], namespace=NAMESPACE, session="s")
    for letter in b"ab":
        log.append([Draft(Kind.TOOL_RESULT, bytes([letter]) * 20_000)], namespace=NAMESPACE, session="s")

    def swap() -> None:
        as_owner(
            "UPDATE event SET body = other.body FROM event other "
            "WHERE event.position = 3 - other.position AND event.position < 3"
        )
        as_owner("UPDATE artifact SET bytes = other.bytes FROM artifact other WHERE artifact.digest <> other.digest")

    swap()
    with pytest.raises(StoreDamaged, match="not the one that was written"):
        log.reader.event_at(NAMESPACE, 1)
    with pytest.raises(StoreDamaged, match="not what was written"):
        log.reader.content(log.reader.event_at(NAMESPACE, 3))
    damaged: list[int] = []
    others = log.reader.events(NAMESPACE, damaged=lambda position, _: damaged.append(position))
    assert ([event.position for event in others], damaged) == ([3, 4], [1, 2])
    places = [(problem.where, problem.position) for problem in log.verify(namespace=NAMESPACE).problems]
    assert sorted(places) == [("artifact", 3), ("artifact", 4), ("event", 1), ("event", 2)]
    swap()


def test_an_erasure_that_is_restored_forgets_keys(log, again, tmp_path) -> None:
    """Events that came from elsewhere, and the erasure that names them later: their keys are forgotten with it."""
    folder = Log(tmp_path / "folder", heads=None)
    (appended,) = folder.append([user("secret")], namespace=NAMESPACE, session="s")
    restore(log, io.BytesIO(exported(folder)))
    leaf = (2 << 40) | 1
    assert log.seal._ring(log.namespace_key(NAMESPACE)).trees[-1].key(leaf) is not None
    folder.erase(NAMESPACE, [appended.id])
    restore(log, io.BytesIO(exported(folder)))
    assert events_of(log)[0] is None
    assert again().seal._ring(log.namespace_key(NAMESPACE)).trees[-1].key(leaf) is None
    assert folder.verify().ok
    folder.close()


def test_deleting_a_namespaces_key_erases_the_tenant(log, again, keys) -> None:
    """Without its file no handle, of before or after, reads a namespace or adds to it; the others are as they were."""
    remember(log, b"theirs", "gone")
    remember(log, b"ours")
    key_file(keys, log, "gone").unlink()
    for handle in (log, again()):
        with pytest.raises(KeyMissing):
            events_of(handle, "gone")
        with pytest.raises(KeyMissing):
            handle.append([user("more")], namespace="gone", session="s")
    assert events_of(log)[0] == b"ours"
    assert log.verify(namespace="gone").ok


def test_a_new_key_is_for_what_comes(log, again, server, database, keys, tmp_path, monkeypatch) -> None:
    """After `store new-key` all is read as before; a copy of the earlier key opens what is earlier alone."""
    log.append([user("before")], namespace=NAMESPACE, session="s")
    shutil.copytree(keys, tmp_path / "earlier")
    monkeypatch.setenv("FIRSTHAND_KEYS", str(keys))
    assert main(["store", "new-key", NAMESPACE, server.dsn(database=database)]) == 0
    log.append([user("after")], namespace=NAMESPACE, session="s")
    assert events_of(again()) == [b"before", b"after"]
    earlier = again(str(tmp_path / "earlier")).reader
    assert earlier.event_at(NAMESPACE, 1).text == "before"
    with pytest.raises(KeyMissing, match="which event fh:"):
        earlier.event_at(NAMESPACE, 2)


def test_a_missing_key_stops_its_own_namespace_alone(log, again, tmp_path) -> None:
    """Of appends that are committed together, those of a namespace whose key is missing are refused, and no others."""
    for name in ("a", "b", "c"):
        log.append([user("x")], namespace=name, session="s")
    key_file(tmp_path / "keys", log, "b").unlink()
    handle = again()

    def write(name: str) -> str:
        try:
            handle.append([user("y")], namespace=name, session="s")
        except KeyMissing:
            return "missing"
        return "written"

    with ThreadPoolExecutor(12) as pool:
        outcomes = set(zip("abcabcabcabc", pool.map(write, "abcabcabcabc"), strict=True))
    assert outcomes == {("a", "written"), ("b", "missing"), ("c", "written")}
    assert [len(events_of(log, name)) for name in "ac"] == [5, 5]


def test_keys_are_their_owners_alone(log, again, keys) -> None:
    """The file and its folder can be read by their owner; one that others can read is refused."""
    log.append([user("one")], namespace=NAMESPACE, session="s")
    file = key_file(keys, log)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    file.chmod(0o644)
    with pytest.raises(KeyMissing, match="chmod 600"):
        events_of(again())
    file.chmod(0o600)


def test_a_slow_command_ends_no_transaction(again, tmp_path, monkeypatch) -> None:
    """A program slower than a transaction may idle: keys are begun, used, renewed and forgotten all the same.

    Fails on: keys that are asked for while a head is held or a payload is put, a lock of keys that the server takes
    back meanwhile.
    """
    monkeypatch.setattr("firsthand.log.postgres.connection.HOLD_S", 0.3)
    monkeypatch.setattr("firsthand.log.postgres.keys.COMMAND_FRESH_S", 0.001)  # each look asks the program again
    program = tmp_path / "vault"
    program.write_text(
        'set -e\ncd "$(dirname "$0")"\nsleep 0.7\n'
        'if [ "$1" = read ]; then cat "$2-$3" 2>/dev/null || true; exit; fi\ncat > "$2-$3"\n',
        encoding="utf-8",
    )
    log = again(f"command:sh {program}")
    log.append([user("one")], namespace=NAMESPACE, session="s")
    (second,) = log.append([user("two")], namespace=NAMESPACE, session="s")
    again_, theirs = again(f"command:sh {program}"), [user("three", id=IdMaker()())]
    (third,) = again_.append(theirs, namespace=NAMESPACE, session="s")  # the head is another's: it is held
    assert [each.new for each in log.append(theirs, namespace=NAMESPACE, session="s")] == [False]
    log.renew_key(NAMESPACE)
    assert "are forgotten" in log.erase(NAMESPACE, [second.id]).retained
    assert [event.erased for event in again_.reader.events(NAMESPACE)] == [False, True, False, False]
    assert third.new
    log.append([Draft(Kind.TOOL_RESULT, b"payload" * 9_000)], namespace=NAMESPACE, session="s")
    assert log.verify(namespace=NAMESPACE).problems == ()


def test_a_command_keeps_keys(again, tmp_path) -> None:
    """A program keeps keys as a folder does; its refusal is in the answer, and the next erasure makes up for it."""
    program = tmp_path / "vault"
    program.write_text(
        'set -e\ncd "$(dirname "$0")"\n'
        'if [ "$1" = read ]; then cat "$2-$3" 2>/dev/null || true; exit; fi\n'
        'test ! -e sealed || { echo sealed >&2; exit 7; }\ncat > "$2-$3"\n',
        encoding="utf-8",
    )
    log = again(f"command:sh {program}")
    names = [each.id for each in log.append([user("one"), user("two")], namespace=NAMESPACE, session="s")]
    assert events_of(again(f"command:sh {program}")) == [b"one", b"two"]
    (tmp_path / "sealed").touch()
    assert "could not be forgotten" in (answer := log.erase(NAMESPACE, names[:1]).retained)
    assert "exited with 7: sealed" in answer
    assert "1 keys of erased content are not forgotten" in log.verify(namespace=NAMESPACE).notes[0]
    (tmp_path / "sealed").unlink()
    assert "are forgotten" in log.erase(NAMESPACE, names[:1]).retained
    assert log.verify(namespace=NAMESPACE).notes == ()
    with pytest.raises(KeyMissing, match="exited with 127"):
        events_of(again(f"command:sh -c 'exit 127' {program}"))


def test_a_handle_of_before_writes_no_plain_body(server, database) -> None:
    """A store is encrypted while it is empty, and a handle that was opened before cannot write past that."""
    before = PostgresLog(server.dsn(database=database))
    make(server.dsn(OWNER, database), encrypted=True)
    with pytest.raises(StoreError, match="a plain body came"):
        before.append([user("one")], namespace=NAMESPACE, session="s")
    before.close()


def test_a_store_with_events_is_not_encrypted(server, database) -> None:
    """Encrypting what holds plain events is refused, and it goes on as it was."""
    log = PostgresLog(server.dsn(database=database))
    log.append([user("one")], namespace=NAMESPACE, session="s")
    with pytest.raises(InvalidArgument, match="holds events"):
        make(server.dsn(OWNER, database), encrypted=True)
    log.append([user("two")], namespace=NAMESPACE, session="s")
    assert log.verify(namespace=NAMESPACE).ok
    log.close()


def test_many_writers_make_one_key(again) -> None:
    """Handles that meet at a new namespace write under one key."""
    handles = [again() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda log: log.append([user("x")], namespace="fresh", session="s"), handles))
    assert events_of(again(), "fresh") == [b"x"] * 4
    assert handles[0].verify(namespace="fresh").ok


def test_a_namespace_that_was_limited_first_gets_its_key(log, as_owner) -> None:
    """A namespace whose limit was set before its first event is encrypted as any other."""
    as_owner(
        "INSERT INTO namespace (namespace, name, position, head, events_max) "
        f"VALUES ({number_of(NAMESPACE)}, '{NAMESPACE}', 0, decode(repeat('00', 32), 'hex'), 10)"
    )
    log.append([user("one")], namespace=NAMESPACE, session="s")
    assert events_of(log) == [b"one"]


def test_a_ring_is_read_once_nobody_else_changes_it(log, keys, server, database) -> None:
    """Who renews a key while another changes the ring waits for that change, and loses nothing of it.

    Fails on: a lock that a pipeline only queues, so that the ring is read and written before it is had.
    """
    log.append([user("one")], namespace=NAMESPACE, session="s")
    key, file = number_of(NAMESPACE), key_file(keys, log)
    with ThreadPoolExecutor() as threads, psycopg.connect(server.dsn(database=database)) as db:
        db.execute("SELECT pg_advisory_xact_lock(%s)", (key ^ _KEY_LOCK,))
        renewing = threads.submit(log.seal.renew, key)
        waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while db.execute(waits).fetchone() is None:
            assert not renewing.done()
            time.sleep(0.01)
        ring = KeyRing.decode(file.read_bytes(), "a test")
        ring.renew()
        file.write_bytes(ring.encode())
        db.commit()
        renewed = renewing.result(30)
    identities = [tree.identity for tree in KeyRing.decode(file.read_bytes(), "a test").trees]
    assert identities == [*(tree.identity for tree in ring.trees), renewed.trees[-1].identity]
    assert len(identities) == 3
