"""When a home of keys is asked, which may take 30 s for each answer."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from log_suite import NAMESPACE, user
from sealed_stores import events_of, exported

from firsthand.event import Draft, Kind
from firsthand.log.postgres.connection import enter
from firsthand.log.postgres.keys import KeyRing
from firsthand.log.postgres.reader import number_of
from firsthand.log.prepare import Batch


@pytest.fixture
def vault(tmp_path):
    """A program that keeps keys beside itself, and a line for each call."""
    program = tmp_path / "vault"
    program.write_text(
        'set -e\ncd "$(dirname "$0")"\necho "$@" >> calls\n'
        'if [ "$1" = read ]; then cat "$2-$3" 2>/dev/null || true; exit; fi\ncat > "$2-$3"\n',
        encoding="utf-8",
    )
    return program


def calls_of(program) -> int:
    return len((program.parent / "calls").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda log: log.renew_key(NAMESPACE),
        lambda log: [log.namespace_key(name) for name in "abcabc"],
    ],
    ids=["its key is renewed", "many others are read"],
)
def test_an_append_asks_for_no_key_once_it_holds_the_head(again, vault, server, database, monkeypatch, meanwhile):
    """Whatever happens to keys while an append waits for its namespace's head, it has its own at hand then.

    Fails on: a renewal or an erasure that drops the keys at hand, and a full store of keys that drops those in use.
    """
    monkeypatch.setattr("firsthand.log.postgres.seal.RINGS_KEPT", 2)
    log, key = again(f"command:sh {vault}"), number_of(NAMESPACE)
    log.append([user("one")], namespace=NAMESPACE, session="s")
    with ThreadPoolExecutor() as threads, psycopg.connect(server.dsn(database=database)) as db:
        db.execute("SET search_path = firsthand")
        enter(db, key)
        db.execute("SELECT FROM hold_1(%s)", (key,))
        appending = threads.submit(log.append, [user("two")], namespace=NAMESPACE, session="s")
        waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%hold_1%'"
        while db.execute(waits).fetchone() is None:
            db.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees what it saw first
            assert not appending.done()
            time.sleep(0.01)
        meanwhile(log)
        calls = calls_of(vault)
        db.commit()
        appending.result(30)
    assert calls_of(vault) == calls
    assert log.verify(namespace=NAMESPACE).problems == ()


def test_verify_and_export_ask_once(again, vault, monkeypatch):
    """A namespace is proven and copied with one look at its keys, also where there are none.

    Fails on: a look for each event or payload once the last answer is old, and for each event of a missing key.
    """
    monkeypatch.setattr("firsthand.log.postgres.keys.COMMAND_FRESH_S", 0.0001)  # each look asks the program again
    log = again(f"command:sh {vault}")
    payloads = [Draft(Kind.TOOL_RESULT, bytes([letter]) * (1 << 21)) for letter in b"ab"]
    log.append([user("one"), user("two"), *payloads], namespace=NAMESPACE, session="s")

    def looks(act) -> int:
        before = calls_of(vault)
        act()
        return calls_of(vault) - before

    assert looks(lambda: exported(log)) == 1
    assert looks(lambda: log.verify(namespace=NAMESPACE).ok) == 1
    for ring in vault.parent.glob("*-*"):
        ring.rename(vault.parent / "away")
    assert looks(lambda: log.verify(namespace=NAMESPACE)) == 1
    assert "not the contents of 4 events" in log.verify(namespace=NAMESPACE).notes[0]


@pytest.mark.parametrize("lossy", [False, True], ids=["", "an earlier one was given up"])
def test_a_key_that_was_renewed_elsewhere_is_asked_for_once(again, vault, monkeypatch, lossy):
    """What was written with a key that is newer than what this machine has read is read, proven and retried at once.

    Fails on: keys that are not there, or content that reads as erased, until keys are asked for again in any case.
    """
    monkeypatch.setattr("firsthand.log.postgres.keys.COMMAND_FRESH_S", 1e12)  # never for their age
    log, other = again(f"command:sh {vault}"), again(f"command:sh {vault}")
    log.append([user("one")], namespace=NAMESPACE, session="s")
    if lossy:
        log.renew_key(NAMESPACE, lost=True)
    assert events_of(other) == [b"one"]
    log.renew_key(NAMESPACE)
    (batch,) = (Batch(NAMESPACE, "s", log._prepared([user("two")], NAMESPACE)),)
    log.submit((batch,))
    if not lossy:
        assert [each.new for each in other.submit((batch,))] == [False]
    calls = calls_of(vault)
    assert events_of(other) == events_of(other) == [b"one", b"two"]
    assert calls_of(vault) - calls == lossy
    log.renew_key(NAMESPACE)
    log.append([user("three"), Draft(Kind.TOOL_RESULT, bytes(1 << 20))], namespace=NAMESPACE, session="s")
    assert (other.verify(namespace=NAMESPACE).problems, other.verify(namespace=NAMESPACE).notes) == ((), ())
    assert exported(other) == exported(log)


def test_a_key_that_is_nowhere_is_asked_for_once(again, vault, monkeypatch):
    """A key that its home has not got either is not asked for at each event. Fails on: a call for each of them."""
    monkeypatch.setattr("firsthand.log.postgres.keys.COMMAND_FRESH_S", 1e12)
    log = again(f"command:sh {vault}")
    log.append([user("one"), user("two"), user("three")], namespace=NAMESPACE, session="s")
    ring = KeyRing(NAMESPACE, [])
    ring.renew()
    (vault.parent / f"{log.reader.uuid().hex()}-{number_of(NAMESPACE):016x}").write_bytes(ring.encode())
    other, calls = again(f"command:sh {vault}"), calls_of(vault)
    assert "not the contents of 3 events" in other.verify(namespace=NAMESPACE).notes[0]
    assert calls_of(vault) - calls == 2


def test_a_child_has_keys_though_its_parent_was_looking_for_one(log):
    """A process that is forked while another thread has the lock of the keys appends. Fails on: that lock in it."""
    log.append([user("one")], namespace=NAMESPACE, session="s")
    context = multiprocessing.get_context("fork")
    child = context.Process(target=log.append, args=([user("two")],), kwargs={"namespace": NAMESPACE, "session": "s"})
    with log.seal._guard:
        child.start()
    child.join(20)
    child.kill()
    assert events_of(log) == [b"one", b"two"]
