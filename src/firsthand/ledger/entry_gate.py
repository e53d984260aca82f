"""The gate of consolidation: a proposal is tried on the raw episodes before any of it is taken (consolidation 3.7).

    form            one line, within its size, of sources that are there and say what they said; made of raw episodes
                    alone, all of one family
    evidence        at least three different cases; repeats count once, our own output not at all
    trust           what a tool or the web said becomes an entry by a user's act alone
    exact tokens    every number, path, id and quoted string of it stands in a source
    source replay   asked the questions of its sources, a solver answers from the entry alone as they did
    scope replay    so it does for all episodes of their family that it speaks to, and it leaves other families alone
    quarantine      it is none that was taken out
    no regression   what was solved before, with or without memory, is still solved
    fixed point     what is no longer shown is still answered by the memory that is left, else it is shown again

The invariant: after `check`, each question that a raw episode answers, and that is no
longer shown, is answered rightly by the view that is given; nothing raw is gone; each
entry in it gives its own sources. What is refused has its reason.

It knows no log and no model; the solver that it is given may be one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import islice, zip_longest
from typing import TypeVar

from firsthand.errors import InvalidArgument
from firsthand.event import Trust, to_bytes
from firsthand.ledger.entries import (
    BETWEEN,
    SCOPE_CHARACTERS_MAX,
    SOURCES_MAX,
    TEXT_CHARACTERS_MAX,
    Entry,
    Episode,
    Fault,
    Proposal,
    View,
    applied,
    basis_of,
    check_lineage,
    current,
    descendants,
    escaped,
    shown,
    with_sources,
)
from firsthand.ledger.solver import NUMBER, Solver, line_of
from firsthand.notes.writer import folded
from firsthand.value import asdict, field, replace, value

CASES_MIN = 3
"""Different cases that an entry must give right."""
FOREIGN_MAX = 64
"""Episodes of other families that an entry is tried on."""
SCOPE_MAX = 200
"""Episodes of its own family that an entry is tried on: the newest ones."""
CANARIES_MAX = 300
REPLAYED_MAX = 20_000
"""Episodes that are not shown; of more the others are shown again."""
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
    """One check of one entry: ``right`` of ``tried`` cases, and why it failed."""

    name: str
    passed: bool
    right: int = 0
    tried: int = 0
    detail: str = ""


@value
class Judged:
    """What the gate says of one entry.

    Attributes:
        entry: with the sources that it gives right, when it is taken; as it was proposed when it is not.
        proposed: the id that it was proposed under.
        left_out: sources that it does not give; they stay raw.
    """

    entry: Entry
    proposed: str
    accepted: bool
    checks: tuple[Check, ...]
    left_out: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why it was refused: the first check that failed; empty when it was taken."""
        return "" if self.accepted else next(check.name for check in self.checks if not check.passed)


@value
class GateReport:
    """What the gate says of a proposal.

    Attributes:
        proposal: its hash.
        replayed: hash over the raw episodes that it was tried on.
        solver: the name of the solver.
        view: the memory after it.
        judged: each entry that was proposed.
        quarantined: ids of entries that stood and fail now, with those that came of them.
        restored: pointers of episodes that were not shown, or were not to be, and are shown.
        rounds: replays of the final memory.
        canaries: questions that were solved before, and were asked again.
        lost: of these, how many are solved no more; with a solver that answers the same each time, none.
        faults: what of the proposal could not be read.
        hash: over proposal, episodes, solver, settings and all checks; each entry that was let in carries it.
    """

    proposal: str
    replayed: str
    solver: str
    settings: GateSettings
    view: View
    judged: tuple[Judged, ...] = ()
    quarantined: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    rounds: int = 0
    canaries: int = 0
    lost: int = 0
    faults: tuple[Fault, ...] = ()
    hash: str = ""

    @property
    def accepted(self) -> tuple[Entry, ...]:
        """Give the entries that were taken."""
        return tuple(judgement.entry for judgement in self.judged if judgement.accepted)

    @property
    def miss_bound(self) -> float:
        """Give the share of what was solved before that may have been lost unseen, with 95 % confidence: 3 in n."""
        return min(1.0, 3 / self.canaries) if self.canaries else 1.0

    def counts(self) -> dict[str, int]:
        """Count what was taken, and what was refused by reason."""
        counts: dict[str, int] = {}
        for judgement in self.judged:
            word = judgement.reason or "accepted"
            counts[word] = counts.get(word, 0) + 1
        return counts


