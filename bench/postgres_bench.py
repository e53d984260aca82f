"""A log in PostgreSQL beside bare inserts, on servers of its own: ``python bench/postgres_bench.py --data FOLDER``.

Each figure stands beside a baseline that takes turns with it on the same server: a bare table with a text column, the
same engine with a connection a writer, a store of ten namespaces, a bare table with FTS5, a tenant alone. Ends with 1
where a target is missed. Writes bench/postgres.json, which tools/scale_plan.py reckons with; --quick writes nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from itertools import count, cycle, islice
from pathlib import Path

import psycopg

from engines import RowsAndIndex, batched_rows
from machine import describe
from setting import Setting
from table import Bound, Row, Target, as_text, as_values
from timing import interleave, median, percentile, say

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("contract", "postgres")]

from postgres_server import APPLICATION, OWNER, PostgresServer, installations  # noqa: E402 - bench is a folder of scripts
from team_server import Team  # noqa: E402

from firsthand import Client, Memory  # noqa: E402
from firsthand.event import Draft, Kind  # noqa: E402
from firsthand.log.postgres.committer import Committer  # noqa: E402
from firsthand.log.postgres.connection import Connections  # noqa: E402
from firsthand.log.postgres.log import PostgresLog, make  # noqa: E402
from firsthand.log.postgres.replica_folder import ReplicaFolder  # noqa: E402
from firsthand.log.postgres.tenant import Ticket  # noqa: E402
from firsthand.log.prepare import Batch  # noqa: E402
from firsthand.log.restore import restore  # noqa: E402
from firsthand.moment import now  # noqa: E402
from firsthand.sync.exchange import sync  # noqa: E402

OUT = Path(__file__).with_name("postgres.json")
SYNC_DELAY_US = 2_000
WRITERS = 64
BATCH = 64
BARE = "CREATE TABLE bare (position bigserial PRIMARY KEY, text text NOT NULL)"
BARE_BATCH = "INSERT INTO bare (text) SELECT unnest(%s::text[])"
_databases = count()


class Store:
    """A store in a database of its own, with a bare table beside it."""

    def __init__(self, server: PostgresServer) -> None:
        self.server, self.name = server, f"bench{next(_databases)}"
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {self.name} OWNER {OWNER}")
        make(server.dsn(OWNER, self.name))
        with self.owner() as db:
            db.execute(f"GRANT firsthand_application TO {APPLICATION}")
            db.execute(BARE)
            db.execute(f"GRANT ALL ON bare, bare_position_seq TO {APPLICATION}")
        self.dsn = server.dsn(database=self.name)
        self.url = f"postgresql://{APPLICATION}@/{self.name}?host={server.folder}"

    def owner(self) -> psycopg.Connection:
        return psycopg.connect(self.server.dsn("postgres", self.name), autocommit=True)

    @contextmanager
    def log(self) -> Iterator[PostgresLog]:
        log = PostgresLog(self.dsn)
        yield log
        log.close()

    def backend_seconds(self) -> float:
        """Processor seconds of the server's processes that answer clients of this database."""
        with self.owner() as db:
            sql = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND usename = %s"
            processes = [row[0] for row in db.execute(sql, (self.name, APPLICATION))]
        ticks = 0
        for process in processes:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def number(self, sql: str) -> int:
        with self.owner() as db:
            row = db.execute(sql).fetchone()  # type: ignore[call-overload]
        assert row is not None
        return int(row[0])


