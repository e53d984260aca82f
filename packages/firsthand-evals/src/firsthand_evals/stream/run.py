"""A stream: one world comes to one arm by one schedule, and all is measured after every update.

The invariant: the same arm, world and schedule give the same stream; no arm sees what
another did. The gate tries proposals with the reader that makes no rules, since what that
one answers the other one does too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

from firsthand.errors import MemoryFault, ModelError
from firsthand.ledger import entry_gate
from firsthand.ledger.entries import Entry, Episode, View, current, versions
from firsthand.ledger.solver import Solver
from firsthand.value import field, replace, value
from firsthand_evals.stream import measure
from firsthand_evals.stream.arms import Arm
from firsthand_evals.stream.consolidators import Consolidator, shown_to, ungated, with_raw
from firsthand_evals.stream.gate_trials import GateRates, rates
from firsthand_evals.stream.measure import Before, Figures
from firsthand_evals.stream.port import Port, PortView
from firsthand_evals.stream.regimes import Chooser
from firsthand_evals.stream.world import Update, World, schedule, world

Readers = Callable[[World], Mapping[str, Solver]]
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
        gated: whether a gate let in what was proposed.
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
    gated: bool = False

    def end(self, figure: str) -> float:
        """Give a figure after the last update."""
        return self.points[-1][figure]


def run(
    arms: Sequence[Arm], seeds: Sequence[int], name: str = "stream", *, episodes: int = 320,
    progress: Callable[[int, int], None] = lambda _done, _whole: None, readers: Readers = measure.readers,
    faults: dict[str, str] | None = None,
) -> Iterator[Stream]:  # fmt: skip
    """Run every arm on every world, one world after the other.

    A fault of somebody's memory ends that arm alone: it is in no world after that one.

    Args:
        name: of the schedule.
        episodes: of a world.
        readers: gives those who answer, by name.
        progress: is told how many streams are done of how many.
        faults: gets what went wrong, by arm; without it a fault is raised.
    """
    done = 0
    told: list[Episode] = []
    for seed in seeds:
        made = world(seed, episodes)
        lengths: dict[str, list[int]] = {}
        for arm in arms:
            done += 1
            if faults is None or arm.name not in faults:
                try:
                    made_of = stream(arm, made, name, lengths.get(arm.beside), readers, told)
                except (MemoryFault, ModelError) as error:
                    if faults is None or arm.shows != "own":
                        raise
                    faults[arm.name] = str(error)
                else:
                    lengths[arm.name] = [round(point["characters"]) for point in made_of.points]
                    yield made_of
            progress(done, len(arms) * len(seeds))
        told += (episode for update in schedule(name, made) for episode in update.new)


def stream(
    arm: Arm, made: World, name: str, lengths: Sequence[int] | None = None, readers: Readers = measure.readers,
    others: Sequence[Episode] = (),
) -> Stream:  # fmt: skip
    """Run one arm on one world.

    Args:
        lengths: of what is retrieved after each update, in characters.
        readers: gives those who answer, by name.
        others: episodes of other streams, of which a memory of this one must know nothing.
    """
    asked = readers(made)
    before = Before()
    points: list[Figures] = []
    stood: list[frozenset[str]] = []
    updates = schedule(name, made)
    with closing(_Life(arm, made.seed, gate_reader(arm, asked))) as life:
        for at, update in enumerate(updates):
            life.live(update)
            if not at and isinstance(life.view, PortView):
                life.view.port.knows_none_of(life.view.text, _strange(others, update.new, made))
            points.append(measure.measured(
                made, life.view, life.happened, arm.shows, asked, before, lengths[at] if lengths else None
            ))  # fmt: skip
            stood.append(measure.standing("" if arm.shows == "nothing" else life.view.text, life.happened))
    first = frozenset(episode.pointer for episode in updates[0].new)
    counted = rates(life.judged, lambda entry: made.is_true(entry.text))
    return Stream(
        arm.name, name, made.seed, tuple(points), life.actions, counted, tuple(survived(stood)),
        (len(first & stood[-1]), len(first)), life.violations, arm.gate is not None,
    )  # fmt: skip


def _strange(others: Sequence[Episode], new: Sequence[Episode], made: World) -> list[Episode]:
    """Give what other streams were told and nothing of this one says: its first update does not, nor do its rules."""
    own = {(episode.question, episode.answer) for episode in new}
    return [
        other for other in others
        if (other.question, other.answer) not in own and not made.gives(other.case, other.answer)
    ]  # fmt: skip


def gate_reader(arm: Arm, asked: Mapping[str, Solver]) -> Solver:
    """Give the reader that the gate of an arm asks."""
    return asked[arm.tried_by]


def lived(arm: Arm, made: World, name: str, readers: Readers) -> None:
    """Let one arm live through a world without measuring anything: what it asks is asked."""
    life = _Life(arm, made.seed, gate_reader(arm, readers(made)))
    for update in schedule(name, made):
        life.live(update)


class _Life:
    """One memory on its way through a stream."""

    def __init__(self, arm: Arm, seed: int, solver: Solver) -> None:
        self.view: View | PortView = View()
        self.happened: list[Episode] = []
        self.actions: dict[str, int] = {}
        self.judged: list[entry_gate.Judged] = []
        self.violations = 0
        self._arm, self._solver, self._maker = arm, solver, arm.make(seed)

    def live(self, update: Update) -> None:
        """Take in what an update brings, and have the memory written anew."""
        self.happened += update.new
        came = (*update.new, *update.again)
        if isinstance(self._maker, Port):
            self.view = self._maker.update(came)
            return
        assert isinstance(self.view, View)
        again = {episode.pointer for episode in update.again}
        there = {episode.pointer for episode in self.view.raw}
        demoted = {name: by for name, by in self.view.demoted.items() if name not in again}
        view = with_raw(
            replace(self.view, demoted=demoted), (episode for episode in came if episode.pointer not in there)
        )
        if not update.consolidates:
            self.view = view
        elif isinstance(self._maker, Chooser):
            self.view = self._maker.step(view, self.happened, came)
            self.actions = dict(self._maker.counts)
        else:
            self.view = self._consolidated(view, self._maker)

    def close(self) -> None:
        """Close the memory, where it is somebody's own."""
        if isinstance(self._maker, Port):
            self._maker.close()

    def _consolidated(self, view: View, consolidator: Consolidator) -> View:
        writing = shown_to(consolidator, view, self.happened)
        _add(
            self.actions,
            {"asked": 1, "replies": writing.replies, **Counter(f"unread: {fault.kind}" for fault in writing.faults)},
        )
        _add(self.actions, {"proposed entry": len(writing.entries)})
        by, writes, settings = consolidator.name, consolidator.writes, self._arm.gate
        if settings is None:
            _add(self.actions, {"proposed delete": len(writing.demoted)})
            return ungated(view, writing, self.happened, by=by, writes=writes)
        entries = versions(writing.entries, view.entries, self.happened, by=by)
        report = entry_gate.check(entries, view.entries, self.happened, self._solver, settings=settings)
        self.judged += report.judged
        _add(self.actions, Counter(judgement.reason or "accepted" for judgement in report.judged))
        _add(self.actions, {"quarantined": len(report.fallen)})
        self.violations += broken(report.view, self.happened, self._solver, settings.theta)
        return report.view


