"""Topic hints of a marker: the terms that tell an evicted span from the rest of the store (total-recall 5.2, 9.4).

    items' terms -> a shortlist from all along the span -> one question to the store: how common is each?
                 -> the most distinctive ones, one from each eighth of the range

The invariant: at most `HINTS_MAX` hints, no two of which differ only in case or
plural, in order of position; each eighth of the range that has hints to offer keeps
one, so that merging never leaves only the oldest.

This module does not know the store: how common a term is comes from a port.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from math import log2
from operator import itemgetter

from firsthand.value import value
from firsthand.window import HINTS_MAX, Hint, Item

Frequency = Callable[[Collection[str]], Mapping[str, float]]
"""Gives the share of the store's events, 0 to 1, that hold each of some terms; one that it leaves out is in none."""

ASKED_TERMS_MAX = 192  # of one compaction: what the store is asked about
_EACH = 3  # terms of each eighth of a span that the store is asked about
COMMON_SHARE = 0.2  # a term in more than this share of all events is no topic
_RAREST = 1e-6  # a share below it says no more


_Candidate = tuple[str, int, int]
"""A term, the position of an event that it stands in, and how many events of the span have it."""

_Option = tuple[float, str, str, int]
"""What may become a hint: its score with a minus, so that the best sorts first; its key; the term; its position."""


@value
class Span:
    """A range of positions that a marker will stand for.

    Attributes:
        runs: those of its items that leave now.
        hints: of what left before.
    """

    first_position: int
    last_position: int
    runs: Sequence[Sequence[Item]]
    hints: Sequence[Hint] = ()


def hints_of(spans: Sequence[Span], frequency: Frequency) -> list[tuple[Hint, ...]]:
    """Choose the hints of each span; the store is asked once for all of them."""
    shortlists = [_shortlist(span) for span in spans]
    most = max(1, ASKED_TERMS_MAX // max(len(spans), 1))
    shortlists = [_thinned(candidates, most) for candidates in shortlists]
    asked = {term for candidates in shortlists for term, _, _ in candidates}
    shares = frequency(sorted(asked)) if asked else {}
    hints = []
    for span, candidates in zip(spans, shortlists, strict=True):
        options = [(-hint.score, _key(hint.term), hint.term, hint.position) for hint in span.hints]
        options += _scored(candidates, shares)
        hints.append(_spread(options, span.first_position, span.last_position))
    return hints


def spread(hints: Iterable[Hint], first_position: int, last_position: int) -> tuple[Hint, ...]:
    """Choose at most `HINTS_MAX` hints from all along a range, the best of each eighth.

    Where an eighth has no hint of its own, the best of the others take its place.
    """
    options = [(-hint.score, _key(hint.term), hint.term, hint.position) for hint in hints]
    return _spread(options, first_position, last_position)


def _spread(options: list[_Option], first_position: int, last_position: int) -> tuple[Hint, ...]:
    width = last_position - first_position + 1
    strata: dict[int, list[_Option]] = {}
    options.sort()
    for option in options:
        stratum = (option[3] - first_position) * HINTS_MAX // width
        if stratum in strata:
            strata[stratum].append(option)
        else:
            strata[stratum] = [option]
    chosen: dict[str, _Option] = {}
    # What has the least to choose from goes first: a term that stands everywhere is left to it.
    for members in sorted(strata.values(), key=len):
        for option in members:
            if option[1] not in chosen:
                chosen[option[1]] = option
                break
    for option in options:
        if len(chosen) == HINTS_MAX:
            break
        chosen.setdefault(option[1], option)
    return tuple([Hint(term, position, -score) for score, _, term, position in sorted(chosen.values(), key=_POSITION)])


_POSITION = itemgetter(3)


def _key(term: str) -> str:
    """What near-duplicates have in common: letters of one case, without the ending of a plural."""
    folded = term.casefold()
    return folded[:-1] if folded[-1] == "s" and len(folded) > 3 and folded[-2] != "s" else folded


def _shortlist(span: Span) -> list[_Candidate]:
    """Take the terms that most events of each eighth of the span share, some of each eighth."""
    counts = Counter(chain.from_iterable([item.terms for run in span.runs for item in run]))
    first = span.first_position
    width = span.last_position - first + 1
    parts: list[dict[str, int]] = [{} for _ in range(HINTS_MAX)]
    for run in span.runs:
        for item in run:
            position = item.position
            part = parts[(position - first) * HINTS_MAX // width]
            for term in item.terms:
                part[term] = position
    hints = []
    for part in parts:
        most = sorted(part, key=counts.__getitem__, reverse=True)[:_EACH]  # stable: of equal ones the earliest
        hints += [(term, part[term], counts[term]) for term in most]
    return hints


def _thinned(candidates: list[_Candidate], most: int) -> list[_Candidate]:
    """Leave at most so many, from all along the list."""
    if len(candidates) <= most:
        return candidates
    return [candidates[at * len(candidates) // most] for at in range(most)]


def _scored(candidates: list[_Candidate], shares: Mapping[str, float]) -> list[_Option]:
    """Score candidates by how often they stand in the span and how seldom elsewhere; leave out what is common."""
    options = []
    for term, position, count in candidates:
        share = shares.get(term, 0.0)
        if share <= COMMON_SHARE:
            score = (1 + log2(count)) * -log2(max(share, _RAREST))
            options.append((-round(score, 1), _key(term), term, position))
    return options
