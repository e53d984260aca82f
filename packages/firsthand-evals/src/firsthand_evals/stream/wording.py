"""The same question in other words, and a reader that understands it by the lines of a memory.

    birch level 7     level 7 of birch     Birch, at level 7

A reader finds what is meant by the words alone, in whatever order: in a line of the
memory, or in what it knows by itself. Where the memory lost the word, it finds nothing.
The invariant: what is asked in its own words is answered as before. It knows no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from firsthand.ledger.entries import BETWEEN, CASE, RULE
from firsthand.ledger.solver import ANY, PLACE, Solver, shape_of
from firsthand.value import value

_SMALL = frozenset({"a", "an", "at", "for", "in", "is", "of", "on", "the", "what", ANY, PLACE.casefold()})
"""Words that say nothing of what is asked about."""
_WORDS = re.compile(r"[^\W\d_]+|\*")
Meant = frozenset[str]


def reworded(question: str, place: int) -> str:
    """Ask a question of the made world in other words; which ones follows from ``place``."""
    name, _, level = question.partition(" level ")
    return f"level {level} of {name}" if place % 2 else f"{name.capitalize()}, at level {level}"


@value
class Understanding:
    """Answers questions in other words than those of the memory.

    Attributes:
        solver: who answers, once the question is in the words of the memory.
        own: questions with N for the number, in the words in which the solver knows them by itself.
    """

    solver: Solver
    own: tuple[str, ...] = ()

    def answer(self, question: str, view: str) -> str | None:
        """Answer a question by the shape of question that has the same words, in the memory, else in what is known."""
        shape, number = shape_of(" ".join(question.casefold().split()))
        meant = _meant(shape)
        found = _shapes(view).get(meant) or _by_words(self.own).get(meant)
        if found is None or number is None:
            return self.solver.answer(question, view)
        return self.solver.answer(re.sub(rf"\b{PLACE}\b", str(number), found), view)


@lru_cache(maxsize=64)
def _shapes(view: str) -> Mapping[Meant, str]:
    asked = (line.removeprefix(CASE).removeprefix(RULE).rpartition(BETWEEN)[0] for line in view.split("\n"))
    return _by_words({one if PLACE in one.split() else shape_of(" ".join(one.casefold().split()))[0] for one in asked})


def _by_words(shapes: Iterable[str]) -> dict[Meant, str]:
    return {_meant(one): one for one in sorted(shapes) if PLACE in one.split()}


def _meant(shape: str) -> Meant:
    return frozenset(_WORDS.findall(shape.casefold())) - _SMALL
