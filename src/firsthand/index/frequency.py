"""How common words are in a namespace, by its text index."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from firsthand.log.sqlite.index_files import schema_of
from firsthand.log.sqlite.read import Reader

from .text import state_of
from .tokenizer import stems

SHARES_TERMS_MAX = 400


def shares(reader: Reader, namespace: str, terms: Collection[str]) -> dict[str, float]:
    """Say in what share of the index rows each term stands, from 0 to 1: what tells one span's topics from the others'.

    A term of several words is at most as common as its rarest one. Rows that wait to be indexed are not counted.

    Terms that cannot be looked up (there is no index, it cannot be read, there are more than
    `SHARES_TERMS_MAX`) are left out: the caller then knows nothing of them. No clock decides which.
    """
    key = reader.namespace_key(namespace)
    share_of: dict[str, float] = {}
    if not terms or not key:
        return share_of
    with reader.at_one_moment(key) as db:
        state, cut = state_of(db, key), stems(db)
        if state is None or not state.rows:
            return share_of
        sql = f"SELECT doc FROM {schema_of(key)}.text_{key}_terms WHERE term = ?"  # noqa: S608 - a number
        try:
            for term in list(terms)[:SHARES_TERMS_MAX]:
                counts = [int(db.execute(sql, (stem,)).get or 0) for stem in cut(term)]
                if counts:
                    share_of[term] = min(1.0, min(counts) / state.rows)
        except (apsw.SQLError, apsw.CorruptError):
            return share_of  # a fault that every recall says: what was looked up so far is what is known
    return share_of
