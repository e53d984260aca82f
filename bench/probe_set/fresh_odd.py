"""Puts together the cases of the fresh set that are written by hand, several notes of each session."""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.value import replace

from .case import Case
from .gold import Regime
from .hand import written

Note = tuple[str, Regime, str] | tuple[str, Regime, str, Sequence[str]]
"""Name, verdict, note and what is missing; pointers are written as `hand.written` takes them."""


def odd(subject: str, claim: str, said: Sequence[str], *notes: Note) -> tuple[Case, ...]:
    """Make the cases of one session."""
    made = []
    for name, regime, note, *more in notes:
        lacks = more[0] if more else ()
        each = written(f"fresh {subject} {name}", regime, claim, said, note, tuple(lacks))
        made.append(replace(each, id=f"{subject}-{name}", kind="odd"))
    return tuple(made)
