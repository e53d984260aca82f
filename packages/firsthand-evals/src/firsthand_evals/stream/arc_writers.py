"""Who writes strategies of solved tasks: rules of a family, and what is known to do harm, by script.

    rules             one program a family that takes the skill as a parameter, of three tasks or more
    strategy buffer   the whole buffer is written again at each step: like is merged with like, and what is
                      merged loses what the two do not share (faulty-memories, the strategy buffer)
    append only       the strategies of each batch beside all earlier ones
    merge all         one strategy for everything
    over-scoped       strategies by what is done, without which things it is done with
    misgrouped        a share of the tasks is taken for one of another family
    phantom           for each family the rule of another one

The losses of the buffer are ours: how often unlike strategies are taken for like, and how
often one that is written again loses its condition, are numbers below. They show what a
harness and a gate can see, and nothing about any model. The invariant: what is written is
a function of the episodes and the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from firsthand.ledger.consolidators import Writing
from firsthand.ledger.entries import Entry, Episode, View, Writes, Written
from firsthand.value import replace, value
from firsthand_evals.stream.arc_tasks import ALL, ANY, Program
from firsthand_evals.stream.arc_world import World

RULE_CASES_MIN = 3
MISTAKEN, DRAWN, ERODED = 0.01, 0.3, 0.01
"""Chances in the buffer, when a strategy is written again of fewer tasks in view than a rule is made of: that another
one, which is for other things, is taken for it; the same for one that says no more what it is for; and that it loses
its condition. Of three tasks or more in view a strategy is written without loss."""
SOURCES_KEPT_MAX = 200


@value
class Strategy:
    """A strategy and the pointers of the tasks that it was made of."""

    program: Program
    sources: tuple[str, ...]

    @property
    def written(self) -> Written:
        """Write it as an entry."""
        about = f"{self.program.choice}, {self.program.skill}"
        scope = "" if self.program.choice == ALL else self.program.choice
        return Written(f"{about}: {self.program.text()}", self.sources, scope)


class Rules:
    """Writes a rule for each family of which it has seen enough, and leaves the rest as it is."""

    name = "rules"
    reads_derived = False
    writes: Writes = "versions"

    def __init__(self, world: World) -> None:
        self.world = world

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write a program a family; its tasks need not be shown any more."""
        made = [
            merged([strategy(self.world, one, fixed=False) for one in members])
            for members in self._groups(episodes).values() if len(members) >= RULE_CASES_MIN
        ]  # fmt: skip
        return Writing(tuple(one.written for one in made), tuple(name for one in made for name in one.sources))

    def _groups(self, episodes: Sequence[Episode]) -> Mapping[str, Sequence[Episode]]:
        return grouped((one.scope, one) for one in episodes)


class OverScoped(Rules):
    """Writes rules by what is done, whichever things it is done with."""

    name = "over-scoped rules"

    def _groups(self, episodes: Sequence[Episode]) -> Mapping[str, Sequence[Episode]]:
        return grouped((self.world.truth(one).skill, one) for one in episodes)


class Misgrouped(Rules):
    """Takes a share of the tasks for those of another family before it writes rules, and shows nothing else."""

    name = "misgrouped rules"

    def __init__(self, world: World, share: float) -> None:
        super().__init__(world)
        self.share = share

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write rules, some of families that are none."""
        return replace(super().write(episodes, seen), demoted=tuple(one.pointer for one in episodes))

    def _groups(self, episodes: Sequence[Episode]) -> Mapping[str, Sequence[Episode]]:
        families = sorted({one.scope for one in episodes})
        return grouped((self._taken_for(one, families), one) for one in episodes)

    def _taken_for(self, one: Episode, families: Sequence[str]) -> str:
        chance = random.Random(f"{self.world.seed} {one.pointer}")  # noqa: S311 - the same task goes wrong each time
        others = [family for family in families if family != one.scope]
        return chance.choice(others) if others and chance.random() < self.share else one.scope


class Phantom(Rules):
    """Writes for each family a rule that is another one's: what is learned from a program that never worked."""

    name = "phantom rules"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write the rules under each other's sources."""
        writing = super().write(episodes, seen)
        texts = [one.text for one in writing.entries]
        moved = [replace(one, text=text) for one, text in zip(writing.entries, texts[1:] + texts[:1], strict=True)]
        return replace(writing, entries=tuple(moved if len(texts) > 1 else ()))


