"""evals/reclaim/tables.py and sweeps.py: the paper's shapes without a model, and figures that add up."""

from __future__ import annotations

import json

import pytest

from firsthand.errors import InvalidArgument
from firsthand_evals.reclaim import cascade, experiments, policies, run, seam, tables, tasks
from firsthand_evals.reclaim import items as items_of
from firsthand_evals.reclaim.policies import BLANK, LOSSY, PADDED, SOURCE_FIRST, TAGGED
from firsthand_evals.reclaim.readers import Believing, Recomputing, Yielding
from firsthand_evals.reclaim.seam import Subject

N = 5


def table(cases, reader=None):
    (found,) = experiments.tables_of(run.run(cases, reader or Recomputing()))
    return found


def share(cell):
    return cell.recovered.share


def test_the_wall_the_control_and_the_fix():
    """Below .5 lossy and padded notes recover nothing and source-first everything, at equal length; above all do."""
    found = table(experiments.sweep("wall", N))
    for family in (tasks.ARITHMETIC, tasks.LOGIC):
        for memory in (LOSSY, PADDED, SOURCE_FIRST):
            cells = {one: found.cell(family=family, memory=memory, integrity=one) for one in (1.0, 0.6, 0.3, 0.1)}
            below = 1.0 if memory == SOURCE_FIRST else 0.0
            assert {one: share(cell) for one, cell in cells.items()} == {1.0: 1.0, 0.6: 1.0, 0.3: below, 0.1: below}
        wall = [found.cell(family=family, memory=memory, integrity=0.1).used for memory in (PADDED, SOURCE_FIRST)]
        assert wall[0] >= wall[1]
    fix, control = (
        next(
            one
            for one in found.pairs
            if dict(one.labels) == {"family": "logic", "integrity": 0.1} and name in one.about
        )
        for name in ("source_first", "lossy_padded")
    )
    assert str(fix) == f"recovered: source_first minus lossy: +1.000 [+1.000, +1.000] more ({N} problems, {N} pairs)"
    assert control.verdict == "no difference"


def test_a_lossy_memory_is_worse_than_an_empty_one_for_a_believing_reader():
    """Believing gives the wrong value from lossy and abstains on blank; recomputing abstains on both."""
    found = table(experiments.sweep("disposition", N), Believing())
    lossy, blank = found.cell(memory=LOSSY), found.cell(memory=BLANK)
    assert (lossy.wrong.share, lossy.of_wrong_attractor.share, blank.wrong.share, blank.abstained.share) == (1, 1, 0, 1)
    assert str(blank.of_wrong_attractor) == "none asked (n = 0)"
    assert str(blank.wrong) == f"0 of {N} (at most 0.600)"
    assert found.pairs[0].verdict == "more"
    calm = table(experiments.sweep("disposition", N))
    assert [one.abstained.share for one in calm.cells] == [1, 1]
    assert calm.pairs[0].verdict == "no difference"


def test_the_cliff_stands_at_the_budget_and_fails_silently_without_a_tag():
    """Past the budget source-first is wrong without a word; with the tag the reader abstains."""
    found = table(experiments.sweep("size", N, items=(4, 16), subjects=(policies.policy(TAGGED),)))
    got = {
        (memory, size): (share(cell), cell.silent.share, cell.abstained.share)
        for memory in (SOURCE_FIRST, PADDED, TAGGED)
        for size in (4, 16)
        for cell in [found.cell(memory=memory, budget=300, items=size)]
    }
    assert got == {
        (SOURCE_FIRST, 4): (1, 0, 0), (SOURCE_FIRST, 16): (0, 1, 0),
        (PADDED, 4): (0, 0, 1), (PADDED, 16): (0, 0, 1),
        (TAGGED, 4): (1, 0, 0), (TAGGED, 16): (0, 0, 1),
    }  # fmt: skip
    assert found.cell(memory=SOURCE_FIRST, budget=600, items=4).over == 0
    honest = table(experiments.sweep("completeness", N, items=(16,), budget=(300,)))
    assert honest.pairs[0].verdict == "fewer"
    careless = table(experiments.sweep("completeness", N, items=(16,), budget=(300,)), Recomputing(heeds_tag=False))
    assert careless.cell(memory=TAGGED).silent.share == 1


def test_insistence_moves_a_yielding_reader_and_not_a_recomputing_one():
    """Source-first is robust to every correction for one reader, and to none that misleads for the other."""
    strong, weak = table(experiments.sweep("taxonomy", N)), table(experiments.sweep("taxonomy", N), Yielding())
    for correction in ("generic", "directed", "false_locus", "are_you_sure", "handed_value"):
        assert share(strong.cell(memory=SOURCE_FIRST, correction=correction)) == 1
        assert share(weak.cell(memory=SOURCE_FIRST, correction=correction)) == 1
    for correction in ("confident_wrong", "sustained", "fabricated_source"):
        assert share(strong.cell(memory=SOURCE_FIRST, correction=correction)) == 1
        assert weak.cell(memory=SOURCE_FIRST, correction=correction).attractor.share == 1
    assert share(weak.cell(memory=LOSSY, correction="handed_value")) == 1
    adversarial = table(experiments.sweep("adversarial", N))
    assert {share(one) for one in adversarial.cells if one.label("memory") == SOURCE_FIRST} == {1}


