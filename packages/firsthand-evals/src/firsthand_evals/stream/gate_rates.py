"""How often the gate of consolidation decides as it should, where the truth about each entry is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from firsthand.ledger.entries import Entry
from firsthand.ledger.entry_gate import Judged
from firsthand.value import value


@value
class GateRates:
    """Good and bad entries, by what became of them."""

    good_taken: int = 0
    good_refused: int = 0
    bad_taken: int = 0
    bad_refused: int = 0


def rates(judged: Iterable[Judged], is_good: Callable[[Entry], bool]) -> GateRates:
    """Count how often the gate was right.

    Args:
        is_good: says of an entry what is true of it.
    """
    decisions = [(judgement.accepted, is_good(judgement.entry)) for judgement in judged]
    return GateRates(*(decisions.count(each) for each in ((True, True), (False, True), (True, False), (False, False))))
