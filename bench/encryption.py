"""What encrypted bodies cost: append and read, beside a plain store of the same server, in pairs.

    python bench/encryption.py [--events 2000]

Processor time of this process an event, which is where bodies are sealed and opened; the server's is the same but for
some 60 bytes an event. Pairs are taken in turn, and the median is printed: other programs' load falls on both.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from firsthand.event import Draft, Kind
from firsthand.log.postgres.log import PostgresLog, make

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "contract"))
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

SENTENCE = "the port of the gateway is 8443 since the change of Tuesday, as Ana wrote in the ticket; "
ROUNDS = 7


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2_000, help="events a round and row")
    chosen = parser.parse_args()
    server = PostgresServer(installations()["embedded"], fsync="off")
    try:
        with tempfile.TemporaryDirectory() as keys:
            logs = [opened(server, "plain", keys), opened(server, "sealed", keys)]
            print(f"{'processor time an event, us':40}{'plain':>10}{'encrypted':>12}{'ratio':>8}")
            for batch in (1, 64):
                row(
                    f"append, batch of {batch}",
                    logs,
                    lambda log, n=batch: append(log, chosen.events if n > 1 else chosen.events // 8, n),
                )
            row("read by position, pages of 256", logs, lambda log: read(log, chosen.events))
            row("read one by one", logs, lambda log: pick(log, chosen.events // 8))
            for log in logs:
                assert log.verify(namespace="n").ok
                log.close()
            row_bytes(server)
    finally:
        server.close()


def opened(server: PostgresServer, name: str, keys: str) -> PostgresLog:
    """Make a store and open it."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
    make(server.dsn(OWNER, name), encrypted=name == "sealed")
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"GRANT firsthand_application TO {APPLICATION}")
    return PostgresLog(server.dsn(database=name), keys=keys)


def row(name: str, logs: list[PostgresLog], work: Callable[[PostgresLog], int]) -> None:
    """Do some work on each store in turn, and print the medians."""
    spent: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for times, log in zip(spent, logs, strict=True):
            begun = time.process_time()
            count = work(log)
            times.append((time.process_time() - begun) / count * 1e6)
    plain, sealed = map(statistics.median, spent)
    print(f"{name:40}{plain:10.1f}{sealed:12.1f}{sealed / plain:8.2f}")


def append(log: PostgresLog, events: int, batch: int) -> int:
    """Append events of some 600 bytes."""
    for number in range(0, events, batch):
        drafts = [Draft(Kind.USER_MESSAGE, f"{number + k} {SENTENCE * 7}".encode()) for k in range(batch)]
        log.append(drafts, namespace="n", session="s")
    return -(-events // batch) * batch


def read(log: PostgresLog, events: int) -> int:
    """Read the first events in order."""
    return sum(1 for _ in log.reader.events("n", limit=events))


def pick(log: PostgresLog, events: int) -> int:
    """Read events one by one, all over the log."""
    last = log.reader.head("n")[0]
    for number in range(events):
        assert log.reader.event_at("n", number * 7919 % last + 1) is not None
    return events


def row_bytes(server: PostgresServer) -> None:
    """Print the size of a row's content."""
    sizes = []
    for name in ("plain", "sealed"):
        with psycopg.connect(server.dsn("postgres", name)) as db:
            found = db.execute(
                "SELECT avg(octet_length(body) + coalesce(octet_length(salt), 0)) FROM firsthand.event"
            ).fetchone()
            sizes.append(float(found[0]) if found is not None else 0.0)
    print(f"{'bytes of body and salt an event':40}{sizes[0]:10.1f}{sizes[1]:12.1f}{sizes[1] / sizes[0]:8.2f}")


if __name__ == "__main__":
    main()
