"""How common terms are in a store: what tells the topics of one span from those of all the others.

Reads the text index and nothing else. The invariant: a share is of index rows, from
0 (nowhere) to 1; a term of several words is at most as common as its rarest one.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

from firsthand.answer import Scope
from firsthand.index.reach import reach
from firsthand.index.tokenizer import tokenizer
from firsthand.log.read import Reader

from .lexical import Deadline, Lexical
from .plan import ask

TERMS_MAX = 400
DEADLINE_MS = 20.0


def shares(reader: Reader, namespace: str, terms: Collection[str]) -> dict[str, float]:
    """Say in what share of the index rows each term stands.

    Terms that cannot be looked up (the index is behind or broken, the time is over, there are more
    than `TERMS_MAX`) are left out: the caller then knows nothing of them.
    """
    key, head = reader.namespace_key(namespace), reader.head(namespace)[0]
    found: dict[str, float] = {}
    if not terms or not key:
        return found
    with reader.at_one_moment(key) as db:
        try:
            if not reach(reader, key, head).through:
                return found
            tokenize, index = tokenizer(db), Lexical(db, key, Scope(), Deadline(DEADLINE_MS))
            for term in list(terms)[:TERMS_MAX]:
                counts = index.frequencies(ask(term, tokenize))
                if counts:
                    found[term] = min(1.0, min(counts.values()) / max(1, index.size.rows))
        except (apsw.InterruptError, apsw.SQLError, apsw.CorruptError):
            # The time is over, or a fault that every recall tells: what was looked up so far is what is known.
            return found
    return found
