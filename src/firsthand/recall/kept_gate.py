"""Reads the gate of a store for each recall, and says when it is to be learned anew.

The gate lies beside the log with what else was learned (`firsthand.index.learned`).
The invariant: a recall always has a gate, and its sentence says which; one that
cannot be read is not used, and that is said too. How one is learned is known to
`calibrate`, which no recall needs.
"""

from __future__ import annotations

import apsw

from firsthand.errors import StoreDamaged
from firsthand.index import learned
from firsthand.index.learned import Lesson
from firsthand.value import replace

from .gate import DEFAULT, Gate, from_json
from .signals import VERSION

NAME = "gate"


def gate_of(db: apsw.Connection, namespace_key: int, embedder: str) -> Gate:
    """Read the gate of a namespace; the one that every store begins with where there is none to be used.

    Args:
        embedder: the identity of the vectors in use; empty for none.
    """
    try:
        lesson = learned.read(db, namespace_key, NAME)
        if lesson is None or not lesson.version.startswith(f"{VERSION}:"):
            return DEFAULT
        gate = from_json(lesson.json)
    except StoreDamaged as error:
        return replace(DEFAULT, note=str(error))
    other = "" if gate.embedder == embedder else "learned with other vectors than now: run 'firsthand store follow'"
    return replace(gate, note=other)


def is_due(db: apsw.Connection, namespace_key: int, head: int, embedder: str) -> bool:
    """Say whether a gate is to be learned: there is none, or it is of another version, other vectors, or old."""
    gate = gate_of(db, namespace_key, embedder)
    return not gate.position or bool(gate.note) or gate.is_old(head)


def lesson_of(gate: Gate) -> Lesson:
    """Write a gate as it is kept."""
    return Lesson(gate.position, f"{VERSION}:{gate.embedder}", gate.to_json())
