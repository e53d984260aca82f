"""Agents that choose, on tasks on grids: what a writer's writing becomes, and what is measured of it."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidArgument
from firsthand.value import replace
from firsthand_evals.stream import choosing_checks
from firsthand_evals.stream.arc_run import Bench
from firsthand_evals.stream.arc_sandbox import Sandbox
from firsthand_evals.stream.arc_solvers import Desk
from firsthand_evals.stream.arc_world import world
from firsthand_evals.stream.arc_writers import MergeAll, Rules
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.choosing import AUTO, EPISODIC, FORCED, Step
from firsthand_evals.stream.choosing_grids import ARMS, ByWriter, chosen, stream


@pytest.fixture(scope="module")
def ran():
    """Every arm on one world."""
    with Sandbox() as sandbox:
        bench = Bench(Desk(world(0), sandbox))
        return {arm.name: stream(bench, arm) for arm in ARMS}


def test_figures_of_the_plain_arms_are_known(ran):
    """All that happened solves all that came; without memory only the strong solver solves anything, its own p0."""
    none, whole = ran[NO_MEMORY], ran[KEEP_ALL]
    assert (whole.end("seen weak"), whole.end("seen strong"), whole.end("raw")) == (1.0, 1.0, 36)
    assert (none.end("seen weak"), none.end("p0 strong"), none.end("p0 forced"), none.end("characters")) == (0, 1, 1, 0)
    assert len(whole.points) == len(none.points) == 36


def test_one_program_for_everything_costs_what_needs_no_memory(ran):
    """The merging agent that must consolidate loses all of p0 for a solver that must follow it; free, it loses less."""
    forced, free = ran["forced: merging"], ran["auto: merging (12)"]
    assert (forced.end("p0 forced"), forced.end("entries")) == (0.0, 1.0)
    assert free.end("seen weak") > forced.end("seen weak")
    assert free.end("raw") == 12
    assert forced.end("regressed weak") > 0.5


def test_a_careful_agent_has_a_program_a_family(ran):
    """Of three tasks in view it writes a program that solves what never came; one task at a time it writes nothing."""
    free, forced = ran["auto: careful (12)"], ran["forced: careful"]
    assert (free.end("entries"), free.end("unseen weak"), free.end("seen weak")) == (6.0, 1.0, 1.0)
    assert (forced.end("entries"), forced.actions["rounds without the consolidation that was due"]) == (0.0, 36)


def test_what_is_read_is_what_is_measured(ran):
    """Cases alone are those of managed episodes; entries alone are shorter than both."""
    raw, entries, both = (ran[f"auto: buffer (12){what}"] for what in (", cases read", ", entries read", ""))
    assert raw.end("seen weak") == ran["episodic only: keep (12)"].end("seen weak")
    assert both.end("characters") == raw.end("characters") + entries.end("characters") + 1


def test_a_writing_becomes_actions():
    """What is written names the cases that it is of, and the entries whose place it takes; free, cases are retained."""
    made = world(0)
    cases = tuple(one for one in made.episodes if one.scope == made.episodes[0].scope)[:3]
    agent = ByWriter("careful", Rules(made))
    (write, retain) = agent.choose(Step(AUTO, 1, cases, (), 12, 50)).actions
    assert (write.doing, write.cases, write.entries, retain.doing, retain.cases) == (
        "consolidate", (1, 2, 3), (), "retain", (1, 2, 3),
    )  # fmt: skip
    assert [one.doing for one in agent.choose(Step(FORCED, 1, cases, (), 12, 50)).actions] == ["consolidate"]
    assert agent.choose(Step(EPISODIC, 1, cases, (), 12, 50)).actions == ()
    assert ByWriter("merging", MergeAll(made)).choose(Step(AUTO, 0, (), (), 12, 50)).actions == ()


def test_the_checks_of_grids_can_fail(ran):
    """Each fails when its figure is turned round; K1 fails when a bound is passed."""
    streams = [replace(one, seed=seed) for one in ran.values() for seed in (0, 1)]

    def with_end(arm: str, figure: str, value: float):
        return [
            replace(one, points=(*one.points[:-1], {**one.points[-1], figure: value})) if one.arm == arm else one
            for one in streams
        ]

    def held(of, name: str) -> list[bool]:
        return [one.held for one in choosing_checks.of_grids(of) if one.name == name]

    assert held(streams, "K1") == [True]
    assert held(with_end("auto: buffer (24)", "raw", 25), "K1") == [False]
    assert held(with_end("forced: merging", "raw", 1), "K1") == [False]
    assert held(with_end("auto: merging (12)", "seen weak", -1), "K2")[0] is False
    assert held(with_end("auto: buffer (24)", "seen weak", -1), "K2")[1] is False
    assert held(with_end("episodic only: keep (12)", "p0 forced", -1), "K3") == [False]
    assert held(with_end("auto: buffer (12)", "seen weak", 2), "K6") == [False]
    assert held(with_end("auto: buffer (12)", "seen weak", -1), "K6") == [True]


def test_arms_are_chosen_by_name():
    """No memory and keep all are in every run; an unknown name is refused."""
    assert [one.name for one in chosen(["forced: buffer"])] == [NO_MEMORY, KEEP_ALL, "forced: buffer"]
    with pytest.raises(InvalidArgument, match="no arm 'x'"):
        chosen(["x"])
