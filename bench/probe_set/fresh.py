"""A fresh set, made after the probe was tuned and its halves were used up: other subjects, words and forms.

Its gold has the same definitions (`gold.py`): computed for what is generated, argued for
what is written by hand. It is measured once; no failure of it is shown.

Who works on the probe does not read this file, nor those beside it whose names begin with it.
"""

from __future__ import annotations

from functools import cache

from . import fresh_facts, fresh_odd_facts, fresh_odd_sums, fresh_sums
from .case import Case
from .fresh_note import EACH, noted

GENERATED = fresh_sums.KINDS | fresh_facts.KINDS
WRITTEN = (*fresh_odd_sums.WRITTEN, *fresh_odd_facts.WRITTEN)


@cache
def fresh() -> tuple[Case, ...]:
    """Make the set."""
    made = [noted(kind, number, tell) for kind, tell in GENERATED.items() for number in range(EACH)]
    return (*made, *WRITTEN)
