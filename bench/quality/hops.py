"""Proposition 1 of the paper (total-recall 4.2), measured: what a second attempt finds, and what it should have.

With p the chance that one attempt finds one event, all K events of a question are within two
attempts with a chance of at least ``[1 - (1 - p)^2]^K``, if attempts and events fail independently of
each other. Both are measured on the same questions, and so is how dependent the attempts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .measures import estimate
from .ours import Attempts
from .values import Question


def proposition(questions: Sequence[Question], attempts: Sequence[Attempts]) -> dict[str, Any]:
    """Measure the questions of which a second attempt was made.

    Returns the chance of one event in one attempt (``p``), of all events of a question in one attempt, in two
    and in one of twice the hits, the bound for two, and how often an event is missed by the second attempt, over
    all events and over those that the first one missed.
    """
    both = [(asked, made) for asked, made in zip(questions, attempts, strict=True) if made.made > 1]
    out: dict[str, Any] = {"questions": len(questions), "with a second attempt": len(both)}
    if not both:
        return out
    missed = [
        (unit not in made.first, unit not in made.second) for asked, made in both for unit in sorted(asked.evidence)
    ]
    p = sum(not first for first, _ in missed) / len(missed)
    second_of_missed = [second for first, second in missed if first]
    return out | {
        "events": len(missed),
        "p": p,
        "bound": estimate([(1 - (1 - p) ** 2) ** len(asked.evidence) for asked, _ in both]),
        "one attempt": estimate([float(asked.evidence <= set(made.first)) for asked, made in both]),
        "two attempts": estimate([float(asked.evidence <= {*made.first, *made.second}) for asked, made in both]),
        "one of twice the hits": estimate([float(asked.evidence <= set(made.wide)) for asked, made in both]),
        "second misses": sum(second for _, second in missed) / len(missed),
        "second misses what the first missed": (
            sum(second_of_missed) / len(second_of_missed) if second_of_missed else None
        ),
    }
