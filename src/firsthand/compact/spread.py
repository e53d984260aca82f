"""Topic hints of a marker: the terms that tell an evicted span from the rest of the store (total-recall 5.2, 9.4).

    items' terms -> a shortlist from all along the span -> one question to the store: how common is each?
                 -> the most distinctive ones, one from each eighth of the range

The invariant: at most `HINTS_MAX` hints, no two of which differ only in case or
plural, in order of position; each eighth of the range that has hints to offer keeps
one, so that merging never leaves only the oldest.

This module does not know the store: how common a term is comes from a port.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import log2

from firsthand.value import value
from firsthand.window import HINTS_MAX, Departure, Hint

Frequency = Callable[[Collection[str]], Mapping[str, float]]
"""Gives the share of the store's events, 0 to 1, that hold each of some terms; one that it leaves out is in none."""

ASKED_TERMS_MAX = 192  # of one compaction: what the store is asked about
_EACH = 3  # terms of each eighth of a span that the store is asked about
COMMON_SHARE = 0.2  # a term in more than this share of all events is no topic
_RAREST = 1e-6  # a share below it says no more


def hints_of(departures: Sequence[Departure], frequency: Frequency) -> list[tuple[Hint, ...]]:
    """Choose the hints of each departure; the store is asked once for all of them."""
    allowance = max(1, ASKED_TERMS_MAX // max(len(departures), 1))
    strata = max(1, min(HINTS_MAX, allowance // _EACH))
    each = min(_EACH, allowance)
    every = -(-len(departures) // ASKED_TERMS_MAX)  # of very many departures only so many get hints
    shortlists = [
        _shortlist(departure, strata, each) if number % every == 0 else []
        for number, departure in enumerate(departures)
    ]
    asked = {candidate.term for candidates in shortlists for candidate in candidates}
    shares = frequency(sorted(asked)) if asked else {}
    return [_chosen(candidates, shares) for candidates in shortlists]


def spread(hints: Sequence[Hint], first_position: int, last_position: int) -> tuple[Hint, ...]:
    """Choose at most `HINTS_MAX` hints from all along a range, the best of each eighth.

    Where an eighth has no hint of its own, the best of the others take its place.
    """
    strata: dict[int, list[tuple[float, str, Hint]]] = {}
    width = last_position - first_position + 1
    for hint in hints:
        stratum = (hint.position - first_position) * HINTS_MAX // width
        strata.setdefault(stratum, []).append((-hint.score, _key(hint.term), hint))
    chosen: list[Hint] = []
    used: set[str] = set()
    rest: list[tuple[float, str, Hint]] = []
    # What has the least to choose from goes first: a term that stands everywhere is left to it.
    for stratum in sorted(strata, key=lambda number: (len({key for _, key, _ in strata[number]}), number)):
        held = sorted(strata[stratum], key=lambda one: one[:2])
        best = next((one for one in held if one[1] not in used), None)
        if best is not None:
            used.add(best[1])
            chosen.append(best[2])
        rest += [one for one in held if one is not best]
    for _, key, hint in sorted(rest, key=lambda one: one[:2]):
        if len(chosen) == HINTS_MAX:
            break
        if key not in used:
            used.add(key)
            chosen.append(hint)
    return tuple(sorted(chosen, key=lambda hint: hint.position))


def _key(term: str) -> str:
    """What near-duplicates have in common: letters of one case, without the ending of a plural."""
    folded = term.casefold()
    if len(folded) > 3 and folded.endswith("s") and not folded.endswith("ss"):
        return folded[:-1]
    return folded


@value
class _Candidate:
    """A term that may become a hint.

    Attributes:
        position: of the event that it stands in.
        count: events of the span that have it among their terms.
    """

    term: str
    position: int
    count: int


def _shortlist(departure: Departure, strata: int, each: int) -> list[_Candidate]:
    """Take the terms that most events of each part of the span share, some of each part."""
    items = departure.items
    first = items[0].position
    width = items[-1].position - first + 1
    counts: dict[str, int] = {}
    parts: list[dict[str, int]] = [{} for _ in range(strata)]
    for item in items:
        if item.terms:
            position = item.position
            part = parts[(position - first) * strata // width]
            for term in item.terms:
                counts[term] = counts.get(term, 0) + 1
                if term not in part:
                    part[term] = position
    found = []
    for part in parts:
        most = sorted(part, key=counts.__getitem__, reverse=True)[:each]  # stable: of equal ones the earliest
        found += [_Candidate(term, part[term], counts[term]) for term in most]
    return found


def _chosen(candidates: list[_Candidate], shares: Mapping[str, float]) -> tuple[Hint, ...]:
    """Score the candidates by how often they stand in the span and how seldom elsewhere."""
    hints = []
    for candidate in candidates:
        share = shares.get(candidate.term, 0.0)
        if share <= COMMON_SHARE:
            score = (1 + log2(candidate.count)) * -log2(max(share, _RAREST))
            hints.append(Hint(candidate.term, candidate.position, round(score, 1)))
    if not hints:
        return ()
    return spread(hints, candidates[0].position, candidates[-1].position)
