"""Who writes entries in a stream: nobody, rules with their exceptions; models and harm are elsewhere.

A consolidator is given the raw episodes so far, and of the view what it may see: the
earlier entries are hidden from it, unless it says that it reads them. It returns what it
would write and what need not be shown any more. The invariant: the same episodes in the
same view give the same writing; only a model may write otherwise. Sources: faulty-memories
3 and 4; consolidation 3.5, 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from firsthand.ledger.entries import Entry, Episode, View, Written, current, entry, versions
from firsthand.ledger.entry_gate import SOURCES_MAX
from firsthand.value import replace, value
from firsthand_evals.stream.rules import groups, rule_of

Writes = Literal["versions", "beside", "anew"]
"""What becomes of the earlier entries without a gate: those that something new is about go, none goes, all go."""


@value
class Fault:
    """A reply that brought nothing: ``kind`` in a word or two, and what was expected and came, as a sentence."""

    kind: str
    says: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.says}"


@value
class Writing:
    """What a consolidator wrote.

    Attributes:
        entries: in the order they are to be read.
        demoted: pointers of raw episodes that need not be shown any more.
        faults: replies of a model that could not be read; nothing is taken of them. ``replies``: of how many.
    """

    entries: tuple[Written, ...] = ()
    demoted: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    replies: int = 0


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


class Plain:
    """Sees raw episodes alone, and writes new versions."""

    name = "none"
    reads_derived = False
    writes: Writes = "versions"


class NoConsolidator(Plain):
    """Writes nothing."""

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it needs none
        """Write nothing."""
        return Writing()


class RulesPlusExceptions(Plain):
    """Writes a rule for each shape of question whose answers have one, and leaves shown what the rule does not give."""

    name = "rules plus exceptions"

    def write(self, episodes: Sequence[Episode], seen: View) -> Writing:  # noqa: ARG002 - it reads raw episodes alone
        """Write rules; the cases that they give, and those that a later one took the place of, need not be shown."""
        now = current(episodes)
        written, demoted = [], [episode.pointer for episode in episodes if now[episode.question] is not episode]
        for (scope, shape), members in groups([*now.values()]).items():
            rule, holds = rule_of(shape, members)
            if rule:
                written.append(Written(rule, tuple(episode.pointer for episode in holds[-SOURCES_MAX:]), scope))
                demoted += [episode.pointer for episode in holds]
        return Writing(tuple(written), tuple(demoted))


none, rules_plus_exceptions = NoConsolidator(), RulesPlusExceptions()


def shown_to(consolidator: Consolidator, view: View, episodes: Sequence[Episode]) -> Writing:
    """Ask a consolidator, from which earlier entries are hidden unless it reads them."""
    return consolidator.write(episodes, view if consolidator.reads_derived else View((), view.raw))


def ungated(view: View, writing: Writing, episodes: Sequence[Episode], *, by: str, writes: Writes) -> View:
    """Give the view that a writing leads to where no gate is: all of it is taken."""
    known = {episode.pointer: episode for episode in episodes}
    if writes == "versions":
        new = versions(writing.entries, view.entries, episodes, by=by)
        gone = {name for each in new for name in each.parents}
    else:
        new = tuple(entry(written, known, by=by) for written in writing.entries)
        gone = {each.id for each in view.entries} if writes == "anew" else set()
    entries = [*(each for each in view.entries if each.id not in gone), *new]
    owner = {name: each.id for each in entries for name in each.sources}
    hidden = {*view.demoted, *writing.demoted} & known.keys()
    return view_of(entries, episodes, {name: owner.get(name, "") for name in hidden})


def view_of(entries: Iterable[Entry], episodes: Iterable[Episode], demoted: dict[str, str]) -> View:
    """Give the view of entries and of the raw episodes that are not demoted."""
    raw = (episode for episode in episodes if episode.pointer not in demoted)
    return View(tuple(entries), tuple(sorted(raw, key=lambda episode: episode.position)), demoted)


def with_raw(view: View, new: Iterable[Episode]) -> View:
    """Add episodes that have happened since."""
    return replace(view, raw=tuple(sorted((*view.raw, *new), key=lambda episode: episode.position)))
