"""The thread that commits for all, and the head that it holds: interrupted, stopped, forked, late for a payload."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest

from firsthand import moment
from firsthand.errors import AppendError, StoreBusy
from firsthand.event import Draft, Kind
from firsthand.log.postgres import connection
from firsthand.log.postgres.committer import APART_MAX, HELD_MAX, Committer
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.tenant import Ticket
from firsthand.log.prepare import Batch
from firsthand.pointer import parse

WAIT_S, HOLD_S, LATE_S = 60.0, 4.0, 1.0


def started(work: Any, *arguments: Any) -> Future:
    """Do something in a thread that keeps no test from ending."""
    future: Future = Future()

    def run() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def note(text: str) -> list[Draft]:
    return [Draft(Kind.NOTE, text.encode())]


def texts(log: PostgresLog) -> list[str]:
    return [event.text for event in log.reader.events("shop")]


def assert_whole(log: PostgresLog) -> None:
    assert log.verify(namespace="shop").problems == ()


class Clock:
    """A clock that waits at its first reading until it is let go, and is interrupted at its second one."""

    def __init__(self) -> None:
        self.readings, self.read, self.go = 0, threading.Event(), threading.Event()

    def __call__(self):
        self.readings += 1
        if self.readings == 1:
            self.read.set()
            self.go.wait(WAIT_S)
        if self.readings == 2:
            raise KeyboardInterrupt
        return moment.now()


def test_an_interrupted_thread_leaves_nobody_waiting(dsn):
    """When the thread that commits for all is interrupted, the others are acknowledged or told to retry, at once.

    Fails on: tickets of its group that nobody settles, whose threads then wait for ever.
    """
    clock = Clock()
    log = PostgresLog(dsn, clock=clock)

    def outcome_of(text: str) -> str:
        try:
            log.append(note(text), namespace="shop", session="s")
        except (KeyboardInterrupt, StoreBusy) as error:
            return type(error).__name__
        return "acknowledged"

    first = started(outcome_of, "first")
    assert clock.read.wait(WAIT_S)
    others = [started(outcome_of, str(number)) for number in range(4)]
    time.sleep(0.3)  # they have all come, and wait
    clock.go.set()
    outcomes = [other.result(WAIT_S) for other in others]
    assert first.result(WAIT_S) == "acknowledged"
    assert outcomes.count("KeyboardInterrupt") == 1
    assert len(texts(log)) == 1 + outcomes.count("acknowledged")
    assert_whole(log)
    log.close()


def test_what_is_not_known_to_be_written_can_be_written_again(server, dsn):
    """When the server goes away, each thread gets an error of its own, with the batch to submit again.

    Fails on: an error without the ids that the log made, one error that several threads raise.
    """
    log = PostgresLog(dsn, timeout_s=1)
    log.append(note("before"), namespace="shop", session="s")
    server.kill()
    try:
        appending = [started(lambda text=text: log.append(note(text), namespace="shop", session="s")) for text in "abc"]
        errors = [each.exception(WAIT_S) for each in appending]
    finally:
        server.start()
    assert [type(error) for error in errors] == [StoreBusy] * 3
    assert len({id(error) for error in errors}) == 3
    log.close()
    log = PostgresLog(dsn)
    for error in errors * 2:
        submit(log, error.batch)
    assert sorted(texts(log)) == ["a", "b", "before", "c"]
    assert_whole(log)
    log.close()


def submit(log: PostgresLog, batch: object) -> None:
    """Submit a batch until it is acknowledged."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            log.submit(batch)
            return
        except StoreBusy:
            assert time.monotonic() < until


def _append_in_child(log: PostgresLog, text: str, answer) -> None:
    log.append(note(text), namespace="shop", session="s")
    answer.put(text)


def test_a_connection_that_is_lost_while_a_transaction_is_undone_is_a_busy_store(server, engine):
    """Who undoes a transaction on it is told to retry. Fails on an error of the driver's, which ended the writers."""

    def undo() -> None:
        with engine.connections.use() as db, db.transaction():
            with psycopg.connect(server.dsn("postgres")) as other:
                other.execute("SELECT pg_terminate_backend(%s, 10000)", (db.info.backend_pid,))
            raise psycopg.Rollback

    with pytest.raises(StoreBusy, match="retry with the same ids"):
        undo()


