"""How likely it is that one of the first hits answers: a few signals, one fixed function, three bands.

The function is logistic and rises with each signal; its numbers were fitted on development halves
of conversations and coding sessions (docs/decisions/0043-exchange.md). It says how likely evidence
is among the first ten hits, not that a detail was said: of something that was never said about a
familiar thing it knows nothing.

The invariant: a likelihood is from 0 to 1, and that of an answer without hits is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from firsthand.answer import Band

LIKELY_FROM, POSSIBLE_FROM = 0.5, 0.2
HELD_HALF = 10.0
"""Words of this weight, held by the best passage, are half of the most that the weight of words can say."""
ROWS_MIN = 300
"""In an index of fewer rows no word is rare; what words weigh there is scaled to what they would in one of so many."""
BY_WORDS: Mapping[str, float] = {"score": 7.4, "held": 5.4}
WITH_VECTORS: Mapping[str, float] = {"score": 5.9, "held": 3.3, "cosine": 1.8}
BIAS_BY_WORDS, BIAS_WITH_VECTORS = -6.6, -5.6


def share_of(weight: float, rows: int) -> float:
    """Give the signal ``held`` from what the words weigh that the best hit holds, in an index of so many rows."""
    if rows < ROWS_MIN:
        weight *= math.log(1 + (ROWS_MIN - 0.5) / 1.5) / math.log(1 + (max(1, rows) - 0.5) / 1.5)
    return weight / (weight + HELD_HALF)


def likelihood(signals: Mapping[str, float]) -> float:
    """Give the likelihood that signals tell; 0 for none.

    Args:
        signals: ``score``, the best by words; ``held``, what the words of the question that the best hit holds weigh;
            with vectors ``cosine``, of the passage that is nearest in meaning. Each from 0 to 1.
    """
    if not signals:
        return 0.0
    with_vectors = "cosine" in signals
    weights = WITH_VECTORS if with_vectors else BY_WORDS
    total = math.fsum(weight * signals.get(name, 0.0) for name, weight in weights.items())
    return 1 / (1 + math.exp(-total - (BIAS_WITH_VECTORS if with_vectors else BIAS_BY_WORDS)))


def band_of(likelihood: float) -> Band:
    """Name the band of a likelihood."""
    if likelihood >= LIKELY_FROM:
        return Band.LIKELY
    return Band.POSSIBLE if likelihood >= POSSIBLE_FROM else Band.UNLIKELY
