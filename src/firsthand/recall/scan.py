"""Searches the log itself, newest event first: what the index does not reach, or cannot find.

Slow and sure, so it is bounded in events and in time, and says when it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firsthand.answer import Scope
from firsthand.log.read import Reader
from firsthand.log.rows import key_of
from firsthand.value import value

from .evidence import Evidence
from .lexical import Deadline, where
from .match import Matcher
from .rank import Match

SCAN_EVENTS_MAX = 20_000
_PAGE = 128


@value
class Scanned:
    """What a scan saw.

    Attributes:
        matches: by position and passage number.
        events: looked at.
        down_to: every event after this position was looked at.
        whole: True when it came to its end.
    """

    matches: dict[tuple[int, int], Match]
    events: int
    down_to: int
    whole: bool


def scan(
    reader: Reader,
    evidence: Evidence,
    matcher: Matcher,
    namespace: int,
    scope: Scope,
    deadline: Deadline,
    after: int,
    head: int,
) -> Scanned:
    """Look at every event of a scope after a position, up to the limits."""
    matches: dict[tuple[int, int], Match] = {}
    seen, at = 0, head + 1
    for page in _pages(reader, namespace, scope, after, head):
        evidence.load(page)
        for position in page:
            if deadline() or seen >= SCAN_EVENTS_MAX:
                return Scanned(matches, seen, at - 1, whole=False)
            event = evidence.event(position)
            if event is not None and not event.erased:
                for row in evidence.rows_of(event):
                    found = matcher.match(row)
                    if found is not None:
                        matches[position, row.number] = found
                    if deadline():
                        break
            seen, at = seen + 1, position
        evidence.drop()
    return Scanned(matches, seen, after, whole=not deadline.passed)


def _pages(reader: Reader, namespace: int, scope: Scope, after: int, head: int) -> Iterator[list[int]]:
    db = reader.db
    limits = where(db, namespace, scope)
    before, base = head + 1, key_of(namespace, 0)
    while True:
        rows: list[Any] = db.execute(
            f"SELECT e.key - {base} FROM event e WHERE e.key > ? AND e.key < ? {limits.sql} "  # noqa: S608
            "ORDER BY e.key DESC LIMIT ?",
            (base + max(after, limits.low - 1), base + min(before, limits.high), *limits.values, _PAGE),
        ).fetchall()
        if rows:
            yield [position for (position,) in rows]
        if len(rows) < _PAGE:
            return
        before = rows[-1][0]
