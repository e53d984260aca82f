"""A third set for the report, made from the definitions alone by somebody who does not know the probe.

It is weighted as the memory of agents that work for people meets notes. The kinds, of sixteen
notes each, were listed by weight before the first note was made, the sessions by hand in the same shares:

- coding sessions: fifteen kinds and twelve sessions (settings, versions and constraints, ports, commits, paths, test
  counts, timings, errors, flags, limits, costs, logs, the order of migrations, who may deploy);
- money, six: budgets, invoices, fares, fees. Days and duties, five: deadlines, shifts, time zones. Journeys, three:
  tickets, lodging, booking codes. Choices, rules with exceptions and allergies, four. Measures with units, three;
- a quarter in other languages than English: nine kinds in nine languages, eight sessions by hand in eight, six of
  them further ones. A dozen kinds and sessions have a correction in the middle of the talk.

A note that is short of something is short of it in one of these ways: cut within a number, ended early, a line taken
out of the middle, a negation or a unit lost, a rounded or older value, what was not chosen kept as if it were, the
conclusion alone or in other words, and "all of it" said of a part. Layouts, words and subjects are of no older part.

The gold is computed twice: by `gold.verdict` from the givens that a note states, and by `second_solver` from the form
of the case, over every world that agrees with the note; `bench/probe_third_check.py` compares them, and compares the
notes by hand with a second judgement (`third_again`). It is measured once; no failure of it is shown.

Who works on the probe does not read this file, nor those beside it whose names begin with it.
"""

from __future__ import annotations

from functools import cache

from . import (
    third_code,
    third_days,
    third_hand_code,
    third_hand_life,
    third_hand_tongues,
    third_looked,
    third_money,
    third_rules,
)
from .case import Case
from .second_note import Formed
from .third_hand import Argued
from .third_ways import EACH, noted

GENERATED = third_code.KINDS | third_looked.KINDS | third_money.KINDS | third_days.KINDS | third_rules.KINDS
ARGUED: tuple[Argued, ...] = (*third_hand_code.WRITTEN, *third_hand_life.WRITTEN, *third_hand_tongues.WRITTEN)
WRITTEN: tuple[Formed, ...] = tuple(each.formed for each in ARGUED)


@cache
def formed() -> tuple[Formed, ...]:
    """Make the set, each case with its form."""
    made = [noted(kind, number, make) for kind, make in GENERATED.items() for number in range(EACH)]
    return (*made, *WRITTEN)


def third() -> tuple[Case, ...]:
    """Make the set."""
    return tuple(each.case for each in formed())
