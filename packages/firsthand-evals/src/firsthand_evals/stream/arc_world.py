"""A made stream of tasks on grids: what comes, what is held back, and what a solver finds by itself.

    pool       36 of the 42 programs, one task of each; they come to a memory
    unseen     two tasks of each of the other six: a family and a skill that came, but not together
    variants   three of each family that came, with other parameters
    p0         what of the pool is solved without any memory (faulty-memories 4)

`problems` gives instead the shape of the paper's Figure 2: 19 tasks of the six families, each of
which is solved without memory. `narrow` gives that of Figure 11: one family, one colour.

The invariant: the same seed gives the same world, and each task in it is explained by one
program alone. It knows no memory; an episode says the task and the program that solved it,
and its answer is the digest of what is right for the held-out grids.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from firsthand.ledger.entries import Episode
from firsthand.value import value
from firsthand_evals.stream.arc_grids import NEEDS, SKILLS
from firsthand_evals.stream.arc_tasks import (
    CHOICE_NEEDS,
    COLOR,
    COMPOSE,
    FAMILIES,
    FRAME,
    LARGEST,
    MARKER,
    SHAPE,
    Explained,
    Parameters,
    Task,
    explanations,
    task,
)

UNSEEN_EACH, VARIANTS_EACH = 2, 3
PROBLEMS = 19
"""Of the paper's Figure 2."""
NARROW, NARROW_VARIANTS = 10, 10
SOLVED_BY = " solved by "
KNOWN = frozenset(
    (family, skill)
    for family, skills in {
        COLOR: ("keep", "recolor", "translate", "flip", "hollow"),
        LARGEST: ("keep", "recolor", "translate", "flip", "hollow"),
        FRAME: ("keep", "recolor", "translate", "flip", "hollow"),
        COMPOSE: ("keep", "recolor", "translate", "flip"),
        MARKER: ("keep", "recolor"),
        SHAPE: ("keep", "flip"),
    }.items()
    for skill in skills
)
"""What the search of a strong solver finds by itself: 23 of the 42 programs, of each family some."""


