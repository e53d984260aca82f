"""evals/reclaim/validators.py: the checks hold of the paper's memories, and each breaks with what it guards."""

from __future__ import annotations

import pytest

from firsthand.value import replace
from firsthand_evals.reclaim import experiments, policies, run, seam, tasks, validators
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.readers import Guessing, Recomputing, answered, seen
from firsthand_evals.reclaim.seam import Subject


def asked(cases, reader=None):
    return tuple(run.run(cases, reader or Recomputing())), {one.problem.id: one.problem for one in cases}


def changed(cases, name, memory):
    """Put another memory in the place of one, under its name."""
    return tuple(
        replace(one, subject=Subject(name, memory, policy=True)) if one.subject.name == name else one for one in cases
    )


class Says:
    """A note made of a problem by a function."""

    def __init__(self, text) -> None:
        self.text = text

    def write(self, messages, budget):
        return self.text[:budget]


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


LEAKS = {
    "lossy_holds_no_source": (wall, policies.LOSSY, lambda problem: Says("; ".join(problem.listed))),
    "lossy_never_recovers": (wall, policies.PADDED, lambda problem: Says("; ".join(problem.listed))),
    "padded_is_as_long": (wall, policies.PADDED, lambda problem: Says("short")),
    "source_first_iff_whole": (
        wall,
        policies.SOURCE_FIRST,
        lambda problem: Says("; ".join((*problem.listed, "3 foes at $9 each"))),
    ),
    "cliff_is_there": (size, policies.SOURCE_FIRST, lambda problem: Says("; ".join(problem.listed[:-1]))),
    "cliff_moves": (size, policies.SOURCE_FIRST, lambda problem: Says("; ".join(problem.listed[:4]))),
    "noise_decays": (noise, policies.SOURCE_FIRST, lambda problem: Says("; ".join(problem.source))),
    "chain_holds_no_goods": (chain, policies.LOSSY, lambda problem: Says("; ".join(problem.listed))),
    "error_spreads": (chain, policies.LOSSY, lambda problem: Says("; ".join(problem.listed))),
    "loop_makes_no_error": (chain, policies.LOSSY, lambda problem: Says("we took 2 anvils at $3 each")),
    "conclusion_stands_beside": (whole("both"), policies.BOTH, lambda problem: Says("; ".join(problem.listed))),
    "candidates_hold_the_truth": (
        whole("free_guess"), policies.CANDIDATES, lambda problem: Says(f"the answer is one of {problem.attractor}."),
    ),
    "tag_is_heard": (
        whole("completeness"), policies.TAGGED, lambda problem: Says(f"{problem.listed[0]} (1 of 1 lines kept.)"),
    ),
    "part_is_silent": (whole("completeness"), policies.SOURCE_FIRST, lambda problem: Says("nothing was kept")),
    "conclusion_is_no_source": (
        whole("endogenous"), "own_conclusion", lambda problem: Says("; ".join(problem.listed)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
def test_each_check_breaks_when_its_memory_is_another_one(name):
    """A lossy note that leaks, a padded one that is short, a source-first one that loses: each breaks its check."""
    make, memory, text = LEAKS[name]
    items, problems = asked(changed(make(), memory, text))
    check = getattr(validators, name)(items, problems)
    assert not check.held
    assert check.n > 0
    assert "broken by" in str(check)


def test_a_session_that_lost_its_source_is_found():
    """A correction in the same session that brings nothing back breaks the check of the window."""
    items, problems = asked(whole("window")())
    lost = [replace(one, outcome="wrong") if number == 5 else one for number, one in enumerate(items)]
    assert validators.session_holds_its_source(items, problems).held
    broken = validators.session_holds_its_source(lost, problems).broken
    assert broken == (f"blank on {items[5].parameters['problem']}",)


def test_places_that_find_nobody_out_are_found():
    """A memory of the beginning that recovers a late source, and one that recovers none at all, break the check."""
    cases = tuple(
        replace(one, subject=Subject(one.subject.name, lambda: seam.Writes(lambda messages, budget: "")))
        for one in whole("places")()
    )
    items, problems = asked(cases)
    assert validators.beginning_is_found_out(items, problems).broken == (
        "head recovers under half where the source stands first",
    )
    late = tuple(replace(one, outcome="recovered") for one in items)
    assert any("tail on a0-0" in one for one in validators.beginning_is_found_out(late, problems).broken)


def test_a_premise_that_leads_to_the_truth_is_found():
    """A problem whose wrong conclusion is right after all breaks the check of the premise."""
    right = tuple(replace(one, problem=replace(one.problem, attractor=one.problem.answer)) for one in wall())
    items, problems = asked(right)
    assert not validators.premise_drifts(items, problems).held


class Peeking(Recomputing):
    """A reader that gives a number whatever it sees: it would make a wall look like a success."""

    def __init__(self, truths) -> None:
        super().__init__()
        self.truths = truths

    def answer(self, messages):
        return answered(self.truths.get(seen(messages).ask.strip()))


def test_a_reader_that_knows_the_answers_breaks_the_wall():
    """Recovering where nothing was kept is named, so that a rigged reader cannot pass."""
    problem = tasks.arithmetic(1)[0]
    cases = [Case("wall", policies.policy(name), problem) for name in (policies.LOSSY, policies.SOURCE_FIRST)]
    items, problems = asked(cases, Peeking({problem.ask: problem.answer}))
    assert str(validators.lossy_never_recovers(items, problems)) == (
        "nothing is recovered without a source: broken by 1 of 1, such as lossy on a0-0"
    )


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
