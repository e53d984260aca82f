"""Which rows are in a scope: a scope compared with the columns of all rows at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.answer import Scope

from .blocks import TIME_UNKNOWN
from .columns import Columns

Mask = NDArray[np.bool_]


def mask_of(db: apsw.Connection, namespace: int, scope: Scope, columns: Columns) -> Mask | None:
    """Say of each row whether it is in a scope; None where all are."""
    if scope.everything:
        return None
    parts: list[Mask] = []
    if scope.sessions:
        parts.append(_among(columns.session, _sessions(db, namespace, scope.sessions)))
    if scope.without_sessions:
        parts.append(~_among(columns.session, _sessions(db, namespace, scope.without_sessions)))
    if scope.agents:
        sql = "SELECT key FROM name WHERE text IN (SELECT value FROM json_each(?))"
        keys: list[Any] = db.execute(sql, (json.dumps([agent for agent in scope.agents if agent]),)).fetchall()
        parts.append(_among(columns.agent, [key for (key,) in keys] + [0] * ("" in scope.agents)))
    if scope.kinds:
        parts.append(_among(columns.kind, [kind.number for kind in scope.kinds]))
    if scope.since is not None:
        parts.append(columns.time >= scope.since.microseconds)
    if scope.until is not None:
        parts.append((columns.time <= scope.until.microseconds) & (columns.time != TIME_UNKNOWN))
    if scope.trust_max is not None:
        parts.append(columns.trust <= scope.trust_max.number)
    if scope.after_position is not None:
        parts.append(columns.position > scope.after_position)
    if scope.before_position is not None:
        parts.append(columns.position < scope.before_position)
    mask = parts[0]
    for part in parts[1:]:
        mask = mask & part
    return mask


def _among(numbers: NDArray[Any], keys: Sequence[int]) -> Mask:
    """Say of each number whether it is one of some keys: by a table, since keys are small and many lie together."""
    table = np.zeros(max(int(numbers.max(initial=0)), *keys, 0) + 1, np.bool_)
    table[list(keys)] = True
    mask: Mask = table[numbers]
    return mask


def _sessions(db: apsw.Connection, namespace: int, names: Sequence[str]) -> list[int]:
    """Find the keys of sessions; a name that ends in ``*`` stands for all that begin so."""
    sql = "SELECT key FROM session WHERE namespace = ? AND "
    whole = [name for name in names if not name.endswith("*")]
    rows: list[Any] = []
    if whole:
        rows += db.execute(f"{sql}name IN (SELECT value FROM json_each(?))", (namespace, json.dumps(whole))).fetchall()  # noqa: S608 - a constant
    for begun in (name[:-1] for name in names if name.endswith("*")):
        values = (namespace, begun, len(begun), begun)
        rows += db.execute(f"{sql}name >= ? AND substr(name, 1, ?) = ?", values).fetchall()
    return [key for (key,) in rows]
