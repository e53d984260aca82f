"""evals/reclaim/validators.py: the checks hold of the paper's memories, and each breaks with what it guards."""

from __future__ import annotations

import pytest

from firsthand.value import replace
from firsthand_evals.reclaim import experiments, own, policies, run, seam, tasks, validators
from firsthand_evals.reclaim.readers import Believing, Guessing, Recomputing, Yielding
from firsthand_evals.reclaim.seam import Subject


def asked(cases, reader=None):
    return tuple(run.run(cases, reader or Recomputing())), {one.problem.id: one.problem for one in cases}


def wall():
    return experiments.sweep("wall", 3)


def size():
    return experiments.sweep("size", 3, items=(2, 4, 8, 12, 16))


def noise():
    return experiments.sweep("noise", 4, considered=(0, 8, 32))


def chain():
    return experiments.sweep("cascade", 2, hops=(1, 4))


def whole(name):
    """The cases of an experiment by its name, small."""
    return lambda: experiments.cases([name], experiments.Options(3, writers=WRITERS))


def keeps(messages, budget):
    return "; ".join(one["content"] for one in messages[1:] if one["role"] == "user")[:budget]


WRITERS = (Subject("one wording", lambda: seam.Writes(keeps)), Subject("another", lambda: seam.Writes(keeps)))
OTHERS = tuple(sorted(set(validators.CHECKS) - {"wall", "size", "noise", "cascade", "dialogues"}))


def test_every_experiment_has_checks_of_its_own():
    """No experiment stands on a harness that nothing holds."""
    assert set(validators.CHECKS) == {one.name for one in experiments.EXPERIMENTS}
    assert len(OTHERS) == 11


@pytest.mark.parametrize("wording", [0, 1])
@pytest.mark.parametrize("name", OTHERS)
def test_checks_hold_in_both_wordings(name, wording):
    """Whatever the words of the sessions, each check of the other experiments looks at items and holds."""
    items, problems = asked(tuple(replace(one, wording=wording) for one in whole(name)()))
    found = validators.validate(items, problems.values())
    assert [str(one) for one in found if not one.held] == []
    assert len(found) == len(validators.CHECKS[name])


@pytest.mark.parametrize("cases", [wall(), size(), noise(), chain()])
def test_all_checks_hold_of_the_papers_memories(cases):
    """The shapes of the paper are there without a model: every check of an experiment looks at items and holds."""
    items, problems = asked(cases)
    found = validators.validate(items, problems.values())
    assert [one.name for one in found if not one.held] == []
    assert len(found) == len(validators.CHECKS[cases[0].experiment])


@pytest.mark.parametrize("reader", [Believing(), Yielding(), Recomputing(heeds_tag=False), Guessing()])
def test_checks_of_the_notes_hold_whoever_answers_and_whatever_is_said(reader):
    """At another budget, for every correction, by each reader: they are asked, and they hold."""
    changes = own.Changes(150, (), ("handed_value", "sustained"))
    for name in ("reclaim", "both", "cascade"):
        items, problems = asked(own.cases([name], experiments.Options(2, vary={"hops": (1, 4)}), changes), reader)
        found = validators.validate(items, problems.values(), as_in_paper=False)
        assert found
        assert [str(each) for each in found if not each.held] == []


def test_a_check_without_items_does_not_hold():
    """Nothing to look at is not a success, and says so."""
    found = validators.validate([], [])
    assert found == ()
    check = validators.loop_makes_no_error([], {})
    assert (check.held, str(check)) == (False, "the loop makes no error of its own: nothing to look at")


def test_guessing_comes_to_chance():
    """A reader that guesses among the candidates is right about once in as many as there are, and abstains without."""
    cases = experiments.sweep("free_guess", 60, 1)
    items, _ = asked(cases, Guessing())
    chance = sum(1 / len(one.problem.options) for one in cases) / len(cases)
    right = sum(one.outcome == "recovered" for one in items) / len(items)
    assert abs(right - chance) < 0.12
    assert all(one.emitted for one in items)
    nothing, _ = asked(run.cases(policies.policy(policies.BLANK), tasks.logic(3)), Guessing())
    assert {one.outcome for one in nothing} == {"abstained"}


def test_a_chain_knows_nothing_but_what_was_carried():
    """What a hand-made chain carries is within its budget, after every session."""
    items, _ = asked(chain())
    assert all(hop["used"] <= 200 for one in items for hop in one.hops)
    assert all(len(one.hops) == one.parameters["hops"] for one in items)
