"""Histories of many processes at once are those of one log, and a log with a fault in it shows in its history."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from history import Operation, Stored, violations
from history_faults import CODE, SQL
from history_process import NAMESPACE
from postgres_server import OWNER, installations

from firsthand.log.postgres.log import PostgresLog
from stores import SOAK

HERE = Path(__file__).parent
PROCESSES = 3
OPERATIONS = 100_000 if SOAK else 5_000
"""Appends alone; polls and reads come on top."""
FAULTY_OPERATIONS = 600
SEEN_AS = {
    "acknowledge before the commit": {"poll", "head", "event"},
    "known ids are not looked up": {"order", "position", "retry"},
    "expectations are not checked": {"expectation"},
    "a poll skips": {"poll"},
    "a head is kept": {"head"},
    "the head is not compared": {"position", "order"},
}


def run(dsn: str, folder: Path, operations: int, fault: str = "none") -> list[Operation]:
    """Let several processes work on a store at once, and give what they recorded."""
    files = [folder / f"p{number}.jsonl" for number in range(PROCESSES)]
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / "history_process.py", dsn, path.stem, str(operations // PROCESSES), fault, path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for path in files
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == b"ready\n", process.communicate()
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=3_600)
        assert process.returncode == 0 or fault != "none", errors.decode()
    return [operation for path in files for operation in _lines(path)]


def _lines(path: Path) -> Iterator[Operation]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def log_of(dsn: str) -> list[Stored]:
    """Read what there is in the end, as it is stored."""
    log = PostgresLog(dsn)
    events = [
        Stored(event.position, event.id, event.session, event.text, event.chain)
        for event in log.reader.events(NAMESPACE, damaged=lambda _position, _error: None)
    ]
    log.close()
    return events


def test_a_history_of_many_processes_is_that_of_one_log(dsn, tmp_path):
    """Appends, retries, stale expectations, polls and reads of three processes agree with one order and with the clock.

    Fails on: each fault of `history_faults`.
    """
    began = time.monotonic()
    operations = run(dsn, tmp_path, OPERATIONS)
    log = log_of(dsn)
    counts = Counter(each["kind"] for each in operations)
    print(f"history: {dict(counts)}, {len(log):,} events, {time.monotonic() - began:.0f} s")
    assert violations(operations, log) == []
    appends = [each for each in operations if each["kind"] == "append"]
    refused = {each.get("error", "") for each in appends}
    assert refused == {"", "StaleExpectation", "IdConflict"}
    assert any(not all(each["new"]) for each in appends if "new" in each)
    handle = PostgresLog(dsn)
    assert handle.verify(namespace=NAMESPACE).problems == ()
    handle.close()


@pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)
@pytest.mark.parametrize("fault", sorted({*CODE, *SQL}))
def test_a_planted_fault_shows_in_the_history(server, database, dsn, tmp_path, fault):
    """Each fault of the committer, the store or a reader is named by the check of the history that it breaks."""
    if fault in SQL:
        with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
            db.execute("SET search_path = firsthand")
            SQL[fault](db)
    operations = run(dsn, tmp_path, FAULTY_OPERATIONS, fault)
    named = {sentence.partition(":")[0] for sentence in violations(operations, log_of(dsn))}
    assert named & SEEN_AS[fault]