@value(eq=False)
class World:
    """Tasks by name, and which of them come.

    Attributes:
        pool: names, in the order they come.
        unseen, variants: names of tasks that never come.
    """

    seed: int
    tasks: dict[str, Task]
    pool: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def p0(self) -> tuple[str, ...]:
        """Give what of the pool is solved without any memory."""
        return tuple(name for name in self.pool if alone(self.tasks[name]) is not None)

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Give what happens, in order."""
        return tuple(self.episode(name, at) for at, name in enumerate(self.pool, 1))

    def episode(self, name: str, position: int) -> Episode:
        """Give a task as it was solved."""
        one = self.tasks[name]
        case = f"{name}{SOLVED_BY}{one.truth.text}"
        return Episode(f"fh:arc{self.seed}{name.replace(' ', '')}", one.truth.family, case, one.digest, position)

    def truth(self, episode: Episode) -> Explained:
        """Give what explains the task of an episode."""
        return self.tasks[task_of(episode.case)].truth


def task_of(question: str) -> str:
    """Give the name of the task that is asked for; what solved it once is no part of the question."""
    return question.partition(SOLVED_BY)[0]


@lru_cache(maxsize=16)
def world(seed: int) -> World:
    """Make a world."""
    chance = random.Random(f"arc {seed}")  # noqa: S311 - a world that can be made again
    seen: list[tuple[str, str]] = []
    tasks: dict[str, Task] = {}
    unseen: list[str] = []
    variants: list[str] = []
    for family in FAMILIES:
        held_back = chance.choice([*SKILLS])
        skills = [skill for skill in SKILLS if skill != held_back]
        seen += [(family, skill) for skill in skills]
        for number in range(UNSEEN_EACH):
            unseen.append(_add(tasks, f"unseen {len(unseen) + 1}", family, held_back, f"{seed} unseen {number}"))
        changing = [skill for skill in skills if NEEDS.get(skill)] or skills
        for number in range(VARIANTS_EACH):
            skill = changing[number % len(changing)]
            variants.append(_add(tasks, f"variant {len(variants) + 1}", family, skill, f"{seed} variant {number}"))
    chance.shuffle(seen)
    pool = [_add(tasks, f"task {at}", *both, f"{seed} pool") for at, both in enumerate(seen, 1)]
    return World(seed, tasks, tuple(pool), tuple(unseen), tuple(variants))


@lru_cache(maxsize=16)
def problems(seed: int) -> World:
    """Make the 19 problems: each solved without memory, all six families among them."""
    chance = random.Random(f"arc problems {seed}")  # noqa: S311 - a world that can be made again
    known = sorted(KNOWN)
    first = [chance.choice([one for one in known if one[0] == family]) for family in FAMILIES]
    rest = chance.sample([one for one in known if one not in first], PROBLEMS - len(first))
    chosen = chance.sample([*first, *rest], PROBLEMS)
    tasks: dict[str, Task] = {}
    pool = [_add(tasks, f"task {at}", *both, f"{seed} problem") for at, both in enumerate(chosen, 1)]
    return World(seed, tasks, tuple(pool))


@lru_cache(maxsize=16)
def narrow(seed: int) -> World:
    """Make a narrow stream: one family, the same parameters in every task; variants have others."""
    chance = random.Random(f"arc narrow {seed}")  # noqa: S311 - a world that can be made again
    family = chance.choice([*CHOICE_NEEDS])
    skills = [skill for skill in SKILLS if "fill" in NEEDS.get(skill, ())]
    same: Parameters = {"fill": chance.randint(1, 9), "color": chance.randint(1, 9), "count": 1}
    if same["fill"] == same["color"]:
        same["fill"] = same["fill"] % 9 + 1
    other = {"fill": same["fill"] % 9 + 1, "color": (same["color"] + 1) % 9 + 1, "count": 2}
    if other["fill"] == other["color"]:
        other["color"] = other["color"] % 9 + 1
    tasks: dict[str, Task] = {}
    pool = [
        _add(tasks, f"task {at + 1}", family, skills[at % len(skills)], f"{seed} narrow {at}", same)
        for at in range(NARROW)
    ]
    variants = [
        _add(tasks, f"variant {at + 1}", family, skills[at % len(skills)], f"{seed} other {at}", other)
        for at in range(NARROW_VARIANTS)
    ]
    return World(seed, tasks, tuple(pool), (), tuple(variants))


def _add(tasks: dict[str, Task], name: str, family: str, skill: str, seed: str, given: Parameters | None = None) -> str:
    tasks[name] = task(name, family, skill, seed, given=given)
    return name


# what is found without memory --------------------------------------------------------------------


@lru_cache(maxsize=4_096)
def alone(one: Task) -> Explained | None:
    """Seek a program by search over what a strong solver knows; None when none of it gives the pairs."""
    return next((it for it in explanations(one.grids["train"]) if (it.family, it.skill) in KNOWN), None)


def features(one: Task) -> tuple[bool, ...]:
    """Say what can be seen of a task by looking at its pairs: whether two are alike is a matter of these."""
    pairs: Sequence[dict[str, list[list[int]]]] = one.grids["train"]
    return (
        all(len(it["output"][0]) > len(it["input"][0]) for it in pairs),
        all(it["input"][0][0] and not it["output"][0][0] for it in pairs),
        all(_colors(it["output"]) - _colors(it["input"]) for it in pairs),
        all(_filled(it["output"]) > _filled(it["input"]) for it in pairs),
        len(set.intersection(*(_colors(it["output"]) for it in pairs))) > 0,
        all(_stays(it) for it in pairs),
    )


def _colors(grid: list[list[int]]) -> set[int]:
    return {it for row in grid for it in row} - {0}


def _filled(grid: list[list[int]]) -> int:
    return sum(it != 0 for row in grid for it in row)


def _stays(pair: dict[str, list[list[int]]]) -> bool:
    """Say whether what is drawn stands where something stood."""
    return all(
        was != 0 for old, new in zip(pair["input"], pair["output"], strict=True)
        for was, it in zip(old, new, strict=False) if it
    )  # fmt: skip
