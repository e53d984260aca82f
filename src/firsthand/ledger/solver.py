"""A reader of derived memory that is no model: it answers from the lines of a view alone (consolidation 3.1, 5).

    case: birch level 7 => 23            the same question has this answer; of two lines the later one holds
    rule: birch level N => 3 * N + 2     N is the last number of a question; * stands for any words
    rule: red door => locked             without N and *, it answers this one question

It takes a case before a rule, and the narrower rule before the wider; what it does not
find it does not answer. The invariant: an answer is a function of question and view. It
does not know which lines are true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from firsthand.ledger.entries import BETWEEN, CASE, RULE
from firsthand.value import value

NUMBER = r"(?<![\w.])-?\d{1,40}(?:\.\d{1,40})?(?!\w|\.\d)"
"""A number of up to 40 digits; what has more is a word."""
ANY_MAX = 2
"""Places for any words in one rule; one with more could be read in very many ways, and answers nothing."""
ANY, PLACE = "*", "N"

_NUMBER = re.compile(NUMBER)
_PLACES = re.compile(rf"(\b{PLACE}\b|(?<!\S)\*(?!\S))")
_FORMULA = re.compile(rf"(?:(?P<times>{NUMBER}) \* {PLACE}(?: (?P<sign>[+-]) (?P<plus>\d+(?:\.\d+)?))?)\Z")


class Solver(Protocol):
    """Answers a question from a view, or does not."""

    @property
    def name(self) -> str:
        """What a report calls it."""
        ...

    def answer(self, question: str, view: str) -> str | None:
        """Answer from the lines of a view and what it knows by itself; None when it has no answer."""
        ...


class Weak:
    """Answers from cases and rules that are there; makes none."""

    name = "weak"

    def __init__(self, knows: Callable[[str], str | None] = lambda _: None) -> None:
        """Make a reader; ``knows`` gives the answers that need no memory."""
        self.knows = knows

    def answer(self, question: str, view: str) -> str | None:
        """Answer from the lines of a view, else by itself."""
        cases, rules = read(view)
        asked = " ".join(question.casefold().split())
        answer = cases.get(asked)
        if answer is None:
            answer = _by_rule(asked, rules)
        return self.knows(question) if answer is None else answer


@value
class Line:
    """``times`` for each one of the number in a question, and ``plus``."""

    times: Fraction
    plus: Fraction

    def __str__(self) -> str:
        if not self.times:
            return _written(self.plus)
        added = f" {'-' if self.plus < 0 else '+'} {_written(abs(self.plus))}" if self.plus else ""
        return f"{_written(self.times)} * {PLACE}{added}"

    def at(self, number: Fraction) -> str:
        """Give the answer for a number."""
        return _written(self.times * number + self.plus)


@value
class Rule:
    """A question with places in it, and the answer that it has."""

    pattern: re.Pattern[str]
    answer: str
    line: Line | None
    words: int


@lru_cache(maxsize=256)
def read(view: str) -> tuple[Mapping[str, str], Sequence[Rule]]:
    """Read the lines of a view: answers by question, and rules with places."""
    cases: dict[str, str] = {}
    rules: list[Rule] = []
    for line in view.split("\n"):
        is_rule = line.startswith(RULE)
        asked, between, answer = line.removeprefix(RULE if is_rule else CASE).rpartition(BETWEEN)
        if not between or not (is_rule or line.startswith(CASE)):
            continue
        asked, answer = asked.strip(), answer.strip()
        if is_rule and _PLACES.search(asked):
            rules += [_rule(asked, answer)] if asked.split().count(ANY) <= ANY_MAX else []
        else:
            asked = " ".join(asked.casefold().split())
            cases.pop(asked, None)  # the later one holds, and is the later one
            cases[asked] = answer
    return cases, rules


def _rule(asked: str, answer: str) -> Rule:
    pieces = _PLACES.split(" ".join(asked.split()))
    parts: list[str] = []
    for piece in pieces:
        seen = PLACE in pieces[: len(parts)]
        number = NUMBER if seen else f"(?P<number>{NUMBER})"
        parts.append(number if piece == PLACE else r"\S+(?: \S+)*?" if piece == ANY else re.escape(piece.casefold()))
    words = sum(len(piece.split()) for piece in pieces if piece not in (ANY, PLACE))
    return Rule(re.compile("".join(parts)), answer, line_of(answer), words)


def line_of(formula: str) -> Line | None:
    """Read a formula such as ``3 * N + 2``; None when it is none."""
    match = _FORMULA.match(formula)
    if match is None:
        return None
    plus = Fraction(match["plus"] or 0)
    return Line(Fraction(match["times"]), -plus if match["sign"] == "-" else plus)


def _by_rule(asked: str, rules: Sequence[Rule]) -> str | None:
    """Answer by the rule with the most words of its own; of two with as many by the later one."""
    best: tuple[int, str] | None = None
    for rule in rules:
        if best is not None and rule.words < best[0]:
            continue
        match = rule.pattern.fullmatch(asked)
        if match is None:
            continue
        number = match.groupdict().get("number")
        if rule.line is None:
            best = rule.words, rule.answer
        elif number is not None:
            best = rule.words, rule.line.at(Fraction(number))
    return best[1] if best else None


def shape_of(question: str) -> tuple[str, Fraction | None]:
    """Give a question with N for its last number, and that number."""
    *_, last = (None, *_NUMBER.finditer(question))
    if last is None:
        return question, None
    return f"{question[: last.start()]}{PLACE}{question[last.end() :]}", Fraction(last[0])


def _written(number: Fraction) -> str:
    """Write a number as a decimal where it has one, else as a fraction."""
    left = number.denominator
    for prime in (2, 5):
        while left % prime == 0:
            left //= prime
    return f"{number}" if left != 1 or number.denominator == 1 else f"{float(number):.12g}"
