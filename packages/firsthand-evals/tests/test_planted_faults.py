"""No check is blind: each fault of the lists is planted, and the check that must see it fails."""

from __future__ import annotations

import tempfile
from functools import cache, lru_cache, partial
from pathlib import Path

import pytest
from planted import planted

from firsthand import moment
from firsthand_evals import cases, delivery, readers, recall_ab
from firsthand_evals.commands import accuracy
from firsthand_evals.delivery import CONDITIONS
from firsthand_evals.faults import Fault, faults
from firsthand_evals.reclaim import experiments, ours, run, validators
from firsthand_evals.reclaim.readers import Recomputing
from firsthand_evals.stream import arms, checks
from firsthand_evals.stream.run import run as run_streams
from firsthand_evals.testing import reclaiming

SMALL = {"size": {"items": (2, 4, 8, 12, 16)}, "noise": {"considered": (0, 8, 32)}, "cascade": {"hops": (1, 4)}}


PAIRS = {"H1": {arms.MERGE_ALL, arms.NO_MEMORY}, "H2": {"rules only", arms.KEEP_ALL}, "H3": {arms.RULES, arms.KEEP_ALL},
         "H6": {arms.UNSCOPED, arms.NO_MEMORY}}  # fmt: skip
"""Arms that a check compares: it wants worlds enough for a difference that is not chance."""


def stream(check: str) -> dict[str, bool]:
    """Run the arms that have checks on two small worlds; for a check of the gate alone, one of them is enough."""
    names = {arms.NO_MEMORY, arms.KEEP_ALL, arms.TELEPHONE, "rules only", arms.RULES, arms.MERGE_ALL, arms.GATED,
             arms.GATED_OVER, arms.UNSCOPED}  # fmt: skip
    chosen, worlds, episodes = [arm for arm in arms.ARMS if arm.name in names], 2, 80
    if check.startswith("H4: each check"):
        chosen, worlds, episodes = [arm for arm in chosen if arm.name == arms.GATED], 1, 16
    chosen += arms.under_test([])
    if part_of(check) in PAIRS:
        chosen, worlds = [arm for arm in chosen if arm.name in PAIRS[part_of(check)]], 6
    made = checks.checks([*run_streams(chosen, range(worlds), episodes=episodes)], episodes)
    return {f"{each.name}: {each.says}": each.held for each in made}


def part_of(check: str) -> str:
    """Give what stands before the colon: an experiment, or the name of a check."""
    return check.partition(":")[0]


def reclaim(check: str) -> dict[str, bool]:
    """Run the experiment that a check is of, small."""
    name = part_of(check)
    asked = experiments.sweep(name, 3, **SMALL.get(name, {}))
    came = validators.validate([*run.run(asked, Recomputing())], [case.problem for case in asked])
    return {f"{name}: {made.name}": made.held for made in came}


def assertions(check: str) -> dict[str, bool]:
    """Ask Firsthand, and memories that keep nothing or a part, what an assertion asks."""
    return {
        "lossless: firsthand": lambda: reclaiming.lossless(ours.PointerMemory, sessions=2).held,
        "correctable: firsthand": lambda: reclaiming.correctable(ours.PointerMemory, budget=200, problems=1).held,
        "no silent partial: firsthand's note alone":
            lambda: reclaiming.no_silent_partial(ours.NoteAlone, problems=1).held,
        "lossless: a memory that keeps nothing is found out":
            lambda: not reclaiming.lossless(lambda messages, budget: "", sessions=1).held,
        "correctable: a memory that keeps nothing is found out":
            lambda: not reclaiming.correctable(lambda messages, budget: "", problems=1).held,
        "no silent partial: a memory that keeps a part is found out":
            lambda: not reclaiming.no_silent_partial(keeps_a_part, problems=1).held,
    }  # fmt: skip


def keeps_a_part(messages, budget):
    return "; ".join(one["content"] for one in messages if one["role"] == "user")[:budget]


def probe(_check: str) -> dict[str, bool]:
    """Let the probe judge a part of its notes."""
    rows = accuracy.cases()[::5]
    return accuracy.beside(accuracy.verdicts(rows, accuracy.judge), [(case["gold"], case["pieces"]) for case in rows])


@lru_cache(maxsize=1)
def past():
    """Live one past through hooks; its store is copied for each prompt."""
    world = cases.world(5, moment.now())
    folder = tempfile.TemporaryDirectory()
    return world, delivery.live(world, Path(folder.name) / "lived"), folder


def recall(_check: str) -> dict[str, bool]:
    """Ask the scripted reader with nothing pushed, with all and with the right content."""
    world, store, _ = past()
    chosen = [one for one in CONDITIONS if one.name in {"none", "all", "ideal"}]
    prompts = recall_ab.prepare((world,), partial(delivery.ask, store), conditions=chosen, repetitions=1, cases_max=2)
    return recall_ab.checks(recall_ab.cells(recall_ab.run(prompts, readers.Scripted(cases.beliefs((world,))))))


RUNS = {"stream": stream, "reclaim": reclaim, "assertions": assertions, "probe": probe, "recall-ab": recall}


@cache
def sound(experiment: str, part: str) -> dict[str, bool]:
    """Run an experiment, or the part of it that a check is of, without a fault."""
    return RUNS[experiment](part)


def came(fault: Fault, made: dict[str, bool]) -> list[bool]:
    """Give how the check that must see a fault comes out."""
    return [held() if callable(held) else held for check, held in made.items() if check.startswith(fault.check)]


def test_every_experiment_has_its_list():
    """No list is of an experiment that is not run here, and each has faults."""
    assert {fault.experiment for fault in faults()} == set(RUNS)


@pytest.mark.parametrize("fault", {(one.experiment, one.check): one for one in faults()}.values(),
                         ids=lambda one: f"{one.experiment} {one.check}")  # fmt: skip
def test_a_check_holds_without_a_fault(fault):
    """Each check that is to see a fault holds where there is none, so that it is the fault that it sees."""
    part = part_of(fault.check) if fault.experiment == "reclaim" or part_of(fault.check) in PAIRS else ""
    assert came(fault, sound(fault.experiment, part)) == [True]


@pytest.mark.parametrize("fault", faults(), ids=lambda one: f"{one.experiment} {one.breaks}")
def test_a_fault_turns_its_check_red(fault):
    """A gate that does not bite, a reader that knows too much, a note that leads nowhere: its check fails."""
    with planted(fault):
        assert came(fault, RUNS[fault.experiment](fault.check)) == [False]
