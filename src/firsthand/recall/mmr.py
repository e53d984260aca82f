"""Orders hits so that each next one is good and says something that those before it do not (total-recall 4.1).

Maximal marginal relevance: the next hit is the one with the greatest
``lambda * score - (1 - lambda) * likeness to the hits before it``; the score is
taken relative to the best one, and the likeness of two rows is the share of their
terms, weighed by rarity, that both hold (Jaccard).

The invariant: what comes in is ordered, nothing is left out; the first always stays
first, and with lambda 1 all stay where they are. Cost: the pool times what is
chosen from it.

It knows no event and no query.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

TERMS_MAX = 96
"""Of a row, its first: more of them tell little more of what it is like."""
LAMBDA = 0.8
"""Where a query names none."""
POOL_MAX = 20
"""Further hits keep their places: they are behind those that a page shows."""
WEIGHT_MAX = 4
"""Of a term: one for those in every row of the pool, one more each time that half as many hold it."""


def order(totals: Sequence[float], terms: Sequence[Collection[str]], mmr_lambda: float, count: int) -> list[int]:
    """Give the numbers of the hits in their new order.

    Args:
        totals: scores, best first, from 0 to 1.
        terms: of each hit's row, in an order of their own.
        mmr_lambda: 1 leaves the order as it is; less puts repetitions further down.
        count: how many are chosen; those behind them keep their order.
    """
    pool = min(len(totals), POOL_MAX)
    best = totals[0] if totals else 0.0
    if mmr_lambda >= 1.0 or pool < 3 or best <= 0.0:
        return list(range(len(totals)))
    masks, masses = _weighed(terms[:pool])
    gains = [mmr_lambda * total / best for total in totals[:pool]]
    nearest = [0.0] * pool
    chosen, left = [0], list(range(1, pool))
    while left and len(chosen) < count:
        last = chosen[-1]
        for at in left:
            both = (masks[at] & masks[last]).bit_count()
            if both:
                nearest[at] = max(nearest[at], both / (masses[at] + masses[last] - both))
        # Of equal ones the first: the order of what comes in decides.
        following = max(left, key=lambda at: (gains[at] - (1.0 - mmr_lambda) * nearest[at], -at))
        chosen.append(following)
        left.remove(following)
    return [*chosen, *left, *range(pool, len(totals))]


def rarity(rows: Sequence[Collection[str]]) -> Mapping[str, int]:
    """Weigh each term by how few of the rows hold it, in whole numbers from 1 to `WEIGHT_MAX`."""
    return _rarity(Counter(itertools.chain.from_iterable(rows)), len(rows))


def _rarity(counts: Mapping[str, int], rows: int) -> Mapping[str, int]:
    weights = {times: max(1, min(WEIGHT_MAX, 1 + int(math.log2(rows / times)))) for times in {*counts.values()}}
    return {term: weights[times] for term, times in counts.items()}


def _weighed(rows: Sequence[Collection[str]]) -> tuple[list[int], list[int]]:
    """Write each row as a number with as many bits for a term as it weighs, and give what it weighs in all.

    So what two rows share is one ``&`` and a count of bits, fifty times faster than to go through
    their terms. A term of one row alone is shared with none: it needs no bits.
    """
    rows = [tuple(row)[:TERMS_MAX] for row in rows]
    sets = [frozenset(row) for row in rows]
    counts = Counter(itertools.chain.from_iterable(sets))
    weights = _rarity(counts, len(sets))
    shared = {term for term, times in counts.items() if times > 1}
    bits: dict[str, int] = {}
    at = 0
    for term in filter(shared.__contains__, itertools.chain.from_iterable(rows)):
        if term not in bits:
            bits[term] = ((1 << weights[term]) - 1) << at
            at += weights[term]
    masks = []
    for row in sets:
        mask = 0
        for term in row & shared:
            mask |= bits[term]
        masks.append(mask)
    return masks, [sum(map(weights.__getitem__, row)) for row in sets]
