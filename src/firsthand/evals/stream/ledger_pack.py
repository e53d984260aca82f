"""The pack ``ledger``: made facts come to every memory, and two readers by rule answer from it.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 20 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Everything is made in memory: no store, no model, no network. The checks are of the
schedule ``stream`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.evals.stream import arms, curves, packs, page, report
from firsthand.evals.stream.checks import Check, checks
from firsthand.evals.stream.packs import Options, Report, Section
from firsthand.evals.stream.report import SHARES, Run
from firsthand.evals.stream.run import run as run_streams
from firsthand.value import asdict

CHECKED = "stream"
STREAMS, EPISODES = 20, 320


def run(options: Options) -> Report:
    """Run every schedule that was asked for."""
    first = options.seed or 0
    streams = STREAMS if options.streams is None else options.streams
    episodes = EPISODES if options.episodes is None else options.episodes
    ran: list[tuple[Run, Sequence[Check]]] = []
    for name in options.schedule or [CHECKED]:
        made = run_streams(
            arms.chosen(options.arm), range(first, first + streams), name, episodes=episodes,
            progress=options.progress(f"{name}:", "streams"),
        )  # fmt: skip
        one = Run(name, episodes, tuple(made))
        ran.append((one, checks(one.streams, one.episodes) if name == CHECKED else ()))
    found = [check for _, checked in ran for check in checked]
    schedules = ", ".join(one.schedule for one, _ in ran)
    records: list[dict[str, object]] = []
    for one, checked in ran:
        records += [{"stream": asdict(stream)} for stream in one.streams]
        records += [{"check": asdict(check)} for check in checked]
    return Report(
        sections=[_section(*one) for one in ran],
        records=records,
        headline=packs.headline([one.held for one in found], f"{ran[0][0].number} streams; {schedules}"),
        failed=[str(one) for one in found if not one.held],
        kept={
            "checks": [asdict(one) for one in found],
            "streams": [asdict(stream) for one, _ in ran for stream in one.streams],
        },
        markdown=lambda: "\n".join([report.HEAD, *(report.markdown(*one) for one in ran)]),
        html=lambda: page.page(ran),
    )


def _section(one: Run, made: Sequence[Check]) -> Section:
    rows = [
        (name, *(f"{curves.end(one.streams, name, figure).mean:.3f}" for figure in SHARES),
         f"{curves.end(one.streams, name, 'characters').mean:,.0f}")
        for name in one.arms
    ]  # fmt: skip
    return Section(str(one), [("arm", *SHARES, "characters"), *rows], [str(check) for check in made])
