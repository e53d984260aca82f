"""What the environment in which an agent chooses is held to, written down before it was run.

    K1  the bounds of every regime hold after every update
    K2  the same faulty agent keeps more when it may choose than when it must consolidate (Figure 5, A9)
    K3  with consolidation switched off it does no harm to what needs no memory (Figure 9a, A10)
    K4  entries alone miss the exceptions, cases alone miss the rules (Figure 9a)
    K5  it does less harm where entries are not rewritten in place (version 2, Table 5)

The invariant: each can fail; the agents are scripted, so K2 to K5 say that the
environment can show what the paper saw, and nothing about any model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand.evals.stream import choosing, curves, model_checks
from firsthand.evals.stream.checks import Check
from firsthand.evals.stream.choosing import APPEND_SEEN, AUTO, ENTRIES_MAX, EPISODES_MAX, EPISODIC, FORCED, PRUNE
from firsthand.evals.stream.choosing_arms import EPISODES_LARGE, name_of
from firsthand.evals.stream.measure import WEAK
from firsthand.evals.stream.run import Stream

FAULTY, GOOD = "eroding", "careful"


def checks(streams: Sequence[Stream], episodes: int) -> tuple[Check, ...]:  # noqa: ARG001 - as checks of the ledger
    """Check a run; what wants an arm that did not run is left out."""
    return (*_bounds(streams), *_pairs(streams), *model_checks.checks(streams))


def _bounds(streams: Sequence[Stream]) -> Iterator[Check]:
    regimes = {one.name: one for one in choosing.REGIMES}
    wrong = updates = 0
    for stream in streams:
        regime = regimes.get(stream.arm.partition(": ")[0])
        if regime is None:
            continue
        most = 0 if not regime.keeps else EPISODES_LARGE if f"({EPISODES_LARGE})" in stream.arm else EPISODES_MAX
        entries = 0 if regime.consolidates == "never" else ENTRIES_MAX
        updates += len(stream.points)
        wrong += sum(point["raw"] > most or point["entries"] > entries for point in stream.points)
    if updates:
        yield Check("K1", "buffer and entries are within the bounds of their regime", wrong == 0,
                    f"{wrong} of {updates:,} updates are not")  # fmt: skip


def _pairs(streams: Sequence[Stream]) -> Iterator[Check]:
    ran = {one.arm for one in streams}
    good = name_of(AUTO, GOOD)
    for name, says, one, other, figure in (
        ("K2", "who chooses keeps more of what was seen than who is forced", name_of(AUTO, FAULTY),
         name_of(FORCED, FAULTY), f"seen {WEAK}"),
        ("K3", "episodes alone do no harm that consolidation does, on what needs no memory", name_of(EPISODIC, GOOD),
         name_of(AUTO, FAULTY), f"p0 {WEAK}"),
        ("K4", "entries alone miss the exceptions", good, name_of(AUTO, GOOD, shows="entries"), f"exceptions {WEAK}"),
        ("K4", "cases alone miss the rules", good, name_of(AUTO, GOOD, shows="raw"), f"rule {WEAK}"),
        ("K5", "appending does less harm than rewriting in place, on p0", name_of(APPEND_SEEN, FAULTY),
         name_of(FORCED, FAULTY), f"p0 {WEAK}"),
        ("K5", "appending and pruning does less harm than rewriting in place, on p0", name_of(PRUNE, FAULTY),
         name_of(FORCED, FAULTY), f"p0 {WEAK}"),
    ):  # fmt: skip
        if {one, other} <= ran:
            found = curves.difference(streams, one, other, figure)
            yield Check(name, says, found.low > 0, str(found))
