"""How common terms are in a store: what tells the topics of one span from those of all the others.

The invariant: a share is of the rows of the text index, from 0 (nowhere) to 1; a term of several
words is at most as common as its rarest one. Rows that wait to be indexed are not counted.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

from firsthand.index.text import state_of
from firsthand.index.tokenizer import stems
from firsthand.log.index_files import schema_of
from firsthand.log.read import Reader

from .deadline import Deadline

TERMS_MAX = 400
DEADLINE_MS = 20.0


def shares(reader: Reader, namespace: str, terms: Collection[str]) -> dict[str, float]:
    """Say in what share of the index rows each term stands.

    Terms that cannot be looked up (there is no index, it cannot be read, the time is over, there are
    more than `TERMS_MAX`) are left out: the caller then knows nothing of them.
    """
    key, deadline = reader.namespace_key(namespace), Deadline(DEADLINE_MS)
    share_of: dict[str, float] = {}
    if not terms or not key:
        return share_of
    with reader.at_one_moment(key) as db:
        state, cut = state_of(db, key), stems(db)
        if state is None or not state.rows:
            return share_of
        sql = f"SELECT doc FROM {schema_of(key)}.text_{key}_terms WHERE term = ?"  # noqa: S608 - a number
        try:
            for term in list(terms)[:TERMS_MAX]:
                if deadline():
                    break
                counts = [int(db.execute(sql, (stem,)).get or 0) for stem in cut(term)]
                if counts:
                    share_of[term] = min(1.0, min(counts) / state.rows)
        except (apsw.SQLError, apsw.CorruptError):
            return share_of  # a fault that every recall says: what was looked up so far is what is known
    return share_of
