"""A namespace moves between primaries while writers go on: nothing is lost, and at most one of the two takes writes."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from postgres_server import APPLICATION, OWNER

from firsthand import Memory
from firsthand.cli.cli import main
from firsthand.errors import InvalidArgument, StoreError, StoreMoved, Unresolvable
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.move import abandon, move
from firsthand.log.postgres.reader import number_of

_names = itertools.count()
STAGES = ("copied", "verified", "held", "marked", "opened", "removed")


class Primaries:
    """Primaries of one store on a server."""

    def __init__(self, server, count: int = 2, **options) -> None:
        self.names, self._server, self.opened = [f"primary{next(_names)}" for _ in range(count)], server, []
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            for name in self.names:
                db.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
        make(self.owner(0), **options)
        for number in range(1, count):
            make(self.owner(number), beside=self.owner(0))
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            db.execute(f"GRANT firsthand_application TO {APPLICATION}")

    def owner(self, number: int) -> str:
        return self._server.dsn(OWNER, self.names[number])

    def application(self, number: int) -> str:
        return self._server.dsn(database=self.names[number])

    def open(self, number: int) -> PostgresLog:
        self.opened.append(PostgresLog(self.application(number), inline_max=64))
        return self.opened[-1]

    def move(self, *numbers: int, **options):
        return move("shop", *map(self.owner, numbers or (0, 1)), **options)


@pytest.fixture
def primaries(server) -> Iterator[Primaries]:
    """Two primaries of one store."""
    made = Primaries(server)
    yield made
    for log in made.opened:
        log.close()


def append(log: PostgresLog, *texts: str, session: str = "s", namespace: str = "shop"):
    return log.append([Draft(Kind.NOTE, text.encode()) for text in texts], namespace=namespace, session=session)


def texts_of(log: PostgresLog, namespace: str = "shop") -> list[str]:
    return [log.reader.content(event).decode() for event in log.reader.events(namespace)]


def takes_writes(log: PostgresLog) -> bool:
    try:
        append(log, "is this the truth?", session="probe")
    except StoreMoved:
        return False
    return True


def test_writers_go_on_while_their_namespace_moves(primaries) -> None:
    """Eight writers that follow it: every acknowledged event is there once, in its place, and both heads were equal."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, *(f"early {number} {'x' * 90}" for number in range(300)))
    append(old, "of another tenant", namespace="other")
    finished, acknowledged, waits = threading.Event(), [], []

    def write(number: int) -> None:
        logs, made = [primaries.open(0), primaries.open(1)], IdMaker()
        for turn in itertools.count():
            if finished.is_set():
                return
            draft, begun = Draft(Kind.NOTE, f"{number}-{turn}".encode(), id=made()), time.monotonic()
            while True:
                try:
                    done = logs[0].append([draft], namespace="shop", session=f"s{number}")[0]
                    break
                except StoreMoved:
                    logs.reverse()
            waits.append(time.monotonic() - begun)
            acknowledged.append((done.position, f"{number}-{turn}"))

    with ThreadPoolExecutor(8) as pool:
        writers = [pool.submit(write, number) for number in range(8)]
        try:
            while len(acknowledged) < 80:
                time.sleep(0.01)
            before = len(acknowledged)
            done = primaries.move()
            seen = len(acknowledged)
            while len(acknowledged) < seen + 80:
                time.sleep(0.01)
        finally:
            finished.set()
        for writer in writers:
            writer.result()
    print(f"held {done.held_ms} ms; the longest append {max(waits) * 1000:.0f} ms; {seen - before} meanwhile")
    events = {event.position: event.text for event in new.reader.events("shop", after=300)}
    assert sorted(acknowledged) == sorted(events.items())
    assert new.reader.heads("shop", done.events)[1].hex() == done.head.split(":")[1]
    assert new.verify(namespace="shop", heads=[done.head]).ok
    assert seen > before
    for use in (lambda: old.reader.head("shop"), lambda: old.reader.stored("shop", 0, 1), lambda: append(old, "late"),
                lambda: old.artifacts.put(old.namespace_key("shop"), b"a large payload")):  # fmt: skip
        with pytest.raises(StoreMoved, match=f"has moved to .*{primaries.names[1]}"):
            use()
    assert texts_of(old, "other") == ["of another tenant"]
    with psycopg.connect(primaries.owner(0)) as db:
        for table in ("event", "session", "artifact", "artifact_use"):
            query = f"SELECT count(*) FROM firsthand.{table} WHERE namespace <> %s"
            others = db.execute(query, (old.namespace_key("shop"),)).fetchone()
            assert db.execute(f"SELECT count(*) FROM firsthand.{table}").fetchone() == others