def main() -> int:
    """Measure on each PostgreSQL; 0 when every target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real text")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=list(FIGURES), help="measure these figures")
    parser.add_argument("--server", nargs="+", default=sorted(installations(), reverse=True), help="embedded, 15")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size: does it run?")
    arguments = parser.parse_args()
    results = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="firsthand-bench-") as work:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = os.environ["XDG_STATE_HOME"] = work
        setting = Setting(arguments.data, Path(work), arguments.quick)
        texts = list(setting.texts(setting.scaled(20_000)))
        for name in arguments.server:
            result = results.setdefault(name, {"figures": {}, "measured": {}})
            for figure in arguments.only:
                say(f"PostgreSQL {name}: {figure}")
                server = PostgresServer(installations()[name], sync_delay_us=SYNC_DELAY_US * (figure == "writers"))
                try:
                    rows, measured = FIGURES[figure](Store(server), texts, setting)
                    with psycopg.connect(server.dsn("postgres")) as db:
                        version = db.info.server_version // 10_000
                finally:
                    server.close()
                about = {"date": datetime.now(UTC).date().isoformat(), "machine": describe(Path(work))}
                result["figures"][figure] = about | {"rows": as_values(rows)}
                result["measured"] |= measured
                result["version"] = version
                if not setting.quick:
                    OUT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                print(as_text(rows), flush=True)
                missed += [f"PostgreSQL {version}: {row.figure}" for row in rows if row.met is False]
    print("every target is met" if not missed else "MISSED: " + "; ".join(missed))
    return 1 if missed else 0


Measured = dict[str, float]


def append(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """One event at a time, by one writer."""
    with store.log() as log, psycopg.connect(store.dsn, autocommit=True) as bare:
        subjects = {
            "ours": lambda text: log.append([_draft(text)], namespace="n", session="s"),
            "bare": lambda text: bare.execute("INSERT INTO bare (text) VALUES (%s)", (text,), prepare=True),
        }
        interleave(subjects, texts[:50])
        seconds = interleave(subjects, list(islice(cycle(texts), setting.scaled(3_000, at_least=200))))
    ours, base = (1e3 * median(seconds[name]) for name in ("ours", "bare"))
    target = Target(Bound.RATIO_MAX, 2.0)
    return [Row("append of one event, p50", ours, base, "ms", "bare insert", True, target)], {"append_ms": ours}


def writers(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """64 writers of one namespace, where a sync takes 2 ms longer."""
    seconds: dict[str, list[float]] = {"ours": [], "each": []}
    spent = dict.fromkeys(seconds, 0.0)
    pools = [Connections(store.dsn, size_max=1) for _ in range(WRITERS)]
    with store.log() as log:
        committers = [Committer(pool, log.seal, now) for pool in pools]

        def shared(number: int, text: str) -> None:
            log.append([_draft(text)], namespace="n", session=f"s{number}")

        def alone(number: int, text: str) -> None:  # `also` has the head held at once, as a writer that is alone must
            batch = Batch("n", f"s{number}", log._prepared([_draft(text)], "n"))
            committers[number].submit(Ticket(log.namespace_key("n"), (batch,), also=lambda _db: None))

        subjects = {"ours": shared, "each": alone}
        for subject in subjects.values():
            _race(subject, texts, 0.5)
        for _ in range(2 if setting.quick else 4):
            for name, subject in subjects.items():
                began = time.perf_counter()
                seconds[name] += _race(subject, texts, 1 if setting.quick else 4)
                spent[name] += time.perf_counter() - began
    for pool in pools:
        pool.close()
    rates = {name: len(taken) / spent[name] for name, taken in seconds.items()}
    late = {name: 1e3 * percentile(taken, 0.99) for name, taken in seconds.items()}
    base = "a connection a writer"
    return [
        Row("64 writers, 2 ms a sync", *rates.values(), "/s", base, False, Target(Bound.RATIO_MIN, 5.0)),
        Row("64 writers, 2 ms a sync, p99", *late.values(), "ms", base, True, Target(Bound.RATIO_MAX, 1 / 6)),
    ], {"writers_rate": rates["ours"]}  # fmt: skip


def _race(subject: Callable[[int, str], None], texts: Sequence[str], seconds: float) -> list[float]:
    """Have each of 64 threads append as often as it can; give the seconds of each append."""
    end, taken, lock = time.perf_counter() + seconds, [], threading.Lock()

    def write(number: int) -> None:
        mine = []
        for text in cycle(texts[number::WRITERS]):
            began = time.perf_counter()
            if began > end:
                break
            subject(number, text)
            mine.append(time.perf_counter() - began)
        with lock:
            taken.extend(mine)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    return taken


def processor(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """What the server's processor does for an event, in batches of 64 and of one."""
    rows, measured = [], {}
    for size, events, target in ((BATCH, 64_000, 10.0), (1, 6_000, None)):
        batches = [list(islice(cycle(texts), k, k + size)) for k in range(0, setting.scaled(events), size)]
        spent, client = {"ours": 0.0, "bare": 0.0}, 0.0
        with store.log() as log, psycopg.connect(store.dsn, autocommit=True) as bare:
            subjects: dict[str, Callable[[list[str]], object]] = {
                "ours": lambda batch: log.append([_draft(text) for text in batch], namespace="n", session="s"),
                "bare": lambda batch: bare.execute(BARE_BATCH, (batch,), prepare=True),
            }
            step = max(1, len(batches) // 10)
            for first in range(0, len(batches), step):
                for name, subject in subjects.items():
                    before, client_before = store.backend_seconds(), time.process_time()
                    for batch in batches[first : first + step]:
                        subject(batch)
                    client += (time.process_time() - client_before) * (name == "ours")
                    spent[name] += store.backend_seconds() - before
        each = {name: max(1e6 * taken / (size * len(batches)), 0.1) for name, taken in spent.items()}
        bound = None if target is None else Target(Bound.RATIO_MAX, target)
        figure = f"server's processor an event, batches of {size}"
        rows.append(Row(figure, each["ours"], each["bare"], "us", "bare batched insert", True, bound))
        measured |= {f"server_us_{size}": each["ours"], f"client_us_{size}": 1e6 * client / (size * len(batches))}
    return rows, measured


def namespaces(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """Appending to, and reading from, one namespace among ten and among ten thousand."""
    many = setting.scaled(10_000)
    stores = {
        "ours": (store, [f"n{k}" for k in range(many)]),
        "ten": (Store(store.server), [f"n{k}" for k in range(10)]),
    }
    ids: dict[str, dict[str, str]] = {}
    chance, seconds = random.Random(2), {}
    opened = {name: PostgresLog(each.dsn) for name, (each, _) in stores.items()}
    for name, (_, names) in stores.items():
        log = opened[name]

        def fill(namespace: str, log: PostgresLog = log) -> str:
            return log.append([_draft(text) for text in texts[:3]], namespace=namespace, session="s")[0].id

        with ThreadPoolExecutor(32) as pool:
            ids[name] = dict(zip(names, pool.map(fill, names), strict=True))
    draws = [chance.random() for _ in range(setting.scaled(2_000, at_least=200))]

    def appends(log: PostgresLog, names: list[str]) -> Callable[[float], object]:
        return lambda draw: log.append([_draft(texts[3])], namespace=names[int(draw * len(names))], session="s")

    def reads(log: PostgresLog, known: dict[str, str]) -> Callable[[float], object]:
        return lambda draw: log.reader.event(*list(known.items())[int(draw * 10)])

    rows, target = [], Target(Bound.RATIO_MAX, 1.2)
    for figure, subjects, bound in (
        ("append", {name: appends(opened[name], stores[name][1]) for name in stores}, target),
        ("read of an event",
         {name: reads(opened[name], dict(chance.sample([*ids[name].items()], 10))) for name in stores}, target),
        ("first append to a namespace, by a server that has just started",
         {name: appends(PostgresLog(stores[name][0].dsn), stores[name][1]) for name in stores}, None),
    ):  # fmt: skip
        if bound is not None:
            interleave(subjects, draws[:100])
        seconds = {name: 1e3 * median(taken) for name, taken in interleave(subjects, draws).items()}
        title = f"{many:,} namespaces: {figure}, p50"
        rows.append(Row(title, seconds["ours"], seconds["ten"], "ms", "10 namespaces", True, bound))
    for log in opened.values():
        log.close()
    return rows, {}


def replica(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """A replica that takes in a namespace, beside a bare table with FTS5: in processor time, which load spares.

    Beside it what an event takes in the database, its log, a replica and an export.
    """
    with store.log() as log:
        began = store.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        sizes = [store.number(sql) for sql in SIZES.values()]
        for number, batch in enumerate(batched_rows(texts)):
            for first in range(0, len(batch), 16):
                log.append([_draft(text) for text in batch[first : first + 16]], namespace="n", session=f"s{number}")
        written = store.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn") - began
        measured = {
            "wal_bytes": written / len(texts),
            "body_bytes": sum(len(text.encode()) for text in texts) / len(texts),
        }
        measured |= {
            name: (store.number(sql) - before) / len(texts)
            for (name, sql), before in zip(SIZES.items(), sizes, strict=True)
        }
        exported = BytesIO()
        before = time.process_time()
        log.export(exported, namespace="n")
        measured["export_us"] = 1e6 * (time.process_time() - before) / len(texts)
    exported.seek(0)
    with Store(store.server).log() as log:
        before = time.process_time()
        restore(log, exported)
        measured["restore_us"] = 1e6 * (time.process_time() - before) / len(texts)
    folder = setting.fresh("fts5")
    baseline = RowsAndIndex(folder / "bare.db")
    before = time.process_time()
    baseline.extend(texts)
    bare = time.process_time() - before
    baseline.close()
    before = time.process_time()
    with store.log() as log:
        unindexed = ReplicaFolder(log, "n", folder / "log" / "n", {})
        while unindexed.follow(math.inf):
            pass
        unindexed.close()
    log_alone = time.process_time() - before
    before = time.process_time()
    with Memory(store.url, namespace="n") as memory:
        while memory.log.follow():  # type: ignore[attr-defined]  # what is at an address follows
            pass
        memory.log.flush_indexes("n")
        ours = time.process_time() - before
        root = memory.log.root
        kept = sum(file.stat().st_blocks * 512 for file in root.rglob("*") if file.is_file())
    measured |= {"replica_us": 1e6 * ours / len(texts), "replica_bytes": kept / len(texts)}
    rates = [len(texts) / taken for taken in (ours, bare, log_alone)]
    title, unit, base = "events that a replica takes in", "/s of processor", "bare FTS5 insert, 2,000 a transaction"
    return [
        Row(title, rates[0], rates[1], unit, base, False, Target(Bound.RATIO_MIN, 0.25)),
        Row(f"{title}, without its index of words", rates[2], rates[1], unit, base, False),
    ], measured


SIZES = {
    "heap_bytes": "SELECT pg_relation_size('firsthand.event') + pg_relation_size('firsthand.session')",
    "index_bytes": "SELECT pg_indexes_size('firsthand.event') + pg_indexes_size('firsthand.session')",
    "toast_bytes": "SELECT pg_total_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'firsthand.event'::regclass",
}


def recall(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """A tenant of 500 events among others' million, and alone."""
    others, stores = setting.scaled(1_000_000), {"ours": store, "alone": Store(store.server)}
    with store.owner() as db:
        db.execute(FOREIGN, {"others": others})
        db.execute("ANALYZE firsthand.event")
    memories = {}
    for name, each in stores.items():
        with each.log() as log:
            for first in range(0, 500, 50):
                log.append([_draft(text) for text in texts[first : first + 50]], namespace="small", session="s")
        memories[name] = Memory(each.url, namespace="small")
    questions = [" ".join(text.split()[:6]) for text in texts[:500]]
    subjects = {name: memory.recall for name, memory in memories.items()}
    interleave(subjects, questions[:50])
    seconds = interleave(subjects, questions[: setting.scaled(500, at_least=100)])
    ours, alone = (1e3 * median(seconds[name]) for name in ("ours", "alone"))
    for memory in memories.values():
        memory.close()
    title = f"recall of a tenant of 500 among {others:,}, p50"
    return [Row(title, ours, alone, "ms", "alone in its store", True, Target(Bound.RATIO_MAX, 1.2))], {
        "recall_ms": ours
    }


FOREIGN = """
INSERT INTO firsthand.event (namespace, position, id, session, sequence, part, turn, kind, trust, agent, origin, time,
  time_offset, ingested, ingested_offset, chain, commitment, head, salt, body)
SELECT 1 + n %% 100, 1 + n / 100, decode(md5(n::text), 'hex'), 1, n / 100, 0, 0, 1, 2, '', '', n, 0, n, 0,
  h.hash, h.hash, h.hash, decode(md5(n::text), 'hex'), h.hash || h.hash || h.hash
FROM generate_series(0, %(others)s::bigint - 1) AS n, LATERAL (SELECT sha256(n::text::bytea) AS hash) AS h
"""
"""Others' events: no tenant reads them, so they need no chain."""


def nothing_new(store: Store, texts: Sequence[str], setting: Setting) -> tuple[list[Row], Measured]:
    """A sync of a laptop's store of 50 sessions that are on the server already, beside a request for its head."""
    folder = setting.fresh("sync")
    with Team(store.server, store.name, folder) as team, Memory(folder / "laptop", namespace="n") as laptop:
        key = team.key("bench", n=["read", "append", "erase", "ledger"])
        for number in range(50):
            laptop.session(f"s{number}").user(texts[number])

        def request(_turn: int) -> None:
            with Client(team.url, token=key, namespace="n") as client:
                client.head()

        subjects = {"ours": lambda _turn: sync(laptop, team.url, token=key), "bare": request}
        interleave(subjects, range(10))
        seconds = interleave(subjects, range(setting.scaled(300, at_least=50)))
    ours, bare = (1e3 * median(seconds[name]) for name in ("ours", "bare"))
    return [Row("sync of 50 sessions, nothing new, p50", ours, bare, "ms", "a request for the head", True,
                Target(Bound.OVER_MAX, 10.0))], {}  # fmt: skip


def _draft(text: str) -> Draft:
    return Draft(Kind.USER_MESSAGE, text.encode(), time=now())


FIGURES: dict[str, Callable[[Store, Sequence[str], Setting], tuple[list[Row], Measured]]] = {
    "append": append, "writers": writers, "processor": processor, "namespaces": namespaces, "replica": replica,
    "recall": recall, "sync": nothing_new,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