class MergeAll(Rules):
    """Writes one strategy for everything that ever happened."""

    name = "merge all"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write what all have in common."""
        one = merged([strategy(self.world, it, fixed=False) for it in episodes])
        of = ", ".join(sorted({it.scope for it in episodes}))
        return Writing((Written(f"{of}: {one.program.text()}", one.sources),), tuple(it.pointer for it in episodes))


class AppendOnly(Rules):
    """Writes the strategies of what is new beside all earlier ones."""

    name = "append only"
    writes: Writes = "beside"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write a strategy for each family of a batch."""
        groups = grouped((one.scope, one) for one in seen.raw)
        made = [merged([strategy(self.world, one, fixed=False) for one in members]) for members in groups.values()]
        return Writing(tuple(one.written for one in made), tuple(one.pointer for one in episodes))


class Buffer:
    """Writes its whole buffer again at each step: keeps, merges, and forgets what was merged."""

    name = "strategy buffer"
    reads_derived = True
    writes: Writes = "anew"

    def __init__(self, world: World, *, fixed: bool = False) -> None:
        """Make one.

        Args:
            fixed: whether numbers that all tasks of a strategy share stand in it as numbers.
        """
        self.world, self._fixed = world, fixed
        self._chance = random.Random(f"buffer {world.seed}")  # noqa: S311 - a loss that can be had again
        self._known: dict[str, Program] = {}

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Merge a batch into the buffer: what is for the same things becomes one, and sometimes what is not."""
        held = [self._read(one) for one in seen.entries]
        for members in grouped((one.scope, one) for one in seen.raw).values():
            new = merged([strategy(self.world, one, fixed=self._fixed) for one in members])
            same = [one for one in held if one.program.choice == new.program.choice]
            held = [one for one in held if one not in same]
            changed = merged([*same, new])
            held.append(changed if len(members) >= RULE_CASES_MIN else self._mistaken(changed, held))
        self._known |= {one.written.text: one.program for one in held}
        return Writing(tuple(one.written for one in held), tuple(one.pointer for one in episodes))

    def _mistaken(self, one: Strategy, others: list[Strategy]) -> Strategy:
        """Write a strategy again with few of its tasks in view; ``others`` lose those that are taken for it."""
        vague = one.program.choice == ALL
        alike = [
            it for it in others
            if self._chance.random() < (DRAWN if vague or it.program.choice == ALL else MISTAKEN)
        ]  # fmt: skip
        for it in alike:
            others.remove(it)
        written = merged([*alike, one])
        lost = self._chance.random() < ERODED
        return replace(written, program=replace(written.program, choice=ALL)) if lost else written

    def _read(self, one: Entry) -> Strategy:
        return Strategy(self._known[one.text], one.sources)


def strategy(world: World, episode: Episode, *, fixed: bool) -> Strategy:
    """Give the strategy of one solved task."""
    truth = world.truth(episode)
    return Strategy(Program(truth.family, truth.skill, truth.parameters if fixed else ()), (episode.pointer,))


def merged(of: Sequence[Strategy]) -> Strategy:
    """Make one strategy of several: what they share.

    Of one family with several skills the skill becomes a parameter; of several families nothing says any more which
    things it is about, and of the skill nothing is left where they differ in it too.
    """
    programs = [one.program for one in of]
    choices, skills = {one.choice for one in programs}, {one.skill for one in programs}
    choice = choices.pop() if len(choices) == 1 else ALL
    skill = skills.pop() if len(skills) == 1 else ANY if choice != ALL else "keep"
    held = dict(programs[0].fixed)
    for one in programs[1:]:
        held = {name: number for name, number in held.items() if dict(one.fixed).get(name) == number}
    sources = tuple(dict.fromkeys(name for one in of for name in one.sources))[-SOURCES_KEPT_MAX:]
    needed = Program(choice, skill)
    kept = tuple((name, number) for name, number in held.items() if f", {name}" in needed.text().partition(")")[0])
    return Strategy(replace(needed, fixed=kept), sources)


def grouped(of: Iterable[tuple[str, Episode]]) -> Mapping[str, Sequence[Episode]]:
    """Put episodes of one word together, in the order the words first came."""
    found: dict[str, list[Episode]] = {}
    for word, one in of:
        found.setdefault(word, []).append(one)
    return found