def broken(view: View, happened: Sequence[Episode], solver: Solver, theta: float) -> int:
    """Count what the gate promises and is not so; it is asked anew, without the gate."""
    known, now = {episode.pointer: episode for episode in happened}, current(happened)
    entries = sum(not _gives_its_own(entry, known, now, solver, theta) for entry in view.entries)
    hidden = {known[name].question for name in view.demoted}
    text = view.text
    return entries + sum(solver.answer(now[one].case, text) != now[one].answer for one in hidden)


def _gives_its_own(
    entry: Entry, known: Mapping[str, Episode], now: Mapping[str, Episode], solver: Solver, theta: float
) -> bool:
    sources = [known[name] for name in entry.sources if name in known]
    holding = [source for source in sources if now[source.question].answer == source.answer]
    given = sum(solver.answer(source.case, entry.line) == source.answer for source in holding)
    return len(sources) == len(entry.sources) and given >= max(entry_gate.CASES_MIN, theta * len(holding))


def survived(stood: Sequence[frozenset[str]]) -> Iterator[Survival]:
    """Count what of each update's memory still stands there later, from what stood there after each update."""
    for later in SURVIVAL:
        pairs = [(one, stood[at + later]) for at, one in enumerate(stood) if at + later < len(stood)]
        yield Survival(later, sum(len(one & other) for one, other in pairs), sum(len(one) for one, _ in pairs))


def _add(actions: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        if number:
            actions[name] = actions.get(name, 0) + number
