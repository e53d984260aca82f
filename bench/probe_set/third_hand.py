"""Cases of the third set that are written by hand, several notes of each session, each with its argument.

A session, its formula and its notes are written as in `second_hand`; here a note also says why its verdict is what it
is, and `third_again` holds what was judged of it a second time, from the texts alone.

Who works on the probe does not read this file, nor those beside it whose names begin with `third`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.value import replace, value

from . import second_hand
from .second_hand import Known
from .second_note import Formed

Note = tuple[str, str, str, str, str, str]
"""Name, verdict by its letter, what is stated, flags, text, and the argument."""


@value
class Argued:
    """A case of a session with its form, and why its verdict is what it is."""

    subject: str
    formed: Formed
    why: str


def subject(name: str, claim: str, said: Sequence[str], formula: str, answer: Any, known: Mapping[str, Known],
            *notes: Note, leads: Mapping[str, str] | None = None) -> tuple[Argued, ...]:  # fmt: skip
    """Make the cases of one session.

    Raises:
        ValueError: if the formula does not give the answer that was worked out by hand.
    """
    made = second_hand.subject(name, claim, said, formula, answer, known, *(note[:5] for note in notes), leads=leads)
    return tuple(
        Argued(name, replace(each, case=replace(each.case, id=f"manual-{each.case.id}", kind="manual")), note[5])
        for each, note in zip(made, notes, strict=True)
    )
