"""What a note can still answer, computed from the facts that were put into it.

A generated case knows the facts of its session, the facts that its note states and
those that the note's pointers really lead to, as values of the classes below. The
question recomputes its answer from each: a sum exactly, a puzzle by trying every
assignment, a slot by looking it up. The invariant: no verdict is read off a text.

Decisions, where the definition leaves room:

- A conclusion is never a source. The right total alone is as uncorrectable as a wrong one.
- A subtotal is a source for the total and a conclusion for itself: a note of subtotals
  alone can correct the total, not one of the subtotals.
- A hedge ("maybe 55") says nothing of the source: a reader still emits 55. It is silent,
  unless the note says that what it rests on was not kept.
- "The rest: fh:..." says that the note is not the whole, wherever the pointer leads. A
  pointer behind a conclusion or behind a list does not.
- What an event behind a pointer says stands above what the note says of the same thing.
- A number that was changed, rounded or cut is no source, though something stands there.

It knows neither texts nor formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Literal

from firsthand.value import value

Regime = Literal["correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent"]
REGIMES: tuple[Regime, ...] = ("correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent")


@value
class Line:
    """So many of something at a price each; a plain amount has a count of 1."""

    name: str
    count: Fraction
    price: Fraction

    @property
    def amount(self) -> Fraction:
        """What it comes to."""
        return self.count * self.price


@value
class Subtotal:
    """What one line comes to, without what it is made of."""

    name: str
    amount: Fraction


@value
class Rejected:
    """A thing that was considered and not chosen."""

    name: str


@value
class Factor:
    """What the whole sum is multiplied by: a discount, a tax, a rate of exchange."""

    name: str
    factor: Fraction


@value
class Slot:
    """The value of a named thing."""

    name: str
    value: object


@value
class Clue:
    """A condition on an assignment of things to people."""

    name: str
    holds: Callable[[Mapping[str, object]], bool]


Fact = Line | Subtotal | Rejected | Factor | Slot | Clue


@value
class Sum:
    """The question for a sum of lines, times the factors."""

    truth: Sequence[Fact]

    def answer(self, facts: Iterable[Fact]) -> Fraction | None:
        """Recompute from these facts; None while one that counts is not among them."""
        known = {fact.name: fact for fact in facts}
        if any(fact.name not in known for fact in self.truth if not isinstance(fact, Rejected)):
            return None
        total, factor = Fraction(0), Fraction(1)
        for fact in known.values():
            match fact:
                case Line() | Subtotal():
                    total += fact.amount
                case Factor():
                    factor *= fact.factor
        return total * factor

    def right(self, facts: Iterable[Fact]) -> bool:
        """Whether these facts give the true answer."""
        return self.answer(facts) == self.answer(self.truth)


@value
class Part:
    """The question for one line of a sum: its subtotal alone is its conclusion, not its source."""

    truth: Sequence[Fact]
    name: str

    def answer(self, facts: Iterable[Fact]) -> Fraction | None:
        """Recompute from these facts; None without the line itself."""
        found = [fact for fact in facts if fact.name == self.name and isinstance(fact, Line)]
        return found[-1].amount if found else None

    def right(self, facts: Iterable[Fact]) -> bool:
        """Whether these facts give the true answer."""
        return self.answer(facts) == self.answer(self.truth)


@value
class Lookup:
    """The question for the value of one slot."""

    truth: Sequence[Fact]
    name: str

    def answer(self, facts: Iterable[Fact]) -> object:
        """Give the slot's value as it was said last; None when it is not there."""
        found = [fact.value for fact in facts if isinstance(fact, Slot) and fact.name == self.name]
        return found[-1] if found else None

    def right(self, facts: Iterable[Fact]) -> bool:
        """Whether these facts give the true answer."""
        return self.answer(facts) == self.answer(self.truth)


@value
class Puzzle:
    """The question for one thing in an assignment of `things` to `people`, one each.

    Attributes:
        asked: what is read off an assignment that satisfies all clues.
    """

    truth: Sequence[Fact]
    people: Sequence[str]
    things: Sequence[object]
    asked: Callable[[Mapping[str, object]], object]

    def answers(self, facts: Iterable[Fact]) -> frozenset[object]:
        """Every answer that the clues among these facts leave open."""
        clues = [fact for fact in facts if isinstance(fact, Clue)]
        assigned = (dict(zip(self.people, order, strict=True)) for order in permutations(self.things))
        return frozenset(self.asked(each) for each in assigned if all(clue.holds(each) for clue in clues))

    def right(self, facts: Iterable[Fact]) -> bool:
        """Whether these facts leave exactly the true answer."""
        return self.answers(facts) == self.answers(self.truth)


Question = Sum | Part | Lookup | Puzzle


def verdict(
    question: Question,
    stated: Sequence[Fact],
    behind: Sequence[Fact] = (),
    *,
    admits: bool = False,
    concludes: bool = False,
) -> Regime:
    """Say which regime a note is in.

    Args:
        stated: the facts that stand in the note's own text, as a reader takes them.
        behind: the facts that its pointers really lead to.
        admits: the note says that something is missing.
        concludes: the note gives a value for what is asked.
    """
    if question.right(stated):
        return "correctable"
    if question.right(joined(stated, behind)):
        return "reachable"
    if admits:
        return "uncorrectable_loud"
    return "uncorrectable_silent" if concludes or bearing(question, stated) else "uncorrectable_loud"


def joined(stated: Iterable[Fact], behind: Iterable[Fact]) -> tuple[Fact, ...]:
    """Put the facts behind the pointers in the place of those of the same name in the text."""
    return tuple(({fact.name: fact for fact in stated} | {fact.name: fact for fact in behind}).values())


def bearing(question: Question, stated: Iterable[Fact]) -> bool:
    """Whether what is stated bears on the question, so that a reader could take it for the whole."""
    if isinstance(question, Lookup | Part):
        return any(fact.name == question.name for fact in stated)
    return any(not isinstance(fact, Rejected) for fact in stated)


def missing(question: Question, stated: Sequence[Fact], behind: Sequence[Fact]) -> tuple[str, ...]:
    """Name the facts that count and are neither stated as they were nor reachable."""
    if isinstance(question, Lookup):
        return () if question.right(joined(stated, behind)) else (question.name,)
    if question.right(joined(stated, behind)):
        return ()
    known = joined(stated, behind)
    wanted = [fact for fact in question.truth if not isinstance(question, Part) or fact.name == question.name]
    return tuple(fact.name for fact in wanted if fact not in known)