@value
class Task:
    """A question with its right answer, held to be solved still."""

    question: str
    answer: str
    scope: str = ""


@value
class _Tried:
    """What all checks of one proposal have in common."""

    known: Mapping[str, Episode]
    now: Mapping[str, Episode]
    solver: Solver
    settings: GateSettings
    approved: Collection[str]
    barred: Collection[str]
    saw: Collection[str]
    own: dict[str, str | None] = field(default_factory=dict)

    def alone(self, question: str) -> str | None:
        """Ask without any memory."""
        if question not in self.own:
            self.own[question] = self.solver.answer(question, "")
        return self.own[question]


def check(
    proposal: Proposal, view: View, episodes: Sequence[Episode], solver: Solver, *,
    settings: GateSettings | None = None, tasks: Iterable[Task] = (), approved: Collection[str] = (),
    barred: Collection[str] = (),
) -> GateReport:  # fmt: skip
    """Try a proposal, and give the memory that it leads to.

    Args:
        view: what is shown now; the newest raw episodes are in it.
        episodes: all raw ones so far.
        tasks: what else is held to be solved still, if it is solved now.
        approved: ids of entries that the user let in although they stand on what a tool or the web said.
        barred: ids and texts of entries that the user took out: they do not come in again by themselves.

    Raises:
        InvalidArgument: theta is no share; the lineage of what stands goes round in a circle.
    """
    settings = settings or GateSettings()
    if not 0 <= settings.theta <= 1:
        raise InvalidArgument(f"theta is a share from 0 to 1; got {settings.theta!r}")
    check_lineage([*view.entries, *proposal.written])
    episodes = sorted(episodes, key=lambda episode: episode.position)
    known = {episode.pointer: episode for episode in episodes}
    tried = _Tried(known, current(episodes), solver, settings, approved, barred, proposal.saw)
    replayed = basis_of(known, known)
    # 1) what stood must still stand
    failed = tuple(entry.id for entry in view.entries if not _stands(entry, tried))
    fallen = frozenset(failed) | {below.id for name in failed for below in descendants(view.entries, name)}
    left = without(view, fallen, episodes)
    # 2) each new entry by itself, and beside what is there
    canaries = _canaries(tried, left, tasks)
    judged = [_judge(entry, tried, left, canaries) for entry in proposal.written]
    # 3) all of them together; the last one goes while something that was solved is not
    while True:
        taken = {judgement.proposed: judgement.entry for judgement in judged if judgement.accepted}
        after = applied(left, proposal, episodes, takes=lambda entry: taken.get(entry.id))  # noqa: B023 - used at once
        after, rounds = _at_rest(after, tried, episodes)
        lost = _lost(canaries, solver, after.text)
        if not lost or not taken:
            break
        last = max(place for place, judgement in enumerate(judged) if judgement.accepted)
        judged[last] = _refused(judged[last], Check("together", False, len(canaries) - len(lost), len(canaries)))
    if lost:  # what is not shown any more is missed, though no entry came: all of it is shown again
        after = shown(after.entries, episodes, {})
        lost = _lost(canaries, solver, after.text)
    restored = tuple(sorted(_hidden(view, proposal) - set(after.demoted)))
    report = GateReport(
        proposal.hash, replayed, solver.name, settings, after, tuple(judged), tuple(sorted(fallen)), restored, rounds,
        len(canaries), len(lost), proposal.faults,
    )  # fmt: skip
    return _signed(report)


def _lost(canaries: Iterable[Task], solver: Solver, text: str) -> list[Task]:
    """Give the questions that are not answered rightly from a text; it is made once for all of them."""
    return [canary for canary in canaries if solver.answer(canary.question, text) != canary.answer]


