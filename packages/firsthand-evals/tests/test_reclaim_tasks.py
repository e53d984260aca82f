"""evals/reclaim/tasks.py: every problem has one answer, proven here again by trying all arrangements, and one wrong."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand_evals.reclaim import reading, tasks
from firsthand_evals.reclaim.tasks import Clue, Purchase


def arranged(problem: tasks.Problem):
    """Give the people of a puzzle and their places, read from its first line."""
    scene = problem.source[0]
    people = list(problem.options)
    if "line" in scene:
        return people, list(tasks.ORDINALS[: len(people)])
    return people, scene.split(": ")[1].replace(" and ", ", ").split(", ")


def keeps(clue: Clue, places, at) -> bool:
    """Judge a clue by rules written here, not those of the module."""
    rank = {who: places.index(place) for place, who in at.items()}
    if clue.form in ("before", "directly before"):
        gap = rank[clue.other] - rank[clue.who]
        return gap == 1 if clue.form == "directly before" else gap >= 1
    found = clue.who in ({at[clue.other], at[clue.third]} if clue.form == "either" else {at[clue.other]})
    return not found if clue.form == "not at" else found


def allowed(people, places, clues):
    """Yield every arrangement, place to person, that keeps all clues."""
    for order in permutations(people):
        at = dict(zip(places, order, strict=True))
        if all(keeps(clue, places, at) for clue in clues):
            yield at


def asked(problem: tasks.Problem, places):
    return next(place for place in places if place in problem.ask.split())


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_puzzle_has_one_solution_and_its_premise_another(seed):
    """All arrangements but one break a clue; with the premise in a clue's place one with another answer is left."""
    for problem in tasks.logic(24, seed):
        people, places = arranged(problem)
        place = asked(problem, places)
        found = list(allowed(people, places, problem.facts))
        assert [at[place] for at in found] == [problem.answer], problem
        wrong = reading.clues(problem.premise)
        assert len(wrong) == 1, problem.premise
        answers = Counter()
        for index in range(len(problem.facts)):
            turned = [*problem.facts[:index], wrong[0], *problem.facts[index + 1 :]]
            left = list(allowed(people, places, turned))
            answers[left[0][place] if len(left) == 1 else None] += 1
        assert answers[problem.attractor] >= 1, problem
        assert problem.attractor != problem.answer
        assert problem.attractor in problem.options


@pytest.mark.parametrize("made", [tasks.arithmetic(24, 3), tasks.ledger(8, 12, 3), tasks.noisy(8, 16, 3)])
def test_a_sum_is_the_sum_of_what_was_bought(made):
    """The answer is worked out exactly from the items; the wrong conclusion is off by what the premise is off by."""
    for problem in made:
        bought = [one for one in problem.facts if isinstance(one, Purchase) and one.bought]
        truth = sum((one.quantity * one.price for one in bought), start=Fraction(0))
        assert Fraction(problem.answer) == truth
        assert Fraction(problem.attractor) != truth
        assert len(problem.source) == len(bought) <= len(problem.listed) == len(problem.facts)
        assert set(problem.source) <= set(problem.listed)


def test_no_problem_gives_its_answer_away():
    """Neither scene, premise, loci nor question holds the answer, and the two loci have different names."""
    for problem in (*tasks.arithmetic(30, 2), *tasks.logic(30, 2), *tasks.noisy(5, 4, 2)):
        if problem.kind == tasks.NUMBER:
            assert problem.answer not in f"{problem.about} {problem.locus} {problem.ask}"
            assert problem.shown(problem.answer) not in problem.premise.split()
        else:
            assert problem.answer not in f"{problem.about} {problem.ask}"
            assert not any(
                clue == Clue("at", problem.answer, asked(problem, arranged(problem)[1])) for clue in problem.facts
            )
        assert problem.locus != problem.sound


def test_equal_seeds_give_equal_problems_and_others_do_not():
    """A problem is a function of its seed and number."""
    assert tasks.arithmetic(6, 4) == tasks.arithmetic(9, 4)[:6]
    assert tasks.logic(6, 4) == tasks.logic(9, 4)[:6]
    assert [one.listed for one in tasks.logic(6, 4)] != [one.listed for one in tasks.logic(6, 5)]
    assert (
        len({one.id for one in (*tasks.arithmetic(9), *tasks.logic(9), *tasks.ledger(9, 3), *tasks.noisy(9, 3))}) == 36
    )


def test_families_are_varied():
    """Currencies, ways of writing, sorts of puzzles and forms of clues all occur."""
    sums, puzzles = tasks.arithmetic(48, 1), tasks.logic(48, 1)
    assert {one.unit for one in sums} == set(tasks.CURRENCIES)
    assert {line.split()[0].isdecimal() for one in sums for line in one.listed} == {True, False}
    assert {clue.form for one in puzzles for clue in one.facts} == {
        "at",
        "not at",
        "either",
        "before",
        "directly before",
    }
    assert {len(one.options) for one in puzzles} == {3, 4}


@given(items=st.integers(2, 30), keep=st.integers(1, 30), seed=st.integers(0, 50))
@settings(max_examples=30, deadline=None)
def test_a_ledger_made_shorter_is_right_again(items, keep, seed):
    """Leaving out the last items leaves a problem whose answer is the sum of the rest, off by the same premise."""
    problem = tasks.ledger(1, items, seed)[0]
    if keep > items:
        with pytest.raises(InvalidArgument, match=f"has {items} items"):
            tasks.shortened(problem, keep)
        return
    less = tasks.shortened(problem, keep)
    assert less.listed == problem.listed[:keep]
    assert Fraction(less.answer) == tasks.total(less.facts)
    slip = Fraction(problem.attractor) - Fraction(problem.answer)
    assert Fraction(less.attractor) - Fraction(less.answer) == slip


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tasks.arithmetic(0), "from 1"),
        (lambda: tasks.logic(True), "from 1"),
        (lambda: tasks.ledger(1, 1), "2 to"),
        (lambda: tasks.ledger(1, 80), "2 to"),
        (lambda: tasks.noisy(1, 76), "goods"),
        (lambda: tasks.noisy(1, -1), "goods"),
    ],
)
def test_numbers_out_of_range_are_refused(make, says):
    """A count that cannot be made says what can."""
    with pytest.raises(InvalidArgument, match=says):
        make()
