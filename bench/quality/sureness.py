"""Questions that a store cannot answer: how often a method claims to have found something, beside how often it may.

Three kinds: questions that the set itself made unanswerable (LoCoMo category 5, BEAM abstention), and
*foreign* ones, answerable questions of the next talk asked of this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .measures import Row, at_false_share, estimate, false_share_at, separation
from .values import Ranked, Talk

COSINE = 0.35
"""The threshold of the paper (recall-problem 3), to be beaten."""
FALSE_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
FOREIGN_MAX = 60
"""Questions taken from the next talk, spread over all it has."""
FOREIGN = "foreign"
BINS = 5


def foreign(talks: Sequence[Talk], number: int) -> tuple[Any, ...]:
    """Give questions of the next talk, without their evidence; none where there is one talk only."""
    if len(talks) < 2:
        return ()
    others = talks[(number + 1) % len(talks)].answerable
    step = max(1, -(-len(others) // FOREIGN_MAX))
    return tuple(type(one)(one.text, FOREIGN) for one in others[::step])


def typed(ranked: Sequence[Ranked], found: Sequence[bool] | None = None) -> dict[str, Any]:
    """Count the outcomes of typed answers; with ``found``, also how many found ones hold evidence."""
    counts = Counter(one.outcome for one in ranked)
    out: dict[str, Any] = {
        "outcomes": dict(counts.most_common()),
        "found": estimate([one.outcome == "found" for one in ranked]),
    }
    if found is not None:
        claimed = [right for one, right in zip(ranked, found, strict=True) if one.outcome == "found"]
        out["of found, with evidence"] = sum(claimed) / len(claimed) if claimed else None
    return out


def curve(positive: Sequence[float], negative: Sequence[float], found: float) -> dict[str, Any]:
    """Say what share of the answerable is passed at each share of the unanswerable.

    Args:
        found: the share of the answerable that our first configuration finds, to compare at.
    """
    at = {f"{share:g}": at_false_share(positive, negative, share) for share in FALSE_SHARES}
    equal = {"found": found, "false found": false_share_at(positive, negative, found)}
    return {"area": separation(positive, negative), "found at false-found": at, "at our found share": equal}


def at_threshold(threshold: float, positive: Row, negative: Row) -> dict[str, Any]:
    """Say what share of each passes one threshold."""
    return {
        "threshold": threshold,
        "found": estimate((positive >= threshold).astype(float)),
        "false found": estimate((negative >= threshold).astype(float)),
    }


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Set confidence beside how often the hits hold evidence, in bins of equal width; and the calibration error."""
    bins = np.minimum((np.asarray(confidences) * BINS).astype(int), BINS - 1)
    rows, error = [], 0.0
    for number in range(BINS):
        chosen = bins == number
        if not chosen.any():
            continue
        told, true = float(np.asarray(confidences)[chosen].mean()), float(np.asarray(right)[chosen].mean())
        error += abs(told - true) * float(chosen.mean())
        rows.append(
            {"from": number / BINS, "to": (number + 1) / BINS, "n": int(chosen.sum()), "told": told, "true": true}
        )
    return {"bins": rows, "calibration error": error}