def test_a_server_that_was_away_for_long_is_used_as_soon_as_it_is_back(server, dsn, monkeypatch):
    """Who waits for it is served soon after, not after as long again as it was away."""
    monkeypatch.setattr(connection, "RECONNECT_S", 1.0)
    log = PostgresLog(dsn)
    log.append(note("before"), namespace="shop", session="s")
    server.kill()
    with pytest.raises(StoreBusy):
        log.append(note("not sent"), namespace="shop", session="s")
    appended = started(lambda: log.append(note("after"), namespace="shop", session="s"))
    time.sleep(8.5)
    server.start()
    assert appended.result(4)
    assert texts(log) == ["before", "after"]
    assert_whole(log)
    log.close()


def test_a_child_appends_though_its_parent_was_appending(engine):
    """Processes forked while threads of the parent commit append by themselves, and so does the parent.

    Fails on: a lock, or the place of the one who commits, that a child takes over from a thread that it has not got.
    """
    ended = threading.Event()
    context = multiprocessing.get_context("fork")

    def keep_on() -> int:
        count = 0
        while not ended.is_set():
            engine.append(note("parent"), namespace="shop", session="s")
            count += 1
        return count

    counts = [started(keep_on) for _ in range(3)]
    answers, children = context.Queue(), []
    for number in range(8):
        time.sleep(0.05)
        children.append(context.Process(target=_append_in_child, args=(engine, f"child {number}", answers)))
        children[-1].start()
    try:
        told = sorted(answers.get(timeout=WAIT_S) for _ in children)
    finally:
        ended.set()
        for child in children:
            child.join(5)
            child.kill()
    assert told == [f"child {number}" for number in range(8)]
    acknowledged = sum(count.result(WAIT_S) for count in counts)
    assert texts(engine).count("parent") == acknowledged
    assert_whole(engine)


STOPPED = """
import os, signal, sys
from firsthand.event import Draft, Kind
from firsthand.log.postgres.committer import Committer
from firsthand.log.postgres.log import PostgresLog
log = PostgresLog(sys.argv[1])
def stop(db):
    print("holds", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
log.append_with(stop, Draft(Kind.NOTE, b"stopped"), namespace="shop", session="s")
"""


def test_a_stopped_process_that_holds_a_head_is_waited_for_in_vain_not_for_ever(dsn, engine):
    """A process that is stopped in its transaction loses the head after a while, and the others go on.

    Fails on: a wait for its lock without an end.
    """
    engine.append(note("before"), namespace="shop", session="s")
    process = subprocess.Popen([sys.executable, "-c", STOPPED, dsn], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"holds\n"
        started(lambda: engine.append(note("after"), namespace="shop", session="s")).result(WAIT_S)
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=WAIT_S)
        assert b"StoreBusy" in errors
    finally:
        process.kill()
        process.communicate()
    assert texts(engine) == ["before", "after"]
    assert_whole(engine)


def test_a_payload_that_is_erased_while_its_event_is_appended_is_not_acknowledged(engine, open_engine):
    """Between the payload and its event, the last other event with it is erased: the append is refused, and made again.

    Fails on: an acknowledged event whose payload is gone.
    """
    payload = os.urandom(40_000) * 60
    (held,) = engine.append([Draft(Kind.TOOL_RESULT, payload)], namespace="shop", session="s")
    late = open_engine()
    prepared = late._prepared([Draft(Kind.TOOL_RESULT, payload)], "shop")
    assert engine.erase("shop", [held.id]).artifacts_removed == 1
    with pytest.raises(AppendError, match="append it again"):
        late.submit((Batch("shop", "t", prepared),))
    (appended,) = late.append([Draft(Kind.TOOL_RESULT, payload)], namespace="shop", session="t")
    assert b"".join(engine.reader.expand("shop", parse(appended.pointer))) == payload
    assert_whole(engine)