def without(view: View, gone: Collection[str], episodes: Iterable[Episode]) -> View:
    """Take entries out of a view; the raw episodes that they covered are shown again."""
    if not gone:
        return view
    demoted = {name: by for name, by in view.demoted.items() if by not in gone}
    return shown((entry for entry in view.entries if entry.id not in gone), episodes, demoted)


# one entry ---------------------------------------------------------------------------------------


def _judge(entry: Entry, tried: _Tried, view: View, canaries: Sequence[Task]) -> Judged:
    """Try one entry: the cheap checks first, and no further than the first that fails."""
    checks: list[Check] = []
    for made in (_form, _evidence, _trust, _exact):
        checks.append(made(entry, tried))
        if not checks[-1].passed:
            return Judged(entry, entry.id, False, tuple(checks))
    answered = _given(entry, tried)
    checks.append(_source_replay(entry, answered, tried))
    if not checks[-1].passed:
        return Judged(entry, entry.id, False, tuple(checks))
    answered_sources = tuple(name for name in entry.sources if name in answered)
    left_out = tuple(name for name in entry.sources if name not in answered)
    narrowed = with_sources(entry, answered_sources, tried.known) if left_out else entry
    if tried.barred:
        is_out = narrowed.id in tried.barred or narrowed.text in tried.barred
        checks.append(Check("quarantine", not is_out, detail="it was taken out; release it first" if is_out else ""))
    if tried.settings.scope and checks[-1].passed:
        checks.append(_scope_replay(narrowed, tried))
    if checks[-1].passed:
        checks.append(_no_regression(narrowed, tried, view, canaries))
    accepted = checks[-1].passed
    return Judged(narrowed if accepted else entry, entry.id, accepted, tuple(checks), left_out if accepted else ())


def _stands(entry: Entry, tried: _Tried) -> bool:
    """Say whether an entry that was taken before still passes: sources that are there, source and scope replay."""
    gone = any(name not in tried.known for name in entry.sources)
    if gone or entry.basis != basis_of(entry.sources, tried.known):
        return False
    if entry.solver not in {"", tried.solver.name}:
        return _holds(entry, tried)
    if not _source_replay(entry, _given(entry, tried), tried).passed:
        return False
    return not tried.settings.scope or _scope_replay(entry, tried).passed


def _holds(entry: Entry, tried: _Tried) -> bool:
    """Say whether the ground of an entry holds which this solver cannot be asked about: its sources, as they were.

    An entry in words that a model answered from says nothing to a solver that is none. It is not refuted by that.
    """
    asked = [tried.known[name] for name in entry.sources]
    holding = sum(tried.now[source.question].answer == source.answer for source in asked)
    return holding >= max(CASES_MIN, tried.settings.theta * len(asked))


def _form(entry: Entry, tried: _Tried) -> Check:
    wrong = ""
    missing = [name for name in entry.sources if name not in tried.known]
    families = {tried.known[name].scope for name in entry.sources if name in tried.known}
    if tried.saw:
        wrong = f"it is made of raw episodes alone; its writer was shown {len(tried.saw)} earlier entries"
    elif not entry.text.strip() or len(entry.text) > TEXT_CHARACTERS_MAX:
        wrong = f"a text of 1 to {TEXT_CHARACTERS_MAX} characters; got {len(entry.text)}"
    elif entry.text != escaped(entry.text):
        wrong = "one line of what can be seen; got line ends, or signs that hide"
    elif len(entry.scope) > SCOPE_CHARACTERS_MAX:
        wrong = f"a scope of at most {SCOPE_CHARACTERS_MAX} characters; got {len(entry.scope)}"
    elif not entry.sources or len(entry.sources) > SOURCES_MAX:
        wrong = f"1 to {SOURCES_MAX} sources; got {len(entry.sources)}"
    elif missing:
        wrong = f"sources that are there; {missing[0]:.80} is none of the raw episodes"
    elif entry.basis != basis_of(entry.sources, tried.known):
        wrong = "sources that say what they said when it was made; one says something else"
    elif len(families) > 1:
        wrong = f"sources of one family; got {', '.join(sorted(families))[:120]}"
    return Check("form", not wrong, detail=wrong)


