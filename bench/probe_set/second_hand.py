"""Cases of the second set that are written by hand, several notes of each session.

Each note is written down with the verdict that its writer argues for and with what it states; the solver works
the verdict out of the latter, and `second_check` compares. In a note «2» stands for the pointer of the second
message, «2~some words» for the pointer to these words in it, «none» for one that leads nowhere, «memo» and other
words for what `leads` names.

Who works on the probe does not read this file, nor those beside it whose names begin with `second`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.value import replace

from .gold import Regime
from .hand import written
from .second_note import Formed
from .second_solver import Form, worked

REGIME: Mapping[str, Regime] = {
    "C": "correctable", "R": "reachable", "L": "uncorrectable_loud", "S": "uncorrectable_silent",
}  # fmt: skip
Known = tuple[Any, Sequence[Any], str]
"""A value of the session, others that it might have had, and the session's words for it."""
Note = tuple[str, str, str, str, str]
"""Name, verdict by its letter, what is stated ("a b=3 | c": c behind a pointer), flags, text.

The flag "a" says that the note admits that something is missing, "c" that it gives a value for what is asked.
"""


def subject(name: str, claim: str, said: Sequence[str], formula: str, answer: Any, known: Mapping[str, Known],
            *notes: Note, leads: Mapping[str, str] | None = None) -> tuple[Formed, ...]:  # fmt: skip
    """Make the cases of one session.

    Raises:
        ValueError: if the formula does not give the answer that was worked out by hand.
    """
    truth = {key: value for key, (value, _, _) in known.items()}
    if worked(formula, truth) != answer:
        raise ValueError(f"{name}: the formula gives {worked(formula, truth)!r}, on paper it was {answer!r}")
    return tuple(_formed(name, claim, said, Form(
        formula, truth, {}, {}, {key: others for key, (_, others, _) in known.items()}, answer,
        False, False, None, formula in truth,
    ), known, note, leads or {}) for note in notes)  # fmt: skip


def _formed(name: str, claim: str, said: Sequence[str], plain: Form, known: Mapping[str, Known], note: Note,
            leads: Mapping[str, str]) -> Formed:  # fmt: skip
    label, letter, states, flags, text = note
    here, _, there = states.partition("|")
    form = replace(plain, stated=_stated(here, plain), behind=_stated(there, plain),
                   admits="a" in flags, concludes="c" in flags)  # fmt: skip
    found = {**form.stated, **form.behind}
    lacks = tuple(words for key, (value, _, words) in known.items() if found.get(key) != value)
    regime = REGIME[letter]
    used = {word: _ranged(leads[word], said) for word in leads if f"«{word}»" in text}
    case = written(f"second {name} {label}", regime, claim, said, _ranged(text, said),
                   lacks if letter in "LS" else (), used)  # fmt: skip
    return Formed(replace(case, id=f"{name}-{label}", kind="penned"), form)


def _stated(text: str, form: Form) -> dict[str, Any]:
    """Read what is stated: a name has its true value unless another is given."""
    found = {}
    for word in text.split():
        key, given, value = word.partition("=")
        found[key] = ast.literal_eval(value) if given else form.truth[key]
    return found


def _ranged(text: str, said: Sequence[str]) -> str:
    """Put the range of bytes in the place of words."""

    def place(found: re.Match[str]) -> str:
        whole = said[int(found[1]) - 1][3:]
        start = len(whole[: whole.index(found[2])].encode())
        return f"«{found[1]}:{start}-{start + len(found[2].encode())}»"

    return re.sub("«(\\d+)~([^»]+)»", place, text)
