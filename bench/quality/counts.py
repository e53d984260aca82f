"""Count one set: every method on the same questions, by half; ours less each baseline; what the bands are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from . import measures
from .measures import Estimate, Row
from .values import HITS, Event, Half, Question, Ranked

SHARES = ("recall@10", "hit@3", "hit@10", "MRR@10", "hit, equal characters")
SHOWN_CHARACTERS_MAX = 1_500
"""What a method that gives whole events shows of one, where characters are made equal."""
FOREIGN = "foreign"
"""The group of questions that belong to another talk."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the events it was asked of, and each method's ranking of them."""

    question: Question
    events: Sequence[Event]
    ranked: Mapping[str, Ranked]


def counted(asked: Asked, method: str, ours: str) -> tuple[float, ...]:
    """Measure one ranking in the order of `SHARES`; characters are made equal to those that ``ours`` shows."""
    evidence, ranked = asked.question.evidence, asked.ranked[method]
    assert evidence, "a question without evidence has no recall"
    units = ranked.units(asked.events)
    ten = len(evidence & set(units[:HITS])) / len(evidence)
    place = next((place for place, unit in enumerate(units[:HITS], 1) if unit in evidence), 0)
    room = sum(asked.ranked[ours].shown)
    lengths = ranked.shown or [
        min(len(asked.events[number].plain), SHOWN_CHARACTERS_MAX) if number >= 0 else SHOWN_CHARACTERS_MAX
        for number in ranked.numbers
    ]
    fitting = sum(total <= room for total in accumulate(lengths))
    equal = float(bool(evidence & set(units[:fitting])))
    return ten, float(0 < place <= 3), float(place > 0), 1 / place if place else 0.0, equal


def quality(asked: Sequence[Asked], ours: Sequence[str]) -> dict[str, Any]:
    """Count each method over the answerable questions, by half and by group, and ours beside each other one."""
    answerable = [entry for entry in asked if entry.question.evidence]
    out: dict[str, Any] = {}
    for half in Half:
        chosen = [entry for entry in answerable if entry.question.half is half]
        if not chosen:
            continue
        rows = {method: np.array([counted(entry, method, ours[0]) for entry in chosen]) for method in chosen[0].ranked}
        groups = [entry.question.group for entry in chosen]
        out[half.value] = {
            "n": len(chosen),
            "methods": {method: _shares(row) for method, row in rows.items()},
            "groups": {
                group: {method: _shares(row) for method, row in split.items()}
                for group, split in measures.by_group(groups, rows).items()
            },
            "less": {
                mine: {other: _shares(rows[mine] - rows[other]) for other in rows if other != mine} for mine in ours
            },
            "ours": {mine: _about(chosen, mine) for mine in ours},
        }
    return values(out)


def bands(asked: Sequence[Asked], method: str, beside: Sequence[str]) -> dict[str, Any]:
    """Say how often each band was right, and how well the likelihood and other methods' best scores tell cases apart.

    Right: one of ten hits is evidence. A question that cannot be answered from its talk is never right.
    """
    out: dict[str, Any] = {}
    for half in Half:
        chosen = [entry for entry in asked if entry.question.half is half]
        right = [_is_right(entry, method) for entry in chosen]
        kinds = {entry.question.group for entry in chosen if not entry.question.evidence}
        if not chosen or not any(right):
            continue
        rows: dict[str, dict[str, Any]] = {}
        for band in sorted({entry.ranked[method].band for entry in chosen}):
            own = [number for number, entry in enumerate(chosen) if entry.ranked[method].band == band]
            answerable = [number for number in own if chosen[number].question.evidence]
            rows[band] = {
                "n": len(own), "right": sum(right[number] for number in own) / len(own),
                "n answerable": len(answerable),
                "right of answerable": (
                    sum(right[number] for number in answerable) / len(answerable) if answerable else None
                ),
                "of kind": {
                    kind: float(np.mean([it.ranked[method].band == band for it in chosen if it.question.group == kind]))
                    for kind in sorted(kinds)
                },
            }  # fmt: skip
        areas: dict[str, dict[str, float]] = {}
        for name in (method, *beside):
            score = np.array([entry.ranked[name].best for entry in chosen])
            correct = np.array([_is_right(entry, name) for entry in chosen])
            answerable_row = np.array([bool(entry.question.evidence) for entry in chosen])
            areas[name] = {"right or not, of all": _area(score, correct)}
            areas[name]["right or not, of answerable"] = _area(score[answerable_row], correct[answerable_row])
            for kind in sorted(kinds):
                no = np.array([entry.question.group == kind and not entry.question.evidence for entry in chosen])
                areas[name][f"answerable or {kind}"] = measures.separation(score[answerable_row], score[no])
        out[half.value] = {"n": len(chosen), "bands": rows, "areas": areas}
    return values(out)


def _is_right(asked: Asked, method: str) -> bool:
    return bool(asked.question.evidence & set(asked.ranked[method].units(asked.events)[:HITS]))


def _area(score: Row, positive: Any) -> float:
    return measures.separation(score[positive], score[~positive]) if positive.any() and not positive.all() else 0.5


def _about(chosen: Sequence[Asked], method: str) -> dict[str, float]:
    seconds = [entry.ranked[method].seconds for entry in chosen]
    shown = [sum(entry.ranked[method].shown) for entry in chosen]
    return {
        "p50 ms": 1e3 * float(np.percentile(seconds, 50)), "p95 ms": 1e3 * float(np.percentile(seconds, 95)),
        "characters shown": float(np.mean(shown)),
    }  # fmt: skip


def _shares(rows: Row) -> dict[str, Estimate]:
    return {share: measures.estimate(rows[:, column]) for column, share in enumerate(SHARES)}


def values(thing: Any) -> Any:
    """Write estimates as dictionaries and numbers with four places, all the way down."""
    if isinstance(thing, Estimate):
        return values(asdict(thing))
    if isinstance(thing, dict):
        return {key: values(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [values(value) for value in thing]
    return round(float(thing), 4) if isinstance(thing, float) else thing