def _evidence(entry: Entry, tried: _Tried) -> Check:
    cases = distinct([tried.known[name] for name in entry.sources if not tried.known[name].ours])
    wrong = "" if len(cases) >= CASES_MIN else f"at least {CASES_MIN} different cases; got {len(cases)}"
    return Check("evidence", not wrong, len(cases), len(entry.sources), wrong)


def _trust(entry: Entry, tried: _Tried) -> Check:
    worst = max(tried.known[name].trust for name in entry.sources)
    if worst is Trust.UNTRUSTED and entry.id not in tried.approved:
        return Check("trust", False, detail="it stands on what a tool or the web said: it waits for the user's act")
    return Check("trust", True)


def distinct(episodes: Iterable[Episode]) -> list[Episode]:
    """Give cases without those that say another one again: the same numbers and nearly the same words."""
    by_numbers: dict[tuple[str, ...], list[tuple[frozenset[str], Episode]]] = {}
    for episode in episodes:
        case = folded(f"{episode.case} {episode.answer}")
        numbers = tuple(sorted(re.findall(NUMBER, case)))
        words = frozenset(re.findall(r"[^\W\d_]+", case))
        others = by_numbers.setdefault(numbers, [])
        if not any(len(words & other) >= SAME_WORDS_MIN * max(1, len(words | other)) for other, _ in others):
            others.append((words, episode))
    return [episode for others in by_numbers.values() for _, episode in others]


def _exact(entry: Entry, tried: _Tried) -> Check:
    """Look for what a rule has from nowhere; a formula is held by the replay instead, which works it out."""
    sources = "\n".join(f"{tried.known[name].case} {tried.known[name].answer}" for name in entry.sources).casefold()
    there = set(_EXACT.findall(sources))
    tokens = _EXACT.findall(_without_formula(entry.text).casefold())
    phantom = [token for token in tokens if token not in there and token.strip(_QUOTES) not in sources]
    detail = f"what stands in a source; {phantom[0]!r:.80} does not" if phantom else ""
    return Check("exact tokens", not phantom, detail=detail)


def _without_formula(text: str) -> str:
    """Give a text without the formula that it ends with, which no source says and each replay works out."""
    asked, between, answer = text.rpartition(BETWEEN)
    if not between:
        return text
    return asked if line_of(answer) is not None else f"{asked}: {answer}"


def _given(entry: Entry, tried: _Tried) -> dict[str, Episode]:
    """Give the sources that hold still, and that a solver with the entry alone answers as they did; by pointer."""
    answered = {}
    for name in entry.sources:
        source = tried.known[name]
        holds = tried.now[source.question].answer == source.answer
        if holds and tried.solver.answer(source.case, entry.line) == source.answer:
            answered[name] = source
    return answered


def _source_replay(entry: Entry, answered: Mapping[str, Episode], tried: _Tried) -> Check:
    asked = [tried.known[name] for name in entry.sources]
    holding = [source for source in asked if tried.now[source.question].answer == source.answer]
    different = len(distinct([source for source in answered.values() if not source.ours]))
    share = tried.settings.theta * len(holding)
    passed = len(answered) >= share and different >= CASES_MIN
    detail = "" if passed else f"it gives {len(answered)} of {len(holding)} sources, {different} of them different"
    return Check("source replay", passed, len(answered), len(holding), detail)


def _scope_replay(entry: Entry, tried: _Tried) -> Check:
    """Try an entry on all that it speaks to in its own family, and on others, which it must leave alone.

    Its sources count here too: else a rule whose writer names the cases that it gives, and no others, would be tried
    on its exceptions alone.
    """
    families = {tried.known[name].scope for name in entry.sources}
    # What a tool or the web said takes no rule out that users' statements give, however often it is said.
    asked = [other for other in tried.now.values() if other.counts or entry.trust is Trust.UNTRUSTED]
    own = [other for other in asked if other.scope in families][-SCOPE_MAX:]
    others = [other for other in asked if other.scope not in families]
    right = spoken = 0
    for other in own:
        answer = tried.solver.answer(other.case, entry.line)
        if answer is not None and answer != tried.alone(other.case):
            spoken += 1
            right += answer == other.answer
    if spoken - right > (1 - tried.settings.theta) * spoken:
        return Check("scope replay", False, right, spoken, f"of its own family it gives {right} of {spoken} right")
    for other in _strata(others, FOREIGN_MAX):
        if tried.solver.answer(other.case, entry.line) != tried.alone(other.case):
            return Check("scope replay", False, right, spoken, f"it speaks to {other.case!r:.80} of another family")
    return Check("scope replay", True, right, spoken)


