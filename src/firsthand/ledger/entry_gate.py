"""The gate of consolidation: entries are tried on the raw episodes before any of them is taken (consolidation 3.7).

    form            one line, within its size, of sources that are there and say what they said, all of one family
    evidence        at least three different cases; repeats count once
    exact tokens    every number, path, id and quoted string of it stands in a source
    source replay   asked the questions of its sources, a solver answers from the entry alone as they did
    quarantine      it is none that was taken out
    scope replay    so it does for all episodes of their family that it speaks to, and it leaves other families alone
    no regression   what was solved before, with or without memory, is still solved, beside what was taken before it
    together        ... and in the memory that comes of all of them

The invariant: after `check`, each question that a raw episode answers, and that is no
longer shown, is answered rightly by the view that is given; nothing raw is gone; each
entry in it gives its own sources. What is refused has its reason. An answer that a later
one took the place of is asked for no more, so its loss is no regression.

It knows no log and no model; the solver that it is given may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, zip_longest
from typing import TypeVar

from firsthand.errors import InvalidArgument
from firsthand.event import to_bytes
from firsthand.ledger.entries import BETWEEN, Entry, Episode, View, basis_of, current, with_sources
from firsthand.ledger.solver import NUMBER, Solver, line_of
from firsthand.notes.writer import folded
from firsthand.printable import shown
from firsthand.value import asdict, replace, value

ENTRIES_MAX, SOURCES_MAX = 200, 2_000
"""Of one proposal, and of one entry."""
TEXT_CHARACTERS_MAX, SCOPE_CHARACTERS_MAX = 400, 200
CASES_MIN = 3
"""Different cases that an entry must give right."""
FOREIGN_MAX, SCOPE_MAX, CANARIES_MAX = 64, 200, 300
"""Episodes of other families that an entry is tried on; of its own, the newest; questions that are asked again."""
ROUNDS_MAX = 8
"""Replays of the final memory; when it is not at rest by then, all that is not shown is shown again."""
SAME_WORDS_MIN = 0.65
"""Share of words, with the same numbers, from which two cases are one said twice."""
_QUOTES = '`"\u201c\u201d'
_EXACT = re.compile(
    r"`[^`]+`|\"[^\"]+\"|\u201c[^\u201d]+\u201d|https?://\S+|(?:[\w.~-]*/)+[\w.-]+"
    r"|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{3,}|\d+(?:[.,]\d+)*"
)


@value
class GateSettings:
    """How the gate decides.

    Attributes:
        theta: share, from 0 to 1, of its sources that an entry must give right, and of all episodes of their family
            that it speaks to.
        scope: whether it is tried on episodes that are not its sources; without it, over-scoped rules come in.
    """

    theta: float = 0.6
    scope: bool = True


@value
class Check:
    """One check of one entry: ``right`` of ``tried`` cases, and why it failed; empty when it passed."""

    name: str
    fault: str = ""
    right: int = 0
    tried: int = 0


@value
class Judged:
    """What the gate says of one entry.

    Attributes:
        entry: with the sources that it gives right, when it is taken; as it was proposed when it is not.
        proposed: the id that it was proposed under.
        checks: up to the first that failed.
    """

    entry: Entry
    proposed: str
    checks: tuple[Check, ...]

    @property
    def reason(self) -> str:
        """Name the check that refused it; empty when it was taken."""
        return self.checks[-1].name if self.checks[-1].fault else ""

    @property
    def accepted(self) -> bool:
        """True when no check failed."""
        return not self.reason


@value
class GateReport:
    """What the gate says of a proposal.

    Attributes:
        view: the memory after it.
        fallen: ids of entries that stood and fail now.
        canaries: questions that were solved before, and were asked again; ``lost`` of them are solved no more. A
            check of n that all hold leaves up to 3 in n lost unseen, with 95 % confidence.
        hash: over episodes, solver, settings and all checks; each entry that was let in carries it.
    """

    view: View
    judged: tuple[Judged, ...] = ()
    fallen: tuple[str, ...] = ()
    canaries: int = 0
    lost: int = 0
    hash: str = ""


@value
class Task:
    """A question with its right answer, held to be solved still."""

    question: str
    answer: str
    scope: str = ""


def check(
    proposed: Sequence[Entry], standing: Sequence[Entry], episodes: Iterable[Episode], solver: Solver, *,
    settings: GateSettings | None = None, tasks: Iterable[Task] = (), barred: Collection[str] = (),
) -> GateReport:  # fmt: skip
    """Try entries, and give the memory that they lead to.

    Args:
        standing: the entries there are; episodes: all raw ones so far.
        tasks: what else is held to be solved still, if it is solved now.
        barred: ids and texts of entries that the user took out: they do not come in again by themselves.

    Raises:
        InvalidArgument: theta is no share, or there are more entries than one proposal may bring.
    """
    settings = settings or GateSettings()
    if not 0 <= settings.theta <= 1:
        raise InvalidArgument(f"theta is a share from 0 to 1; got {settings.theta!r}")
    if len(proposed) > ENTRIES_MAX:
        raise InvalidArgument(f"a proposal brings at most {ENTRIES_MAX} entries; got {len(proposed)}")
    gate = _Gate(episodes, solver, settings, barred)
    # 1) What stood must still stand.
    left = gate.at_rest([entry for entry in standing if gate.stands(entry)])
    gate.hold(left.text, tasks)
    # 2) Each new entry by itself, and beside what is there and was taken before it.
    judged: list[Judged] = []
    taken: list[Entry] = []
    for entry in proposed:
        judged.append(gate.judged(entry, replace(left, entries=(*left.entries, *taken))))
        taken += [judged[-1].entry] if judged[-1].accepted else []
    # 3) All of them together, each in the place of its parents; when something is missed, none comes in.
    replaced = {name for entry in taken for name in entry.parents}
    after = gate.at_rest([*(entry for entry in left.entries if entry.id not in replaced), *taken])
    if together := gate.missing("together", after):
        judged = [replace(each, checks=(*each.checks, together)) if each.accepted else each for each in judged]
        after = gate.view(left.entries, {})
    # 4) The report's hash, which each entry that comes in carries.
    verdicts = [(each.proposed, each.entry.id, *map(asdict, each.checks)) for each in judged]
    named = repr((basis_of(gate.known, gate.known), solver.name, asdict(settings), verdicts))
    name = sha256(to_bytes(named)).hexdigest()
    judged = [replace(each, entry=replace(each.entry, report=name)) if each.accepted else each for each in judged]
    signed = {each.entry.id: each.entry for each in judged if each.accepted}
    after = replace(after, entries=tuple(signed.get(entry.id, entry) for entry in after.entries))
    fallen = tuple(entry.id for entry in standing if entry not in left.entries)
    return GateReport(after, tuple(judged), fallen, len(gate.canaries), gate.lost(after), name)


class _Gate:
    """The checks of one proposal, and what they have in common."""

    def __init__(
        self, episodes: Iterable[Episode], solver: Solver, settings: GateSettings, barred: Collection[str]
    ) -> None:
        self.known = {episode.pointer: episode for episode in sorted(episodes, key=lambda each: each.position)}
        self.now = current(self.known.values())
        self.solver, self.settings, self.barred = solver, settings, barred
        self.canaries: list[Task] = []

    def hold(self, text: str, tasks: Iterable[Task]) -> None:
        """Choose what is solved now, with the memory there is or without any, and must stay so."""
        asked = [Task(episode.case, episode.answer, episode.scope) for episode in self.now.values()]
        self.canaries = [
            task for task in (*_strata(asked, CANARIES_MAX), *islice(tasks, CANARIES_MAX))
            if task.answer in (self.solver.answer(task.question, text), self.solver.answer(task.question, ""))
        ]  # fmt: skip

    def lost(self, view: View) -> int:
        """Count the canaries that a view does not answer rightly."""
        text = view.text
        return sum(self.solver.answer(task.question, text) != task.answer for task in self.canaries)

    def missing(self, name: str, view: View) -> Check | None:
        """Say what a view does not answer any more; None where nothing is missed."""
        lost, held = self.lost(view), len(self.canaries)
        return Check(name, f"{lost} questions that were solved are not any more", held - lost, held) if lost else None

    def stands(self, entry: Entry) -> bool:
        """Say whether an entry that was taken before still passes: sources that are there, source and scope replay."""
        return not any(made(entry).fault for made in (self._form, self._source_replay, self._scope_replay))

    def judged(self, entry: Entry, view: View) -> Judged:
        """Try one entry, the cheap checks first, and no further than the first that fails."""

        def no_regression(entry: Entry) -> Check:
            passed = Check("no regression", "", len(self.canaries), len(self.canaries))
            return self.missing(passed.name, replace(view, entries=(*view.entries, entry))) or passed

        checks: list[Check] = []
        narrowed = entry
        steps: list[Callable[[Entry], Check]] = [
            self._form, self._evidence, self._exact, self._source_replay, self._quarantine, self._scope_replay,
            no_regression,
        ]  # fmt: skip
        for step in steps:
            checks.append(step(narrowed))
            if checks[-1].fault:
                return Judged(entry, entry.id, tuple(checks))
            if step == self._source_replay:
                narrowed = with_sources(entry, self._given(entry), self.known)
        return Judged(narrowed, entry.id, tuple(checks))

    def _form(self, entry: Entry) -> Check:
        missing = [name for name in entry.sources if name not in self.known]
        families = {self.known[name].scope for name in entry.sources if name in self.known}
        wrong = ""
        if not entry.text.strip() or len(entry.text) > TEXT_CHARACTERS_MAX or entry.text != shown(entry.text):
            wrong = f"one line of at most {TEXT_CHARACTERS_MAX} characters that can all be seen; got {entry.text!r:.80}"
        elif len(entry.scope) > SCOPE_CHARACTERS_MAX:
            wrong = f"a scope of at most {SCOPE_CHARACTERS_MAX} characters; got {len(entry.scope)}"
        elif not entry.sources or len(entry.sources) > SOURCES_MAX:
            wrong = f"1 to {SOURCES_MAX} sources; got {len(entry.sources)}"
        elif missing:
            wrong = f"sources that are there; {missing[0]:.80} is none of the raw episodes"
        elif entry.basis != basis_of(entry.sources, self.known):
            wrong = "sources that say what they said when it was made; one says something else"
        elif len(families) > 1:
            wrong = f"sources of one family; got {', '.join(sorted(families))[:120]}"
        return Check("form", wrong)

    def _evidence(self, entry: Entry) -> Check:
        cases = len(distinct(self.known[name] for name in entry.sources))
        few = f"at least {CASES_MIN} different cases; got {cases}" if cases < CASES_MIN else ""
        return Check("evidence", few, cases, len(entry.sources))

    def _exact(self, entry: Entry) -> Check:
        """Look for what a rule has from nowhere; a formula is held by the replay instead, which works it out."""
        sources = "\n".join(f"{self.known[name].case} {self.known[name].answer}" for name in entry.sources).casefold()
        there = set(_EXACT.findall(sources))
        asked, _, answer = entry.text.rpartition(BETWEEN)
        text = asked if line_of(answer) is not None else f"{asked}: {answer}"
        for token in _EXACT.findall(text.casefold()):
            if token not in there and token.strip(_QUOTES) not in sources:
                return Check("exact tokens", f"what stands in a source; {token!r:.80} does not")
        return Check("exact tokens")

    def _holding(self, entry: Entry) -> list[Episode]:
        """Give the sources that no later answer took the place of."""
        sources = [self.known[name] for name in entry.sources]
        return [source for source in sources if self.now[source.question].answer == source.answer]

    def _given(self, entry: Entry) -> list[str]:
        """Name the sources that hold still, and that a solver with the entry alone answers as they did."""
        answers = ((source, self.solver.answer(source.case, entry.line)) for source in self._holding(entry))
        return [source.pointer for source, answer in answers if answer == source.answer]

    def _source_replay(self, entry: Entry) -> Check:
        given, holding = self._given(entry), len(self._holding(entry))
        different = len(distinct(self.known[name] for name in given))
        passed = len(given) >= self.settings.theta * holding and different >= CASES_MIN
        fault = "" if passed else f"it gives {len(given)} of {holding} sources, {different} of them different"
        return Check("source replay", fault, len(given), holding)

    def _quarantine(self, entry: Entry) -> Check:
        is_out = entry.id in self.barred or entry.text in self.barred
        return Check("quarantine", "it was taken out; release it first" if is_out else "")

    def _scope_replay(self, entry: Entry) -> Check:
        """Try an entry on all that it speaks to in its own family, and on others, which it must leave alone.

        Its sources count here too: else a rule whose writer names the cases that it gives, and no others, would be
        tried on its exceptions alone.
        """
        if not self.settings.scope:
            return Check("scope replay")
        families = {self.known[name].scope for name in entry.sources}
        own = [other for other in self.now.values() if other.scope in families][-SCOPE_MAX:]
        others = [other for other in self.now.values() if other.scope not in families]
        spoken = [other for other in own if self._speaks(entry, other)]
        right = sum(self.solver.answer(other.case, entry.line) == other.answer for other in spoken)
        if len(spoken) - right > (1 - self.settings.theta) * len(spoken):
            fault = f"of its own family it gives {right} of {len(spoken)} right"
        else:
            foreign = next((other for other in _strata(others, FOREIGN_MAX) if self._speaks(entry, other)), None)
            fault = f"it speaks to {foreign.case!r:.80} of another family" if foreign is not None else ""
        return Check("scope replay", fault, right, len(spoken))

    def _speaks(self, entry: Entry, episode: Episode) -> bool:
        """Say whether an entry changes what is answered to a question."""
        answer = self.solver.answer(episode.case, entry.line)
        return answer is not None and answer != self.solver.answer(episode.case, "")

    def at_rest(self, entries: Sequence[Entry]) -> View:
        """Give the view of entries in which all that is not shown is answered rightly, as a replay of it shows.

        One replay is not enough, since what is shown again changes other answers.
        """
        demoted = {name: "" for name, episode in self.known.items() if self.now[episode.question] is not episode}
        for entry in entries:
            sources = set(entry.sources)
            for case in self.now.values():
                is_its = case.scope == entry.scope or case.pointer in sources
                if is_its and self.solver.answer(case.case, entry.line) == case.answer:
                    demoted[case.pointer] = entry.id
        for _ in range(ROUNDS_MAX):
            view = self.view(entries, demoted)
            text, missed = view.text, set[str]()
            for name in demoted:
                holds = self.now[self.known[name].question]
                if self.solver.answer(holds.case, text) != holds.answer:
                    missed |= {holds.pointer} if holds.pointer in demoted else {name, holds.pointer}
            if not missed:
                return view
            demoted = {name: by for name, by in demoted.items() if name not in missed}
        return self.view(entries, {})

    def view(self, entries: Iterable[Entry], demoted: Mapping[str, str]) -> View:
        """Give the view of entries and of the raw episodes that are not demoted."""
        return View(tuple(entries), tuple(raw for raw in self.known.values() if raw.pointer not in demoted), demoted)


def distinct(episodes: Iterable[Episode]) -> list[Episode]:
    """Give cases without those that say another one again: the same numbers and nearly the same words."""
    by_numbers: dict[tuple[str, ...], list[tuple[frozenset[str], Episode]]] = {}
    for episode in episodes:
        case = folded(f"{episode.case} {episode.answer}")
        words = frozenset(re.findall(r"[^\W\d_]+", case))
        others = by_numbers.setdefault(tuple(sorted(re.findall(NUMBER, case))), [])
        if not any(len(words & other) >= SAME_WORDS_MIN * max(1, len(words | other)) for other, _ in others):
            others.append((words, episode))
    return [episode for others in by_numbers.values() for _, episode in others]


Scoped = TypeVar("Scoped", Episode, Task)


def _strata(of: Iterable[Scoped], number: int) -> Iterator[Scoped]:
    """Choose a number, as many of each scope as there are, the newest first."""
    by_scope: dict[str, list[Scoped]] = {}
    for item in of:
        by_scope.setdefault(item.scope, []).append(item)
    turns = zip_longest(*(reversed(items) for items in by_scope.values()))
    return islice((item for turn in turns for item in turn if item is not None), number)