def test_keeping_the_conclusion_costs_a_believing_reader():
    """Beside the source the conclusion does not harm who recomputes, and takes in who believes."""
    assert share(table(experiments.sweep("both", N)).cell(family="logic", memory=policies.BOTH)) == 1
    assert (
        table(experiments.sweep("both", N), Believing()).cell(family="logic", memory=policies.BOTH).attractor.share == 1
    )


def test_errors_of_the_agents_own_count_only_where_it_erred():
    """Sessions that came out right are left out; of the others the source recovers, and the agent's own word not."""
    cases = experiments.sweep("endogenous", 12, 2)
    items = list(run.run(cases, Recomputing()))
    erred = {one.parameters["problem"] for one in items if one.attractor != one.answer}
    assert 0 < len(erred) < 12
    (found,) = experiments.tables_of(items)
    assert found.remarks == (
        f"{24 - 2 * len(erred)} of 24 items are left out: their session did not go wrong, or the memory failed",
    )
    failed = [items_of.failed(one, Recomputing(), "it raised") for one in cases]
    assert experiments.tables_of(failed)[0].cells == ()  # what their sessions concluded is not known
    source, own = found.cell(memory=SOURCE_FIRST), found.cell(memory="own_conclusion")
    assert (source.n, share(source), share(own)) == (len(erred), 1, 0)
    assert table(cases, Believing()).cell(memory="own_conclusion").attractor.share == 1


def test_the_spread_of_prompts_is_said():
    """Writers that differ are compared by their best and worst."""
    writers = [
        Subject("kept", lambda: seam.Writes(lambda messages, budget: messages[1]["content"][:budget])),
        Subject("dropped", lambda: seam.Writes(lambda messages, budget: "nothing")),
    ]
    found = table(experiments.sweep("prompts", N, writers=tuple(writers)))
    assert [share(one) for one in found.cells] == [1, 0]
    assert found.remarks == (f"spread 1.00 over 2 wordings, n = {N} each",)


def test_figures_count_problems_and_add_up():
    """Outcomes of a cell add up to its n; repetitions of a problem do not narrow an interval."""
    found = tables.cells(run.run(experiments.sweep("reclaim", N, repetitions=3), Recomputing()), ("memory",))
    for cell in found:
        parts = (cell.recovered, cell.attractor, cell.silent, cell.abstained, cell.malformed)
        assert cell.wrong.hits == cell.attractor.hits + cell.silent.hits
        assert sum(part.hits for part in parts) == cell.n == 2 * 2 * N * 3
        assert (cell.problems, cell.reclaim.clusters, cell.reclaim.n) == (2 * N, 2 * N, cell.n)
    with pytest.raises(InvalidArgument, match="at least one item"):
        tables.cells([], ("memory",))
    with pytest.raises(InvalidArgument, match="has 0 cells"):
        table(experiments.sweep("both", 1)).cell(memory="none")


def test_pairs_are_only_made_of_what_both_were_asked():
    """A run that broke off gives differences over the cases that both memories have."""
    items = list(run.run(experiments.sweep("both", N), Recomputing()))
    half = [one for one in items if one.parameters["memory"] == SOURCE_FIRST] + [
        one for one in items if one.parameters["memory"] == policies.BOTH
    ][:3]  # fmt: skip
    (found,) = experiments.tables_of(half)
    assert [(dict(one.labels), one.difference.n) for one in found.pairs] == [({"family": "arithmetic"}, 3)]


def test_every_experiment_has_a_table_and_every_table_is_json():
    """Each experiment of the sweeps is counted by a table of its name, and the table is plain JSON."""
    cases = [
        *experiments.sweep("reclaim", 1), *experiments.sweep("free_guess", 2), *experiments.sweep("both", 1),
        *experiments.sweep("window", 1), *experiments.sweep("cascade", 1, hops=(1,)),
        *experiments.sweep("taxonomy", 1), *experiments.sweep("noise", 1, considered=(2,)),
    ]  # fmt: skip
    found = experiments.tables_of(run.run(cases, Recomputing()))
    assert [one.name for one in found] == ["reclaim", "free_guess", "both", "window", "cascade", "taxonomy", "noise"]
    for one in found:
        plain = json.loads(json.dumps(tables.as_json(one)))
        assert plain["cells"][0]["n"] == one.cells[0].n
        assert set(plain["columns"]) <= set(plain["cells"][0])


def test_a_chain_wants_a_ledger_of_its_length():
    """A chain over another number of items, or without a budget, is refused."""
    from firsthand_evals.reclaim.items import Case

    ledger = tasks.ledger(1, 4)[0]
    for case in (
        Case("cascade", cascade.policy(LOSSY), ledger, hops=3),
        Case("cascade", cascade.policy(LOSSY), ledger, hops=4, budget=None),
        Case("cascade", cascade.policy(LOSSY), tasks.logic(1)[0], hops=3),
    ):
        with pytest.raises(InvalidArgument, match="wants a ledger"):
            list(run.run([case], Recomputing()))
    with pytest.raises(InvalidArgument, match="a chain knows"):
        cascade.policy(BLANK)
