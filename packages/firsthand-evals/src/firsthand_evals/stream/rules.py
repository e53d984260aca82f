"""Rules made of cases: a line through their numbers, or one answer that most of them have.

    birch level 1 => 5, birch level 4 => 14, birch level 9 => 29   ->   birch level N => 3 * N + 2

`Strong` reads a memory and makes such a rule of at least three cases by itself where it
finds none; the reader of the package can not. The invariant: the same cases give the same
rule. It does not know whether the rule is true.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from firsthand.ledger.entries import BETWEEN, Episode
from firsthand.ledger.solver import NUMBER, Line, Weak, read, shape_of

INDUCED_CASES_MIN = 3
"""Cases that a rule is made of, at the least."""
INDUCED_SHARE_MIN = 0.6
"""Of the cases that are looked at, those that a rule must give right."""
FITTED_CASES_MAX = 64
"""Cases of one shape that a rule is sought in: the last ones."""
NEIGHBOURS = 4
"""Cases beside one, in order of their numbers, that a line is drawn to."""
Case = tuple[Fraction | None, str]
"""The number of a question, and its answer."""


class Strong(Weak):
    """Answers from cases and rules, and makes a rule of three cases."""

    name = "strong"

    def answer(self, question: str, view: str) -> str | None:
        """Answer from the lines of a view, else by a rule made of its cases, else by itself."""
        answer = _READER.answer(question, view)
        if answer is None:
            shape, number = shape_of(" ".join(question.casefold().split()))
            cases = _shapes(view).get(shape, ())
            rule = induced(cases[-FITTED_CASES_MAX:]) if number is not None else None
            answer = rule.at(number or Fraction()) if isinstance(rule, Line) else rule
        return self.knows(question) if answer is None else answer


_READER = Weak()


@lru_cache(maxsize=256)
def _shapes(view: str) -> Mapping[str, tuple[Case, ...]]:
    shapes: dict[str, list[Case]] = {}
    for asked, answer in read(view)[0].items():
        shape, number = shape_of(asked)
        shapes.setdefault(shape, []).append((number, answer))
    return {shape: tuple(cases) for shape, cases in shapes.items()}


def groups(episodes: Sequence[Episode]) -> Mapping[tuple[str, str], Sequence[Episode]]:
    """Put episodes together that are of one scope and have questions of one shape, in order."""
    by_shape: dict[tuple[str, str], list[Episode]] = {}
    for episode in sorted(episodes, key=lambda episode: episode.position):
        by_shape.setdefault((episode.scope, shape_of(episode.question)[0]), []).append(episode)
    return by_shape


def rule_of(shape: str, members: Sequence[Episode]) -> tuple[str, list[Episode]]:
    """Give the rule that most episodes of one shape follow, and those that do; no text when there is none."""
    numbers = [shape_of(member.question)[1] for member in members]
    if len(members) < INDUCED_CASES_MIN or None in numbers:
        return "", []
    rule = induced(tuple((number, member.answer) for number, member in zip(numbers, members, strict=True)))
    if rule is None:
        return "", []
    answers = [rule.at(number) if isinstance(rule, Line) else rule for number in numbers if number is not None]
    return f"{shape}{BETWEEN}{rule}", [
        member for member, answer in zip(members, answers, strict=True) if answer == member.answer
    ]


@lru_cache(maxsize=4_096)
def induced(cases: tuple[Case, ...]) -> Line | str | None:
    """Give the line, or the one answer, that most of some cases have; None when too few have any."""
    needed = max(INDUCED_CASES_MIN, INDUCED_SHARE_MIN * len(cases))
    answers = Counter(answer for _, answer in cases)
    same, times = max(answers.items(), key=lambda answer_count: answer_count[1], default=("", 0))
    known = [
        (number, Fraction(answer)) for number, answer in cases if number is not None and re.fullmatch(NUMBER, answer)
    ]
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
