"""The pack ``ledger``: made facts come to every memory, and two readers by rule answer from it.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 21 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Everything is made in memory: no store, no network, and no model unless one is named. The
checks are of the schedule ``stream`` alone; with a model come the loops that it writes
in, ten passes over the stream and over everything at once, and H7 and H8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from firsthand_evals.stream import arms, checks, measure
from firsthand_evals.stream.arms import GATED, KEEP_ALL, NO_MEMORY, Arm
from firsthand_evals.stream.checks import AT_ONCE, BY_MODEL_FORCED, STREAMED, Check
from firsthand_evals.stream.packs import Options, Report
from firsthand_evals.stream.report import Run, report_of
from firsthand_evals.stream.run import Readers, Stream
from firsthand_evals.stream.run import run as run_streams
from firsthand_evals.stream.seats import Complete, Seats, plan

Checks = Callable[[Sequence[Stream], int], Sequence[Check]]
"""Gives the checks of streams, and of so many episodes each."""
ArmsOf = Callable[[Complete], Sequence[tuple[str, Sequence[Arm]]]]
CHECKED = "stream"
STREAMS, EPISODES = 20, 320
MODEL_STREAMS, MODEL_EPISODES = 5, 64
"""Of a run with a model that does not say otherwise."""
BESIDE = (NO_MEMORY, KEEP_ALL, arms.RULES, GATED)
"""Memories without a model that stand beside those of one."""


def run(options: Options) -> Report:
    """Run every schedule that was asked for."""
    seats = Seats.of(options)
    streams, episodes = (STREAMS, EPISODES) if seats is None else (MODEL_STREAMS, MODEL_EPISODES)
    first = options.seed or 0
    seeds = range(first, first + (streams if options.streams is None else options.streams))
    episodes = episodes if options.episodes is None else options.episodes
    names = [*dict.fromkeys(options.schedule)] or ([CHECKED] if seats is None else [CHECKED, STREAMED, AT_ONCE])
    if seats is None:
        there = [(name, arms.chosen(options.arm)) for name in names]
        return report_of(ran(there, seeds, episodes, options, measure.readers, checks.checks))

    with closing(seats):
        found = with_model(
            options, seats, seeds, episodes, checks.harness,
            lambda complete: [(name, _of_model(name, complete, seats, options.arm)) for name in names],
        )  # fmt: skip
    last, made = found[-1]
    found[-1] = last, (*made, *checks.of_model([one for it, _ in found for one in it.streams]))
    return report_of(found, seats.told)


def with_model(
    options: Options, seats: Seats, seeds: Sequence[int], episodes: int, check: Checks, arms_of: ArmsOf
) -> list[tuple[Run, Sequence[Check]]]:
    """Tell what arms of a model will take, run them, and tell what it took.

    Args:
        arms_of: gives the arms of each schedule for a function from a prompt to a reply.
    """
    plan(options, seats.writer.name, arms_of, seats.readers_of, seeds, episodes, answered=seats.solver is not None)
    try:
        return ran(arms_of(seats.write), seeds, episodes, options, seats.readers, check)
    finally:
        options.tell(f"spent {seats.models.meter.spent}")


def _of_model(schedule: str, complete: Complete, seats: Seats, names: Sequence[str]) -> tuple[Arm, ...]:
    """Give the memories that a model writes, with those that stand beside them; of ten passes the forced one alone."""
    by_rule = [one for one in arms.ARMS if one.name in BESIDE]
    there = (*by_rule, *arms.of_model(complete, seats.writer.name, seats.tried_by))
    if schedule in {STREAMED, AT_ONCE}:
        there = tuple(one for one in there if one.name in {NO_MEMORY, KEEP_ALL, BY_MODEL_FORCED, *names})
    return arms.chosen_of(there, names)


def ran(
    there: Sequence[tuple[str, Sequence[Arm]]], seeds: Sequence[int], episodes: int, options: Options,
    readers: Readers, check: Checks,
) -> list[tuple[Run, Sequence[Check]]]:  # fmt: skip
    """Run arms by schedule; what comes as it happened is checked.

    Args:
        readers: gives those who answer.
    """
    found: list[tuple[Run, Sequence[Check]]] = []
    for name, arms_ in there:
        made = run_streams(
            arms_, seeds, name, episodes=episodes, progress=options.progress(f"{name}:", "streams"), readers=readers
        )
        one = Run(name, episodes, tuple(made))
        found.append((one, check(one.streams, episodes) if name == CHECKED else ()))
    return found
