"""A replica answers for its engine's namespace: the same events, the same recall, nothing stale, nothing erased."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from full_disk import full_disk
from postgres_server import APPLICATION, PostgresServer

from firsthand import Draft, Kind, Memory
from firsthand.environment import ADDRESS_FILE
from firsthand.errors import StoreFailed, StoreFull, StoreReplaced
from firsthand.index.text import TextIndex
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.replica_folder import HEADER_FILE, header_at
from firsthand.log.postgres.replicas import Replicas, listing, open_at, prune
from stores import open_log


class Machines:
    """A store in PostgreSQL, and folders of machines that have replicas of it."""

    def __init__(self, server: PostgresServer, database: str, folder: Path) -> None:
        self.server, self.database, self.folder = server, database, folder
        self._opened: list[Memory] = []
        self.address = f"postgresql://{APPLICATION}@/{self.database}?host={server.folder}"

    def execute(self, sql: str) -> None:
        """Do something to the store behind everybody's back."""
        with psycopg.connect(self.server.dsn("postgres", self.database), autocommit=True) as db:
            db.execute(sql)

    def replicas(self, machine: str = "a", bytes_max: int = 10**12) -> Replicas:
        return Replicas(self.address, self.folder / machine / "home", self.folder / machine / "replicas", bytes_max)

    def memory(self, machine: str = "a", namespace: str = "team") -> Memory:
        """Open the store's namespace on a machine."""
        self._opened.append(Memory(_Owned(self.replicas(machine)), namespace=namespace, embedder="none"))
        return self._opened[-1]

    def root(self, machine: str = "a") -> Path:
        """Give the folder of a machine's only replica."""
        (replica,) = listing(self.folder / machine / "replicas")
        return replica.root

    def close(self) -> None:
        for memory in self._opened:
            memory.close()


class _Owned:
    """Opens replicas whose pool of connections goes with them."""

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    def open_log(self, namespace: str, **options):
        return self._replicas.open_log(namespace, shared=False, **options)


@pytest.fixture
def machines(server, database, tmp_path, monkeypatch) -> Iterator[Machines]:
    monkeypatch.delenv("FIRSTHAND_OBJECTS", raising=False)
    made = Machines(server, database, tmp_path)
    yield made
    made.close()
    log = PostgresLog(server.dsn(database=made.database))
    assert log.verify(namespace="team").ok
    log.close()


def say(memory: Memory, *texts: str, session: str = "s") -> None:
    memory.append([Draft(Kind.USER_MESSAGE, text.encode()) for text in texts], session=session)


def best(memory: Memory, question: str) -> str:
    hits = memory.recall(question).hits
    return memory.expand(hits[0].pointer).decode() if hits else ""


def files_hold(folder: Path, words: bytes) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.is_file() and words in file.read_bytes()]


