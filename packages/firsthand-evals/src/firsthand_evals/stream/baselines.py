"""Consolidators that are known to do harm, scripted, to measure against and to try the gate with (consolidation 3.5).

    MergeAll            one entry for every family
    DropOldest          the newest episodes, and nothing of the others
    Telephone           every line told on, each with a chance to lose its answer
    FullRewrite         the whole memory written again from what it says, as a cheatsheet is
    AppendOnly          a rule a batch, and what was written before stands beside it
    RulesOnly           rules without the cases that they do not give
    OverScoped          rules that say more than the cases they are made of
    Misgrouped          rules of cases, some of which were put into the wrong family
    LatestPerKey        nothing written; what a later answer took the place of is not shown

The invariant: each loses what its name says and nothing else, and the same seed loses
the same. None of them is offered to users: the loss is chosen by us, so they show what
the gate and the harness do, and nothing about any model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fractions import Fraction

from firsthand import InvalidArgument
from firsthand.ledger.entries import BETWEEN, Entry, Episode, View, Written, current
from firsthand.ledger.entry_gate import SOURCES_MAX
from firsthand.ledger.solver import ANY, NUMBER, PLACE, line_of, shape_of
from firsthand.value import replace
from firsthand_evals.stream.consolidators import RulesPlusExceptions, Writes, Writing
from firsthand_evals.stream.rules import agreeing, best_line, groups, rule_of

LOST = "some value"
"""What stands where an answer was, once it is lost."""
TOLD_SOURCES_MAX = 300
"""Sources that an entry over all families names: the newest ones."""


class MergeAll:
    """Writes one rule for all questions, whatever family they are of."""

    name = "merge all"
    reads_derived = False
    writes: Writes = "anew"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write the line that most cases of all families lie on, as the answer to any question with a number."""
        now = [*current(episodes).values()]
        points = [point for episode in now if (point := _point(episode)) is not None]
        line = best_line(points)
        if line is None:
            return Writing()
        sources = tuple(episode.pointer for episode in now[-TOLD_SOURCES_MAX:])
        return Writing((Written(f"{ANY} {PLACE}{BETWEEN}{line}", sources, ANY),), _all(episodes))


class DropOldest:
    """Shows the newest episodes alone."""

    reads_derived = False
    writes: Writes = "versions"

    def __init__(self, episodes_max: int = 50) -> None:
        self.name, self.episodes_max = f"drop oldest ({episodes_max})", episodes_max

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it counts alone
        """Write nothing; the older ones are not shown."""
        return Writing((), _all(episodes[: max(0, len(episodes) - self.episodes_max)]))


class LatestPerKey:
    """Shows of each question the latest answer."""

    name = "latest per key"
    reads_derived = False
    writes: Writes = "versions"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write nothing; what a later answer took the place of is not shown."""
        now = current(episodes)
        return Writing((), tuple(episode.pointer for episode in episodes if now[episode.question] is not episode))


class Telephone:
    """Tells every line on; at each telling each one loses its answer with a probability."""

    reads_derived = True
    writes: Writes = "anew"

    def __init__(self, loss: float = 0.02, seed: int = 0) -> None:
        """Make one; it counts its tellings.

        Args:
            loss: probability, from 0 to 1, that a line loses its answer at one telling; n tellings leave (1 - loss)^n.
        """
        if not 0 <= loss <= 1:
            raise InvalidArgument(f"a probability is from 0 to 1; got {loss!r}")
        self.name, self.loss = f"telephone ({loss:g})", loss
        self._chance = random.Random(seed)  # noqa: S311 - a loss that can be had again, and no secret

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write what is shown once more, line by line."""
        writings = [Written(entry.text, entry.sources, entry.scope) for entry in seen.entries]
        writings += [
            Written(f"{episode.case}{BETWEEN}{episode.answer}", (episode.pointer,), episode.scope)
            for episode in seen.raw
        ]
        return Writing(tuple(self._told_on(writing) for writing in writings), _all(episodes))

    def _told_on(self, writing: Written) -> Written:
        if self._chance.random() >= self.loss:
            return writing
        return replace(writing, text=f"{writing.text.rpartition(BETWEEN)[0]}{BETWEEN}{LOST}")


