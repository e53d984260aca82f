"""What every engine of the log promises: one suite, inherited by the tests of each (docs/log-format.md, "Engines")."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from firsthand.errors import Erased, IdConflict, InvalidDraft, StaleExpectation, Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, genesis, roll
from firsthand.log.prepare import DraftGroup
from firsthand.log.restore import restore
from firsthand.log.sqlite.log import Log
from firsthand.pointer import parse

NAMESPACE = "shop"


def user(text: str, **fields: Any) -> Draft:
    return Draft(Kind.USER_MESSAGE, text.encode(), **fields)


class LogSuite:
    """Inherit it and give a fixture ``log``, empty, and ``again``, which opens the same store once more.

    I1 acknowledged is durable: test_an_acknowledged_event_is_there_for_others_at_once (and tests/postgres)
    I2, I3 positions 1 to n, visible in order; none is skipped: test_many_writers_..., test_a_reader_waits_...
    I4 retries and expectations: test_a_retry_..., test_other_bytes_..., test_a_stale_expectation_...
    I5 all or none, and a refused ticket stops nobody: test_several_sessions_..., test_a_refused_append_...
    I6 one export, one head, the same pointers: test_an_export_restored_...
    I7 nothing without its namespace: test_another_namespace_reads_nothing
    I8 erasure keeps the chain: test_erasure_...
    """

    def _append(self, log, *texts: str, session: str = "s", namespace: str = NAMESPACE, **options):
        return log.append([user(text) for text in texts], namespace=namespace, session=session, **options)

    def _events(self, log, namespace: str = NAMESPACE, **options) -> list[Event]:
        return list(log.reader.events(namespace, **options))

    def test_positions_run_from_one_in_each_namespace(self, log) -> None:
        """Events of two namespaces that are written in turn are numbered 1, 2, 3 in each."""
        for number in range(3):
            self._append(log, f"a{number}", namespace="a")
            self._append(log, f"b{number}", namespace="b")
        assert [event.position for event in self._events(log, "a")] == [1, 2, 3]
        assert [event.text for event in self._events(log, "b")] == ["b0", "b1", "b2"]

    def test_an_acknowledged_event_is_there_for_others_at_once(self, log, again) -> None:
        """Another handle reads what an append has returned, byte for byte."""
        (appended,) = log.append(
            [Draft(Kind.TOOL_RESULT, b"\0\xff\n", "x/y", {"tool": "sh"}, agent="a", origin="tool:sh")],
            namespace=NAMESPACE, session="s",
        )  # fmt: skip
        event = again().reader.event(NAMESPACE, appended.id)
        assert (event.content, event.media, event.meta["tool"], event.agent, event.origin, event.position) == (
            b"\0\xff\n", "x/y", "sh", "a", "tool:sh", appended.position,
        )  # fmt: skip

    def test_the_head_is_rolled_over_every_event(self, log) -> None:
        """The head is what the chain hashes of all events give, in order."""
        self._append(log, "one", "two")
        self._append(log, "three", session="t")
        head = bytes(32)
        for event in self._events(log):
            head = roll(head, event.position, event.chain)
        assert log.reader.head(NAMESPACE) == (3, head)

    def test_a_retry_changes_nothing(self, log, again) -> None:
        """The same draft with its id, again by this handle or another one, gives the same position and no event."""
        draft = user("once", id=IdMaker()())
        first = log.append([draft], namespace=NAMESPACE, session="s")
        for handle in (log, again()):
            retried = handle.append([draft], namespace=NAMESPACE, session="s")
            assert [(each.position, each.new) for each in retried] == [(first[0].position, False)]
        assert len(self._events(log)) == 1

    def test_a_retry_may_come_with_what_is_new(self, log) -> None:
        """Of a batch that is there in part, what is missing is added behind."""
        known, new = user("known", id=IdMaker()()), user("new", id=IdMaker()())
        log.append([known], namespace=NAMESPACE, session="s")
        appended = log.append([known, new], namespace=NAMESPACE, session="s")
        assert [(each.position, each.new) for each in appended] == [(1, False), (2, True)]

    def test_other_bytes_with_the_same_id_conflict(self, log) -> None:
        """An id that is there with other bytes, or in another session, is refused, and nothing is written."""
        name = IdMaker()()
        log.append([user("this", id=name)], namespace=NAMESPACE, session="s")
        for text, session in (("that", "s"), ("this", "t")):
            with pytest.raises(IdConflict):
                log.append([user("before"), user(text, id=name)], namespace=NAMESPACE, session=session)
        assert [event.text for event in self._events(log)] == ["this"]

    def test_an_id_of_another_namespace_is_free(self, log) -> None:
        """Two namespaces may hold the same id with different bytes."""
        name = IdMaker()()
        log.append([user("ours", id=name)], namespace="a", session="s")
        log.append([user("theirs", id=name)], namespace="b", session="s")
        assert [log.reader.event(each, name).text for each in ("a", "b")] == ["ours", "theirs"]

    def test_a_stale_expectation_is_refused_but_for_a_retry(self, log) -> None:
        """Who expects the session to end elsewhere is refused; a retry of what is there is not."""
        draft = user("first", id=IdMaker()())
        log.append([draft], namespace=NAMESPACE, session="s", expected_position=0)
        with pytest.raises(StaleExpectation):
            self._append(log, "second", expected_position=0)
        assert not log.append([draft], namespace=NAMESPACE, session="s", expected_position=0)[0].new
        self._append(log, "second", expected_position=1)
        assert [event.text for event in self._events(log)] == ["first", "second"]

    def test_several_sessions_are_written_all_or_none(self, log) -> None:
        """A group whose last session is refused leaves nothing of the others."""
        log.append_group([DraftGroup("s", (user("a"),)), DraftGroup("t", (user("b"),))], namespace=NAMESPACE)
        with pytest.raises(InvalidDraft):
            log.append_group(
                [DraftGroup("u", (user("c"),)), DraftGroup("v", (user("d", part=-1),))], namespace=NAMESPACE
            )
        assert [(event.session, event.text) for event in self._events(log)] == [("s", "a"), ("t", "b")]

    def test_many_writers_lose_nothing_and_a_reader_skips_nothing(self, log, again) -> None:
        """Four handles with two threads each: every acknowledged event is there once, in the order of `entries`."""
        handles = [log, *(again() for _ in range(3))]
        acknowledged: list[tuple[int, str]] = []
        seen: list[int] = []
        finished = threading.Event()

        def write(number: int) -> None:
            handle = handles[number % len(handles)]
            for turn in range(12):
                text = f"{number}-{turn}"
                acknowledged.extend(
                    (each.position, text) for each in self._append(handle, text, session=f"s{number % 3}")
                )

        def follow() -> None:
            key, last = log.reader.namespace_key(NAMESPACE), 0
            while True:
                done = finished.is_set()
                key = key or log.reader.namespace_key(NAMESPACE)
                read = log.reader.entries(key, last, 7)
                seen.extend(entry.event.position for entry in read.entries)
                last = read.through
                if done and not read.entries:
                    return

        with ThreadPoolExecutor(9) as pool:
            reader = pool.submit(follow)
            for writer in [pool.submit(write, number) for number in range(8)]:
                writer.result()
            finished.set()
            reader.result()
        assert sorted(acknowledged) == [(event.position, event.text) for event in self._events(log)]
        assert seen == list(range(1, 97))

    def test_a_refused_append_stops_no_other(self, log, again) -> None:
        """Of eight appends at once, those alone are refused that have a taken id or a stale expectation."""
        taken = IdMaker()()
        log.append([user("taken", id=taken)], namespace=NAMESPACE, session="s")
        handles, begun = (log, again()), threading.Barrier(8)

        def write(number: int) -> str:
            begun.wait()
            options = {"expected_position": 99} if number % 4 == 1 else {}
            draft = user(f"other {number}", id=taken) if number % 4 == 2 else user(f"text {number}")
            try:
                handles[number % 2].append([user("with it"), draft], namespace=NAMESPACE, session="s", **options)
            except (IdConflict, StaleExpectation) as error:
                return type(error).__name__
            return "there"

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(write, range(8)))
        assert outcomes == ["there", "StaleExpectation", "IdConflict", "there"] * 2
        texts = [event.text for event in self._events(log)]
        assert sorted(texts) == sorted(["taken", *["with it"] * 4, "text 0", "text 3", "text 4", "text 7"])
        assert [event.position for event in self._events(log)] == list(range(1, 10))

    def test_sessions_are_listed_as_their_events_say(self, log) -> None:
        """A session's row counts its events and turns, and names its first and last position and its head."""
        self._append(log, "a", "b")
        self._append(log, "c", session="t")
        self._append(log, "d")
        listed = [
            (each.name, each.events, each.turns, each.first_position, each.last_position)
            for each in log.reader.sessions(NAMESPACE)
        ]
        assert listed == [("s", 3, 3, 1, 4), ("t", 1, 1, 3, 3)]
        assert log.reader.sessions(NAMESPACE)[0].head == self._events(log, session="s")[-1].chain.hex()

    def test_events_are_read_by_bounds_kind_and_direction(self, log) -> None:
        """Bounds are exclusive, a limit counts, and the newest may come first."""
        for number in range(300):
            log.append([user(str(number)), Draft(Kind.AGENT_MESSAGE, b"yes")], namespace=NAMESPACE, session="s")
        picked = self._events(
            log, session="s", kind=Kind.USER_MESSAGE, after=10, before=591, limit=280, newest_first=True
        )
        assert [event.text for event in picked] == [str(number) for number in range(294, 14, -1)]

    def test_a_large_payload_comes_back_whole_and_by_range(self, log) -> None:
        """Three MiB that are read from a file come back the same, and a range of them without the rest."""
        data = bytes(range(256)) * 12_288
        (appended,) = log.append([Draft(Kind.TOOL_RESULT, io.BytesIO(data))], namespace=NAMESPACE, session="s")
        event = log.reader.event(NAMESPACE, appended.id)
        assert event.artifact is not None
        assert b"".join(log.reader.pieces(event)) == data
        assert (
            b"".join(log.reader.expand(NAMESPACE, parse(f"fh:{event.id}@1048570-2097160"))) == data[1_048_570:2_097_160]
        )

    def test_erasure_destroys_content_and_keeps_the_chain(self, log) -> None:
        """What is erased cannot be read, its payload is gone, and every later event still hangs on it."""
        payload = b"secret" * 10_000
        appended = log.append([user("first"), Draft(Kind.TOOL_RESULT, payload)], namespace=NAMESPACE, session="s")
        digest = log.reader.event(NAMESPACE, appended[1].id).artifact.digest
        erased = log.erase(NAMESPACE, [each.id for each in appended], "asked")
        assert (len(erased.erased), erased.artifacts_removed) == (2, 1)
        with pytest.raises(Erased):
            list(log.reader.expand(NAMESPACE, parse(appended[0].pointer)))
        assert not log.artifacts.present(log.namespace_key(NAMESPACE), digest)
        self._append(log, "after")
        events = self._events(log)
        assert [event.erased for event in events] == [True, True, False, False]
        assert not any(event.unchecked for event in events)
        assert log.erase(NAMESPACE, [appended[0].id]).already == (appended[0].id,)

    def test_a_payload_that_another_event_holds_stays(self, log) -> None:
        """Of two events with one payload, erasing the first keeps it for the second."""
        payload = b"shared" * 10_000
        first, second = (
            log.append([Draft(Kind.TOOL_RESULT, payload)], namespace=NAMESPACE, session=name)[0] for name in ("s", "t")
        )
        assert log.erase(NAMESPACE, [first.id]).artifacts_kept == 1
        assert b"".join(log.reader.expand(NAMESPACE, parse(second.pointer))) == payload

    def test_another_namespace_reads_nothing(self, log) -> None:
        """An event's pointer opens nothing elsewhere, not even that it exists."""
        (appended,) = self._append(log, "ours", namespace="a")
        self._append(log, "theirs", namespace="b")
        with pytest.raises(Unresolvable):
            log.reader.event("b", appended.id)
        assert [event.text for event in self._events(log, "b")] == ["theirs"]
        assert self._events(log, "unknown") == []
        assert log.reader.head("unknown") == (0, bytes(32))

    def test_a_session_begins_at_its_genesis(self, log) -> None:
        """The first event of a session is chained to the names of namespace and session."""
        self._append(log, "first")
        event = self._events(log)[0]
        assert not event.unchecked
        assert genesis(NAMESPACE, "s") != genesis("other", "s")

    def test_an_export_restored_into_either_engine_has_the_same_head(self, log, tmp_path) -> None:
        """Payloads, an erasure and two sessions, exported, restored into SQLite and back, hash alike."""
        self._append(log, "one", "two")
        log.append([Draft(Kind.TOOL_RESULT, b"payload" * 9_000)], namespace=NAMESPACE, session="t")
        log.erase(NAMESPACE, [self._events(log)[0].id], "asked")
        out = io.BytesIO()
        log.export(out, namespace=NAMESPACE)
        other = Log(tmp_path / "other", heads=None)
        out.seek(0)
        restore(other, out)
        assert other.reader.head(NAMESPACE) == log.reader.head(NAMESPACE)
        for event in self._events(log):
            there = other.reader.event(NAMESPACE, event.id)
            assert (there.position, there.chain, there.commitment) == (event.position, event.chain, event.commitment)
            if not event.erased:
                assert list(other.reader.expand(NAMESPACE, parse(event.pointer))) == [log.reader.content(event)]
        back = io.BytesIO()
        other.export(back, namespace=NAMESPACE)
        back.seek(0)
        assert restore(log, back).new == 0
        assert other.verify(namespace=NAMESPACE, heads=[log.verify(namespace=NAMESPACE).head]).ok
        other.close()

    def test_a_whole_log_is_verified(self, log) -> None:
        """Verification of a whole log finds nothing, and counts what it read."""
        self._append(log, "one", "two")
        verified = log.verify(namespace=NAMESPACE)
        assert (verified.ok, verified.events, verified.sessions) == (True, 2, 1)
