"""One arm on one world of tasks on grids, measured after every update by exact grids.

    seen        tasks that came, on grids that are held out         p0          tasks of the pool that need no memory
    unseen      a family and a skill that never came together       variant     tasks that came, with other parameters
    regressed   of what was solved before, what is not any more     block       tasks of a family after its last update

Each is asked of every solver. The invariant: a task counts as solved when all of its
held-out grids are exactly right; the same arm, world and schedule give the same stream. It
knows no writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from firsthand.ledger import entry_gate
from firsthand.ledger.consolidators import Consolidator, propose
from firsthand.ledger.entries import Entry, Episode, Proposal, View, applied, settled
from firsthand.ledger.entry_gate import GateReport
from firsthand.value import value
from firsthand_evals.stream.arc_arms import GATED, Arm, Step, schedule
from firsthand_evals.stream.arc_solvers import FORCED, SOLVERS, STRONG, WEAK, Desk, GridSolver, programs_of
from firsthand_evals.stream.arc_tasks import ANY, Program
from firsthand_evals.stream.arc_world import SOLVED_BY, features
from firsthand_evals.stream.measure import HALVED, standing
from firsthand_evals.stream.run import SURVIVAL, Stream, Survival, broken

Given = Callable[[str], str]
"""What of a memory a solver is given for a task, by its name."""


class Bench:
    """The solvers of one world, and what they made of it with one memory or another."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.world = desk, desk.world
        self.solvers = {name: GridSolver(name, desk) for name in SOLVERS}
        self.like = {name: features(one) for name, one in self.world.tasks.items()}
        self.p0 = self.world.p0
        self.families = {one.pointer: one.scope for one in self.world.episodes}
        self._solved: dict[str, Mapping[str, frozenset[str]]] = {}

    def is_good(self, one: Entry) -> bool:
        """Say whether an entry is the rule of the one family that its sources are of."""
        families = {self.families[name] for name in one.sources}
        return len(families) == 1 and one.text.endswith(Program(families.pop(), ANY).text())

    def solved(self, given: str | Given) -> Mapping[str, frozenset[str]]:
        """Name by solver the tasks that it gives exactly."""
        if not isinstance(given, str):
            return {name: self._solves(one, given) for name, one in self.solvers.items()}
        if given not in self._solved:
            self._solved[given] = {name: self._solves(one, lambda _: given) for name, one in self.solvers.items()}
        return self._solved[given]

    def _solves(self, solver: GridSolver, given: Given) -> frozenset[str]:
        return frozenset(
            name for name, one in self.world.tasks.items() if solver.answer(name, given(name)) == one.digest
        )


@value(eq=False)
class _Past:
    """What earlier updates showed."""

    right: dict[str, set[str]]
    blocks: dict[str, list[float]]
    sizes: list[int]


def streams(
    bench: Bench, arms: Sequence[Arm], name: str, *, told: Callable[[], None] = lambda: None
) -> Iterator[Stream]:
    """Run arms on one world by one schedule; the arm that retrieves is as long as the gated one."""
    lengths: Sequence[float] = ()
    for arm in arms:
        found = stream(bench, arm, name, lengths)
        if arm.name == GATED:
            lengths = [point["characters"] for point in found.points]
        yield found
        told()


@value(eq=False)
class Ended:
    """A stream, and what of the memory a solver is given after its last update."""

    stream: Stream
    given: str | Given


def stream(bench: Bench, arm: Arm, name: str, lengths: Sequence[float] = ()) -> Stream:
    """Run one arm.

    Args:
        lengths: in characters after each update, of what an arm that retrieves may show.
    """
    return ended(bench, arm, name, lengths).stream


def ended(bench: Bench, arm: Arm, name: str, lengths: Sequence[float] = ()) -> Ended:
    """Run one arm, and give what it leaves beside the figures; see `stream`."""
    writer, weak = arm.make(bench.world), bench.solvers[WEAK]
    steps, view = schedule(name, bench.world), View()
    past = _Past({one: set() for one in SOLVERS}, {one: [] for one in SOLVERS}, [])
    happened: list[Episode] = []
    points: list[dict[str, float]] = []
    stood: list[frozenset[str]] = []
    judged: list[entry_gate.Judged] = []
    actions: dict[str, int] = {}
    violations = 0
    for at, step in enumerate(steps):
        if step.forgets:
            happened, view = [], View()
        new = [one for one in step.batch if one not in happened]
        happened += new
        view = view.with_raw(new)
        proposal = _proposed(arm, writer, view, step, happened)
        _count(actions, proposal)
        if arm.gate is None:
            view = applied(view, proposal, happened)
        else:
            report = entry_gate.check(proposal, view, happened, weak, settings=arm.gate)
            view = report.view
            judged += report.judged
            _tell(actions, report)
            violations += broken(view, happened, weak, arm.gate.theta)
        given = _given(bench, arm, view, lengths[at] if lengths else 0)
        ends_block = at + 1 == len(steps) or steps[at + 1].batch[0].scope != step.batch[0].scope
        points.append(_measured(bench, given, View() if arm.shows == "nothing" else view, happened, past, ends_block))
        stood.append(standing("" if arm.shows == "nothing" else view.text, happened))
    first = frozenset(one.pointer for one in steps[0].batch)
    rates = entry_gate.rates(judged, bench.is_good)
    told = len(first & stood[-1]), len(first)
    found = Stream(arm.name, name, bench.world.seed, tuple(points), actions, rates, tuple(_survival(stood)), told,
                   violations)  # fmt: skip
    return Ended(found, given)


