"""evals/reclaim/experiments.py: every experiment of the paper by its name, with what it needs."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidArgument
from firsthand_evals.reclaim import drift, experiments, run, seam
from firsthand_evals.reclaim.experiments import DATA, MODEL, NOTHING, Options
from firsthand_evals.reclaim.readers import Recomputing


def test_each_name_is_that_of_its_cases_and_of_its_table():
    """The cases of an experiment carry its name, a table is there for it, and names are unique."""
    names = [one.name for one in experiments.EXPERIMENTS]
    assert len(set(names)) == len(names)
    for one in experiments.EXPERIMENTS:
        if one.needs == NOTHING:
            assert {case.experiment for case in experiments.sweep(one.name, 1)} == {one.name}


def test_a_memory_of_ones_own_stands_in_every_experiment_of_a_memory():
    """What is of a memory asks it beside the paper's; the battery names those that need nothing more."""
    mine = seam.subject(lambda messages, budget: "nothing", "mine")
    given = Options(n=1, subjects=(mine,))
    battery = experiments.battery(given)
    assert battery == (
        "reclaim", "disposition", "taxonomy", "adversarial", "size", "noise", "completeness", "places", "cascade",
        "endogenous",
    )  # fmt: skip
    for name in battery:
        assert "mine" in {case.subject.name for case in experiments.cases([name], given)}
    alone = [one.name for one in experiments.EXPERIMENTS if not one.of_a_memory]
    assert alone == ["wall", "window", "both", "free_guess", "prompts"]


def test_the_whole_battery_is_asked_in_another_wording():
    """The wording is that of all cases, and in none of them does a memory that keeps nothing recover anything."""
    mine = seam.subject(lambda messages, budget: "nothing", "mine")
    cases = experiments.cases(["reclaim", "cascade"], Options(n=2, subjects=(mine,), wording=1))
    assert {case.wording for case in cases} == {1}
    items = [one for one in run.run(cases, Recomputing()) if one.parameters["memory"] == "mine"]
    assert {one.outcome for one in items} == {"abstained"}
    assert 1 in drift.WORDINGS


def test_chains_are_as_long_as_asked():
    """The lengths of chains are an option, 64 sessions among them."""
    assert {case.hops for case in experiments.cases(["cascade"], Options(n=1))} == {1, 2, 4, 8}
    assert {case.hops for case in experiments.cases(["cascade"], Options(n=1, vary={"hops": (3, 64)}))} == {3, 64}


def test_what_is_needed_and_not_given_is_named():
    """Data, writers and a misspelt name are refused before anything is asked."""
    for name, says in (("dialogues", "--data"), ("prompts", "two writers"), ("wal", "no reclaim experiment 'wal'")):
        with pytest.raises(InvalidArgument, match=says):
            experiments.cases([name], Options())
    needs = {one.name: one.needs for one in experiments.EXPERIMENTS if one.needs != NOTHING}
    assert needs == {"prompts": MODEL, "dialogues": DATA}
