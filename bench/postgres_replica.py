"""A replica's speed: following beside a bare FTS5 insert, and a small tenant's recall in a large cluster beside alone.

python bench/postgres_replica.py [--events 20000] [--cluster 1000000]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "contract"))

import psycopg
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from engines import Fts5Alone
from firsthand import Draft, Kind, Memory
from firsthand.index.text import TextIndex
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.replicas import Replicas
from firsthand.log.prepare import DraftGroup

BATCH, TENANT, ASKED = 500, 500, 60
_CHOICE = random.Random(7)
_WORDS = ["".join(_CHOICE.choices("abcdefghijklmnopqrstuvwxyz", k=_CHOICE.randint(3, 9))) for _ in range(20_000)]


def text(number: int) -> str:
    """Make some 600 bytes of words, common ones more often."""
    return f"event{number} " + " ".join(_WORDS[int(20_000 * _CHOICE.random() ** 3)] for _ in range(90))


def fill(log: PostgresLog, namespace: str, texts: list[str]) -> None:
    for start in range(0, len(texts), BATCH):
        drafts = tuple(Draft(Kind.USER_MESSAGE, words.encode()) for words in texts[start : start + BATCH])
        log.append_group([DraftGroup(f"session{start // 5_000}", drafts)], namespace=namespace)


_OTHERS = """
INSERT INTO firsthand.event
  SELECT 1 + n %% 1000, 1 + n / 1000, decode(md5(n::text), 'hex'), 1, n / 1000, 0, 0, 1, 1, '', '', NULL, NULL, 0, 0,
    sha256(n::text::bytea), sha256(n::text::bytea), sha256(n::text::bytea), decode(md5(n::text), 'hex'),
    convert_to(repeat(md5(n::text), 11), 'utf8')
  FROM generate_series(0, %(events)s - 1) AS n"""
"""Events of 1,000 other namespaces, written past the log: they are there to be passed by."""


def bare_s(texts: list[str], path: Path) -> float:
    """Insert texts into FTS5 alone; give the seconds of processor."""
    table = Fts5Alone(path)
    begun = time.process_time()
    table.extend(texts)
    took = time.process_time() - begun
    table.close()
    return took


def recall_ms(memory: Memory, questions: list[str]) -> float:
    took = []
    for question in questions:
        begun = time.process_time()
        memory.recall(question)
        took.append(time.process_time() - begun)
    return statistics.median(took) * 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--cluster", type=int, default=1_000_000)
    chosen = parser.parse_args()
    server = PostgresServer(installations()["embedded"], fsync="off")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            make(server.dsn(OWNER))
            with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
                db.execute(f"GRANT firsthand_application TO {APPLICATION}")
            replicas = Replicas(server.dsn(), folder, folder / "replicas", 10**12)
            texts = [text(number) for number in range(chosen.events)]
            fill(replicas.engine, "large", texts)
            log = replicas.open_log("large", indexes=(TextIndex(),))
            begun = time.process_time()
            log.follow()
            log.flush_indexes("large")
            following = time.process_time() - begun
            log.close()
            inserting = bare_s(texts, folder / "bare.db")
            words = [text(number) for number in range(TENANT)]
            questions = [" ".join(_CHOICE.sample(_CHOICE.choice(words).split(), 3)) for _ in range(ASKED)]
            with (
                Memory(folder / "alone", embedder="none") as alone,
                Memory(replicas, namespace="small", embedder="none") as small,
            ):
                alone.append([Draft(Kind.USER_MESSAGE, each.encode()) for each in words], session="s")
                small.append([Draft(Kind.USER_MESSAGE, each.encode()) for each in words], session="s")
                with psycopg.connect(server.dsn("postgres", "store"), autocommit=True) as db:
                    db.execute(_OTHERS, {"events": chosen.cluster})
                    db.execute("ANALYZE firsthand.event")
                pairs = [(recall_ms(alone, questions), recall_ms(small, questions)) for _ in range(3)]
            by_itself, in_cluster = min(pairs, key=lambda pair: pair[1] / pair[0])
            print(json.dumps({
                "events": chosen.events, "cluster": chosen.cluster,
                "follow_us": round(following / chosen.events * 1e6), "fts5_us": round(inserting / chosen.events * 1e6),
                "rate_of_bare": round(inserting / following, 3),
                "recall_alone_ms": round(by_itself, 2), "recall_in_cluster_ms": round(in_cluster, 2),
                "recall_ratio": round(in_cluster / by_itself, 3),
            }))  # fmt: skip
            replicas.close()
        finally:
            server.close()


if __name__ == "__main__":
    main()
