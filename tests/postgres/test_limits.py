"""Limits of namespaces: an append over one is refused whole, and is nobody else's fault."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import psycopg
import pytest
from postgres_server import OWNER

from firsthand import Draft, Kind
from firsthand.errors import StoreError, StoreFull
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.tenant import Ticket


def limit(server, database, name, **limits):
    """Limit a namespace, as the owner, whether or not it has an event."""
    columns = ", ".join(limits)
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        db.execute("SET search_path = firsthand")
        db.execute(
            f"INSERT INTO namespace (namespace, name, position, head, {columns}) VALUES (%s, %s, 0, %s, "
            f"{', '.join(['%s'] * len(limits))}) ON CONFLICT (namespace) DO UPDATE SET "
            + ", ".join(f"{column} = excluded.{column}" for column in limits),
            (number_of(name), name, bytes(32), *limits.values()),
        )


def notes(*texts):
    return [Draft(Kind.NOTE, text) for text in texts]


@pytest.mark.parametrize("name", ["events_max", "day_events_max"])
def test_a_namespace_takes_as_many_events_as_its_limit(server, database, engine, name):
    """Below a limit that was set before the first event all are taken; what would pass it is refused whole."""
    limit(server, database, "shop", **{name: 3})
    engine.append(notes(b"1", b"2"), namespace="shop", session="s")
    with pytest.raises(StoreFull, match="its limit") as caught:
        engine.append(notes(b"3", b"4"), namespace="shop", session="s")
    assert 0 < caught.value.wait_s <= 86_400
    engine.append(notes(b"3"), namespace="shop", session="s")
    assert engine.reader.head("shop")[0] == 3
    limit(server, database, "shop", **{name: None})
    engine.append(notes(b"4"), namespace="shop", session="s")
    assert engine.verify(namespace="shop").ok


def test_bytes_are_counted_with_those_of_large_payloads(server, database, engine):
    """A payload that is kept apart from its event counts as much as one in its row; an erasure is never refused."""
    limit(server, database, "shop", bytes_max=20_000, day_bytes_max=1_000_000)
    engine.append(notes(b"small"), namespace="shop", session="s")
    random = Random(1).randbytes
    with pytest.raises(StoreFull):
        engine.append(notes(random(30_000)), namespace="shop", session="s")
    with pytest.raises(StoreFull):
        engine.append(notes(random(3_000_000)), namespace="shop", session="s")
    first = next(iter(engine.reader.events("shop")))
    limit(server, database, "shop", events_max=1)
    assert engine.erase("shop", [first.id]).erased == (first.id,)
    assert engine.verify(namespace="shop").ok


@pytest.mark.parametrize("name", ["bytes_max", "day_bytes_max"])
def test_payloads_that_no_event_holds_count(server, database, engine, name):
    """What was put and never appended takes the room of its namespace, alone, until it is old and is swept."""
    limit(server, database, "shop", **{name: 100_000})
    key, random = engine.namespace_key("shop"), Random(3).randbytes
    engine.artifacts.put(key, random(60_000))
    with pytest.raises(StoreFull, match=f"100000 bytes {'a day' if 'day' in name else 'in all'}"):
        engine.artifacts.put(key, random(60_000))
    engine.artifacts.put(engine.namespace_key("other"), random(60_000))
    engine.append(notes(random(30_000)), namespace="shop", session="s")
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        db.execute("UPDATE firsthand.artifact SET stored = now() - interval '25 hours'")
    engine.append(notes(random(60_000)), namespace="shop", session="s")
    assert len([*engine.artifacts.listing(key)]) == 2
    assert engine.verify(namespace="shop").ok


def test_a_payload_on_its_way_counts_and_delays_no_other(server, database, engine):
    """While a put takes long, another is done; one without room beside both is refused; what failed does not count."""
    limit(server, database, "shop", bytes_max=100_000)
    key, random = engine.namespace_key("shop"), Random(4).randbytes
    slow = random(40_000)
    with psycopg.connect(server.dsn("postgres", database)) as db, ThreadPoolExecutor() as threads:

        def waiting():
            while (row := db.execute("SELECT pid FROM pg_locks WHERE NOT granted").fetchone()) is None:
                threading.Event().wait(0.01)
            return row[0]

        sql = "INSERT INTO firsthand.artifact (namespace, digest, piece, bytes) VALUES (%s, %s, 0, '')"
        db.execute(sql, (key, hashlib.sha256(slow).digest()))
        putting = threads.submit(engine.artifacts.put, key, slow)
        waiting()
        engine.artifacts.put(key, random(30_000))
        with pytest.raises(StoreFull):
            engine.artifacts.put(key, random(40_000))
        db.execute("SELECT pg_cancel_backend(%s)", (waiting(),))
        with pytest.raises(StoreError):
            putting.result(30)
        engine.artifacts.put(key, random(40_000))
        assert db.execute("SELECT count(*) FROM firsthand.pending_object").fetchone() == (0,)
        db.rollback()
        sql = "INSERT INTO firsthand.pending_object VALUES (%s, 'of a crash', 25000, now() - interval '25 hours')"
        db.execute(sql, (key,))
        db.commit()
        engine.artifacts.put(key, random(25_000))
    assert engine.verify(namespace="shop").ok


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("events_max", "its limit of 1 events in all .* NAMESPACE --events N"),
        ("bytes_max", "its limit of 1 bytes in all .* NAMESPACE --bytes N"),
        ("day_events_max", "its limit of 1 events a day .* tomorrow .* NAMESPACE --day-events N"),
        ("day_bytes_max", "its limit of 1 bytes a day .* tomorrow .* NAMESPACE --day-bytes N"),
    ],
)
def test_a_refusal_names_its_limit(server, database, engine, name, said):
    """Whoever meets a limit reads which one it is, its value, and what to ask for."""
    limit(server, database, "shop", **{name: 1})
    with pytest.raises(StoreFull, match=said):
        engine.append(notes(b"1", b"2"), namespace="shop", session="s")
    assert engine.verify(namespace="shop").ok


def test_a_day_begins_anew(server, database, engine):
    """What was appended on an earlier day does not count for today."""
    limit(server, database, "shop", day_events_max=1)
    engine.append(notes(b"1"), namespace="shop", session="s")
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        db.execute("UPDATE firsthand.namespace SET day = day - 1")
    engine.append(notes(b"2"), namespace="shop", session="s")
    with pytest.raises(StoreFull, match="a day"):
        engine.append(notes(b"3"), namespace="shop", session="s")


def test_who_is_over_a_limit_stops_nobody(server, database, engine):
    """Of appends that share a commit only those over a limit are refused, in their namespace and beside it."""
    limit(server, database, "small", events_max=2)
    engine.append(notes(b"0"), namespace="small", session="s")
    engine.append(notes(b"0"), namespace="large", session="s")
    outcomes = {}

    def append(name, count):
        try:
            engine.append(notes(*[b"x"] * count), namespace=name, session=f"s{count}")
            outcomes[name, count] = "taken"
        except StoreFull:
            outcomes[name, count] = "full"

    committer, first = engine._committer, Ticket(0, ())
    committer._leader = first  # the others wait for it and are committed together
    threads = [threading.Thread(target=append, args=each) for each in (("small", 5), ("small", 1), ("large", 3))]
    for thread in threads:
        thread.start()
    while len(committer._waiting) < 3:
        threading.Event().wait(0.01)
    committer._leave(first)
    for thread in threads:
        thread.join()
    assert outcomes == {("small", 5): "full", ("small", 1): "taken", ("large", 3): "taken"}


def test_an_erasure_beside_an_append_over_a_limit_is_done(server, database, engine):
    """While an append that will be refused waits, an erasure of its namespace is done, and counts what it destroyed."""
    (held,) = engine.append(notes(Random(2).randbytes(100_000)), namespace="shop", session="s")
    limit(server, database, "shop", events_max=1)
    committer, first = engine._committer, Ticket(0, ())
    committer._leader = first
    with ThreadPoolExecutor() as threads:
        appending = threads.submit(engine.append, notes(b"x"), namespace="shop", session="t")
        while len(committer._waiting) < 1:
            threading.Event().wait(0.01)
        erasure = engine.erase("shop", [held.id])
        committer._leave(first)
        with pytest.raises(StoreFull):
            appending.result(30)
    assert (erasure.artifacts_removed, erasure.artifacts_kept) == (1, 0)
    assert engine.verify(namespace="shop").ok
