"""The pack ``arcstream``: tasks on grids come to every memory, with the program that solved each.

    schedule stream: 20 streams of 36 updates, seeds 0 to 19, 15 arms
    arm        p0 strong  p0 forced  seen strong  ...
    no memory  1.000      1.000      0.502
    A0 held: ...

Beside the arms stand the paper's own settings: its 19 problems (Figure 2, D.5), mixed and
like batches (Figure 4), a narrow stream (Figure 11), fresh and cumulative memory (Figures
10 and 18). Programs run in the sandbox. With ``--model`` a model writes the programs
instead: that is `arc_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firsthand.errors import InvalidArgument
from firsthand.value import asdict, replace
from firsthand_evals.stream import arc_checks, arc_model, arc_report, curves, packs
from firsthand_evals.stream.arc_arms import SCHEDULES, Arm, chosen
from firsthand_evals.stream.arc_paper import ABOUT, Setting, settings
from firsthand_evals.stream.arc_report import Found, Run
from firsthand_evals.stream.arc_run import SHARES, Bench, stream, streams
from firsthand_evals.stream.arc_sandbox import Sandbox
from firsthand_evals.stream.arc_solvers import Desk
from firsthand_evals.stream.arc_world import narrow, problems, world
from firsthand_evals.stream.packs import Options, Report, Section
from firsthand_evals.stream.run import Stream

STREAMS = 20
CHECKED = "stream"
_POOLS = {"world": world, "problems": problems, "narrow": narrow}


def run(options: Options) -> Report:
    """Run the arms that were asked for; with none and no schedule asked for, all of them and the paper's settings."""
    if options.model is not None:
        return arc_model.run(options)
    first = options.seed or 0
    seeds = range(first, first + (STREAMS if options.streams is None else options.streams))
    schedules = [*dict.fromkeys(options.schedule)] or [CHECKED]
    unknown = [name for name in schedules if name not in SCHEDULES]
    if unknown:
        raise InvalidArgument(f"there is no schedule {unknown[0]!r}; these are: {', '.join(SCHEDULES)}")
    arms = chosen(options.arm)
    beside = () if options.arm or options.schedule else settings()
    told = options.progress("arcstream:", "streams")
    whole, done = len(seeds) * (len(arms) * len(schedules) + len(beside)), 0

    def count() -> None:
        nonlocal done
        done += 1
        told(done, whole)

    with Sandbox() as sandbox:
        found = _all(sandbox, seeds, schedules, arms, beside, count)
    return _report(found, len(seeds))


def _all(
    sandbox: Sandbox, seeds: Sequence[int], schedules: Sequence[str], arms: Sequence[Arm], beside: Sequence[Setting],
    count: Callable[[], None],
) -> Found:  # fmt: skip
    main: list[Stream] = []
    set_beside: list[Stream] = []
    stopped: dict[str, int] = {}
    for seed in seeds:
        for pool, make in _POOLS.items():
            here = [one for one in beside if one.pool == pool]
            if pool != "world" and not here:
                continue
            bench = Bench(Desk(make(seed), sandbox))  # one at a time: the sandbox holds the tasks of one
            if pool == "world":
                for name in schedules:
                    main += streams(bench, arms, name, told=count)
            set_beside += _beside(bench, here, count)
            for end, number in bench.desk.stopped.items():
                stopped[end] = stopped.get(end, 0) + number
    runs = [Run(name, tuple(one for one in main if one.schedule == name)) for name in schedules]
    made = arc_checks.checked(runs[0].streams, set_beside, sum(stopped.values())) if CHECKED in schedules else ()
    return Found(runs, beside, set_beside, made, sandbox.layers, stopped)


def _beside(bench: Bench, here: Sequence[Setting], count: Callable[[], None]) -> Iterator[Stream]:
    for one in here:
        yield replace(stream(bench, one.arm, one.schedule), arm=one.name)
        count()


def _report(found: Found, seeds: int) -> Report:
    sections = [
        Section(str(one), [("arm", *SHARES, "characters"), *(_row(one, name) for name in one.arms)])
        for one in found.runs
    ]
    for figure, beside in found.of_figure().items():
        figures = arc_report.figures_of(figure)
        rows = [
            (one.name, *(f"{curves.end(found.beside, one.name, it).mean:.3f}" for it in figures), one.theirs)
            for one in beside
        ]
        sections.append(Section(f"{figure}: {ABOUT[figure]}", [("setting", *figures, "theirs"), *rows]))
    sections.append(Section(found.held, (), [str(one) for one in found.checks]))
    every = [*(one for it in found.runs for one in it.streams), *found.beside]
    told = f"{seeds} streams; {', '.join(one.schedule for one in found.runs)}"
    checks = [asdict(one) for one in found.checks]
    return Report(
        sections, [*({"stream": asdict(one)} for one in every), *({"check": one} for one in checks)],
        packs.headline([one.held for one in found.checks], told),
        [str(one) for one in found.checks if not one.held],
        {"checks": checks, "held by": [*found.layers], "streams": [asdict(one) for one in every]},
        lambda: arc_report.markdown(found), lambda: arc_report.html(found),
    )  # fmt: skip


def _row(one: Run, name: str) -> tuple[str, ...]:
    shares = [f"{curves.end(one.streams, name, figure).mean:.3f}" for figure in SHARES]
    return (name, *shares, f"{curves.end(one.streams, name, 'characters').mean:,.0f}")
