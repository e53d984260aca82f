"""The tokenizer of the text index, as functions: who cuts a text outside the index cuts it alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

TOKENIZER = "porter unicode61 remove_diacritics 2"
Tokenize = Callable[[bytes], list[tuple[int, int, str]]]
"""From UTF-8 to (start, end, stem) of each token."""


def tokenizer(db: apsw.Connection) -> Tokenize:
    """Give the tokenizer of the index, as a function from UTF-8 to (start, end, stem)."""
    fts5 = _fts5(db)

    def tokenize(data: bytes) -> Any:
        return fts5(data, apsw.FTS5_TOKENIZE_QUERY, None, include_colocated=False)

    return tokenize


def stems(db: apsw.Connection) -> Callable[[str], list[str]]:
    """Give the tokenizer of the index, as a function from text to its stems."""
    fts5 = _fts5(db)

    def cut(text: str) -> Any:
        data = text.encode("utf-8", "replace")
        return fts5(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)

    return cut


def _fts5(db: apsw.Connection) -> Any:
    name, *arguments = TOKENIZER.split()
    return db.fts5_tokenizer(name, arguments)
