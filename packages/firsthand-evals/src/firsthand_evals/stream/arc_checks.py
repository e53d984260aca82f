"""The checks of the tasks on grids, written down before a run: what would show that harness, gate or idea is wrong.

    A0  without memory a solver solves what it seeks by itself, with all of it what came; no program is stopped
    A1  one strategy for everything costs a solver that must follow it what needs no memory, and one that may
        abstain nothing
    A2  nothing that loses solves more of what came than the raw episodes
    A3  rules help a solver that seeks nothing with what never came together
    A4  nothing that was let in fails its own replay
    A5  the gate lets the rules in, the memory is a third as long, nothing is lost
    A6  the gate takes nothing that is no rule of one family
    A7  ten rounds one at a time end below ten rounds all at once            (Figure 2)
    A8  mixed batches end below batches of one family                        (Figure 4)
    A9  what a narrow stream froze does not do for variants, rules do        (Figure 11)

A7 to A9 are about a scripted loss: they hold the harness to be able to see the paper's
shapes, and say nothing about a model. The invariant: each can fail, and names its figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from firsthand_evals import stats
from firsthand_evals.stats import Difference
from firsthand_evals.stream import checks, curves
from firsthand_evals.stream.arc_arms import ARMS, BUFFER, GATED, GATED_MERGE, GATED_PHANTOM, OVER_SCOPED, RULES
from firsthand_evals.stream.arc_solvers import FORCED, STRONG, WEAK
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.run import Stream

ACCEPTED_MIN, TIMES_SHORTER_MIN = 0.9, 3.0
GATED_OVER = f"gate + {OVER_SCOPED}"
PAIRS = {
    "A1": (MERGE_ALL, NO_MEMORY, f"p0 {FORCED}"),
    "A3": (RULES, KEEP_ALL, f"unseen {WEAK}"),
    "A7": (f"{BUFFER}, rounds-10", f"{BUFFER}, static-10", f"p0 {FORCED}"),
    "A8": (f"{BUFFER}, mixed", f"{BUFFER}, homogeneous", f"seen {WEAK}"),
}
"""Of each check that is a difference: the arm, the one that it is set beside, and the figure."""


def checked(main: Sequence[Stream], beside: Sequence[Stream], stopped: int) -> tuple[Check, ...]:
    """Check a run; what wants an arm or a setting that did not run is left out.

    Args:
        main: streams of the schedule ``stream``.
        beside: those of the paper's settings, with the setting's name for the arm's.
        stopped: programs that did not come to their end.
    """
    ran = {one.arm for one in (*main, *beside)}
    found: list[Check] = []
    for needs, made in (
        ({NO_MEMORY, KEEP_ALL}, partial(_harness, stopped=stopped)),
        ({MERGE_ALL, NO_MEMORY}, _merge_all),
        ({KEEP_ALL}, _raw_is_best),
        ({RULES, KEEP_ALL}, _rules_help),
        (set[str](), _promises),
        ({GATED, KEEP_ALL, NO_MEMORY}, _lets_in),
        ({GATED_MERGE, GATED_OVER, GATED_PHANTOM}, _keeps_out),
    ):
        if needs <= ran:
            found += made(main)
    if beside:
        found += [*_shapes(beside)]
    return tuple(found)


def by_chance(streams: Sequence[Stream]) -> dict[str, float]:
    """Give of each check that is a difference how often chance alone would do as much, corrected after Holm."""
    ran = {one.arm for one in streams}
    return curves.holm({
        name: curves.chance_of(streams, one, other, figure)
        for name, (one, other, figure) in PAIRS.items() if {one, other} <= ran
    })  # fmt: skip


def _apart(streams: Sequence[Stream], name: str) -> Difference:
    return curves.difference(streams, *PAIRS[name])


def _harness(streams: Sequence[Stream], stopped: int) -> Iterator[Check]:
    none, whole = curves.of(streams, NO_MEMORY), curves.of(streams, KEEP_ALL)
    alone = all(one.end(f"p0 {STRONG}") == 1 and one.end(f"seen {WEAK}") == 0 for one in none)
    yield Check("A0", "without memory the strong solver solves p0, the weak one nothing", alone,
                f"strong {curves.end(streams, NO_MEMORY, f'p0 {STRONG}')}")  # fmt: skip
    all_of_it = all(one.end(f"seen {name}") == 1 for one in whole for name in (STRONG, WEAK, FORCED))
    yield Check("A0", "with all that happened every solver solves all that came", all_of_it,
                f"weak {curves.end(streams, KEEP_ALL, f'seen {WEAK}')}")  # fmt: skip
    yield Check("A0", "no program of the pack is stopped by the sandbox", stopped == 0, f"{stopped} stopped")


def _merge_all(streams: Sequence[Stream]) -> Iterator[Check]:
    found = _apart(streams, "A1")
    yield Check("A1", "merge all ends below no memory on p0 for a solver that must follow it", found.high < 0,
                str(found))  # fmt: skip
    free = curves.difference(streams, MERGE_ALL, NO_MEMORY, f"p0 {STRONG}")
    yield Check("A1", "... and costs one that may abstain nothing", free.mean == 0, str(free))


def _raw_is_best(streams: Sequence[Stream]) -> Iterator[Check]:
    ran = {one.arm for one in streams}
    lossy = [one.name for one in ARMS if one.loses and one.name in ran]
    better = []
    for name in lossy:
        found = curves.difference(streams, name, KEEP_ALL, f"seen {WEAK}")
        better += [f"{name}: {found}"] if found.low > 0 else []
    yield Check("A2", "no arm that loses something solves more of what came than keep all", not better,
                "; ".join(better) or f"{len(lossy)} arms: none is better")  # fmt: skip


def _rules_help(streams: Sequence[Stream]) -> Iterator[Check]:
    found = _apart(streams, "A3")
    yield Check("A3", "rules help a solver that seeks nothing with what never came together", found.low > 0,
                str(found))  # fmt: skip


def _promises(streams: Sequence[Stream]) -> Iterator[Check]:
    with_gate = {one.name for one in ARMS if one.gate is not None}
    gated = [one for one in streams if one.arm in with_gate]
    if gated:
        broken, asked = sum(one.violations for one in gated), sum(one.actions["asked"] for one in gated)
        yield Check("A4", "every entry that stands gives its own sources, and what is not shown is solved", broken == 0,
                    f"{broken} violations after {asked:,} updates of {len(gated):,} streams")  # fmt: skip


def _lets_in(streams: Sequence[Stream]) -> Iterator[Check]:
    share, own = checks.accepted(streams, GATED), curves.of(streams, GATED)
    gated, whole = (curves.end(streams, name, "characters").mean for name in (GATED, KEEP_ALL))
    times = whole / gated if gated else 0.0
    kept = all(one.end(figure) == 1 for one in own for figure in (f"seen {WEAK}", f"p0 {STRONG}", f"p0 {FORCED}"))
    held = (share.share or 0.0) >= ACCEPTED_MIN and times >= TIMES_SHORTER_MIN and kept
    says = f"the gate lets in {ACCEPTED_MIN:.0%} of the rules, {TIMES_SHORTER_MIN:g} times shorter, nothing lost"
    yield Check("A5", says, held, f"accepted {share}; {times:.1f} times shorter; all is solved still: {kept}")


def _keeps_out(streams: Sequence[Stream]) -> Iterator[Check]:
    rates = [one.rates for name in (GATED_MERGE, GATED_OVER, GATED_PHANTOM) for one in curves.of(streams, name)]
    taken, proposed = sum(one.bad_taken for one in rates), sum(one.bad_taken + one.bad_refused for one in rates)
    says = "the gate takes nothing of merge all, over-scoped and phantom rules that is no rule of its family"
    yield Check("A6", says, taken == 0 and proposed > 0, f"{taken} of {proposed:,} proposed")


def _shapes(beside: Sequence[Stream]) -> Iterator[Check]:
    rounds = _apart(beside, "A7")
    yield Check("A7", "the buffer ends lower after ten rounds one at a time than all at once (scripted)",
                rounds.high < 0, str(rounds))  # fmt: skip
    mixed = _apart(beside, "A8")
    yield Check("A8", "the buffer ends lower with mixed batches than with batches of one family (scripted)",
                mixed.high < 0, str(mixed))  # fmt: skip
    frozen = fall_to_variants(beside, f"{BUFFER}, narrow")
    gated = fall_to_variants(beside, f"{GATED}, narrow")
    yield Check("A9", "a narrow stream's frozen buffer solves fewer variants than tasks that came, rules as many",
                frozen.high < 0 and gated.low >= 0, f"buffer {frozen}; gated rules {gated}")  # fmt: skip


def fall_to_variants(streams: Sequence[Stream], arm: str) -> Difference:
    """Give variants minus what came, for the weak solver, by stream."""
    own = curves.of(streams, arm)
    return stats.difference(
        {one.seed: [one.end(f"variant {WEAK}")] for one in own}, {one.seed: [one.end(f"seen {WEAK}")] for one in own}
    )