class TestFollowing:
    def test_two_machines_have_one_memory(self, machines) -> None:
        """What either machine appends is found by the other's next recall, at the same position, under one identity."""
        one, other = machines.memory("a"), machines.memory("b")
        for number in range(20):
            writer, reader = (one, other) if number % 2 else (other, one)
            say(writer, f"the code is zebra{number}")
            assert best(reader, f"zebra{number}") == f"the code is zebra{number}"
        assert one.head() == other.head()
        assert one.identity == other.identity
        assert one.log.reader.fence_key() == other.log.reader.fence_key()

    def test_answers_are_those_of_a_store_in_files(self, machines, tmp_path) -> None:
        """The same events recalled from a replica and from a store in a folder give the same answer."""
        memory = machines.memory()
        with Memory(tmp_path / "plain", namespace="team", embedder="none") as plain:
            for session in ("one", "two", "one"):
                drafts = [
                    Draft(Kind.USER_MESSAGE, f"{session} wants lamp {number}".encode(), id=None) for number in range(40)
                ]
                say(memory, *(draft.content.decode() for draft in drafts), session=session)
                plain.append(drafts, session=session)
            mine, theirs = memory.recall("lamp 7 two"), plain.recall("lamp 7 two")
            assert [hit.position for hit in mine.hits] == [hit.position for hit in theirs.hits]
            assert (mine.outcome, mine.band) == (theirs.outcome, theirs.band)

    def test_interleaved_sessions_and_large_payloads_are_followed_whole(self, machines) -> None:
        """Sessions that take turns, and contents apart from their events, come over with the engine's head."""
        one = machines.memory("a")
        for number in range(30):
            say(one, f"turn {number}", session=f"s{number % 3}")
        one.append([Draft(Kind.TOOL_RESULT, b"albatross " * 30_000)], session="s1")
        other = machines.memory("b")
        assert other.head() == one.head()
        (event,) = other.events(kind=Kind.TOOL_RESULT)
        assert other.expand(event.pointer) == b"albatross " * 30_000
        assert other.log.local.verify().ok

    def test_a_payload_that_stayed_away_comes_with_a_rebuild(self, machines, tmp_path, monkeypatch) -> None:
        """A replica that followed while objects could not be read is whole after a rebuild, also for an erasure.

        Fails on: a rebuild of the replica's own events alone, which leaves the payload out for good.
        """
        monkeypatch.setenv("FIRSTHAND_OBJECTS", str(tmp_path / "objects"))
        monkeypatch.setenv("FIRSTHAND_OBJECTS_OVER", "30000")
        one = machines.memory("a")
        say(one, "the lamp is green", "sand " * 20_000 + "albatross", session="t")
        objects, away = tmp_path / "objects" / f"{number_of('team'):016x}", tmp_path / "away"
        objects.rename(away)
        other = machines.memory("b")
        assert not other.recall("albatross").hits
        away.rename(objects)
        assert not other.recall("albatross").hits
        other.rebuild()
        (hit,) = other.recall("albatross").hits
        assert not other.recall("albatross").notes
        assert len([*machines.root("b").rglob("*.zst")]) == 1
        one.erase([hit.pointer])
        assert not other.recall("albatross").hits
        assert not [*machines.root("b").rglob("*.zst")]
        assert other.log.local.verify().ok

    def test_a_machine_far_behind_says_so(self, machines, monkeypatch) -> None:
        """A question that cannot wait for a replica is answered as degraded, with how many events are not in it."""
        monkeypatch.setattr("firsthand.log.postgres.replica.ANSWER_S", -1.0)
        monkeypatch.setattr("firsthand.log.postgres.replica_folder.STEP_EVENTS", 10)
        one, other = machines.memory("a"), machines.memory("b")
        say(one, *(f"lamp {number}" for number in range(35)))
        answer = other.recall("lamp 3")
        assert str(answer.outcome) == "degraded"
        assert "the newest 25 events" in " ".join(answer.notes)
        for _ in range(3):
            answer = other.recall("lamp 34")
        assert str(answer.outcome) == "found"

    def test_a_standby_is_told_from_a_primary(self, machines, tmp_path) -> None:
        """What a standby answers is degraded, since newer events may be missing there, until it is promoted.

        Fails on: a recall that says that an acknowledged event is absent.
        """
        say(machines.memory(), "the lamp is green")
        files = machines.server.backup()
        (files / "standby.signal").touch()
        standby = PostgresServer(machines.server._programs, copy_of=files)
        elsewhere = Machines(standby, machines.database, tmp_path / "standby")
        try:
            say(machines.memory(), "the port is 5433")
            memory = elsewhere.memory()
            answer = memory.recall("port 5433")
            assert str(answer.outcome) == "degraded"
            assert "is a standby" in " ".join(answer.notes)
            elsewhere.execute("SELECT pg_promote()")
            assert "is a standby" not in " ".join(memory.recall("lamp").notes)
        finally:
            elsewhere.close()
            standby.close()

    def test_a_store_that_cannot_be_reached_is_answered_for_and_said(self, machines) -> None:
        """Without its engine a replica answers from what it has, as degraded, with the position that it reaches."""
        memory = machines.memory()
        say(memory, "the lamp is green")
        assert best(memory, "lamp") == "the lamp is green"
        pool = memory.log.engine.connections._pool
        pool.timeout = 0.2
        machines.server.kill()
        try:
            answer = memory.recall("lamp")
        finally:
            machines.server.start()
        assert str(answer.outcome) == "degraded"
        assert "up to position 1" in " ".join(answer.notes)

    def test_a_full_disk_of_replicas_stops_no_write_and_no_answer(self, machines) -> None:
        """While no replica can grow, what is appended and erased is so on the engine; answers say what they lack.

        What was erased is in no file of the replica; closing is quiet, and opening is refused in words.
        """
        memory = machines.memory()
        say(memory, "the lamp is green", "the password is xylophone77")
        assert best(memory, "lamp") == "the lamp is green"
        (secret,) = (event for event in memory.events() if b"xylophone77" in (event.content or b""))
        with full_disk():
            say(memory, "the rope is blue")
            answer = memory.recall("lamp")
            assert (str(answer.outcome), "disk" in " ".join(answer.notes)) == ("degraded", True)
            with pytest.raises(StoreFull, match="disk of this machine's replicas"):
                memory.erase([secret.pointer])  # what quotes it may be in what the replica lacks
            erasure = memory.log.erase("team", [secret.id])
            assert (erasure.erased, "begun anew" in erasure.retained) == ((secret.id,), True)
            assert not files_hold(machines.folder, b"xylophone77")
            memory.close()
            for namespace in ("team", "another"):
                with pytest.raises((StoreFull, StoreFailed)):
                    machines.memory(namespace=namespace)
        memory = machines.memory()
        assert (best(memory, "rope"), memory.event(secret.pointer).erased) == ("the rope is blue", True)

    def test_erasures_reach_every_replica(self, machines) -> None:
        """What one machine erases is in no file of another's replica once that has answered anything."""
        one, other = machines.memory("a"), machines.memory("b")
        say(one, "the password is xylophone77", "the lamp is green")
        one.append([Draft(Kind.TOOL_RESULT, b"marimba88 " * 30_000)], session="s")
        assert best(other, "xylophone77") == "the password is xylophone77"
        assert files_hold(machines.folder / "b", b"xylophone77")
        one.erase([event.pointer for event in one.events() if "lamp" not in event.text])
        assert best(other, "lamp") == "the lamp is green"
        assert [str(event.kind) for event in other.events() if event.erased] == ["user_message", "tool_result"]
        for machine in "ab":
            assert files_hold(machines.folder / machine, b"xylophone77") == []
            assert not [*(machines.folder / machine).rglob("*.zst")]
        assert other.log.local.verify().ok

    def test_a_new_machine_never_sees_what_was_erased_before(self, machines) -> None:
        """A replica that is begun after an erasure holds the chain, and not the words."""
        one = machines.memory("a")
        say(one, "the password is xylophone77", "the lamp is green")
        one.erase([next(iter(one.events())).pointer])
        other = machines.memory("b")
        assert other.head() == one.head()
        assert files_hold(machines.folder / "b", b"xylophone77") == []


