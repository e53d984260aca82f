"""The environment in which an agent chooses, on tasks on grids: programs are what it consolidates (faulty-memories).

    careful    a program a family, of three tasks or more in view       (`arc_writers.Rules`)
    buffer     like merged with like, with the buffer's own mistakes    (`arc_writers.Buffer`)
    merging    one program for everything                               (`arc_writers.MergeAll`)

Each agent is one of the writers of ``arcstream`` whose writing is turned into actions; a
free one retains what it consolidates, as the paper's agents did by default. The
invariant: it is shown, and writes of, the cases in its buffer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from firsthand.ledger.consolidators import Consolidator
from firsthand.ledger.entries import Episode, View, Written
from firsthand.value import value
from firsthand_evals.stream.arc_run import Bench
from firsthand_evals.stream.arc_solvers import FORCED as FORCED_SOLVER
from firsthand_evals.stream.arc_solvers import STRONG, WEAK
from firsthand_evals.stream.arc_world import World, task_of
from firsthand_evals.stream.arc_writers import Buffer, MergeAll, Rules
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY, Shows
from firsthand_evals.stream.choosing import AUTO, EPISODIC, FORCED, Action, Choice, Chooser, Regime, Step
from firsthand_evals.stream.choosing_arms import name_of
from firsthand_evals.stream.choosing_checks import LARGE, SMALL
from firsthand_evals.stream.choosing_policies import Keep
from firsthand_evals.stream.named import those_named
from firsthand_evals.stream.run import Stream

SCHEDULE = "stream"
Making = Callable[[World], Consolidator]
_AGENTS: Mapping[str, Making] = {"careful": Rules, "buffer": Buffer, "merging": MergeAll}


class ByWriter:
    """Chooses what a writer of strategies would have of its buffer."""

    def __init__(self, name: str, writer: Consolidator) -> None:
        self.name, self._writer = name, writer

    def choose(self, step: Step) -> Choice:
        """Write what the writer writes; what it says as before is retained, what it takes the place of is named."""
        if step.regime.consolidates == "never" or not step.cases:
            return Choice()
        seen = View(step.entries if self._writer.reads_derived else (), step.cases)
        writing = self._writer.write(step.cases, seen)
        return Choice(tuple(self._actions(step, writing.entries)))

    def _actions(self, step: Step, written: Sequence[Written]) -> Iterator[Action]:
        cases = {one.pointer: number for number, one in enumerate(step.cases, 1)}
        left = dict(enumerate(step.entries, 1))
        anew = self._writer.writes == "anew" or len(written) == 1
        fresh: list[Written] = []
        for one in written:
            same = next((number for number, it in left.items() if it.text == one.text), None)
            if same is None:
                fresh.append(one)
            else:
                del left[same]
        for one in fresh:
            taken = [number for number, it in left.items() if _takes(one, it.scope, it.sources)]
            for number in taken:
                del left[number]
            used = tuple(cases[name] for name in one.sources if name in cases)
            yield Action("consolidate", used, tuple(taken), one.text)
            if step.regime.keeps and used:
                yield Action("retain", used)
        if left and anew and fresh:
            yield Action("delete", entries=tuple(left))


def _takes(one: Written, scope: str, sources: Sequence[str]) -> bool:
    """Say whether something written takes the place of an entry: it is about the same, or stands on its sources."""
    return bool(scope and scope == one.scope) or not set(sources).isdisjoint(one.sources)


@value
class Arm:
    """One memory: its regime and agent, or neither; what of it a solver is shown."""

    name: str
    regime: Regime | None = None
    agent: str = ""
    episodes_max: int = SMALL
    shows: Shows = "view"

    def chooser(self, world: World) -> Chooser | None:
        """Give the agent of a world; None where all is kept."""
        if self.regime is None:
            return None
        policy = ByWriter(self.agent, _AGENTS[self.agent](world)) if self.agent in _AGENTS else Keep()
        return Chooser(policy, self.regime, episodes_max=self.episodes_max)


def _arm(regime: Regime, agent: str, episodes_max: int = SMALL, shows: Shows = "view") -> Arm:
    return Arm(name_of(regime, agent, episodes_max, shows), regime, agent, episodes_max, shows)


ARMS = (
    Arm(NO_MEMORY, shows="nothing"), Arm(KEEP_ALL),
    _arm(EPISODIC, "keep"), _arm(EPISODIC, "keep", LARGE),
    *(_arm(regime, agent) for agent in _AGENTS for regime in (AUTO, FORCED)),
    _arm(AUTO, "buffer", LARGE), _arm(AUTO, "buffer", shows="raw"), _arm(AUTO, "buffer", shows="entries"),
)  # fmt: skip


def stream(bench: Bench, arm: Arm) -> Stream:
    """Run one memory on one world, a task at a time."""
    chooser, view = arm.chooser(bench.world), View()
    happened: list[Episode] = []
    right: dict[str, set[str]] = {name: set() for name in bench.solvers}
    points: list[dict[str, float]] = []
    for one in bench.world.episodes:
        happened.append(one)
        view = view.with_raw([one])
        view = view if chooser is None else chooser.step(view, happened, [one])
        entries = view.entries if arm.shows in {"view", "entries"} else ()
        raw = view.raw if arm.shows in {"view", "raw"} else ()
        points.append(_measured(bench, View(entries, raw), happened, right))
    counts = {} if chooser is None else dict(chooser.counts)
    return Stream(arm.name, SCHEDULE, bench.world.seed, tuple(points), counts)


def _measured(bench: Bench, view: View, happened: Sequence[Episode], right: dict[str, set[str]]) -> dict[str, float]:
    world, came = bench.world, [task_of(one.case) for one in happened]
    figures: dict[str, float] = {}
    for name, solved in bench.solved(view.text).items():
        held = right[name]
        for what, of in (("seen", came), ("p0", world.p0), ("unseen", world.unseen), ("variant", world.variants)):
            figures[f"{what} {name}"] = sum(it in solved for it in of) / len(of) if of else 1.0
        figures[f"regressed {name}"] = sum(it not in solved for it in held) / len(held) if held else 0.0
        held |= solved.intersection(world.pool)
    sizes = {"characters": len(view.text), "raw": len(view.raw), "entries": len(view.entries)}
    return {**figures, **sizes}


SHARES = (f"p0 {STRONG}", f"p0 {FORCED_SOLVER}", *(f"{what} {name}" for what in ("seen", "unseen", "variant")
          for name in (STRONG, WEAK)), f"regressed {WEAK}", f"regressed {FORCED_SOLVER}")  # fmt: skip


def chosen(names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them; all without names.

    Raises:
        InvalidArgument: one is not there.
    """
    return those_named(ARMS, names, (NO_MEMORY, KEEP_ALL))
