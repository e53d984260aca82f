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
    given = within_quota([one for one in episodes if not one.ours])
    shows = consolidator.reads_derived
    writing = consolidator.write(given, view if shows else View((), view.raw))
    saw = tuple(one.id for one in view.entries) if shows else ()
    if len(writing.entries) > ENTRIES_MAX:
        too_many = f"a proposal brings at most {ENTRIES_MAX} entries; {consolidator.name} wrote {len(writing.entries)}"
        return Proposal((), consolidator.name, saw, (*writing.faults, Fault("too many", too_many)))
    known = {one.pointer: one for one in episodes}
    entries = [_untainted(one, known) for one in writing.entries]
    made = settled(entries, writing.demoted, view, episodes, by=consolidator.name, saw=saw, writes=consolidator.writes)
    return replace(made, faults=writing.faults)


def _untainted(one: Written, known: Mapping[str, Episode]) -> Written:
    """Name the sources that are evidence alone where they are enough: one untrusted case more taints no rule."""
    sources = tuple(name for name in one.sources if name not in known or known[name].counts)
    return replace(one, sources=sources) if len(sources) >= INDUCED_CASES_MIN else one


def within_quota(episodes: Sequence[Episode]) -> list[Episode]:
    """Keep of each scope and each origin that is not trusted the newest ones, so that none wins by number."""
    left: dict[tuple[str, str], int] = {}
    kept = []
    for one in reversed(episodes):
        if one.trust is not Trust.TRUSTED:
            of = one.scope, one.origin
            left[of] = left.get(of, EPISODES_OF_ORIGIN_MAX) - 1
            if left[of] < 0:
                continue
        kept.append(one)
    return kept[::-1]


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
        written, demoted = [], [one.pointer for one in episodes if now[one.question] is not one]
        for (scope, shape), told in groups([*now.values()]).items():
            said = [one for one in told if one.counts]
            rule, holds = rule_of(shape, said if len(said) >= INDUCED_CASES_MIN else told)
            if rule:
                written.append(Written(rule, tuple(one.pointer for one in holds[-SOURCES_MAX:]), scope))
                demoted += [one.pointer for one in holds]
        return Writing(tuple(written), tuple(demoted))


rules_plus_exceptions = RulesPlusExceptions()


def groups(episodes: Sequence[Episode]) -> Mapping[tuple[str, str], Sequence[Episode]]:
    """Put episodes together that are of one scope and have questions of one shape, in order."""
    found: dict[tuple[str, str], list[Episode]] = {}
    for one in sorted(episodes, key=lambda one: one.position):
        found.setdefault((one.scope, shape_of(one.question)[0]), []).append(one)
    return found


def rule_of(shape: str, members: Sequence[Episode]) -> tuple[str, list[Episode]]:
    """Give the rule that most episodes of one shape follow, and those that do; no text when there is none."""
    numbers = [shape_of(one.question)[1] for one in members]
    if len(members) < INDUCED_CASES_MIN or None in numbers:
        return "", []
    found = induced(tuple((number, one.answer) for number, one in zip(numbers, members, strict=True)))
    if found is None:
        return "", []
    given = [found.at(number) if isinstance(found, Line) else found for number in numbers if number is not None]
    return f"{shape}{BETWEEN}{found}", [one for one, answer in zip(members, given, strict=True) if answer == one.answer]
