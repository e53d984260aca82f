"""The pack ``choosing``: an agent is shown what it remembers, and chooses what it retains, deletes, consolidates.

    schedule stream: 20 streams of 20 updates, 160 episodes each, seeds 0 to 19, 23 arms
    arm                   seen strong  seen weak  ...
    forced: eroding       0.420        0.420
    K2 held: ...

The facts are those of the ledger, and so are the readers. Agents by rule are always
there; a model is one more, when one is named.
"""

from __future__ import annotations

from contextlib import closing

from firsthand_evals.stream import choosing_arms, measure, report
from firsthand_evals.stream.choosing_checks import checks
from firsthand_evals.stream.ledger_pack import CHECKED, MODEL_EPISODES, MODEL_STREAMS, ran, with_model
from firsthand_evals.stream.packs import Options, Report
from firsthand_evals.stream.seats import Seats
from firsthand_evals.stream.told import report_of

STREAMS, EPISODES = 20, 160
HEAD = """\
# What agents choose to remember

Looked at while tuning: the first four of these streams, before the checks were written down.
Written by `firsthand eval stream --pack choosing --markdown FILE`. No model and no network: agents and readers are
rules, and the faults of the agents were chosen by us. How it is made, and what it does not say: docs/stream.md.
"""


def run(options: Options) -> Report:
    """Run every agent in its regimes."""
    seats = Seats.of(options)
    streams, episodes = (STREAMS, EPISODES) if seats is None else (MODEL_STREAMS, MODEL_EPISODES)
    first = options.seed or 0
    seeds = range(first, first + (streams if options.streams is None else options.streams))
    episodes = episodes if options.episodes is None else options.episodes
    if seats is None:
        there = [(CHECKED, choosing_arms.chosen(choosing_arms.SCRIPTED, options.arm))]
        return report_of(ran(there, seeds, episodes, options, measure.readers, checks), HEAD)

    with closing(seats):
        found = with_model(
            options, seats, seeds, episodes, checks,
            lambda complete: [(CHECKED, choosing_arms.chosen(
                (*choosing_arms.SCRIPTED, *choosing_arms.of_model(complete, seats.writer.name)), options.arm
            ))],
        )  # fmt: skip
    return report_of(found, report.head_of(seats.told))