class TestDiscarding:
    def test_a_store_that_lost_its_newest_events_is_named(self, machines) -> None:
        """A store restored from an older copy is noticed by the head that its replica had, and said."""
        memory = machines.memory()
        say(memory, "one", "two", "three")
        head = memory.head()
        machines.execute("CREATE TABLE public.n AS SELECT * FROM firsthand.event")
        machines.execute(
            "DELETE FROM firsthand.event WHERE position = 3; UPDATE firsthand.namespace SET position = 2, head = "
            "(SELECT head FROM firsthand.event WHERE position = 2); UPDATE firsthand.session SET length = 2, turn = 2, "
            "last_position = 2, head = (SELECT chain FROM firsthand.event WHERE position = 2)"
        )
        with pytest.raises(StoreReplaced):
            memory.recall("three")
        memory.close()
        again = machines.memory()
        assert [event.text for event in again.events()] == ["one", "two"]
        (note,) = again.log.compared().notes
        assert head in note
        assert note in again.verify().notes
        again.log.accept_head()
        assert again.log.compared().notes == ()

    def test_a_changed_past_is_noticed_before_it_is_answered_from(self, machines) -> None:
        """A store that was restored, and written to since, begins its replicas anew when they are opened next."""
        memory = machines.memory("a")
        say(memory, "one", "two")
        memory.recall("two")
        memory.close()
        machines.execute("DELETE FROM firsthand.event; DELETE FROM firsthand.session; DELETE FROM firsthand.namespace")
        writer = machines.memory("b")
        say(writer, "three", "four", "five")
        again = machines.memory("a")
        assert [event.text for event in again.events()] == ["three", "four", "five"]
        assert "another past" in again.log.compared().notes[0]

    def test_another_store_at_the_same_address_is_named_until_somebody_accepts_it(self, machines) -> None:
        """An address that leads to another store than before is said for every namespace, until that is accepted."""
        home, folder = machines.folder / "a" / "home", machines.folder / "a" / "replicas"
        home.mkdir(parents=True)
        (home / ADDRESS_FILE).write_text(machines.address)

        def notes(namespace: str) -> tuple[str, ...]:
            with closing(open_at(home, namespace, folder, 10**12)) as log:
                return log.compared().notes

        assert notes("team") == ()
        machines.execute("UPDATE firsthand.store SET value = uuid_send(gen_random_uuid()) WHERE key = 'uuid'")
        assert [("another store" in note, "accept-head" in note) for note in notes("team")] == [(True, True)]
        assert notes("other") == notes("team")
        with closing(open_at(home, "team", folder, 10**12)) as log:
            log.accept_head()
        assert notes("team") == notes("other") == ()

    @pytest.mark.parametrize("what", ["header", "other store", "database", "events", "gone"])
    def test_a_damaged_folder_is_begun_anew(self, machines, what) -> None:
        """Whatever is wrong with the folder, the next opening answers from the engine, and says what was wrong."""
        memory = machines.memory()
        say(memory, "the lamp is green", "two")
        memory.recall("lamp")
        memory.close()
        root = machines.root()
        if what == "header":
            (root / HEADER_FILE).unlink()
        elif what == "other store":
            fields = json.loads((root / HEADER_FILE).read_text())
            (root / HEADER_FILE).write_text(json.dumps({**fields, "engine": "00" * 16}))
        elif what == "database":
            (root / "firsthand.db").write_bytes(b"no database" * 1_000)
        elif what == "events":
            local = open_log(root, indexes=(TextIndex(),))
            local.append([Draft(Kind.USER_MESSAGE, b"only here")], namespace="team", session="s")
            local.close()
        else:
            (root / "firsthand.db").unlink()
        again = machines.memory()
        assert best(again, "lamp") == "the lamp is green"
        assert best(again, "only here") != "only here"
        assert len(again.log.compared().notes) == (what != "header")  # without one it was never made to its end

    def test_one_removed_by_hand_is_said_and_made_again(self, machines) -> None:
        """A handle whose folder was removed says what to do, and the next one has all events."""
        memory = machines.memory()
        memory.session("s").user("the crow is named Abel")
        assert memory.recall("crow").hits
        shutil.rmtree(machines.root())
        with pytest.raises(StoreReplaced, match="open the store again"):
            memory.recall("crow")
        assert machines.memory().recall("crow").hits

    def test_two_processes_share_a_folder(self, machines) -> None:
        """Handles of one folder follow together, and one that it is taken from says so at its next follow."""
        one, other = machines.memory(), machines.memory()
        say(one, *(f"lamp {number}" for number in range(200)))
        assert other.head() == one.head()
        assert len([*listing(machines.folder / "a" / "replicas")]) == 1
        machines.execute("UPDATE firsthand.event SET head = decode(repeat('00', 32), 'hex') WHERE position = 200")
        with pytest.raises(StoreReplaced):
            one.recall("lamp")
        machines.execute(
            "UPDATE firsthand.event SET head = (SELECT head FROM firsthand.namespace) WHERE position = 200"
        )
        writer = machines.memory("b")
        say(writer, "new")
        with pytest.raises(StoreReplaced):
            other.recall("new")

    def test_killed_at_any_moment_it_is_right_or_begun_anew(self, machines) -> None:
        """A process killed with -9 while it follows leaves a folder that the next one answers from."""
        writer = machines.memory("w")
        say(writer, *(f"lamp {number} of the xylophone{number} shop" for number in range(400)))
        writer.append([Draft(Kind.TOOL_RESULT, b"marimba " * 20_000)], session="big")
        script = (
            "import sys, firsthand.log.postgres.replica_folder as f\n"
            "f.STEP_EVENTS = 7\n"
            "from pathlib import Path\n"
            "from firsthand import Memory\n"
            "from firsthand.log.postgres.replicas import Replicas\n"
            "r = Replicas(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), 10**12)\n"
            "m = Memory(r, namespace='team', embedder='none')\n"
            "print('open', flush=True)\n"
            "m.position\n"
            "print('done', flush=True)\n"
        )
        home, replicas = machines.folder / "k" / "home", machines.folder / "k" / "replicas"
        erased = 0
        for pause in (0.0, 0.01, 0.03, 0.08, 0.2):
            process = subprocess.Popen(
                [sys.executable, "-c", script, machines.address, str(home), str(replicas)], stdout=subprocess.PIPE
            )
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            writer.erase([event.pointer for event in writer.events(limit=erased + 1) if not event.erased])
            erased += 1
        memory = machines.memory("k")
        assert memory.head() == writer.head()
        assert best(memory, "xylophone300") == "lamp 300 of the xylophone300 shop"
        assert memory.log.local.verify().ok
        for number in range(erased):
            assert files_hold(replicas, f"xylophone{number} ".encode()) == []


