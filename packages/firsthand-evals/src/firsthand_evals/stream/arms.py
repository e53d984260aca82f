"""The memories that are compared on one stream: none, all of it, what others do to it, and ours (consolidation 3.5).

The invariant: an arm is a consolidator, with or without the gate, and what a reader is
shown of the memory; each stream gets a consolidator of its own. ``no memory`` and
``keep all`` are in every run, since nothing else says what consolidation is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal

from firsthand import InvalidArgument
from firsthand.ledger.entry_gate import GateSettings
from firsthand.value import value
from firsthand_evals.stream import baselines
from firsthand_evals.stream.consolidators import Consolidator, none, rules_plus_exceptions
from firsthand_evals.stream.model_writer import ByModel
from firsthand_evals.stream.port import Port, load
from firsthand_evals.stream.regimes import EPISODES_MAX, REGIMES, Chooser, ModelAgent, Regime

RETRIEVED_LINES = 16
LOSS = 0.02
"""Of an answer at one telling of the telephone."""
Shows = Literal["view", "nothing", "retrieved", "own"]
NO_MEMORY, KEEP_ALL, RULES, GATED = "no memory", "keep all", "rules plus exceptions", "gate + rules plus exceptions"
MERGE_ALL, TELEPHONE, OVER_SCOPED = "merge all", f"telephone ({LOSS:g})", "over-scoped rules"
EQUALLY_LONG = f"raw retrieved (as long as {GATED})"
GATED_MERGE, GATED_OVER = "gate + merge all", "gate + over-scoped rules"
UNSCOPED = "gate without scope replay + over-scoped rules"


@value
class Arm:
    """One memory.

    Attributes:
        make: gives the consolidator of a stream, an agent that chooses, or somebody's memory, by its seed.
        gate: its settings; None takes whatever is proposed.
        shows: the whole view, nothing, for each question the raw lines nearest to it, or what a memory of somebody's
            own shows and answers.
        tried_by: the reader that the gate asks.
        beside: the arm whose length what is retrieved has, after each update; it runs before this one.
        loses: whether something of what happened is not there any more, and no gate looks after it.
    """

    name: str
    make: Callable[[int], Consolidator | Chooser | Port]
    gate: GateSettings | None = None
    shows: Shows = "view"
    loses: bool = False
    beside: str = ""
    tried_by: str = "weak"


def _always(consolidator: Consolidator) -> Callable[[int], Consolidator]:
    return lambda _: consolidator


ARMS = (
    Arm(NO_MEMORY, _always(none), shows="nothing", loses=True), Arm(KEEP_ALL, _always(none)),
    Arm(f"raw retrieved ({RETRIEVED_LINES} lines)", _always(none), shows="retrieved"),
    Arm("latest per key", _always(baselines.LatestPerKey())),
    Arm("drop oldest (50)", _always(baselines.DropOldest(50)), loses=True),
    Arm(TELEPHONE, lambda seed: baselines.Telephone(LOSS, seed), loses=True),
    Arm("append only", _always(baselines.AppendOnly()), loses=True),
    Arm("full rewrite (12 lines)", _always(baselines.FullRewrite(12)), loses=True),
    Arm("rules only", _always(baselines.RulesOnly()), loses=True), Arm(RULES, _always(rules_plus_exceptions)),
    Arm("misgrouped (0.2)", lambda seed: baselines.Misgrouped(0.2, seed), loses=True),
    Arm(OVER_SCOPED, _always(baselines.OverScoped()), loses=True),
    Arm(MERGE_ALL, _always(baselines.MergeAll()), loses=True),
    Arm(GATED, _always(rules_plus_exceptions), GateSettings()),
    Arm(EQUALLY_LONG, _always(none), shows="retrieved", beside=GATED),
    Arm("gate (theta .8) + rules plus exceptions", _always(rules_plus_exceptions), GateSettings(theta=0.8)),
    Arm("gate (theta .9) + rules plus exceptions", _always(rules_plus_exceptions), GateSettings(theta=0.9)),
    Arm("gate + misgrouped (0.2)", lambda seed: baselines.Misgrouped(0.2, seed), GateSettings()),
    Arm(GATED_MERGE, _always(baselines.MergeAll()), GateSettings()),
    Arm(GATED_OVER, _always(baselines.OverScoped()), GateSettings()),
    Arm(UNSCOPED, _always(baselines.OverScoped()), GateSettings(scope=False)),
)  # fmt: skip


def chosen(names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them, and what one is set beside; all without names."""
    return those_named(ARMS, names, [NO_MEMORY, KEEP_ALL, *(arm.beside for arm in ARMS if arm.name in names)])


def those_named(there: Sequence[Any], names: Collection[str], beside: Collection[str]) -> tuple[Any, ...]:
    """Give memories by name, in their own order; all of them without names.

    Args:
        beside: names of what those that were typed are set beside, such as no memory.
    """
    known = [one.name for one in there]
    for name in names:
        if name not in known:
            raise InvalidArgument(f"there is no arm {name!r}; these are: {', '.join(known)}")
    wanted = {*names, *beside}
    return tuple(one for one in there if not names or one.name in wanted)


class _Lines:
    """A memory that keeps every line: through the port it must be worth what keep all is."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def update(self, episodes: Sequence[str]) -> None:
        self._lines += episodes

    def view(self) -> str:
        return "\n".join(self._lines)


THROUGH_PORT = "keep all, through the port"


def under_test(addresses: Sequence[str]) -> tuple[Arm, ...]:
    """Give the memories at addresses, with one before them that shows whether the port itself changes a figure."""
    made = [(THROUGH_PORT, _Lines), *((address, load(address)) for address in dict.fromkeys(addresses))]
    return tuple(Arm(name, partial(Port, name, make), shows="own") for name, make in made)


MODEL_GATED = "gate + model from raw"
MODEL_RAW = "model from raw"


def name_of(regime: Regime) -> str:
    """Name the arm of a regime."""
    return f"{regime.name}: model" + (f" ({EPISODES_MAX})" if regime.keeps else "")


def of_model(complete: Callable[[str], str], name: str, tried_by: str) -> tuple[Arm, ...]:
    """Give the memories that a model writes, in each regime; ours with its gate.

    Args:
        tried_by: the reader that the gate asks.
    """
    agent, writer = ModelAgent(complete, name), ByModel(complete, name)
    return (
        *(_arm(regime, agent) for regime in REGIMES), Arm(MODEL_RAW, lambda _: writer, loses=True),
        Arm(MODEL_GATED, lambda _: writer, GateSettings(), tried_by=tried_by),
    )  # fmt: skip


def chosen_of(there: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them; all without names."""
    return those_named(there, names, (NO_MEMORY, KEEP_ALL))


def _arm(regime: Regime, agent: ModelAgent) -> Arm:
    return Arm(name_of(regime), lambda _: Chooser(agent, regime), loses=True)
