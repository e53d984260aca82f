"""The baselines that stand beside Firsthand: a bare table, a bare table with FTS5, FTS5 alone.

Each does only what its name says: no hash, no chain, no id, no session, no
preview. What it does not do is why it is the floor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import apsw

BATCH_ROWS = 2_000
HITS = 10
_WORD = re.compile(r"[^\W_]+")  # it cuts at an underscore too


def open_database(path: Path, *, page_size_bytes: int = 4_096, timeout_ms: int = 30_000) -> apsw.Connection:
    """Open a database with the pragmas of a Firsthand store: WAL, ``synchronous=FULL``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = apsw.Connection(str(path))
    db.set_busy_timeout(timeout_ms)
    db.execute(f"PRAGMA page_size={page_size_bytes}").fetchall()
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.execute("PRAGMA synchronous=FULL").fetchall()
    db.execute("PRAGMA cache_size=-8192").fetchall()
    return db


class BareRows:
    """One table with one text column; one transaction an insert."""

    def __init__(self, path: Path, *, page_size_bytes: int = 4_096) -> None:
        self._db = open_database(path, page_size_bytes=page_size_bytes)
        self._db.execute("CREATE TABLE IF NOT EXISTS event(position INTEGER PRIMARY KEY, text TEXT) STRICT")

    def append(self, text: str) -> None:
        self._db.execute("INSERT INTO event(text) VALUES (?)", (text,))

    def close(self) -> None:
        self._db.close()


class RowsAndIndex:
    """The same table, and FTS5 over the same text in the same transaction."""

    def __init__(self, path: Path, *, page_size_bytes: int = 4_096) -> None:
        self._db = open_database(path, page_size_bytes=page_size_bytes)
        self._db.execute("CREATE TABLE IF NOT EXISTS event(position INTEGER PRIMARY KEY, text TEXT) STRICT")
        self._db.execute(_FTS.format(name="word"))

    def append(self, text: str) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO event(text) VALUES (?)", (text,))
        db.execute("INSERT INTO word(rowid, text) VALUES (?, ?)", (db.last_insert_rowid(), text))
        db.execute("COMMIT")

    def extend(self, texts: Iterable[str]) -> None:
        """Insert many, 2,000 a transaction."""
        db = self._db
        for batch in batched_rows(texts):
            db.execute("BEGIN IMMEDIATE")
            for text in batch:
                db.execute("INSERT INTO event(text) VALUES (?)", (text,))
                db.execute("INSERT INTO word(rowid, text) VALUES (?, ?)", (db.last_insert_rowid(), text))
            db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()


class Fts5Alone:
    """FTS5 and its bm25: all words of the query joined by OR, nothing bounded."""

    name = "FTS5 alone"

    def __init__(self, path: Path) -> None:
        self._db = open_database(path)
        self._db.execute(_FTS.format(name="word"))

    def extend(self, texts: Iterable[str]) -> None:
        at = self._db.execute("SELECT coalesce(max(rowid), 0) FROM word").get
        for batch in batched_rows(texts):
            with self._db:
                self._db.executemany(
                    "INSERT INTO word(rowid, text) VALUES (?, ?)", ((at + k, t) for k, t in enumerate(batch, 1))
                )
            at += len(batch)

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM word_docsize").get)

    def recall(self, query: str) -> list[tuple[int, float]]:
        """Give the ten best rows with their scores."""
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(query)))
        return self._db.execute(
            "SELECT rowid, bm25(word) FROM word WHERE word MATCH ? ORDER BY rank LIMIT ?", (words, HITS)
        ).fetchall()

    def close(self) -> None:
        self._db.close()


_FTS = """CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5(
    text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')"""


def batched_rows(texts: Iterable[str]) -> Iterator[list[str]]:
    """Cut texts into batches of one transaction."""
    rest = iter(texts)
    while batch := list(islice(rest, BATCH_ROWS)):
        yield batch
