r"""Judges a note of which no session is known by what it concludes itself: is anything there that it rests on?

    "The total was $55."                                     silent
    "7 notebooks at $4, 9 pens at $2. The total was $55."    correctable
    "The total was $55 (fh:01J8...)"                         reachable, when the line items stand there

The invariant: a conclusion never stands on another one, nor on what an agent concluded
behind a pointer; a note that concludes nothing has nothing to correct.

It does not know whether the conclusion is right, nor whether what it rests on is all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from firsthand.value import value
from firsthand_evals.probe.determine import claim_of, is_said
from firsthand_evals.probe.probe_reading import Carried
from firsthand_evals.probe.solve import recompute
from firsthand_evals.probe.statements import Statement
from firsthand_evals.probe.values import same

CONCLUSIONS_MAX = 64
"""Conclusions of one note that are judged: the first ones."""
SHARED_WORDS_MIN = 2
"""Words that a statement with values shares with a conclusion that rests on it."""
_CONCLUDES = {"total", "conclusion"}
_SAYS_AGAIN = {*_CONCLUDES, "confirmation", "claim"}

Standing = Literal["itself", "pointers", "nothing"]


@value
class Conclusion:
    """What a note concludes, and where what it rests on stands."""

    text: str
    standing: Standing


def conclusions(carried: Carried) -> list[Conclusion]:
    """Give what a note concludes."""
    concluding = [
        one for one in carried.own
        if one.asserts in _CONCLUDES and one.values and one.polarity and not one.text.startswith("#")
        and not (one.form == "heading" and all(found.kind == "date" for found in one.values))
    ]  # fmt: skip
    own = _evidence(carried.own)
    behind = [one for one in _evidence(carried.behind) if is_said(one)]
    return [Conclusion(one.text, _standing(one, own, behind)) for one in concluding[:CONCLUSIONS_MAX]]


def _evidence(said: Sequence[Statement]) -> list[Statement]:
    return [one for one in said if one.asserts not in _SAYS_AGAIN and one.form not in {"question", "header", "heading"}]


def _standing(one: Statement, own: Sequence[Statement], behind: Sequence[Statement]) -> Standing:
    if _rests_on(one, own):
        return "itself"
    return "pointers" if behind and _rests_on(one, [*own, *behind]) else "nothing"


def _rests_on(one: Statement, said: Sequence[Statement]) -> bool:
    """Say whether something can be worked out of statements for a conclusion, or they say its very values."""
    if not said:
        return False
    claim = claim_of(said, one.text)
    if claim.needs and recompute(said, claim) is not None:
        return True
    if any(same(found, other) for found in one.values for statement in said for other in statement.values):
        return True
    return any(statement.values and len(statement.subject & one.subject) >= SHARED_WORDS_MIN for statement in said)
