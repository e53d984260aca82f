"""The whole proof of a store: the log derived again, then its text index and vectors against the log.

The invariant: what is damaged is reported once, by the log's own check, and hides
nothing about the rest; it cannot be indexed, so the index is compared without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import apsw

from firsthand.index import vector_check
from firsthand.index.check import check, deep_check
from firsthand.log.log import Log
from firsthand.log.verify import Problem, Verification
from firsthand.value import replace

DEEP_EVENTS_MAX = 20_000


def verify(
    log: Log, *, heads: Sequence[str], deep: bool | None, progress: Callable[[int, int], None] | None
) -> Verification:
    """Verify a store; see `Memory.verify`."""
    verified = log.verify(heads=heads, progress=progress)
    damaged = {problem.position for problem in verified.problems if problem.where in {"event", "artifact"}}
    with log.snapshot() as db:
        db.execute("BEGIN")  # the index is compared as it stood at one moment: others may be writing
        found = check(db, damaged)
        of_vectors, unseen = vector_check.check(db)
        notes = verified.notes + tuple(unseen)
        if deep or (deep is None and verified.events <= DEEP_EVENTS_MAX):
            if found or any(problem.where == "database" for problem in verified.problems):
                notes += ("the text index was not derived again, since other things are wrong",)
            else:
                found = _deep_check(log, db, damaged)
                of_vectors = of_vectors or _deep_check_vectors(log, db, damaged)
                if damaged:
                    notes += (f"the text index was compared with the log without {len(damaged):,} damaged events",)
    problems = verified.problems + tuple(Problem("index", fault) for fault in found + of_vectors)
    return replace(verified, problems=problems, notes=notes)


def _deep_check(log: Log, db: apsw.Connection, damaged: Collection[int]) -> list[str]:
    through = db.execute("SELECT max(position) FROM index_reach").get or 0
    if not isinstance(through, int):
        return [f"the text index does not say how far it reaches, but {through!r}; run 'firsthand rebuild'"]
    reader = log.reader
    return [
        fault for key in _namespaces(db) for fault in deep_check(db, key, reader.batches(key, through), reader, damaged)
    ]


def _deep_check_vectors(log: Log, db: apsw.Connection, damaged: Collection[int]) -> list[str]:
    reader, head = log.reader, log.reader.head()[0]
    return [
        fault
        for key in _namespaces(db)
        for fault in vector_check.deep_check(db, key, reader.batches(key, head), reader, damaged)
    ]


def _namespaces(db: apsw.Connection) -> list[int]:
    return [int(str(key)) for (key,) in db.execute("SELECT key FROM namespace ORDER BY key").fetchall()]
