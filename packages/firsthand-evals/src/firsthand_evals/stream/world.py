"""A made world for consolidation: families with a rule each, exceptions, and answers that are taken back later.

    birch level 7 => 23        the rule of the family is 3 * level + 2
    birch level 9 => 41        an exception
    birch level 7 => 60        later: it takes the place of the first

Two of the families are known without any memory; what memory does to them is harm
alone (faulty-memories 4; consolidation 5).

The invariant: the same seed gives the same world, to the byte. It knows no memory.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from firsthand import InvalidArgument
from firsthand.ledger.entries import BETWEEN, CASE, RULE, Episode
from firsthand.ledger.entry_gate import Task
from firsthand.ledger.solver import ANY, PLACE, Solver, shape_of
from firsthand.value import value

FAMILIES, KNOWN = 6, 2
EXCEPTIONS, SUPERSESSIONS = 0.15, 0.10
"""Shares of the new questions that are off the rule, and of all episodes that answer an earlier question anew."""
UNSEEN = 6
"""Questions of each family that no episode answers."""
LEVELS_MAX = 4_000
_NAMES = ("alder", "aspen", "beech", "birch", "cedar", "elm", "hazel", "larch", "maple", "oak", "rowan", "yew")


@value
class Family:
    """One rule: ``times`` the level and ``plus``; ``known`` without any memory."""

    name: str
    times: int
    plus: int
    known: bool

    def question(self, level: int) -> str:
        """Ask for a level."""
        return self.question_of(str(level))

    def question_of(self, level: str) -> str:
        """Ask for a level that is written as it is."""
        return f"{self.name} level {level}"

    def answer(self, level: int) -> str:
        """Give what the rule says."""
        return str(self.times * level + self.plus)

    @property
    def rule(self) -> str:
        """Give the rule as an entry says it."""
        return f"{self.question_of('N')} => {self.times} * N + {self.plus}"


@value
class World:
    """What happened, and what is asked of it.

    Attributes:
        episodes: in the order they happened; positions from 1.
        unseen: questions that no episode answers, with what the rule says.
    """

    seed: int
    families: tuple[Family, ...]
    episodes: tuple[Episode, ...]
    unseen: tuple[Task, ...]

    @property
    def solved_alone(self) -> tuple[Task, ...]:
        """Give the unseen questions that are known without memory: the paper's P0."""
        known = {one.name for one in self.families if one.known}
        return tuple(one for one in self.unseen if one.scope in known)

    def by_rule(self, question: str) -> str:
        """Give what the rule of its family says to a question."""
        name, _, level = question.partition(" level ")
        return next(one for one in self.families if one.name == name).answer(int(level))

    def knows(self) -> Callable[[str], str | None]:
        """Give the reader's own knowledge: the rules of the known families, for questions as they are asked here."""
        known = {one.name: one for one in self.families if one.known}

        def answer(question: str) -> str | None:
            name, between, level = question.partition(" level ")
            return known[name].answer(int(level)) if between and name in known and level.isdigit() else None

        return answer

    @property
    def own(self) -> tuple[str, ...]:
        """Give the questions that are known without memory, with N for their level."""
        return tuple(one.question_of("N") for one in self.families if one.known)

    @property
    def known_rules(self) -> str:
        """Give what is known without memory as lines, for a reader that has to be told."""
        return "\n".join(one.rule for one in self.families if one.known)

    def is_true(self, text: str) -> bool:
        """Say whether an entry's text is the rule of a family."""
        return any(text == one.rule for one in self.families)


def world(seed: int, episodes: int = 320) -> World:
    """Make a world."""
    if not 1 <= episodes <= LEVELS_MAX // 2:
        raise InvalidArgument(f"episodes of a world are 1 to {LEVELS_MAX // 2}; got {episodes}")
    chance = random.Random(seed)  # noqa: S311 - a world that can be made again
    names = chance.sample(_NAMES, FAMILIES)
    lines = chance.sample([(times, plus) for times in range(2, 10) for plus in range(1, 21)], FAMILIES)
    named = enumerate(zip(names, lines, strict=True))
    families = tuple(Family(name, *line, known=at < KNOWN) for at, (name, line) in named)
    levels = {one.name: chance.sample(range(1, LEVELS_MAX + 1), episodes + UNSEEN) for one in families}
    unseen = tuple(
        Task(one.question(level), one.answer(level), one.name)
        for one in families
        for level in levels[one.name][:UNSEEN]
    )
    left = {one.name: iter(levels[one.name][UNSEEN:]) for one in families}
    happened: list[Episode] = []
    for position in range(1, episodes + 1):
        if happened and chance.random() < SUPERSESSIONS:
            happened.append(_anew(chance, happened, position, seed))
            continue
        family = chance.choice(families)
        level = next(left[family.name])
        answer = family.answer(level)
        if chance.random() < EXCEPTIONS:
            answer = str(int(answer) + chance.randint(1, 40))
        happened.append(_episode(seed, position, family.name, family.question(level), answer))
    return World(seed, families, tuple(happened), unseen)


def _anew(chance: random.Random, happened: Sequence[Episode], position: int, seed: int) -> Episode:
    """Answer an earlier question anew, higher than any answer to it before."""
    one = chance.choice(happened)
    highest = max(int(other.answer) for other in happened if other.case == one.case)
    return _episode(seed, position, one.scope, one.case, str(highest + chance.randint(41, 99)))


def _episode(seed: int, position: int, family: str, question: str, answer: str) -> Episode:
    return Episode(f"fh:world{seed}episode{position}", family, question, answer, position)


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