def _no_regression(entry: Entry, tried: _Tried, view: View, canaries: Sequence[Task]) -> Check:
    text = replace(view, entries=(*view.entries, entry)).text
    right = sum(tried.solver.answer(task.question, text) == task.answer for task in canaries)
    detail = "" if right == len(canaries) else f"{len(canaries) - right} questions that were solved are not any more"
    return Check("no regression", right == len(canaries), right, len(canaries), detail)


def _canaries(tried: _Tried, view: View, tasks: Iterable[Task]) -> list[Task]:
    """Choose what is solved now, with the memory there is or without any, and must stay so."""
    text = view.text
    asked = [Task(episode.case, episode.answer, episode.scope) for episode in tried.now.values() if episode.counts]
    chosen = [*_strata(asked, CANARIES_MAX), *list(tasks)[:CANARIES_MAX]]
    return [
        task for task in chosen
        if task.answer in (tried.solver.answer(task.question, text), tried.alone(task.question))
    ]  # fmt: skip


Scoped = TypeVar("Scoped", Episode, Task)


def _strata(of: Sequence[Scoped], number: int) -> list[Scoped]:
    """Choose a number, as many of each scope as there are, the newest first."""
    by_scope: dict[str, list[Scoped]] = {}
    for item in of:
        by_scope.setdefault(item.scope, []).append(item)
    turns = zip_longest(*(reversed(items) for items in by_scope.values()))
    return list(islice((item for turn in turns for item in turn if item is not None), number))


# all together ------------------------------------------------------------------------------------


def _at_rest(view: View, tried: _Tried, episodes: Sequence[Episode]) -> tuple[View, int]:
    """Show again what is not answered any more, until all that is not shown is.

    One replay is not enough, since what is shown again changes other answers.
    """
    demoted = {name: by for name, by in islice(view.demoted.items(), REPLAYED_MAX) if name in tried.known}
    for rounds in range(1, ROUNDS_MAX + 1):
        view = shown(view.entries, episodes, demoted)
        text = view.text
        missed: set[str] = set()
        for name in demoted:
            holds = tried.now[tried.known[name].question]
            if tried.solver.answer(holds.case, text) != holds.answer:
                missed |= {name, holds.pointer} if holds.pointer not in demoted else {holds.pointer}
        if not missed:
            return view, rounds
        demoted = {name: by for name, by in demoted.items() if name not in missed}
    return shown(view.entries, episodes, {}), ROUNDS_MAX


def _refused(judgement: Judged, why: Check) -> Judged:
    return Judged(judgement.entry, judgement.proposed, False, (*judgement.checks, why))


def _hidden(view: View, proposal: Proposal) -> set[str]:
    """Name the raw episodes that are not shown now, or would not be."""
    leaving = {name for operation in proposal.operations if operation.action == "delete" for name in operation.targets}
    return {*view.demoted, *(name for name in leaving if name.startswith("fh:"))}


def _signed(report: GateReport) -> GateReport:
    """Write the report's hash into the entries that it lets in."""
    verdicts = [
        (judgement.proposed, judgement.entry.id, judgement.accepted, [asdict(check) for check in judgement.checks])
        for judgement in report.judged
    ]
    named = json.dumps(
        [report.proposal, report.replayed, report.solver, asdict(report.settings), verdicts], sort_keys=True
    )
    name = sha256(to_bytes(named)).hexdigest()
    judged = tuple(
        replace(judgement, entry=replace(judgement.entry, report=name, solver=report.solver))
        if judgement.accepted
        else judgement
        for judgement in report.judged
    )
    new = {judgement.entry.id: judgement.entry for judgement in judged if judgement.accepted}
    entries = tuple(new.get(entry.id, entry) for entry in report.view.entries)
    return replace(report, judged=judged, view=replace(report.view, entries=entries), hash=name)
