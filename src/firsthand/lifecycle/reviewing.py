"""The review of recalls: what became of them, and changes of recall's values that earn their place (total-recall 8.3).

    the log's recalls  ->  found, unused, weak, absent, missed; corrected afterwards; what fails alike
                       ->  questions with what turned out to be right, and questions mined from the store
                       ->  changes proposed on one half, taken or refused on the other  ->  decisions in the log

Nothing calls it unasked. The invariant: only recalls in the user's own words count as
questions; without enough of them nothing changes, and that is said; decisions come into
the log all or none, each with what was measured; what was decided earlier is tried again,
and goes back where it no longer earns its place.

It decides nothing itself: what a recall became is `consolidate.recalls`, which change is
taken is `consolidate.trials`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from firsthand.answer import Query, Scope
from firsthand.consolidate import trials
from firsthand.consolidate.recalls import (
    SHARED_MIN,
    Counts,
    Judged,
    Pattern,
    Verdict,
    count,
    is_about,
    missed,
    patterns,
    strings_of,
)
from firsthand.consolidate.trials import HELD_OUT, TUNING, Change, Interval, Pair, Question, Trial
from firsthand.errors import PointerError
from firsthand.event import IdMaker
from firsthand.lifecycle.recall_bench import Bench, mined_of, questions_of
from firsthand.lifecycle.recalls_log import Followed, recalls_of
from firsthand.lifecycle.tuning_log import SOURCES_MAX, TuningLog
from firsthand.recall.kept_gate import gate_of
from firsthand.recall.tuning import GATE, Tuned, TuningDecision, basis_of, parameter
from firsthand.value import replace, value

if TYPE_CHECKING:
    from firsthand.log.read import SessionInfo
    from firsthand.memory import Memory
    from firsthand.moment import Moment

BY = "rule:review"
RECALLS_MAX = 300
"""Of which the questions are made, the newest."""
EARLIER_EVENTS_MAX = 20_000
"""Of sessions before the time that is reviewed: a night costs what the day brought, and so much more at most."""
STRINGS_MAX = 4
HOLDERS_MAX = 5
"""A string that stands in more events than this proves nothing."""
STRING_CHARACTERS_MIN = 4
EXAMPLES_MAX = 5
SECONDS_MAX = 120.0
"""Without a deadline."""


@value
class Reviewed:
    """What a review saw and did.

    Attributes:
        counts: of the window's recalls.
        examples: recalls that were missed or corrected, the newest first.
        patterns: words whose recalls fail more often than the others.
        questions, mined: of the benchmark, asked by users and mined.
        trials: changes that were tried on the held-out half, those refused among them.
        decisions: those that were kept; without `keep` those that would be.
        left_out: sentences on what was not done, and why.
    """

    counts: Counts
    examples: tuple[Judged, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    questions: int = 0
    mined: int = 0
    trials: tuple[Trial, ...] = ()
    decisions: tuple[TuningDecision, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is told of it, a sentence each."""
        told = ", ".join(f"{number} {name}" for name, number in self.counts.verdicts.items() if number)
        first = f"{self.counts.recalls} recalls ({self.counts.unasked} unasked): {told or 'none'}"
        first += f"; {self.counts.corrected} corrected afterwards" if self.counts.corrected else ""
        tried = [
            f"{one.change.name} {one.change.before:g} to {one.change.after:g}: "
            + (f"taken, {one.measure} {one.own}" if one.taken else f"refused, {one.refused}")
            for one in self.trials
        ]
        return (first, *map(str, self.patterns), *tried, *self.left_out)


def review(
    memory: Memory,
    agent: str = "",
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    after: int = 0,
    before: int | None = None,
    deadline: float | None = None,
    keep: bool = False,
) -> Reviewed:
    """Review the recalls of a time, and tune what a benchmark of the store's own questions bears out.

    Args:
        agent: whose sessions are looked at; empty takes all of the namespace.
        since, until: of the recalls that are counted; questions are made of earlier ones too.
        after, before: exclusive positions of the same recalls, whatever the clocks say.
        deadline: `time.monotonic` seconds after which nothing more is begun; None takes `SECONDS_MAX` from now.
        keep: without it nothing is written.

    Raises:
        StoreError: the log cannot be read, or written with ``keep``.
    """
    return _Review(memory, agent, deadline).run(_Window(since, until, after, before), keep=keep)


@value
class _Window:
    """Which recalls are counted: by their times and by their positions."""

    since: Moment | None = None
    until: Moment | None = None
    after: int = 0
    before: int | None = None

    def has(self, one: Judged) -> bool:
        told = one.recalled
        if told.position <= self.after or (self.before is not None and told.position >= self.before):
            return False
        if told.time is None:
            return self.since is None and self.until is None
        return (self.since is None or told.time >= self.since) and (self.until is None or told.time < self.until)

    def went_on(self, session: SessionInfo) -> bool:
        """Say whether something happened in a session since then, as far as its events have times."""
        if session.last_position <= self.after:
            return False
        return self.since is None or session.last is None or session.last >= self.since


