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
from collections.abc import Callable, Sequence

from firsthand import InvalidArgument
from firsthand.ledger.entries import Episode
from firsthand.ledger.entry_gate import Task
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
    """Make a world.

    Raises:
        InvalidArgument: there are no episodes, or more than there are levels.
    """
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
