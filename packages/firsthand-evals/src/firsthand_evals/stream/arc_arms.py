"""The memories that are compared on tasks on grids, and in which portions the tasks come to them.

    stream       one at a time                    mixed, homogeneous   six at a time, of any or of one family
    batch-8      eight at a time                  blocked, fresh       family after family, one at a time; fresh
    interleaved  one of each family in turn                            forgets all before each family
    rounds-10, rounds-50   the stream again and again
    static-all   all at once                      static-group         each family by itself, put together after
    static-10, static-50   all at once, again and again

The invariant: the pool is the same whatever the schedule, and what comes again comes whole,
as the paper's rounds have it. ``no memory`` and ``keep all`` are in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from firsthand.errors import InvalidArgument
from firsthand.ledger import baselines
from firsthand.ledger.consolidators import Consolidator, none
from firsthand.ledger.entries import Episode
from firsthand.ledger.entry_gate import GateSettings
from firsthand.value import value
from firsthand_evals.stream.arc_tasks import FAMILIES
from firsthand_evals.stream.arc_world import World
from firsthand_evals.stream.arc_writers import AppendOnly, Buffer, MergeAll, Misgrouped, OverScoped, Phantom, Rules
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY, Shows
from firsthand_evals.stream.named import those_named

BATCH, PORTION, KEPT = 8, 6, 12
WRONG = 0.2
RULES, BUFFER, APPEND, OVER_SCOPED = "rules", "strategy buffer", "append only", "over-scoped rules"
PHANTOM = "phantom rules"
GATED_PHANTOM = f"gate + {PHANTOM}"
GATED, GATED_MERGE, GATED_BUFFER = f"gate + {RULES}", f"gate + {MERGE_ALL}", f"gate + {BUFFER}"
RETRIEVED, MISGROUPED, DROP_OLDEST = "raw retrieved (as long)", f"misgrouped rules ({WRONG:g})", f"drop oldest ({KEPT})"


@value
class Arm:
    """One memory.

    Attributes:
        make: gives its writer for a world.
        gate: its settings; None takes whatever is proposed.
        shows: the whole view, nothing, or for each task the raw episodes most like it, as many characters as the view
            of gated rules has after the same update.
        loses: whether something of what happened is not there any more.
    """

    name: str
    make: Callable[[World], Consolidator]
    gate: GateSettings | None = None
    shows: Shows = "view"
    loses: bool = False


def _nobody(_: World) -> Consolidator:
    return none


ARMS = (
    Arm(NO_MEMORY, _nobody, shows="nothing", loses=True),
    Arm(KEEP_ALL, _nobody),
    Arm(DROP_OLDEST, lambda _: baselines.DropOldest(KEPT), loses=True),
    Arm(APPEND, AppendOnly, loses=True),
    Arm(BUFFER, Buffer, loses=True),
    Arm(RULES, Rules),
    Arm(MISGROUPED, lambda world: Misgrouped(world, WRONG), loses=True),
    Arm(OVER_SCOPED, OverScoped, loses=True),
    Arm(PHANTOM, Phantom, loses=True),
    Arm(MERGE_ALL, MergeAll, loses=True),
    Arm(GATED, Rules, GateSettings()),
    Arm(f"gate + {MISGROUPED}", lambda world: Misgrouped(world, WRONG), GateSettings()),
    Arm(f"gate + {OVER_SCOPED}", OverScoped, GateSettings()),
    Arm(GATED_PHANTOM, Phantom, GateSettings()),
    Arm(GATED_MERGE, MergeAll, GateSettings()),
    Arm(GATED_BUFFER, Buffer, GateSettings()),
    Arm(RETRIEVED, _nobody, shows="retrieved"),  # last: it is as long as another one was
)
FROZEN = Arm(BUFFER, lambda world: Buffer(world, fixed=True), loses=True)
"""The buffer as a narrow stream has it: numbers that never changed stand in its strategies as numbers."""


def chosen(names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them; all without names.

    Raises:
        InvalidArgument: one is not there.
    """
    return those_named(ARMS, names, [NO_MEMORY, KEEP_ALL, *((GATED,) if RETRIEVED in names else ())])


@value
class Step:
    """One update: the tasks that are in view, whether a writer is shown what it wrote, and whether all is forgotten."""

    batch: tuple[Episode, ...]
    hides: bool = False
    forgets: bool = False


def schedule(name: str, world: World) -> tuple[Step, ...]:
    """Give the updates of a world by a schedule.

    Raises:
        InvalidArgument: there is none of that name.
    """
    if name not in SCHEDULES:
        raise InvalidArgument(f"there is no schedule {name!r}; these are: {', '.join(SCHEDULES)}")
    return SCHEDULES[name](world)


def _batches(episodes: Sequence[Episode], size: int) -> tuple[Step, ...]:
    return tuple(Step(tuple(episodes[at : at + size])) for at in range(0, len(episodes), size))


def _families(world: World) -> list[tuple[Episode, ...]]:
    found = [tuple(one for one in world.episodes if one.scope == family) for family in FAMILIES]
    return [one for one in found if one]


def _again(times: int, size: int | None) -> Callable[[World], tuple[Step, ...]]:
    return lambda world: _batches(world.episodes, size or len(world.pool)) * times


def _blocked(world: World, *, forgets: bool) -> tuple[Step, ...]:
    return tuple(
        Step((one,), forgets=forgets and at == 0) for members in _families(world) for at, one in enumerate(members)
    )


def _interleaved(world: World) -> tuple[Step, ...]:
    turns = zip_longest(*_families(world))
    return _batches([one for turn in turns for one in turn if one is not None], 1)


SCHEDULES: Mapping[str, Callable[[World], tuple[Step, ...]]] = {
    "stream": _again(1, 1), "batch-8": _again(1, BATCH), "rounds-10": _again(10, 1), "rounds-50": _again(50, 1),
    "interleaved": _interleaved,
    "static-all": _again(1, None), "static-10": _again(10, None), "static-50": _again(50, None),
    "static-group": lambda world: tuple(Step(members, hides=True) for members in _families(world)),
    "mixed": _again(1, PORTION), "homogeneous": lambda world: tuple(map(Step, _families(world))),
    "blocked": lambda world: _blocked(world, forgets=False), "fresh": lambda world: _blocked(world, forgets=True),
}  # fmt: skip
