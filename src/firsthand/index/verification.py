"""The whole proof of a store: the log derived again, then its text index and vectors against the log.

The invariant: what is damaged is reported once, by the log's own check, and hides nothing about the rest; it cannot
be indexed, so the index is compared without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.log.results import Problem, Verification
from firsthand.log.rows import POSITION_MAX
from firsthand.log.sqlite.local import LocalLog
from firsthand.log.sqlite.read import Reader
from firsthand.value import replace

from . import vector_check
from .check import check, deep_check
from .text import NAME

DEEP_EVENTS_MAX = 20_000


def verify(
    log: LocalLog,
    namespace: str,
    *,
    heads: Sequence[str] = (),
    deep: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Verify a store, and heads of one of its namespaces, whose head alone is given; see `Memory.verify`."""
    verified = log.verify(namespace=namespace, heads=heads, progress=progress)
    problems, notes = [*verified.problems], [*verified.notes]
    deep = verified.events <= DEEP_EVENTS_MAX if deep is None else deep
    if deep and any(problem.where == "database" for problem in problems):
        deep = False
        notes.append("the text index was not derived again, since other things are wrong")
    with log.snapshot() as db:
        of_vectors = vector_check.check(db)
        problems += [Problem("index", fault) for fault in of_vectors]
        namespaces = _namespaces(db)
    left_out = 0
    with log.answering() as behind:
        notes += [behind] * bool(behind)
        for key, name in namespaces:
            damaged = {
                problem.position
                for problem in verified.problems
                if problem.where in {"event", "artifact"} and problem.namespace == name
            }
            left_out += len(damaged)
            faults = _check(log.reader, key, damaged, deep=deep, vectors=not of_vectors)
            problems += [Problem("index", f"namespace {name!r}: {fault}") for fault in faults]
    if deep and left_out:
        notes.append(f"the text index was compared with the log without {left_out:,} damaged events")
    own = {name: head for name, head in verified.heads.items() if name == namespace}  # the others are no one's to name
    return replace(verified, problems=tuple(problems), notes=tuple(notes), heads=own)


def _check(reader: Reader, key: int, damaged: Collection[int], *, deep: bool, vectors: bool) -> list[str]:
    """Compare what is derived of one namespace with the log, both as they are at one moment: others may be writing.

    Args:
        deep: also derive it again.
        vectors: also the vectors.
    """
    with reader.at_one_moment(key) as db:
        try:
            reached = reader.reached(key, NAME)
            faults = check(db, key, reached, damaged)
        except (StoreDamaged, apsw.CorruptError) as error:  # of the log's own pages, which it has said already
            return [f"the text index cannot be compared with the log ({error})"]
        if not deep or faults:
            return faults
        through = reached.position
        faults += deep_check(db, key, reader.batches(key, through) if through else (), reader, damaged)
        if vectors:
            faults += vector_check.deep_check(db, key, reader.batches(key, POSITION_MAX), reader, damaged)
        return faults


def _namespaces(db: apsw.Connection) -> list[tuple[int, str]]:
    rows: list[Any] = db.execute("SELECT key, name FROM namespace ORDER BY key").fetchall()
    return [(key, name) for key, name in rows if isinstance(key, int) and isinstance(name, str)]