def test_a_namespace_at_its_limit_comes_back(primaries) -> None:
    """What a primary counted of a namespace before does not limit the copy that comes back to it."""
    old = primaries.open(0)
    old.append([Draft(Kind.NOTE, payload := os.urandom(30_000))], namespace="shop", session="s")
    with psycopg.connect(primaries.owner(0)) as db:
        db.execute("UPDATE firsthand.namespace SET bytes_max = 40000")
    primaries.move()
    primaries.move(1, 0)
    assert [old.reader.content(event) for event in old.reader.events("shop")] == [payload]
    assert old.verify(namespace="shop").ok


def test_a_move_leaves_no_object_behind(primaries, tmp_path, monkeypatch) -> None:
    """Of a payload in an object store that primaries share, the new one's object is left; erased there, none is."""
    monkeypatch.setenv("FIRSTHAND_OBJECTS", str(tmp_path))
    old, folder = primaries.open(0), tmp_path / f"{number_of('shop'):016x}"
    (event,) = old.append([Draft(Kind.NOTE, payload := os.urandom(2_000_000))], namespace="shop", session="s")
    primaries.move()
    new = primaries.open(1)
    assert new.reader.content(next(iter(new.reader.events("shop")))) == payload
    assert len([*folder.iterdir()]) == 1
    new.erase("shop", [event.id])
    assert [*folder.iterdir()] == []
    assert new.verify(namespace="shop").notes == ()


def test_a_sweep_at_the_source_spares_the_copy(primaries, tmp_path, monkeypatch) -> None:
    """Payloads pruned at either primary while a namespace moves are none that the other one holds."""
    monkeypatch.setenv("FIRSTHAND_OBJECTS", str(tmp_path))
    old, new = primaries.open(0), primaries.open(1)
    old.append([Draft(Kind.NOTE, os.urandom(2_000_000))], namespace="shop", session="s")

    def prune(stage: str, _: int) -> None:
        for log in (old, new) if stage != "held" else ():  # it would wait for the head
            with suppress(StoreMoved):
                log.artifacts.sweep(number_of("shop"), 0)

    primaries.move(stage=prune)
    assert new.verify(namespace="shop").ok


def test_an_upload_under_way_while_its_namespace_moves_leaves_no_object(primaries, tmp_path, monkeypatch) -> None:
    """The append is told where the namespace is, and what it has uploaded is removed."""
    monkeypatch.setenv("FIRSTHAND_OBJECTS", str(tmp_path))
    old = primaries.open(0)
    append(old, "first")
    objects = old.artifacts._objects
    put = objects.put
    monkeypatch.setattr(objects, "put", lambda *args: (primaries.move(), put(*args)))
    with pytest.raises(StoreMoved):
        old.append([Draft(Kind.NOTE, os.urandom(2_000_000))], namespace="shop", session="s")
    assert [*(tmp_path / f"{number_of('shop'):016x}").iterdir()] == []
    assert primaries.open(1).verify(namespace="shop").ok