class FullRewrite:
    """Writes its whole memory again, from what it says and from what is new, within a number of lines."""

    reads_derived = True
    writes: Writes = "anew"

    def __init__(self, lines_max: int = 12) -> None:
        self.name, self.lines_max = f"full rewrite ({lines_max})", lines_max

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Keep a rule while half of the new cases follow it; else draw a line through the last two of them."""
        old = {_shape(entry.text): entry for entry in seen.entries}
        writings: dict[str, Written] = {}
        for (scope, shape), members in groups(seen.raw).items():
            writings[shape] = self._rewritten(old.pop(shape, None), scope, shape, members)
        kept_writings = [*old.values()]
        lines = [
            *(Written(writing.text, writing.sources, writing.scope) for writing in kept_writings),
            *writings.values(),
        ]
        return Writing(tuple(lines[-self.lines_max :]), _all(episodes))

    def _rewritten(self, before: Entry | None, scope: str, shape: str, members: Sequence[Episode]) -> Written:
        points = [point for member in members if (point := _point(member)) is not None]
        text, earlier = (before.text, before.sources) if before else ("", ())
        line = line_of(text.rpartition(BETWEEN)[2]) if text else None
        sources = (*earlier, *(member.pointer for member in members))[-SOURCES_MAX:]
        if line is not None and 2 * agreeing(line, points) >= len(points):
            return Written(text, sources, scope)
        drawn = best_line(points[-2:])
        if drawn is not None:
            return Written(f"{shape}{BETWEEN}{drawn}", sources, scope)
        return Written(f"{members[-1].case}{BETWEEN}{members[-1].answer}", sources, scope)


class AppendOnly:
    """Writes the rules of what is new, and leaves all that was written before beside them."""

    name = "append only"
    reads_derived = False
    writes: Writes = "beside"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write a rule for each shape of question among what is shown; nothing of that is shown any more."""
        written = []
        for (scope, shape), members in groups(seen.raw).items():
            rule, holds = rule_of(shape, members)
            text = rule or f"{members[-1].case}{BETWEEN}{members[-1].answer}"
            sources = tuple(episode.pointer for episode in holds or members[-1:])
            written.append(Written(text, sources, scope))
        return Writing(tuple(written), _all(episodes))


class RulesOnly(RulesPlusExceptions):
    """Writes rules, and shows nothing else."""

    name = "rules only"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write the rules; the cases that they do not give are lost."""
        return replace(super().write(episodes, seen), demoted=_all(episodes))


class OverScoped(RulesPlusExceptions):
    """Writes the rules of one family as if they held for every family."""

    name = "over-scoped rules"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write rules whose first word stands for any."""
        writing = super().write(episodes, seen)
        wide = [replace(entry, text=f"{ANY} {entry.text.partition(' ')[2]}") for entry in writing.entries]
        return replace(writing, entries=tuple(wide))


class Misgrouped(RulesPlusExceptions):
    """Puts some cases into the wrong family before it writes rules, and shows nothing else."""

    def __init__(self, share: float = 0.2, seed: int = 0) -> None:
        """Make one.

        Args:
            share: of the cases, from 0 to 1, that are taken for those of another family.
        """
        if not 0 <= share <= 1:
            raise InvalidArgument(f"a share is from 0 to 1; got {share!r}")
        self.name, self.share, self.seed = f"misgrouped ({share:g})", share, seed

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write rules of cases, some of which are of another family."""
        shapes = sorted({shape_of(episode.question)[0] for episode in episodes})
        moved = [self._moved(episode, shapes) for episode in episodes]
        return replace(super().write(moved, seen), demoted=_all(episodes))

    def _moved(self, episode: Episode, shapes: Sequence[str]) -> Episode:
        chance = random.Random(f"{self.seed} {episode.pointer}")  # noqa: S311 - the same case goes wrong each time
        shape, number = shape_of(episode.question)
        others = [other for other in shapes if other != shape and PLACE in other]
        if number is None or not others or chance.random() >= self.share:
            return episode
        return replace(episode, case=chance.choice(others).replace(PLACE, str(number)))


def _all(episodes: Sequence[Episode]) -> tuple[str, ...]:
    return tuple(episode.pointer for episode in episodes)


def _shape(text: str) -> str:
    """Give the shape of what a line is about, be it a rule or a case."""
    asked = text.rpartition(BETWEEN)[0]
    return asked if PLACE in asked.split() else shape_of(" ".join(asked.casefold().split()))[0]


def _point(episode: Episode) -> tuple[Fraction, Fraction] | None:
    number = shape_of(episode.question)[1]
    if number is None or not re.fullmatch(NUMBER, episode.answer):
        return None
    return number, Fraction(episode.answer)