def _proposed(arm: Arm, writer: Consolidator, view: View, step: Step, happened: Sequence[Episode]) -> Proposal:
    if arm.gate is not None:
        return propose(writer, view, happened)
    reads = writer.reads_derived and not step.hides
    writing = writer.write(happened, View(view.entries if reads else (), step.batch))
    writes = "beside" if step.hides else writer.writes
    return settled(writing.entries, writing.demoted, view, happened, by=writer.name, writes=writes)


def _given(bench: Bench, arm: Arm, view: View, length: float) -> str | Given:
    if arm.shows == "nothing":
        return ""
    if arm.shows == "view":
        return view.text
    lines = [(bench.like[one.case.partition(SOLVED_BY)[0]], one.line) for one in reversed(view.raw)]

    def nearest(name: str) -> str:
        like, kept, left = bench.like[name], [], length
        for _, line in sorted(lines, key=lambda one: sum(it != other for it, other in zip(one[0], like, strict=True))):
            left -= len(line) + 1
            if left < 0:
                break
            kept.append(line)
        return "\n".join(kept)

    return nearest


def _measured(
    bench: Bench, given: str | Given, view: View, happened: Sequence[Episode], past: _Past, ends_block: bool
) -> dict[str, float]:
    """Measure a memory after an update, and remember what was solved."""
    world = bench.world
    came = [one.case.partition(SOLVED_BY)[0] for one in happened]
    block = [name for name in came if world.tasks[name].truth.family == happened[-1].scope]
    figures: dict[str, float] = {}
    for name, solved in bench.solved(given).items():
        held = past.right[name]
        if ends_block:
            past.blocks[name].append(_share(block, solved))
        figures |= {
            f"seen {name}": _share(came, solved),
            f"p0 {name}": _share(bench.p0, solved),
            f"unseen {name}": _share(world.unseen, solved),
            f"variant {name}": _share(world.variants, solved),
            f"regressed {name}": 1 - _share(held, solved),
            f"block {name}": sum(past.blocks[name]) / max(1, len(past.blocks[name])),
        }
        held |= solved.intersection(world.pool)
    length = len(given) if isinstance(given, str) else sum(len(given(it)) for it in world.tasks) / len(world.tasks)
    return {**figures, "characters": length, **_size(bench, view, happened, past)}


def _size(bench: Bench, view: View, happened: Sequence[Episode], past: _Past) -> dict[str, float]:
    known = {one.pointer: one for one in happened}
    families = [{known[name].scope for name in one.sources if name in known} for one in view.entries]
    fitting = [any(it.fits for it in bench.desk.ran(program).values())
               for one in view.entries for program in programs_of(one.line)]  # fmt: skip
    text = view.text
    was = past.sizes[-1] if past.sizes else 0
    past.sizes.append(len(text))
    return {
        "entries": len(view.entries),
        "families covered": len(set().union(*families)) if families else 0,
        "of several families": sum(len(one) > 1 for one in families),
        "fit nothing": sum(not one for one in fitting),
        "without sources": sum(not one.sources for one in view.entries),
        "halved": float(len(text) < HALVED * was),
        "kept": len(standing(text, happened)) / len(happened),
    }


def _share(names: Sequence[str] | set[str], solved: frozenset[str]) -> float:
    return sum(name in solved for name in names) / len(names) if names else 1.0


def _survival(stood: Sequence[frozenset[str]]) -> Iterator[Survival]:
    for later in SURVIVAL:
        pairs = [(one, stood[at + later]) for at, one in enumerate(stood) if at + later < len(stood)]
        yield Survival(later, sum(len(one & other) for one, other in pairs), sum(len(one) for one, _ in pairs))


def _count(actions: dict[str, int], proposal: Proposal) -> None:
    _add(actions, {"asked": 1})
    for one in proposal.operations:
        _add(actions, {f"proposed {one.action}": len(one.targets) if one.action == "delete" else 1})


def _tell(actions: dict[str, int], report: GateReport) -> None:
    told = {"shown again": len(report.restored), "quarantined": len(report.quarantined)}
    _add(actions, {**report.counts(), **told})


def _add(actions: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        if number:
            actions[name] = actions.get(name, 0) + number


P0 = tuple(f"p0 {name}" for name in (STRONG, FORCED))
SHARES = (*P0, *(f"{what} {name}" for what in ("seen", "unseen", "variant") for name in (STRONG, WEAK)),
          f"regressed {WEAK}", f"regressed {FORCED}")  # fmt: skip
