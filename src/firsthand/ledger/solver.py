"""Readers of derived memory that are no model: they answer from the lines of a view alone (consolidation 3.1, 5).

    case: birch level 7 => 23            the same question has this answer; of two lines the later one holds
    rule: birch level N => 3 * N + 2     N is the last number of a question; * stands for any words
    rule: red door => locked             without N and *, it answers this one question

`Strong` makes a rule of at least three cases by itself where it finds none; `Weak` can
not. Both take a case before a rule, the narrower rule before the wider, and a rule
before what they know without any memory; what they do not find they do not answer.

The invariant: an answer is a function of question and view. It does not know which
lines are true.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Protocol

from firsthand.ledger.entries import BETWEEN, CASE, RULE
from firsthand.value import field, value

INDUCED_CASES_MIN = 3
"""Cases that a rule is made of, at the least."""
INDUCED_SHARE_MIN = 0.6
"""Of the cases that are looked at, those that a rule must give right."""
FITTED_CASES_MAX = 64
"""Cases of one shape that a rule is sought in: the last ones."""
NEIGHBOURS = 4
"""Cases beside one, in order of their numbers, that a line is drawn to."""
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


def knows_nothing(question: str) -> str | None:  # noqa: ARG001 - what a solver knows is asked for a question
    """Know no answer without a memory."""
    return None


class Strong:
    """Answers from cases and rules, and makes a rule of three cases."""

    name = "strong"
    _makes_rules = True

    def __init__(self, knows: Callable[[str], str | None] = knows_nothing) -> None:
        """Make a reader.

        Args:
            knows: gives the answers that need no memory.
        """
        self.knows = knows

    def answer(self, question: str, view: str) -> str | None:
        """Answer from the lines of a view, else by a rule made of its cases, else by itself."""
        read = _read(view)
        asked = _question(question)
        answer = read.cases.get(asked)
        if answer is None:
            answer = _by_rule(asked, read.rules)
        if answer is None and self._makes_rules:
            shape, number = shape_of(asked)
            answer = induced_answer(read.shapes.get(shape, ()), number)
        return self.knows(question) if answer is None else answer


class Weak(Strong):
    """Answers from cases and rules that are there; makes none."""

    name = "weak"
    _makes_rules = False


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


Case = tuple[Fraction | None, str]
"""The number of a question, and its answer."""


@value
class _Lines:
    """The lines of a view, read."""

    cases: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[Case]] = field(default_factory=dict)
    rules: Sequence[Rule] = ()


@lru_cache(maxsize=256)
def _read(view: str) -> _Lines:
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
            asked = _question(asked)
            cases.pop(asked, None)  # the later one holds, and is the later one
            cases[asked] = answer
    shapes: dict[str, list[Case]] = {}
    for asked, answer in cases.items():
        shape, number = shape_of(asked)
        shapes.setdefault(shape, []).append((number, answer))
    return _Lines(cases, {shape: tuple(cases) for shape, cases in shapes.items()}, rules)


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


def induced_answer(cases: Sequence[Case], number: Fraction | None) -> str | None:
    """Answer by a rule that cases of one shape have in common; None when they have none."""
    if number is None or len(cases) < INDUCED_CASES_MIN:
        return None
    rule = induced(tuple(cases[-FITTED_CASES_MAX:]))
    return rule.at(number) if isinstance(rule, Line) else rule


@lru_cache(maxsize=4_096)
def induced(cases: tuple[Case, ...]) -> Line | str | None:
    """Give the line, or the one answer, that most of some cases have; None when too few have any."""
    needed = max(INDUCED_CASES_MIN, INDUCED_SHARE_MIN * len(cases))
    answers = Counter(answer for _, answer in cases)
    same, times = max(answers.items(), key=lambda answer_count: answer_count[1], default=("", 0))
    known = [(number, Fraction(answer)) for number, answer in cases if number is not None and _NUMBER.fullmatch(answer)]
    best = best_line(known)
    agreed = agreeing(best, known) if best is not None else 0
    if times >= needed and times >= agreed:
        return same
    return best if agreed >= needed else None


def best_line(points: Iterable[tuple[Fraction, Fraction]]) -> Line | None:
    """Give the line that most pairs of neighbouring points lie on; of two the plainer one."""
    ordered = sorted(dict(points).items())
    drawn: Counter[Line] = Counter()
    for place, (x, y) in enumerate(ordered):
        for other_x, other_y in islice(ordered, place + 1, place + 1 + NEIGHBOURS):
            times = (other_y - y) / (other_x - x)
            drawn[Line(times, y - times * x)] += 1
    if not drawn:
        return None
    return min(drawn, key=lambda line: (-drawn[line], abs(line.times), abs(line.plus), line.times, line.plus))


def agreeing(line: Line, points: Iterable[tuple[Fraction, Fraction]]) -> int:
    """Count the points on a line."""
    return sum(line.times * x + line.plus == y for x, y in points)


def _question(text: str) -> str:
    return " ".join(text.casefold().split())


def _written(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    exact = number.denominator
    for prime in (2, 5):
        while exact % prime == 0:
            exact //= prime
    return f"{float(number):.12g}" if exact == 1 else f"{number.numerator}/{number.denominator}"
