"""What a sync of a laptop's store with a server promises, whatever keeps the server's store."""

from __future__ import annotations

import base64
import hashlib
import threading
from pathlib import Path

import pytest
from between import Changing, Cutting

from firsthand import Draft, Kind, Memory
from firsthand.errors import Erased, FirsthandError, InvalidArgument, ServerFailed, StoreFull
from firsthand.log.export import event_fields
from firsthand.log.rows import body_of
from firsthand.sync import verbs
from firsthand.sync.exchange import Synced, sync

BIG = bytes(range(256)) * 200  # an artifact, three pieces on its way


def heads(memory: Memory) -> dict[str, str]:
    """Give the head of each session."""
    return {session.name: session.head for session in memory.sessions()}


def whats(synced: Synced) -> dict[str, tuple[str, int]]:
    """Give what became of each session, and from which sequence on, or how many events of it."""
    return {each.session: (each.what, each.events if each.sequence is None else each.sequence)
            for each in synced.outcomes}  # fmt: skip


def in_sync(*memories: Memory) -> None:
    """Assert that stores hold the same sessions, event by event, and are whole."""
    first = memories[0]
    for other in memories[1:]:
        assert heads(other) == heads(first)
        for session in heads(first):
            for mine, theirs in zip(first.events(session), other.events(session), strict=True):
                assert (mine.id, mine.ingested, mine.erased) == (theirs.id, theirs.ingested, theirs.erased)
                assert mine.erased or first.expand(mine.pointer) == other.expand(theirs.pointer)
    for memory in memories:
        assert memory.verify().problems == ()


