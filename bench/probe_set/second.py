"""A second set for the report, made from the definitions alone by somebody who does not know the probe.

Other subjects, forms, sentences and languages than the older parts. The gold is computed twice: by `gold.verdict`
from the givens that a note states, and by `second_solver` from the form of the case, over every world that agrees
with the note. `bench/probe_second_check.py` compares them. It is measured once; no failure of it is shown.

Who works on the probe does not read this file, nor those beside it whose names begin with it.
"""

from __future__ import annotations

from functools import cache

from . import (
    second_hand_code,
    second_hand_life,
    second_hand_sums,
    second_logic,
    second_looked,
    second_rows,
    second_worked,
)
from .case import Case
from .second_note import EACH, Formed, noted

GENERATED = second_rows.KINDS | second_worked.KINDS | second_looked.KINDS | second_logic.KINDS
WRITTEN: tuple[Formed, ...] = (*second_hand_sums.WRITTEN, *second_hand_life.WRITTEN, *second_hand_code.WRITTEN)


@cache
def formed() -> tuple[Formed, ...]:
    """Make the set, each case with its form."""
    made = [noted(kind, number, make) for kind, make in GENERATED.items() for number in range(EACH)]
    return (*made, *WRITTEN)


def second() -> tuple[Case, ...]:
    """Make the set."""
    return tuple(each.case for each in formed())
