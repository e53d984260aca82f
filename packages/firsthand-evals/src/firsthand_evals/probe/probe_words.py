r"""What some statements give of a claim, value by value and word by word, where it cannot be worked out.

The invariant: two values are equal only when one number says both, or one exact string.

It does not know how a claim follows (`probe_claims`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from firsthand.value import value
from firsthand_evals.probe.determine import is_said
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, same

QUESTION_WORDS_MIN = 6
"""Words of a question from which on it holds facts, too, when nothing else does."""
BEARING_WORDS_MIN = 2
"""Words of a statement in a note from which on a reader could take it for the whole."""
SHARED_MIN, SHARED_ALONE_MIN = 0.4, 0.6
"""Share of a statement's words that must stand in a note that has it: beside its values, and without any."""
TELEPHONE_DIGITS_MIN = 7
"""Digits from which on a string is told by them alone."""
_DIGITS = re.compile(r"\D+")
WHY = re.compile(r"\b(?:why|cause|reason|how come|explanation)\b")
"""The words of a claim that asks for a reason."""


@value
class Given:
    """What some statements give of a claim.

    Attributes:
        enough: the claim can be worked out.
        missing: statements of the session that are not among them.
        bears: something of what it takes is there, so that a reader could take it for the whole.
    """

    enough: bool
    missing: tuple[str, ...] = ()
    bears: bool = False


def alike(one: Value, other: Value) -> bool:
    """Say whether two values may be answers to the same question: money, or a number whose currency was left out."""
    return one.kind == other.kind or {one.kind, other.kind} <= {"money", "number"}


def equal(one: Value | None, other: Value | None) -> bool:
    """Say whether two values are equal, whatever unit was left out."""
    if one is None or other is None:
        return False
    if one.amount is None or other.amount is None:
        return exact(one.text) == exact(other.text)
    return same(one, other) or (one.amount == other.amount and "" in {one.unit, other.unit} and alike(one, other))


def exact(text: str) -> str:
    """Give an exact string in one spelling: a telephone number by its digits alone."""
    digits = _DIGITS.sub("", text)
    if len(digits) >= TELEPHONE_DIGITS_MIN and not any(sign.isalpha() for sign in text):
        return digits.lstrip("0")
    return text.casefold()


def words_at(said: Sequence[Statement], place: int) -> frozenset[str]:
    """Give the words of a statement, of what stands above it and of what it goes on from."""
    one = said[place]
    words = one.subject | subject_of(" ".join((*one.path, *(cell.name for cell in one.cells))).replace("_", " "))
    if place and said[place - 1].turn == one.turn and one.form in {"sentence", "clause"}:
        words |= said[place - 1].subject
    return words


def of_words(said: Sequence[Statement], what: str, places: Sequence[int], own: Sequence[Statement]) -> Given:
    """Look for what a claim rests on, value by value and word by word, where it cannot be worked out."""
    needs = [said[place] for place in places] or about(said, what)
    words = frozenset(word for place in range(len(own)) for word in words_at(own, place))
    missing, bears = [], False
    exactly = not WHY.search(what.lower())
    telling = [one for one in needs if one.subject - subject_of(what)]
    needs = needs if exactly else telling or needs
    for one in needs:
        has = [_stands_with(found, one.subject, own) for found in one.values]
        shared = len(one.subject & words)
        enough = shared >= len(one.subject) * (SHARED_MIN if one.values and exactly else SHARED_ALONE_MIN)
        enough = enough and (all(has) if exactly else sum(has) >= len(has) * SHARED_ALONE_MIN)
        bears = bears or any(has) or shared >= min(BEARING_WORDS_MIN, len(one.subject) or 1)
        if not enough:
            missing.append(one.text)
    return Given(bool(needs) and not missing, tuple(missing), bears)


def _stands_with(found: Value, words: frozenset[str], own: Sequence[Statement]) -> bool:
    """Say whether a value stands in some statement that shares a word with where it comes from."""
    for place, one in enumerate(own):
        if any(equal(found, other) for other in one.values):
            there = words_at(own, place)
            if not words or not there or words & there:
                return True
    return False


def about(said: Sequence[Statement], what: str) -> list[Statement]:
    """Give what others than the agent said in the turns that speak of something, and tools until its answer."""
    wanted = subject_of(what)
    asking = [one.turn for one in said if one.role == "user" and one.subject & wanted]
    turns = set(asking)
    for turn in asking:
        behind = [one.turn for one in said if one.turn > turn and one.role == "user"]
        turns |= {
            one.turn for one in said if one.role == "tool" and turn < one.turn < min(behind, default=one.turn + 1)
        }
    turns |= {one.turn for one in said if one.role == "tool" and one.subject & wanted}
    told = [one for one in said if one.turn in turns and is_said(one) and one.asserts != "claim"]
    facts = [one for one in told if one.form != "question"]
    return facts or [one for one in told if len(one.subject) >= QUESTION_WORDS_MIN]
