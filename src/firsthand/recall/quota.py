"""Holds what tools and the web brought to a share of the hits, so that nobody wins a page by number.

The invariant: what comes in is ordered, nothing is left out, and what users and agents said
moves at most up; among the first hits no origin and no session of untrusted events has
more than its share while hits of others, that are worth as much as `WORTH_MIN` of the best,
stand behind it. Cost: the pool times what is chosen from it.

It knows no query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from firsthand.event import Trust
from firsthand.value import value

SHARE = 0.6
"""Of the hits so far, the most that one untrusted origin, or one session's untrusted events, have."""
FREE = 3
"""So many hits of one are always let be: a question is often about one tool's one result."""
WORTH_MIN = 0.5
"""Of the best score, what a hit of others has at the least to go before one that is over its share."""


@value
class Held:
    """What of a hit is held to a share: its score, and the names that it counts under; no names for trusted words."""

    score: float
    names: tuple[str, ...] = ()


def order(hits: Sequence[Held], free: int = FREE) -> list[int]:
    """Give the numbers of the hits in their new order; the first stays first.

    Args:
        hits: best first.
        free: so many of one are let be, whatever its share.
    """
    if not any(hit.names for hit in hits):
        return list(range(len(hits)))
    least = WORTH_MIN * max(hit.score for hit in hits)
    left = list(range(len(hits)))
    chosen: list[int] = []
    counts: Counter[str] = Counter()
    while left:
        most = max(free, int(SHARE * (len(chosen) + 1)))
        next_ = left[0]
        if any(counts[name] >= most for name in hits[next_].names):
            next_ = next((at for at in left if _has_room(hits[at], counts, most) and hits[at].score >= least), next_)
        chosen.append(next_)
        left.remove(next_)
        counts.update(hits[next_].names)
    return chosen


def held(score: float, trust: Trust, origin: str, session: str) -> Held:
    """Say what a hit counts under."""
    return Held(score, (f"origin {origin}", f"session {session}") if trust is Trust.UNTRUSTED else ())


def _has_room(candidate: Held, counts: Counter[str], most: int) -> bool:
    return all(counts[name] < most for name in candidate.names)