def test_half_a_payload_is_not_taken_for_a_whole_one(server, dsn, database, engine, open_engine):
    """A payload whose first piece was there, and whose last was put after an erasure, is not acknowledged either.

    Fails on: a check that asks for any piece.
    """
    payload = os.urandom(3 << 20)
    late = open_engine()
    prepared = late._prepared([Draft(Kind.TOOL_RESULT, payload)], "shop")
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute("DELETE FROM firsthand.artifact WHERE namespace = %s AND piece = 0", (number_of("shop"),))
    with pytest.raises(AppendError, match="append it again"):
        late.submit((Batch("shop", "t", prepared),))
    assert texts(engine) == []
    assert_whole(engine)


@contextmanager
def holding(server: Any, database: str, *names: str) -> Iterator[dict[str, psycopg.Connection]]:
    """Hold the heads of some namespaces, as another process that does not go on would."""
    with ExitStack() as stack:
        holders = {name: stack.enter_context(psycopg.connect(server.dsn("postgres", database))) for name in names}
        for name, db in holders.items():
            db.execute("SELECT FROM firsthand.namespace WHERE namespace = %s FOR UPDATE", (number_of(name),))
        yield holders
        for db in holders.values():
            db.rollback()


def append(log: PostgresLog, text: str, name: str = "shop") -> int:
    """Append a note, and give its position."""
    return log.append(note(text), namespace=name, session="s")[0].position


def test_a_head_that_others_hold_delays_its_own_namespace_alone(server, dsn, database):
    """While another process holds a head, appends to other namespaces do not wait for it; its own come in order.

    Fails on: one thread that commits for all and waits for that head, however briefly at first.
    """
    log, others, ended = PostgresLog(dsn, timeout_s=WAIT_S), ("before", "zoo", "new"), threading.Event()

    def longest_s(name: str) -> float:
        seconds = []
        while not ended.wait(0.01):
            begun = time.monotonic()
            append(log, "x", name)
            seconds.append(time.monotonic() - begun)
        return max(seconds)

    for name in ("shop", "before", "zoo"):
        append(log, "first", name)
    with holding(server, database, "shop"):
        appending, late = [started(longest_s, name) for name in others], []
        for number in range(6):
            late.append(started(append, log, f"late {number}"))
            time.sleep(HOLD_S / 6)
        assert not any(each.done() for each in late)
        ended.set()
        assert max(each.result(WAIT_S) for each in appending) < LATE_S
    assert [each.result(WAIT_S) for each in late] == [*range(2, 8)]
    assert texts(log) == ["first", *(f"late {number}" for number in range(6))]
    assert all(log.verify(namespace=name).problems == () for name in ("shop", *others))
    log.close()


def test_more_heads_than_places_are_waited_for_in_turn(server, dsn, database):
    """With more heads held than connections wait for them, one that is free again, and any other, is appended to.

    Fails on: a connection for each head, a place that one head has until its time is over, a leader that goes on for
    others though its own append is done.
    """
    names, log = [f"n{number}" for number in range(2 * HELD_MAX)], PostgresLog(dsn, timeout_s=WAIT_S)
    for name in (*names, "shop"):
        append(log, "first", name)
    with holding(server, database, *names) as holders, psycopg.connect(server.dsn("postgres", database)) as db:
        late = {name: started(append, log, "x", name) for name in names}
        time.sleep(2)
        for name in reversed(names[1:]):
            holders[name].rollback()
            append(log, "second")
            assert late.pop(name).result(WAIT_S / 6) == 2
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
            assert db.execute(waiting, (database,)).fetchone()[0] <= HELD_MAX
        assert not late[names[0]].done()
    assert late[names[0]].result(WAIT_S) == 2
    assert all(log.verify(namespace=name).problems == () for name in (*names, "shop"))
    log.close()