_EVER = _Window()


class _Review:
    """One review, from the log to its decisions."""

    def __init__(self, memory: Memory, agent: str, deadline: float | None) -> None:
        self._memory, self._agent = memory, agent
        self._deadline = time.monotonic() + SECONDS_MAX if deadline is None else deadline
        self._log = TuningLog(memory)
        self._left_out: list[str] = []
        self._trials: list[Trial] = []
        self._decided: list[TuningDecision] = []
        self._ids = IdMaker()

    def run(self, counted: _Window, *, keep: bool) -> Reviewed:
        judged = self._judged(counted)
        window = [one for one in judged if counted.has(one)]
        real = questions_of(self._memory, judged)
        asked = {one.recalled.pointer for one in window}
        mined: tuple[Question, ...] = ()
        if few := trials.too_few(real):
            self._left_out.append(f"nothing is tuned: {few}")
        elif not any(one.pointer in asked for one in real):  # the same questions give the same decision
            self._left_out.append("nothing is tuned: nothing new was asked whose answer is known")
        elif not self._over("nothing is tuned"):
            mined = mined_of(self._memory)
            self._tune([*real, *mined])
        kept = self._log.keep(self._decided) if keep else tuple(self._decided)
        bad = [one for one in window if one.verdict is Verdict.MISSED or one.corrected]
        return Reviewed(
            count(window), tuple(bad[:EXAMPLES_MAX]), patterns(window), len(real), len(mined), tuple(self._trials),
            kept, tuple(self._left_out),
        )  # fmt: skip

    def _over(self, what: str) -> bool:
        over = time.monotonic() > self._deadline
        if over:
            self._left_out.append(f"{what}: the time was over")
        return over

    # what became of the recalls ------------------------------------------------------------------------

    def _judged(self, counted: _Window = _EVER) -> list[Judged]:
        """Judge the newest recalls, newest first; without any in the time that is reviewed no earlier ones."""
        found: list[Judged] = []
        earlier = 0
        for one in self._sessions(counted):
            if not counted.went_on(one):
                earlier += one.events
                if not found or earlier > EARLIER_EVENTS_MAX:
                    break
            if self._over("older recalls were not looked at"):
                break
            found += self._of_session(recalls_of(self._memory, one.name))
            if len(found) >= RECALLS_MAX:
                break
        return sorted(found, key=lambda one: -one.recalled.position)[:RECALLS_MAX]

    def _sessions(self, counted: _Window) -> list[SessionInfo]:
        """Give the sessions, those that went on in the time first, and of these the newest."""
        mine = frozenset(self._memory.agent(self._agent).sessions()) if self._agent else None
        told = [one for one in self._memory.sessions() if mine is None or one.name in mine]
        return sorted(told, key=lambda one: (counted.went_on(one), one.last_position), reverse=True)

    def _of_session(self, followed: Sequence[Followed]) -> Iterator[Judged]:
        """See of the recalls of a session without a sign of use whether they were missed."""
        for at, one in enumerate(followed):
            judged = one.judged
            if judged.verdict is Verdict.FOUND or time.monotonic() > self._deadline:
                yield judged
                continue
            told = judged.recalled
            later = [
                each.judged for each in followed[at + 1 :]
                if each.judged.recalled.turn == told.turn and each.judged.verdict is Verdict.FOUND
            ]  # fmt: skip
            again = next((each for each in later if set(each.right) - set(told.shown)), None)
            if again is not None and is_about(told.asked, again.recalled.asked):
                sign = f"asked again as {again.recalled.asked!r:.60}, it was found"
                yield missed(judged, again.right, again.strings, sign)
            else:
                yield self._opened(one) or self._came_up(one) or judged

    def _opened(self, one: Followed) -> Judged | None:
        """See whether the agent opened or cited something about the same that was not shown; None if not."""
        told = one.judged.recalled
        found = []
        for address in sorted(one.work.named - set(told.shown)):
            try:
                event = self._memory.event(address)
            except PointerError:  # a pointer that nothing answers to proves nothing
                continue
            if event.position < told.position and event.is_searchable and is_about(told.asked, event.text, 1):
                found.append(address)
        return missed(one.judged, found, (), f"the agent opened or cited {found[0]} afterwards") if found else None

    def _came_up(self, one: Followed) -> Judged | None:
        """See whether an exact string that came up afterwards stood in an earlier event about the same; None if not."""
        told = one.judged.recalled
        came = (one.work.strings | one.work.said) - strings_of(told.asked)
        wanted = sorted((name for name in came if len(name) >= STRING_CHARACTERS_MIN), key=lambda s: (-len(s), s))
        scope = Scope(before_position=told.position, without_sessions=(told.session, f"{told.session}/agent-*"))
        for string in wanted[:STRINGS_MAX]:
            query = Query(string, scope, hits_max=HOLDERS_MAX + 1, attempts_max=1, mmr_lambda=1.0)
            hits = [hit for hit in self._memory.recall(query).hits if not hit.companion_of]
            texts = {hit.pointer: self._memory.event(hit.pointer).text for hit in hits}
            holding = {name: text for name, text in texts.items() if string in text.casefold()}
            by_user = string in one.work.said
            shared = 1 if by_user else SHARED_MIN
            about = [at for at, text in holding.items() if at not in told.shown and is_about(told.asked, text, shared)]
            if about and len(holding) <= HOLDERS_MAX:
                who = "the user said" if by_user else "the agent wrote"
                return missed(
                    one.judged, about, (string,), f"{who} {string!r:.60} afterwards, which stands in {about[0]}"
                )
        return None

    # tuning --------------------------------------------------------------------------------------------

    def _tune(self, questions: Sequence[Question]) -> None:
        memory = self._memory
        reader = memory._log.reader  # noqa: SLF001 - Memory and what acts on it are one room
        gate = gate_of(reader.db, reader.namespace_key(memory.namespace), memory._identity())  # noqa: SLF001 - the same
        bench = Bench(memory, gate, self._deadline)
        basis = basis_of(gate)
        now = self._log.at()
        if now.note:
            self._left_out.append(now.note)
        halves = {name: [one for one in questions if one.half == name] for name in (TUNING, HELD_OUT)}
        now = self._back(bench, halves[HELD_OUT], now, basis)
        asked = [one for one in halves[TUNING] if one.real]  # mined ones are asked in the answer's own words
        for change in self._proposed(bench, asked, now)[: trials.PROPOSED_MAX]:
            if len(self._decided) >= trials.CHANGES_MAX:
                self._left_out.append(f"at most {trials.CHANGES_MAX} changes are taken at once; others wait")
                break
            after = trials.with_change(now, change, basis)
            compared = bench.compared(halves[HELD_OUT], now, after)
            if compared is None:
                self._left_out.append(f"{change.name} was not decided: the time was over")
                break
            trial = trials.tried(change, compared.before, compared.after)
            self._trials.append(trial)
            if trial.taken:
                moved = _moved(trial, compared.before, compared.after)
                self._decide(trial, f"better on questions held out: {trial.measure} {trial.own}", basis, moved)
                now = after

    def _proposed(self, bench: Bench, questions: Sequence[Question], now: Tuned) -> list[Change]:
        """Give the changes that promise something on the tuning half, the greatest gain first, one a parameter."""
        base = bench.pairs(questions, now, twins=True)
        if base is None:
            self._left_out.append("nothing was proposed: the time was over")
            return []
        good: dict[str, tuple[Change, Interval]] = {}
        shift = trials.shift_of(base, now)
        if shift is not None:
            good[GATE] = shift
        for change in trials.neighbours_of(now):
            asked = bench.pairs(questions, trials.with_change(now, change, ""), twins=False)
            if asked is None:
                self._left_out.append("not every change was tried: the time was over")
                break
            gain = trials.difference([trials.order(one) for one in base], [trials.order(one) for one in asked])
            if trials.promises(gain) and (change.name not in good or gain.mean > good[change.name][1].mean):
                good[change.name] = change, gain
        return [change for change, _ in sorted(good.values(), key=lambda one: -one[1].mean)]

    def _back(self, bench: Bench, questions: Sequence[Question], now: Tuned, basis: str) -> Tuned:
        """Try again what was decided before: where the default is as good on questions held out, it goes back to it."""
        for name, value_now in now.changed.items():
            known = parameter(name)
            assert known is not None, "what is in force is a parameter"
            change = Change(name, value_now, known.default)
            compared = bench.compared(questions, now, trials.with_change(now, change, basis))
            if compared is None:
                self._left_out.append("what was tuned before was not all tried again: the time was over")
                break
            trial = trials.tried(change, compared.before, compared.after)
            if trial.own.mean >= 0.0 and len(self._decided) < trials.CHANGES_MAX:
                trial = replace(trial, refused="")
                self._trials.append(trial)
                reason = f"it no longer earns its place: the default gives {trial.measure} {trial.own}"
                self._decide(trial, reason, basis, _moved(trial, compared.before, compared.after))
                now = trials.with_change(now, change, basis)
        return now

    def _decide(self, trial: Trial, reason: str, basis: str, sources: tuple[str, ...]) -> None:
        one = trial.change
        self._decided.append(TuningDecision(
            self._ids(), one.name, one.before, one.after, reason, BY, basis if one.name == GATE else "",
            figures=trial.figures(), sources=sources,
        ))  # fmt: skip


def _moved(trial: Trial, before: Sequence[Pair], after: Sequence[Pair]) -> tuple[str, ...]:
    """Give the recalls and events that the change made a difference for, the greatest first."""
    of = trials.worth if trial.measure == trials.WORTH else trials.order
    gaps = [(abs(of(new) - of(old)), old.question) for old, new in zip(before, after, strict=True)]
    moved = sorted((one for one in gaps if one[0]), key=lambda one: -one[0])
    return tuple(dict.fromkeys(name for _, question in moved for name in question.known))[:SOURCES_MAX]