class SyncSuite:
    """A server at `url`, and `laptop(name)`: a store of the server's namespace; `served()`: the server's own.

    Attributes:
        token: for requests; None takes the one of this machine.
    """

    token: str | None = None

    @pytest.fixture(autouse=True)
    def _small_pieces(self, monkeypatch):
        monkeypatch.setattr("firsthand.sync.exchange.PIECE_BYTES_MAX", 20_000)

    def sync(self, memory: Memory, url: str, **options) -> Synced:
        """Sync with this server."""
        return sync(memory, url, token=self.token, **options)

    def test_both_sides_have_the_same_sessions_afterwards(self, url, laptop, served):
        """What one laptop appended is on the server and on another: bytes, ids, ingest times, artifacts, heads."""
        desk, train = laptop("desk"), laptop("train")
        desk.session("deploy").user("ship the invoice service to db-7")
        desk.session("deploy").tool_result("c", BIG, tool="cat")
        gone = desk.session("deploy").user("the password is sesame")
        desk.erase([gone])
        desk.append([Draft(Kind.OTHER, b"large", envelope=b"\n" * 2_500_000)], session="notes ✓")
        served.session("plans").user("written at the server")
        assert whats(self.sync(desk, url)) == {
            "deploy": ("pushed", 4), "notes ✓": ("pushed", 1), "plans": ("pulled", 1),
        }  # fmt: skip
        assert whats(self.sync(train, url)) == {
            "deploy": ("pulled", 4), "notes ✓": ("pulled", 1), "plans": ("pulled", 1),
        }  # fmt: skip
        in_sync(desk, train, served)
        assert train.event(gone).erased
        train.session("deploy").agent("shipped")
        assert whats(self.sync(train, url)) == {"deploy": ("pushed", 1), "notes ✓": ("had", 0), "plans": ("had", 0)}
        self.sync(desk, url)
        in_sync(desk, train, served)
        assert desk.recall("invoice service").hits[0].session == "deploy"
        assert train.recall("invoice service").hits[0].session == "deploy"

    def test_nothing_new_is_one_request(self, url, laptop, served):
        """With nothing new on either side a sync asks once, and says what both had."""
        desk = laptop("desk")
        desk.session("one").user("hello")
        between = Changing(url)
        try:
            self.sync(desk, between.url)
            asked = len(between.paths)
            assert self.sync(desk, between.url) == Synced((), 1, self.sync(desk, between.url).server)
            assert between.paths[asked:] == ["/v1/sync/heads"] * 2
            served.session("one").user("hello back")
            assert whats(self.sync(desk, between.url)) == {"one": ("pulled", 1)}
        finally:
            between.close()

    def test_an_erasure_reaches_the_other_side_and_nothing_comes_back(self, url, laptop, served):
        """An event erased on a laptop is gone on the server and on the other laptop, its payload too, and stays so."""
        desk, train = laptop("desk"), laptop("train")
        secret = desk.session("deploy").user("the password is sesame")
        large = desk.session("deploy").tool_result("c", BIG, tool="cat")
        self.sync(desk, url)
        self.sync(train, url)
        train.erase([secret, large], reason="asked")
        served.session("other").user("meanwhile")
        for memory in (train, desk, train):
            self.sync(memory, url)
        for memory in (desk, train, served):
            for pointer in (secret, large):
                with pytest.raises(Erased):
                    memory.expand(pointer)
        in_sync(desk, train, served)
        key = served.log.namespace_key(served.namespace)
        assert [*served.log.artifacts.listing(key)] == []

    def test_what_quotes_an_erased_event_is_erased_on_each_side(self, url, laptop, served):
        """A note of the server's own that rests on an event erased on a laptop goes too, also after a cut sync."""
        desk = laptop("desk")
        secret = desk.session("deploy").user("the password is sesame")
        self.sync(desk, url)
        note = served.note("they use sesame", sources=[secret]).event
        desk.erase([secret])
        broken = ["sync/erase"]
        between = Changing(url, asked=lambda path, fields: {} if path.endswith((*broken, "-")) else fields)
        try:
            with pytest.raises(InvalidArgument, match="missing: ids"):
                self.sync(desk, between.url)
            assert (served.event(secret).erased, served.event(note).erased) == (True, False)
            broken.clear()
            assert self.sync(desk, between.url).erased == 1
            assert served.event(note).erased
            self.sync(desk, between.url)
        finally:
            between.close()
        in_sync(desk, served)

    def test_a_fork_is_named_and_nothing_written_over(self, url, laptop, served):
        """Where both sides appended, each keeps its own; the other one's can be brought, and erasures cross over."""
        desk, train = laptop("desk"), laptop("train")
        first = desk.session("deploy").user("ship it")
        self.sync(desk, url)
        self.sync(train, url)
        here, there = train.session("deploy").agent("on the train"), desk.session("deploy").agent("on the desk")
        large = desk.session("deploy").tool_result("c", BIG, tool="cat")
        self.sync(desk, url)
        assert whats(self.sync(train, url)) == {"deploy": ("fork", 1)}
        assert not self.sync(train, url).ok
        assert [event.id for event in train.events("deploy")] == [first.id, here.id]
        synced = self.sync(train, url, fork="from the desk")
        assert [(each.what, each.sequence, each.events) for each in synced.outcomes] == [("fork", 1, 2)]
        assert [event.id for event in train.events("from the desk")] == [there.id, large.id]
        assert train.expand(large) == BIG
        desk.session("deploy").agent("once more")
        self.sync(desk, url)
        assert self.sync(train, url, fork="from the desk").outcomes[0].events == 1
        # What one side erases behind the fork is erased on the other.
        train.erase([first])
        assert self.sync(train, url).erased == 1
        desk.erase([there])
        self.sync(desk, url)
        self.sync(train, url, fork="from the desk")
        for memory in (desk, train, served):
            assert memory.event(there).erased
            assert memory.verify().problems == ()
        assert train.event(first).erased
        assert served.event(first).erased

    def test_what_grows_while_it_is_synced_is_a_fork(self, url, laptop, served):
        """A session that the server's side appends to between the comparison and the push keeps both histories."""
        desk = laptop("desk")
        desk.session("deploy").user("first")
        self.sync(desk, url)
        mine, theirs = desk.session("deploy").agent("from the desk"), []

        def asked(path, fields):
            if path.endswith("push"):
                theirs.append(served.session("deploy").agent("from the server"))
            return fields

        between = Changing(url, asked)
        try:
            assert whats(self.sync(desk, between.url)) == {"deploy": ("fork", 1)}
        finally:
            between.close()
        assert whats(self.sync(desk, url)) == {"deploy": ("fork", 1)}
        assert [event.id for event in desk.events("deploy")][1:] == [mine.id]
        assert [event.id for event in served.events("deploy")][1:] == [theirs[0].id]

    @pytest.mark.parametrize(
        ("fault", "what", "sequence"),
        [("forged", "bad link", 2), ("forged header", "bad link", 2), ("dropped", "gap", 2), ("reordered", "gap", 2),
         ("resurrected", "bad link", 1), ("another", "bad link", 0)],
    )  # fmt: skip
    @pytest.mark.parametrize("way", ["push", "pull"])
    def test_what_is_not_what_was_written_is_named(self, url, laptop, served, fault, what, sequence, way):
        """A forged byte, a dropped, reordered or resurrected event: nothing from there on is taken, and it is said."""
        source, target = (laptop("desk"), served) if way == "push" else (served, laptop("desk"))
        if way == "pull":
            source, target = served, laptop("desk")
        appended = [source.session("deploy").user(text) for text in ("first", "the password is sesame", "third", "x")]
        secret, body = appended[1], source.log.reader.tail(source.namespace, "deploy", 1, 1)[0]
        source.erase([secret])
        between = Changing(url, *_planted(fault, way, body))
        try:
            memory = source if way == "push" else target
            assert whats(self.sync(memory, between.url)) == {"deploy": (what, sequence)}
            assert len([*target.events("deploy")]) == sequence
        finally:
            between.close()
        self.sync(source if way == "push" else target, url)
        in_sync(source, target)
        with pytest.raises(Erased):
            target.expand(secret)

    def test_a_cut_at_any_byte_loses_and_doubles_nothing(self, url, laptop, served, monkeypatch):
        """Wherever the connection is cut, the next sync goes on, and both sides end with the same."""
        monkeypatch.setattr("firsthand.client.LOST_S", 0.1)
        desk = laptop("desk")
        for number in range(40):
            desk.session(f"s{number % 3}").user(f"message {number} " + "x" * 500)
        desk.session("s0").tool_result("c", BIG, tool="cat")
        served.session("other").user("from the server" * 100)
        for bytes_max in (200, 900, 2_000, 9_000, 20_000, 30_000):
            between = Cutting(url, bytes_max)
            with pytest.raises(ServerFailed):
                self.sync(desk, between.url)
            between.close()
        self.sync(desk, url)
        in_sync(desk, served)

    def test_several_that_send_one_payload_at_once_all_arrive(self, url, laptop, served):
        """Machines that bring one server the same payload at the same time all end their syncs, and it is whole."""
        desks, failed = [laptop(f"desk {number}") for number in range(4)], []
        pointers = [desk.session(f"s{n}").tool_result("c", BIG * 4, tool="cat") for n, desk in enumerate(desks)]
        gate = threading.Barrier(len(desks))

        def syncing(desk):
            try:
                gate.wait()
                self.sync(desk, url)
            except FirsthandError as error:
                failed.append(error)

        threads = [threading.Thread(target=syncing, args=(desk,)) for desk in desks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert [served.expand(pointer) for pointer in pointers] == [BIG * 4] * 4

    def test_payloads_on_their_way_are_bounded(self, url, laptop, served, monkeypatch):
        """A payload over what the store takes is refused at once, and so is a piece over what all parts may have."""
        kept = set(Path(served.path).glob("cache/sync/*"))
        with pytest.raises(InvalidArgument, match="at most"):
            verbs.artifact(served, {"digest": "00" * 32, "size": 1 << 60})
        assert set(Path(served.path).glob("cache/sync/*")) == kept
        monkeypatch.setattr(served.log.artifacts, "bytes_max", 1_000)
        piece = {"size": 900, "bytes": base64.b64encode(b"x" * 600).decode()}
        assert verbs.artifact(served, piece | {"digest": "00" * 32}) == {"have": 600}
        with pytest.raises(StoreFull, match="on their way"):
            verbs.artifact(served, piece | {"digest": "11" * 32})
        monkeypatch.setattr(verbs, "PART_S", 0.0)
        assert verbs.artifact(served, piece | {"digest": "11" * 32}) == {"have": 600}

    def test_what_no_event_came_to_hold_is_swept(self, url, laptop, served, monkeypatch):
        """Who sends payloads has the store asked, once an hour, to remove what was sent and no event came to hold."""
        key, pieces = served.log.namespace_key(served.namespace), (b"old" * 90_000, b"new" * 90_000)
        swept = []
        monkeypatch.setattr(served.log, "prune", swept.append)
        for content in pieces:
            digest = hashlib.sha256(content).hexdigest()
            asked = {"digest": digest, "size": len(content), "bytes": base64.b64encode(content).decode()}
            assert verbs.artifact(served, asked) == {"have": len(content)}
        assert swept == [["payloads"]]
        assert len([*served.log.artifacts.listing(key)]) == 2

    def test_another_namespace_is_refused_in_words(self, url, laptop, served):
        """A server that answers for another namespace is refused before anything is exchanged."""
        desk = laptop("desk")
        desk.session("one").user("hello")
        between = Changing(url, answered=lambda path, fields: fields | {"namespace": "tenant 2"})
        try:
            with pytest.raises(InvalidArgument, match=r"'tenant 2'.*--namespace"):
                self.sync(desk, between.url)
        finally:
            between.close()
        assert heads(served) == {}

    def test_a_record_of_a_loss_is_not_taken(self, url, laptop, served):
        """An event that says what a store lost is about its positions: it is no event of another store."""
        desk = laptop("desk")
        desk.session("one").user("hello")

        def asked(path, fields):
            if path.endswith("push"):
                fields["events"][0] |= {"kind": "loss"}
            return fields

        between = Changing(url, asked)
        try:
            assert whats(self.sync(desk, between.url)) == {"one": ("bad link", 0)}
        finally:
            between.close()
        assert heads(served) == {}


def _planted(fault: str, way: str, body: tuple) -> tuple:
    """Give what changes the events on their way to, or from, a server."""

    def change(events: list[dict]) -> None:
        if fault == "forged":
            events[2]["content"] = "thirD"
        elif fault == "forged header":
            events[2]["trust"] = "untrusted"
        elif fault == "dropped":
            del events[2]
        elif fault == "reordered":
            events[2], events[3] = events[3], events[2]
        elif fault == "resurrected":
            events[1] = event_fields(body, body_of(body), (events[0]["namespace"], "deploy", body[9], body[10]), {})
        else:
            for fields in events:
                fields["namespace"] = "tenant 2"

    def changed(path: str, fields: dict) -> dict:
        if path.endswith(way) and fields["events"]:
            change(fields["events"])
        return fields

    return (changed,) if way == "push" else (lambda _, fields: fields, changed)