class TestBudget:
    def test_three_hundred_tenants_within_small_bounds(self, machines) -> None:
        """Replicas of 300 namespaces keep within their budget of disk, the least recently used goes, and all answer."""
        first = machines.replicas()
        with Memory(first, namespace="n0", embedder="none") as memory:
            say(memory, "n0 has lamp 0")
            memory.recall("lamp")
        (replica,) = listing(machines.folder / "a" / "replicas")
        first.close()
        budget = replica.bytes * 12
        replicas = machines.replicas(bytes_max=budget)
        folder = machines.folder / "a" / "replicas"
        with Memory(replicas, namespace="busy", embedder="none") as busy:
            say(busy, "the busy one")
            for number in range(300):
                with Memory(replicas, namespace=f"n{number}", embedder="none") as memory:
                    say(memory, f"n{number} has lamp {number}")
                    assert memory.recall(f"lamp {number}").hits
            kept = [replica.namespace for replica in listing(folder)]
            assert sum(replica.bytes for replica in listing(folder)) <= budget + 2 * replica.bytes
            assert set(kept) >= {"busy", "n299", "n298", "n297"}
            assert "n0" not in kept
            assert busy.recall("busy").hits
        with Memory(replicas, namespace="n0", embedder="none") as memory:
            assert best(memory, "lamp") == "n0 has lamp 0"
        replicas.close()

    def test_one_in_use_is_never_deleted(self, machines) -> None:
        """A budget of nothing removes what nobody has open, and nothing else."""
        memory, resting = machines.memory(), machines.memory(namespace="rests")
        say(memory, "the lamp is green")
        memory.recall("lamp")
        resting.close()
        folder = machines.folder / "a" / "replicas"
        assert prune(folder, 0) > 0
        assert [replica.namespace for replica in listing(folder)] == ["team"]
        assert best(memory, "lamp") == "the lamp is green"
        assert header_at(machines.root()) is not None
