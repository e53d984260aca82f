"""Who writes entries: nobody (default), rules with their exceptions; a model does so in `by_model`.

A consolidator is given the raw episodes so far, and of the view what it may see: the
earlier entries are hidden from it, unless it says that it reads them (then the gate
takes nothing from it). It returns what it would write and what need not be shown any
more; it changes nothing.

The invariant: the same episodes in the same view give the same proposal; only a model
may answer otherwise. It does not know whether what it wrote is taken: that is `gate`.
Sources: faulty-memories 3 and 4; consolidation 3.5, 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from firsthand.event import Trust
from firsthand.ledger.entries import (
    BETWEEN,
    SOURCES_MAX,
    Episode,
    Fault,
    Proposal,
    View,
    Writes,
    Written,
    current,
    settled,
)
from firsthand.ledger.solver import INDUCED_CASES_MIN, Line, induced, shape_of
from firsthand.value import replace, value

EPISODES_OF_ORIGIN_MAX = 32
"""Episodes of one origin, other than a trusted one, that a consolidator is given of one scope: the newest ones."""
ENTRIES_MAX = 200
"""Entries that one proposal may bring."""


@value
class Writing:
    """What a consolidator wrote.

    Attributes:
        entries: in the order they are to be read.
        demoted: pointers of raw episodes that need not be shown any more.
        faults: replies of a model that could not be read; nothing is taken of them.
    """

    entries: tuple[Written, ...] = ()
    demoted: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Consolidator(Protocol):
    """Writes entries of raw episodes."""

    @property
    def name(self) -> str:
        """What an entry names as its maker."""
        ...

    @property
    def reads_derived(self) -> bool:
        """Whether it is shown the earlier entries."""
        ...

    @property
    def writes(self) -> Writes:
        """What becomes of the earlier entries."""
        ...

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:
        """Write of all raw episodes so far, in order; ``seen`` is what is shown now, as far as it may be seen."""
        ...


def propose(consolidator: Consolidator, view: View, episodes: Sequence[Episode]) -> Proposal:
    """Ask a consolidator, and make a proposal of what it wrote.

    Args:
        view: what is shown now.
        episodes: all raw ones so far, in order of position. Firsthand's own output is taken out, and of an origin that
            is not trusted no more than a number is given of one scope.
    """
    sample = within_quota([episode for episode in episodes if not episode.ours])
    shows = consolidator.reads_derived
    writing = consolidator.write(sample, view if shows else View((), view.raw))
    saw = tuple(entry.id for entry in view.entries) if shows else ()
    if len(writing.entries) > ENTRIES_MAX:
        too_many = f"a proposal brings at most {ENTRIES_MAX} entries; {consolidator.name} wrote {len(writing.entries)}"
        return Proposal((), consolidator.name, saw, (*writing.faults, Fault("too many", too_many)))
    known = {episode.pointer: episode for episode in episodes}
    entries = [_untainted(entry, known) for entry in writing.entries]
    made = settled(entries, writing.demoted, view, episodes, by=consolidator.name, saw=saw, writes=consolidator.writes)
    return replace(made, faults=writing.faults)


def _untainted(writing: Written, known: Mapping[str, Episode]) -> Written:
    """Name the sources that are evidence alone where they are enough: one untrusted case more taints no rule."""
    sources = tuple(name for name in writing.sources if name not in known or known[name].counts)
    return replace(writing, sources=sources) if len(sources) >= INDUCED_CASES_MIN else writing


def within_quota(episodes: Sequence[Episode]) -> list[Episode]:
    """Keep of each scope and each origin that is not trusted the newest ones, so that none wins by number."""
    left: dict[tuple[str, str], int] = {}
    chosen = []
    for episode in reversed(episodes):
        if episode.trust is not Trust.TRUSTED:
            of = episode.scope, episode.origin
            left[of] = left.get(of, EPISODES_OF_ORIGIN_MAX) - 1
            if left[of] < 0:
                continue
        chosen.append(episode)
    return chosen[::-1]


class Plain:
    """Sees raw episodes alone, and writes new versions."""

    name = "none"
    reads_derived = False
    writes: Writes = "versions"


class NoConsolidator(Plain):
    """Writes nothing: the default."""

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it needs none
        """Write nothing."""
        return Writing()


none = NoConsolidator()


class RulesPlusExceptions(Plain):
    """Writes a rule for each shape of question whose answers have one, and leaves shown what the rule does not give."""

    name = "rules plus exceptions"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write rules; the cases that they give, and those that a later one took the place of, need not be shown."""
        now = current(episodes)
        written, demoted = [], [episode.pointer for episode in episodes if now[episode.question] is not episode]
        for (scope, shape), members in groups([*now.values()]).items():
            counting = [member for member in members if member.counts]
            rule, holds = rule_of(shape, counting if len(counting) >= INDUCED_CASES_MIN else members)
            if rule:
                written.append(Written(rule, tuple(episode.pointer for episode in holds[-SOURCES_MAX:]), scope))
                demoted += [episode.pointer for episode in holds]
        return Writing(tuple(written), tuple(demoted))


rules_plus_exceptions = RulesPlusExceptions()


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