def test_erasures_wait_for_held_heads_in_turn(server, dsn, database):
    """With more erasures than places waiting for heads, one of a free namespace is done; theirs are done, or refused.

    Fails on: a place that an erasure has until its time is over, and a wait that is said of a head that was not tried.
    """
    names, log = [f"n{number}" for number in range(APART_MAX)], PostgresLog(dsn, timeout_s=10)
    ids = {name: log.append(note("x"), namespace=name, session="s")[0].id for name in (*names, "shop")}
    with holding(server, database, *names) as holders:
        late = {name: started(log.erase, name, [ids[name]]) for name in names}
        time.sleep(0.5)
        assert started(log.erase, "shop", [ids["shop"]]).result(4)
        holders[names[0]].rollback()
        assert late.pop(names[0]).result(4).erased == (ids[names[0]],)
        errors = [str(each.exception(WAIT_S)) for each in late.values()]
    assert all("held this namespace's head whenever it was tried in 8 s (tries: " in error for error in errors), errors
    assert all(log.verify(namespace=name).problems == () for name in (*names, "shop"))
    log.close()


def test_an_interrupted_thread_leaves_the_wait_for_a_head_to_the_next(server, dsn, database, monkeypatch):
    """The thread that waits for a held head is interrupted: the others of its namespace are appended, each once.

    Fails on: a namespace whose tickets wait for a thread that is gone.
    """
    log = PostgresLog(dsn, timeout_s=WAIT_S)
    append(log, "first")

    def interrupted(group, wait_s=0.0):
        if wait_s:
            monkeypatch.undo()
            raise KeyboardInterrupt
        Committer._commit(log._committer, group, wait_s)

    monkeypatch.setattr(log._committer, "_commit", interrupted)
    with holding(server, database, "shop"):
        late = [started(append, log, text) for text in "abc"]
        time.sleep(1)
    assert sorted(type(each.exception(WAIT_S)).__name__ for each in late) == ["KeyboardInterrupt", *["NoneType"] * 2]
    assert len(texts(log)) == 3
    assert_whole(log)
    log.close()


def test_what_is_committed_apart_and_what_is_led_make_one_chain(engine):
    """Threads that append plainly, and with further work, to the same sessions leave one chain with every event.

    Fails on: sessions that were read for one head and taken for those of another.
    """

    def append_all(number: int) -> None:
        for count in range(40):
            text = f"{number} {count}"
            if number % 2:
                engine.append(note(text), namespace="shop", session=f"s{count % 7}")
            else:
                engine.append_with(lambda _: None, note(text)[0], namespace="shop", session=f"s{count % 7}")

    for each in [started(append_all, number) for number in range(6)]:
        each.result(WAIT_S)
    assert sorted(texts(engine)) == sorted(f"{number} {count}" for number in range(6) for count in range(40))
    assert_whole(engine)


def test_a_head_that_is_held_too_long_fails_its_own_appends(server, dsn, database):
    """Appends whose namespace is held for longer than the time limit are refused in time and say what to do."""
    log = PostgresLog(dsn, timeout_s=1)
    append(log, "first")
    with holding(server, database, "shop"):
        errors = [late.exception(WAIT_S / 4) for late in [started(append, log, text) for text in "abc"]]
    assert all(isinstance(error, StoreBusy) and "retry with the same ids" in str(error) for error in errors)
    for error in errors * 2:
        submit(log, error.batch)
    assert sorted(texts(log)) == ["a", "b", "c", "first"]
    assert_whole(log)
    log.close()


def test_an_interruption_settles_those_who_joined_late(dsn):
    """A ticket that joins a namespace's own commit while it is under way is settled when that is interrupted.

    Fails on: a ticket that is in no list of those who wait, nor of those whom the interrupted thread settles.
    """

    def interrupted():
        raise KeyboardInterrupt

    log = PostgresLog(dsn, clock=interrupted)
    first, late = (
        Ticket(number_of("shop"), (Batch("shop", "s", log._prepared(note(text), "shop")),))
        for text in ("first", "late")
    )
    log._committer._waiting.append(late)
    with pytest.raises(KeyboardInterrupt):
        log._committer._commit([first], 1.0)
    assert [type(ticket.error) for ticket in (first, late)] == [StoreBusy] * 2
    assert texts(log) == []
    assert_whole(log)
    log.close()
