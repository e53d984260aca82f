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
from itertools import zip_longest

from firsthand import InvalidArgument
from firsthand.ledger.entries import BETWEEN, CASE, RULE, Episode
from firsthand.ledger.entry_gate import Task
from firsthand.ledger.solver import ANY, PLACE, Solver, shape_of
from firsthand.value import replace, value

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
        return self.question_of(str(level))

    def question_of(self, level: str) -> str:
        """Ask for a level that is written as it is."""
        return f"{self.name} level {level}"

    def answer(self, level: int) -> str:
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

    def by_rule(self, question: str) -> str:
        """Give what the rule of its family says to a question."""
        name, _, level = question.partition(" level ")
        return next(family for family in self.families if family.name == name).answer(int(level))

    def gives(self, question: str, answer: str) -> bool:
        """Say whether the rule of any family of this world gives an answer to a question."""
        name, _, level = question.partition(" level ")
        return any(family.name == name and family.answer(int(level)) == answer for family in self.families)

    def knows(self) -> Callable[[str], str | None]:
        """Give the reader's own knowledge: the rules of the known families, for questions as they are asked here."""
        known = {family.name: family for family in self.families if family.known}

        def answer(question: str) -> str | None:
            name, between, level = question.partition(" level ")
            return known[name].answer(int(level)) if between and name in known and level.isdigit() else None

        return answer

    @property
    def own(self) -> tuple[str, ...]:
        """Give the questions that are known without memory, with N for their level."""
        return tuple(family.question_of("N") for family in self.families if family.known)

    @property
    def known_rules(self) -> str:
        """Give what is known without memory as lines, for a reader that has to be told."""
        return "\n".join(family.rule for family in self.families if family.known)

    def is_true(self, text: str) -> bool:
        """Say whether an entry's text is the rule of a family."""
        return any(text == family.rule for family in self.families)


def world(seed: int, episodes: int = 320) -> World:
    """Make a world."""
    if not 1 <= episodes <= LEVELS_MAX // 2:
        raise InvalidArgument(f"episodes of a world are 1 to {LEVELS_MAX // 2}; got {episodes}")
    chance = random.Random(seed)  # noqa: S311 - a world that can be made again
    names = chance.sample(_NAMES, FAMILIES)
    lines = chance.sample([(times, plus) for times in range(2, 10) for plus in range(1, 21)], FAMILIES)
    named = enumerate(zip(names, lines, strict=True))
    families = tuple(Family(name, *line, known=at < KNOWN) for at, (name, line) in named)
    levels = {family.name: chance.sample(range(1, LEVELS_MAX + 1), episodes + UNSEEN) for family in families}
    unseen = tuple(
        Task(family.question(level), family.answer(level), family.name)
        for family in families
        for level in levels[family.name][:UNSEEN]
    )
    left = {family.name: iter(levels[family.name][UNSEEN:]) for family in families}
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
    episode = chance.choice(happened)
    highest = max(int(other.answer) for other in happened if other.case == episode.case)
    return _episode(seed, position, episode.scope, episode.case, str(highest + chance.randint(41, 99)))


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
    return {_meant(shape): shape for shape in sorted(shapes) if PLACE in shape.split()}


def _meant(shape: str) -> Meant:
    return frozenset(_WORDS.findall(shape.casefold())) - _SMALL


BATCH = 8
EVERY = 8
ROUNDS = 3
PASSES, MANY_PASSES = 10, 50
"""Over the same updates, as often as the paper passes over them (faulty-memories, Figure 2)."""


@value
class Update:
    """One step: what comes, whether the consolidator is asked after it, and what it is shown once more."""

    new: tuple[Episode, ...]
    consolidates: bool = True
    again: tuple[Episode, ...] = ()


def schedule(name: str, world: World) -> tuple[Update, ...]:
    """Give the updates of a world by a schedule."""
    if name not in SCHEDULES:
        raise InvalidArgument(f"there is no schedule {name!r}; these are: {', '.join(SCHEDULES)}")
    return SCHEDULES[name](world)


def _stream(world: World) -> tuple[Update, ...]:
    return _in_batches(world.episodes, BATCH)


def _shuffled(world: World) -> tuple[Update, ...]:
    ordered = [*world.episodes]
    random.Random(f"order {world.seed}").shuffle(ordered)  # noqa: S311 - an order that can be had again
    return _in_batches(ordered, BATCH)


def _interleaved(world: World) -> tuple[Update, ...]:
    turns = zip_longest(*_families(world))
    return _in_batches([one for turn in turns for one in turn if one is not None], BATCH)


def _every(world: World) -> tuple[Update, ...]:
    updates = _in_batches(world.episodes, BATCH)
    last = len(updates)
    return tuple(
        replace(update, consolidates=number % EVERY == 0 or number == last) for number, update in enumerate(updates, 1)
    )


def _static_group(world: World) -> tuple[Update, ...]:
    ordered = _placed(member for members in _families(world) for member in members)
    return tuple(
        Update(tuple(episode for episode in ordered if episode.scope == family.name))
        for family in world.families
        if any(episode.scope == family.name for episode in ordered)
    )


def _rounds(world: World) -> tuple[Update, ...]:
    updates = _in_batches(world.episodes, BATCH)
    return (*updates, *(Update(()) for _ in range((ROUNDS - 1) * len(updates))))


def _again(first: Callable[[World], tuple[Update, ...]], passes: int) -> Callable[[World], tuple[Update, ...]]:
    """Pass over the updates of a schedule so many times."""

    def of(world: World) -> tuple[Update, ...]:
        updates = first(world)
        return (*updates, *(Update((), again=update.new) for _ in range(passes - 1) for update in updates))

    return of


def _families(world: World) -> list[list[Episode]]:
    return [[episode for episode in world.episodes if episode.scope == family.name] for family in world.families]


def _in_batches(episodes: Sequence[Episode], size: int) -> tuple[Update, ...]:
    ordered = _placed(episodes)
    return tuple(Update(tuple(ordered[at : at + size])) for at in range(0, len(ordered), size))


def _placed(episodes: Iterable[Episode]) -> list[Episode]:
    """Give episodes the positions of the order that they come in."""
    return [replace(episode, position=number) for number, episode in enumerate(episodes, 1)]


def _static_all(world: World) -> tuple[Update, ...]:
    return _in_batches(world.episodes, len(world.episodes))


SCHEDULES: Mapping[str, Callable[[World], tuple[Update, ...]]] = {
    "stream": _stream, "batch-1": lambda world: _in_batches(world.episodes, 1), "shuffled": _shuffled,
    "blocked": lambda world: _in_batches([episode for members in _families(world) for episode in members], BATCH),
    "interleaved": _interleaved, "every-8": _every, "static-all": _static_all, "static-group": _static_group,
    "rounds-3": _rounds, "stream-10": _again(_stream, PASSES), "static-10": _again(_static_all, PASSES),
    "stream-50": _again(_stream, MANY_PASSES), "static-50": _again(_static_all, MANY_PASSES),
}  # fmt: skip
