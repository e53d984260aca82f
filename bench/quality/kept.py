"""An embedder that keeps its vectors in a file, so that a second run of the bench does not embed again.

It has the identity of the embedder it stands for: a store cannot tell them apart, and neither can its answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

CREATE = "CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class Kept:
    """One embedder and the file of what it gave; may be asked by several threads."""

    def __init__(self, embedder: Any, file: Path) -> None:
        self._embedder, self._file = embedder, str(file)
        self.identity = embedder.identity
        self._open().close()

    @property
    def dimension(self) -> int:
        return int(self._embedder.dimension)

    def embed(self, texts: Sequence[str]) -> Any:
        return self._of("text", texts, self._embedder.embed)

    def query(self, text: str) -> Any:
        (vector,) = self._of("query", [text], lambda texts: [self._embedder.query(texts[0])])
        return vector

    def _of(self, use: str, texts: Sequence[str], embed: Any) -> Any:
        keys = [hashlib.sha256(f"{self.identity}\0{use}\0{text}".encode()).digest() for text in texts]
        db = self._open()
        try:
            known = {
                key: np.frombuffer(found, np.float32)
                for key in keys
                for (found,) in db.execute("SELECT vector FROM vectors WHERE key = ?", (key,))
            }
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                given = np.asarray(embed(list(missing.values())), np.float32)
                known |= dict(zip(missing, given, strict=True))
                with db:
                    rows = [(key, known[key].tobytes()) for key in missing]
                    db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            return np.stack([known[key] for key in keys])
        finally:
            db.close()

    def _open(self) -> apsw.Connection:
        db = apsw.Connection(self._file)
        db.set_busy_timeout(60_000)
        db.execute(CREATE)
        return db
