"""A stream: one world comes to one arm by one schedule, and all is measured after every update.

The invariant: the same arm, world and schedule give the same stream; no arm sees what
another did. The gate tries proposals with the reader that makes no rules, since what that
one answers the other one does too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from firsthand.consolidate import gate
from firsthand.consolidate.consolidators import Consolidator, propose
from firsthand.consolidate.entries import Entry, Episode, Proposal, View, applied, current, settled
from firsthand.consolidate.gate import GateRates, GateReport
from firsthand.consolidate.solve import Solver
from firsthand.evals.stream import measure
from firsthand.evals.stream.arms import Arm
from firsthand.evals.stream.measure import WEAK, Before, Figures
from firsthand.evals.stream.schedules import schedule
from firsthand.evals.stream.world import World, world
from firsthand.value import field, replace, value

SURVIVAL = (1, 5, 10, 20)
"""Updates after which it is asked what of a memory still stands there."""


@value
class Survival:
    """Of the episodes that stood in a memory, those that stood there ``updates`` later too, over all updates."""

    updates: int
    stood: int
    n: int


@value
class Stream:
    """One arm on one world.

    Attributes:
        points: the figures after each update, by name.
        actions: how often it was asked, how often each action was proposed, and what became of the entries: accepted,
            or refused by which check.
        told: ``hits`` of ``n`` episodes of the first update stand in the memory after the last.
        violations: of the gate's promise, over all updates: entries that do not give their own sources, and questions
            of episodes that are not shown and are not answered.
    """

    arm: str
    schedule: str
    seed: int
    points: tuple[Figures, ...]
    actions: Mapping[str, int] = field(default_factory=dict)
    rates: GateRates = GateRates()
    survival: tuple[Survival, ...] = ()
    told: tuple[int, int] = (0, 0)
    violations: int = 0

    def end(self, figure: str) -> float:
        """Give a figure after the last update."""
        return self.points[-1][figure]


def run(
    arms: Sequence[Arm], seeds: Sequence[int], name: str = "stream", *, episodes: int = 320,
    progress: Callable[[int, int], None] = lambda _done, _whole: None,
) -> Iterator[Stream]:  # fmt: skip
    """Run every arm on every world, one world after the other.

    Args:
        name: of the schedule.
        episodes: of a world.
        progress: is told how many streams are done of how many.

    Raises:
        InvalidArgument: there is no such schedule, or no such world.
    """
    done = 0
    for seed in seeds:
        made = world(seed, episodes)
        lengths: dict[str, list[int]] = {}
        for arm in arms:
            one = stream(arm, made, name, lengths.get(arm.beside))
            lengths[arm.name] = [round(point["characters"]) for point in one.points]
            yield one
            done += 1
            progress(done, len(arms) * len(seeds))


def stream(arm: Arm, made: World, name: str, lengths: Sequence[int] | None = None) -> Stream:
    """Run one arm on one world.

    Args:
        lengths: of what is retrieved after each update, in characters.
    """
    consolidator = arm.make(made.seed)
    asked = measure.readers(made)
    before, view = Before(), View()
    happened: list[Episode] = []
    points: list[Figures] = []
    stood: list[frozenset[str]] = []
    actions: dict[str, int] = {}
    judged: list[gate.Judged] = []
    violations = 0
    updates = schedule(name, made)
    for at, update in enumerate(updates):
        happened += update.new
        view = view.with_raw(update.new)
        if update.consolidates:
            proposal = _proposed(arm, consolidator, view, happened)
            _add(actions, {"asked": 1, **Counter(f"unread: {one.kind}" for one in proposal.faults)})
            _count(actions, proposal)
            view, report = _taken(arm, proposal, view, happened, asked[WEAK])
            if report is not None:
                judged += report.judged
                _add(actions, {**report.counts(), "shown again": len(report.restored)})
                _add(actions, {"quarantined": len(report.quarantined)})
                violations += broken(view, happened, asked[WEAK], report.settings.theta)
        points.append(measure.measured(
            made, view, happened, arm.shows, asked, before, lengths[at] if lengths else None
        ))  # fmt: skip
        stood.append(measure.standing("" if arm.shows == "nothing" else view.text, happened))
    first = frozenset(one.pointer for one in updates[0].new)
    rates = gate.rates(judged, lambda one: made.is_true(one.text))
    return Stream(
        arm.name, name, made.seed, tuple(points), actions, rates, tuple(_survival(stood)),
        (len(first & stood[-1]), len(first)), violations,
    )  # fmt: skip


def _proposed(arm: Arm, consolidator: Consolidator, view: View, happened: Sequence[Episode]) -> Proposal:
    """Ask a consolidator; the limit of a proposal is the gate's matter, and would stop the telephone in mid-stream."""
    if arm.gate is not None:
        return propose(consolidator, view, happened)
    shows = consolidator.reads_derived
    writing = consolidator.write(happened, view if shows else View((), view.raw))
    made = settled(writing.entries, writing.demoted, view, happened, by=consolidator.name, writes=consolidator.writes)
    return replace(made, faults=writing.faults)


def _taken(
    arm: Arm, proposal: Proposal, view: View, happened: Sequence[Episode], solver: Solver
) -> tuple[View, GateReport | None]:
    if arm.gate is None:
        return applied(view, proposal, happened), None
    report = gate.check(proposal, view, happened, solver, settings=arm.gate)
    return report.view, report


def broken(view: View, happened: Sequence[Episode], solver: Solver, theta: float) -> int:
    """Count what the gate promises and is not so; it is asked anew, without the gate."""
    known, now = {one.pointer: one for one in happened}, current(happened)
    entries = sum(not _gives_its_own(one, known, now, solver, theta) for one in view.entries)
    hidden = {known[name].question for name in view.demoted}
    text = view.text
    return entries + sum(solver.answer(now[one].case, text) != now[one].answer for one in hidden)


def _gives_its_own(
    one: Entry, known: Mapping[str, Episode], now: Mapping[str, Episode], solver: Solver, theta: float
) -> bool:
    sources = [known[name] for name in one.sources if name in known]
    holding = [source for source in sources if now[source.question].answer == source.answer]
    given = sum(solver.answer(source.case, one.line) == source.answer for source in holding)
    return len(sources) == len(one.sources) and given >= max(gate.CASES_MIN, theta * len(holding))


def _survival(stood: Sequence[frozenset[str]]) -> Iterator[Survival]:
    for later in SURVIVAL:
        pairs = [(one, stood[at + later]) for at, one in enumerate(stood) if at + later < len(stood)]
        yield Survival(later, sum(len(one & other) for one, other in pairs), sum(len(one) for one, _ in pairs))


def _count(actions: dict[str, int], proposal: Proposal) -> None:
    for one in proposal.operations:
        number = len(one.targets) if one.action == "delete" else 1
        _add(actions, {f"proposed {one.action}": number})


def _add(actions: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        if number:
            actions[name] = actions.get(name, 0) + number