def test_primaries_of_a_service_file_are_told_apart(primaries, server, tmp_path, monkeypatch) -> None:
    """Addresses that leave host and database to a service file are moved between, and followed in the file."""
    services = tmp_path / "services"
    texts = (f"[{name}]\nhost={server.folder}\ndbname={name}\n" for name in primaries.names)
    services.write_text("".join(texts))
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    append(primaries.open(0), "an event")
    here, there = (f"service={name} user={OWNER}" for name in primaries.names)
    assert move("shop", here, there).primary.endswith(f"/{primaries.names[1]}")
    with pytest.raises(InvalidArgument, match="expected two primaries"):
        move("shop", here, primaries.owner(0))
    file = tmp_path / "primaries.json"
    dsns = {name: f"service={name} user={APPLICATION}" for name in primaries.names}
    file.write_text(json.dumps({"primaries": dsns, "buckets": {"0-4095": primaries.names[0]}}))
    with Memory(f"postgresql:///?primaries={file}", namespace="shop", embedder="none") as memory:
        assert memory.verify().ok
    assert texts_of(primaries.open(1)) == ["an event"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_move_that_is_killed_leaves_one_truth(primaries, stage) -> None:
    """Killed after any stage, at most one primary takes writes and has every event; run again, it ends."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, *(f"{number} {'x' * 90}" for number in range(70)))
    mover = os.fork()
    if not mover:
        primaries.move(stage=lambda done, _: os.kill(os.getpid(), signal.SIGKILL) if done == stage else None)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(mover, 0)[1]) == -signal.SIGKILL
    truths = [log for log in (old, new) if takes_writes(log)]
    expected = {"copied": [old], "verified": [old], "held": [old], "marked": [], "opened": [new], "removed": [new]}
    assert truths == expected[stage]
    for log in truths:
        assert len(texts_of(log)) == 71
    done = primaries.move()
    assert not takes_writes(old)
    assert takes_writes(new)
    assert texts_of(new)[:70] == [f"{number} {'x' * 90}" for number in range(70)]
    assert new.verify(namespace="shop", heads=[done.head]).ok


@pytest.mark.parametrize("stage", ["copied", "verified"])
def test_what_is_erased_while_it_moves_is_erased_there(primaries, stage) -> None:
    """An erasure between copy and switch reaches the copy, and leaves nothing of its payload at either primary."""
    old, new = primaries.open(0), primaries.open(1)
    inline, large, _ = append(old, "a secret", "a large secret" * 20, "kept")

    def erase(done: str, _: int) -> None:
        if done == stage:
            old.erase("shop", [inline.id, large.id])

    primaries.move(stage=erase)
    assert [event.erased for event in new.reader.events("shop")] == [True, True, False, False]
    assert list(new.artifacts.listing(new.namespace_key("shop"))) == []
    assert new.verify(namespace="shop").ok


def test_an_erasure_of_a_broken_off_move_is_made_up_for(primaries) -> None:
    """A copy that was killed after an erasure was copied, and before it was done there, is erased by the next run."""
    old, new = primaries.open(0), primaries.open(1)
    secret, _ = append(old, "a secret", "kept")

    def break_off(done: str, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        primaries.move(stage=break_off)
    with psycopg.connect(primaries.owner(0)) as db:  # without its record, as if that had been copied already
        db.execute("UPDATE firsthand.event SET salt = NULL, body = NULL WHERE position = 1")
    primaries.move()
    assert [event.erased for event in new.reader.events("shop")] == [True, False]
    assert secret.position == 1


def test_other_namespaces_of_a_process_go_on(primaries) -> None:
    """What is committed in one group with appends to a namespace that has moved is not refused with them."""
    old, draft = primaries.open(0), Draft(Kind.NOTE, b"early", id=IdMaker()())
    other = next(name for name in map(str, itertools.count()) if number_of(name) > number_of("shop"))  # judged after it
    for namespace in ("shop", other):
        old.append([draft], namespace=namespace, session="s")
    primaries.move()

    def write(number: int) -> str:
        try:
            old.append([draft], namespace=("shop", other)[number % 2], session="s")  # a retry, which is judged alone
        except StoreMoved:
            return "refused"
        return "taken"

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(write, range(64)))
    assert outcomes == ["refused", "taken"] * 32
    assert texts_of(old, other) == ["early"]


def test_encrypted_content_moves_with_its_keys(server, tmp_path, monkeypatch) -> None:
    """A namespace of an encrypted store is sealed at both primaries with keys of one place, erasures included."""
    monkeypatch.setenv("FIRSTHAND_KEYS", str(tmp_path / "keys"))
    primaries = Primaries(server, encrypted=True)
    old, new = primaries.open(0), primaries.open(1)
    secret, *_ = append(old, "a secret", "kept", "a large payload " * 20)
    old.erase("shop", [secret.id])
    done = primaries.move()
    late = append(new, "written there")[0]
    new.erase("shop", [late.id])
    assert [None if event.erased else new.reader.content(event) for event in new.reader.events("shop")][1:3] == [
        b"kept", b"a large payload " * 20,
    ]  # fmt: skip
    assert [event.erased for event in new.reader.events("shop")] == [True, False, False, False, True, False]
    assert new.verify(namespace="shop", heads=[done.head]).ok
    with psycopg.connect(primaries.owner(1)) as db:
        bodies = db.execute("SELECT body FROM firsthand.event WHERE body IS NOT NULL").fetchall()
        assert {body[0] for (body,) in bodies} == {3}
    for log in primaries.opened:
        log.close()


def test_it_comes_back(primaries) -> None:
    """Moved there and back, with events on each side, it is one history; the way round is refused meanwhile."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, "here")
    primaries.move()
    append(new, "there")
    with pytest.raises(InvalidArgument, match="expected two primaries"):
        move("shop", primaries.owner(1), primaries.owner(1))
    primaries.move(1, 0)
    append(old, "here again")
    assert texts_of(old) == ["here", "there", "here again"]
    assert old.verify(namespace="shop").ok
    assert not takes_writes(new)


def test_an_unfinished_copy_can_be_removed(primaries) -> None:
    """`abandon` removes a copy that was not switched, and nothing else."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, "stays")

    def break_off(done: str, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        primaries.move(stage=break_off)
    with pytest.raises(StoreMoved, match="being moved here"):
        append(new, "too early")
    assert abandon("shop", primaries.owner(0), primaries.owner(1)) == 1
    with pytest.raises(InvalidArgument, match="no unfinished copy"):
        abandon("shop", primaries.owner(0), primaries.owner(1))
    assert texts_of(old) == ["stays"]
    assert not takes_writes(new)
    assert primaries.move().events == 1
    assert texts_of(new) == ["stays"]


def test_an_abandoned_return_begins_nothing_anew(primaries) -> None:
    """Where a namespace was, and to which its return was abandoned, nobody begins another one of its name.

    Fails on: a row that is removed with the copy, so that a server with an older file appends where it was.
    """
    old, new = primaries.open(0), primaries.open(1)
    append(old, "stays")
    primaries.move()

    def break_off(done: str, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        primaries.move(1, 0, stage=break_off)
    assert abandon("shop", primaries.owner(1), primaries.owner(0)) == 1
    with pytest.raises(StoreMoved, match=f"has moved to .*{primaries.names[1]}"):
        append(old, "too late")
    assert texts_of(new) == ["stays"]


def test_it_goes_round_through_three_primaries(server) -> None:
    """Moved from a to b to c, it comes back to a, and to b, as one history.

    Fails on: a primary that takes a namespace back from where it once gave it alone.
    """
    primaries = Primaries(server, 3)
    logs = [primaries.open(number) for number in range(3)]
    append(logs[0], "at 0")
    for here, there in ((0, 1), (1, 2), (2, 0), (0, 1)):
        primaries.move(here, there)
        append(logs[there], f"at {there}")
    assert texts_of(logs[1]) == ["at 0", "at 1", "at 2", "at 0", "at 1"]
    assert logs[1].verify(namespace="shop").ok
    assert [takes_writes(log) for log in logs] == [False, True, False]
    for log in logs:
        log.close()


def test_a_target_that_the_file_does_not_name_is_refused(primaries, server, tmp_path, capsys) -> None:
    """Another spelling of a primary's address than that of the file is refused before anything is copied or marked.

    Fails on: a file that is asked after the move, with the namespace where no server looks for it.
    """
    append(primaries.open(0), "stays")
    file = tmp_path / "primaries.json"
    dsns = {name: primaries.application(number) for number, name in enumerate("ab")}
    file.write_text(json.dumps({"primaries": dsns, "buckets": {"0-4095": "a"}}), encoding="utf-8")
    line = ["store", "move", "shop", "--from", primaries.owner(0), "--primaries", str(file), "--to"]
    before, target = file.read_bytes(), primaries.owner(1)
    assert main([*line, target.replace(str(server.folder), f"{server.folder}/.")]) != 0
    assert "spelled as there" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert takes_writes(primaries.open(0))
    with psycopg.connect(target) as db:
        assert db.execute("SELECT count(*) FROM firsthand.namespace").fetchone() == (0,)
    assert main([*line, target]) == 0
    assert json.loads(file.read_bytes())["namespaces"] == {"shop": "b"}


def test_what_cannot_be_moved_is_refused_in_words(primaries, server, database) -> None:
    """Another store, another namespace of the name, and one that is not there are refused; nothing changes."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, "ours")
    with pytest.raises(InvalidArgument, match="primaries of one store"):
        move("shop", primaries.owner(0), server.dsn(OWNER, database))
    with pytest.raises(Unresolvable, match="no namespace 'absent'"):
        move("absent", primaries.owner(0), primaries.owner(1))
    append(new, "theirs")
    with pytest.raises(InvalidArgument, match="that is no copy"):
        primaries.move()
    assert (texts_of(old), texts_of(new)) == (["ours"], ["theirs"])


@pytest.mark.parametrize("stage", ["verified", "held"])
def test_a_copy_that_differs_is_not_switched(primaries, stage) -> None:
    """A byte that changed in the copy is found before the switch, and the source goes on."""
    old, new = primaries.open(0), primaries.open(1)
    append(old, "true")

    def damage(done: str, _: int) -> None:
        if done == stage:
            with psycopg.connect(primaries.owner(1)) as db:
                db.execute("UPDATE firsthand.namespace SET head = %s WHERE name = 'shop'", (bytes(31) + b"\1",))

    with pytest.raises(StoreError):
        primaries.move(stage=damage)
    assert takes_writes(old)
    assert not takes_writes(new)


def test_an_open_memory_follows_its_namespace(primaries, tmp_path, monkeypatch, capsys) -> None:
    """Handles opened before and after a move, with the file of before, write, recall and verify where it is now."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    file = tmp_path / "primaries.json"
    dsns = {name: primaries.application(number) for number, name in enumerate("ab")}
    file.write_text(json.dumps({"primaries": dsns, "buckets": {"0-4095": "a"}}), encoding="utf-8")
    address = f"postgresql:///?primaries={file}"
    with Memory(address, namespace="shop", embedder="none") as memory:
        memory.append([Draft(Kind.USER_MESSAGE, b"the kiln is in Bristol")], session="s")
        assert memory.recall("kiln").hits
        before = file.read_bytes()
        line = ["store", "move", "shop", "--from", primaries.owner(0), "--to", primaries.owner(1)]
        assert main([*line, "--primaries", str(file)]) == 0
        assert "moved shop to " in capsys.readouterr().out
        assert json.loads(file.read_bytes())["namespaces"] == {"shop": "b"}
        file.write_bytes(before)  # as on a server that does not have the new file yet
        memory.append([Draft(Kind.USER_MESSAGE, b"the kiln went to Leeds")], session="s")
        assert "the kiln went to Leeds" in str(memory.recall("kiln Leeds").hits)
        with Memory(address, namespace="shop", embedder="none") as later:
            assert [event.text for event in later.events()] == ["the kiln is in Bristol", "the kiln went to Leeds"]
            later.append([Draft(Kind.USER_MESSAGE, b"and to York")], session="s")
        assert [event.position for event in memory.events()] == [1, 2, 3]
        assert memory.verify().ok
        primaries.move(1, 0)
        with pytest.raises(StoreMoved):  # what was read from a source cannot be read again
            memory.append([Draft(Kind.DOCUMENT, io.BytesIO(b"a stream"))], session="s")
        memory.append([Draft(Kind.DOCUMENT, io.BytesIO(b"a stream"))], session="s")
        assert memory.position == 4
