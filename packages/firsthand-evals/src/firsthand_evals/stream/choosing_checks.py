"""What the environment in which an agent chooses is held to, written down before it was run.

    K1  the bounds of every regime hold after every update
    K2  the same faulty agent keeps more when it may choose than when it must consolidate (Figure 5, A9)
    K3  with consolidation switched off it does no harm to what needs no memory (Figure 9a, A10)
    K4  entries alone miss the exceptions, cases alone miss the rules (Figure 9a)
    K5  it does less harm where entries are not rewritten in place (version 2, Table 5)
    K6  a larger buffer keeps more (Figure 5)

The invariant: each can fail; the agents are scripted, so K2 to K6 say that the
environment can show what the paper saw, and nothing about any model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from firsthand.value import value
from firsthand_evals.stream import choosing, curves, model_checks
from firsthand_evals.stream.arc_solvers import FORCED as FOLLOWS
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.choosing import APPEND_SEEN, AUTO, ENTRIES_MAX, EPISODIC, FORCED, PRUNE
from firsthand_evals.stream.choosing_arms import name_of
from firsthand_evals.stream.measure import WEAK
from firsthand_evals.stream.run import Stream

FAULTY, GOOD = "eroding", "careful"
SMALL, LARGE = 12, 24
"""Cases of the buffer on grids: a third and two thirds of what comes."""


def checks(streams: Sequence[Stream], episodes: int) -> tuple[Check, ...]:  # noqa: ARG001 - as checks of the ledger
    """Check a run; what wants an arm that did not run is left out."""
    return (*_bounds(streams), *_compared(streams, _FACTS), *model_checks.checks(streams))


def of_grids(streams: Sequence[Stream]) -> tuple[Check, ...]:
    """Check a run on tasks on grids; what wants an arm that did not run is left out."""
    return (*_bounds(streams), *_compared(streams, _GRIDS))


def _bounds(streams: Sequence[Stream]) -> Iterator[Check]:
    regimes = {one.name: one for one in choosing.REGIMES}
    wrong = updates = 0
    for stream in streams:
        regime = regimes.get(stream.arm.partition(": ")[0])
        if regime is None:
            continue
        bound = re.search(r"\((\d+)\)", stream.arm)
        most = int(bound[1]) if bound else 0
        entries = 0 if regime.consolidates == "never" else ENTRIES_MAX
        updates += len(stream.points)
        wrong += sum(point["raw"] > most or point["entries"] > entries for point in stream.points)
    if updates:
        yield Check("K1", "buffer and entries are within the bounds of their regime", wrong == 0,
                    f"{wrong} of {updates:,} updates are not")  # fmt: skip


@value
class _Pair:
    """A check that one arm is above another one in a figure."""

    name: str
    says: str
    one: str
    other: str
    figure: str


_GOOD = name_of(AUTO, GOOD)
_FACTS = (
    _Pair("K2", "who chooses keeps more of what was seen than who is forced", name_of(AUTO, FAULTY),
          name_of(FORCED, FAULTY), f"seen {WEAK}"),
    _Pair("K3", "episodes alone do no harm that consolidation does, on what needs no memory", name_of(EPISODIC, GOOD),
          name_of(AUTO, FAULTY), f"p0 {WEAK}"),
    _Pair("K4", "entries alone miss the exceptions", _GOOD, name_of(AUTO, GOOD, shows="entries"), f"exceptions {WEAK}"),
    _Pair("K4", "cases alone miss the rules", _GOOD, name_of(AUTO, GOOD, shows="raw"), f"rule {WEAK}"),
    _Pair("K5", "appending does less harm than rewriting in place, on p0", name_of(APPEND_SEEN, FAULTY),
          name_of(FORCED, FAULTY), f"p0 {WEAK}"),
    _Pair("K5", "appending and pruning does less harm than rewriting in place, on p0", name_of(PRUNE, FAULTY),
          name_of(FORCED, FAULTY), f"p0 {WEAK}"),
)  # fmt: skip
_GRIDS = (
    _Pair("K2", "the merging agent keeps more of what was seen when it may choose", name_of(AUTO, "merging", SMALL),
          name_of(FORCED, "merging"), f"seen {WEAK}"),
    _Pair("K2", "... the agent with a strategy buffer, too, when it keeps 24 cases", name_of(AUTO, "buffer", LARGE),
          name_of(FORCED, "buffer"), f"seen {WEAK}"),
    _Pair("K3", "episodes alone do no harm that consolidation does, for a solver that must follow the memory",
          name_of(EPISODIC, "keep", SMALL), name_of(FORCED, "merging"), f"p0 {FOLLOWS}"),
    _Pair("K6", "a larger buffer keeps more of what was seen", name_of(AUTO, "buffer", LARGE),
          name_of(AUTO, "buffer", SMALL), f"seen {WEAK}"),
)  # fmt: skip


def _compared(streams: Sequence[Stream], pairs: Sequence[_Pair]) -> Iterator[Check]:
    ran = {one.arm for one in streams}
    for one in pairs:
        if {one.one, one.other} <= ran:
            found = curves.difference(streams, one.one, one.other, one.figure)
            yield Check(one.name, one.says, found.low > 0, str(found))
