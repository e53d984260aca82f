"""The pack ``choosing-grids``: an agent chooses what becomes of tasks on grids and of the programs that solved them.

    20 streams of 36 updates, seeds 0 to 19, 13 arms
    arm                 p0 strong  p0 forced  seen strong  ...
    forced: merging     1.000      0.000      0.597
    K2 held: ...

Tasks and solvers are those of ``arcstream``. No model and no network; programs run in the
sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.value import asdict
from firsthand_evals.stream import choosing_checks, curves, packs, page, report
from firsthand_evals.stream.arc_run import Bench
from firsthand_evals.stream.arc_sandbox import Sandbox
from firsthand_evals.stream.arc_solvers import Desk
from firsthand_evals.stream.arc_world import world
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.choosing_grids import SHARES, chosen, stream
from firsthand_evals.stream.packs import Options, Report, Section
from firsthand_evals.stream.run import Stream

STREAMS = 20
SIZES = ("characters", "raw", "entries")
TITLE = "What agents choose to remember of tasks on grids"
HEAD = f"""\
# {TITLE}

Looked at while tuning: the first two of these streams, before the checks were written down.
Written by `firsthand eval stream --pack choosing-grids --markdown FILE`. No model and no network: agents and solvers
are rules, and the faults of the agents were chosen by us. How it is made, and what it does not say: docs/stream.md.
"""
ABOUT = """\
p0: tasks that the solver gives without any memory; seen: tasks that came, on grids that are held out; unseen: a \
family and a skill that never came together; variant: tasks that came, with other parameters; regressed: of what was \
solved before, what is not any more. A strong solver seeks a program by itself where memory has none, a weak one does \
not, a forced one must follow the first strategy of the memory. Means over streams with 95 % intervals of resampled \
streams."""


def run(options: Options) -> Report:
    """Run every agent in its regimes."""
    first = options.seed or 0
    seeds = range(first, first + (STREAMS if options.streams is None else options.streams))
    arms = chosen(options.arm)
    told = options.progress("grids:", "streams")
    streams: list[Stream] = []
    with Sandbox() as sandbox:
        for seed in seeds:
            bench = Bench(Desk(world(seed), sandbox))
            for arm in arms:
                streams.append(stream(bench, arm))
                told(len(streams), len(arms) * len(seeds))
    return _report(streams, choosing_checks.of_grids(streams))


def _report(streams: Sequence[Stream], made: Sequence[Check]) -> Report:
    names = [*dict.fromkeys(one.arm for one in streams)]
    seeds = [*dict.fromkeys(one.seed for one in streams)]
    told = (
        f"{len(seeds)} streams of {len(streams[0].points)} updates, seeds {seeds[0]} to {seeds[-1]}, {len(names)} arms"
    )
    rows = [
        (name, *(f"{curves.end(streams, name, figure).mean:.3f}" for figure in SHARES),
         *(f"{curves.end(streams, name, figure).mean:,.0f}" for figure in SIZES))
        for name in names
    ]  # fmt: skip
    records: list[dict[str, object]] = [{"stream": asdict(one)} for one in streams]
    return Report(
        sections=[Section(told, [("arm", *SHARES, *SIZES), *rows], [str(one) for one in made])],
        records=[*records, *({"check": asdict(one)} for one in made)],
        headline=packs.headline([one.held for one in made], f"{len(seeds)} streams"),
        failed=[str(one) for one in made if not one.held],
        kept={"checks": [asdict(one) for one in made], "streams": [asdict(one) for one in streams]},
        markdown=lambda: _markdown(told, streams, names, made),
        html=lambda: page.document(TITLE, [
            f"<p>{told}</p>", *page.pictures(streams, names, (*SHARES, "characters")), *page.checked(made)
        ]),
    )  # fmt: skip


def _markdown(told: str, streams: Sequence[Stream], names: Sequence[str], made: Sequence[Check]) -> str:
    rows = [
        [name, *(report.short(curves.end(streams, name, figure)) for figure in SHARES),
         *(f"{curves.end(streams, name, figure).mean:,.1f}" for figure in SIZES)]
        for name in names
    ]  # fmt: skip
    found = [[one.name, one.says, "held" if one.held else "**FAILED**", one.found] for one in made]
    parts = [HEAD, f"{told[0].upper()}{told[1:]}.", ABOUT, report.table(["arm", *SHARES, *SIZES], rows)]
    return (
        "\n\n".join([*parts, *report.choices(streams, names), report.table(["check", "says", "", "found"], found)])
        + "\n"
    )
