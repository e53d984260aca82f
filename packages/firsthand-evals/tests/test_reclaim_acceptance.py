"""reclaim/acceptance.py: coverage and risk of the probe and of `check`: right answers, partial ones, stale ones."""

from __future__ import annotations

import pytest

from firsthand_evals.reclaim import acceptance, items, own, readers, run, tasks
from firsthand_evals.reclaim.acceptance import CHECK, PROBE, Acceptance
from firsthand_evals.reclaim.seam import subject
from firsthand_evals.stats import rate


def whole(messages, budget):
    return "\n".join(message["content"] for message in messages)[:budget]


def concluded(messages, budget):
    return f"You concluded the total: {messages[2]['content'].rpartition('ANSWER: ')[2]}."[:budget]


@pytest.mark.parametrize(
    ("memory", "budget", "reader", "through", "wrong"),
    [
        (whole, 9_000, readers.Recomputing(), {PROBE: 4, CHECK: 4}, {PROBE: 0, CHECK: 0}),
        (whole, 330, readers.Recomputing(heeds_tag=False), {PROBE: 0, CHECK: 4}, {PROBE: 0, CHECK: 4}),
        (concluded, 600, readers.Believing(), {PROBE: 0, CHECK: 0}, {PROBE: 0, CHECK: 0}),
    ],
)
def test_coverage_and_risk_are_of_what_is_let_through(memory, budget, reader, through, wrong):
    """A sum of what was said passes a check, also where items are missing; a conclusion without its source does not."""
    cases = run.cases(subject(memory), tasks.ledger(4, 8), budget=budget)
    made = list(run.run(cases, reader, probe=own.regime))
    right = sum(item.outcome == "recovered" for item in made)
    keyed = {items.key(case, reader): case for case in cases}
    assert acceptance.acceptances(made, keyed, [memory.__name__, "another"]) == tuple(
        Acceptance(memory.__name__, judge, rate(through[judge], 4), rate(wrong[judge], through[judge]),
                   rate(4 - right, 4))
        for judge in (PROBE, CHECK)
    )  # fmt: skip
