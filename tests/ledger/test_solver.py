"""Solvers: cases before rules, the narrow rule before the wide, and a rule of three cases for the strong one alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.ledger.solver import Strong, Weak, line_of

CASES = "\n".join(f"case: birch level {n} => {3 * n + 2}" for n in (1, 4, 9))


def test_only_the_strong_one_makes_a_rule():
    """Three cases of one line answer a fourth; the weak solver does not answer it, and both know the three."""
    asked = ["birch level 4", "birch level 10", "oak level 10"]
    assert [Strong().answer(one, CASES) for one in asked] == ["14", "32", None]
    assert [Weak().answer(one, CASES) for one in asked] == ["14", None, None]


def test_two_cases_are_no_rule():
    """Two cases always lie on a line, and say nothing."""
    assert Strong().answer("birch level 10", CASES.rpartition("\n")[0]) is None


def test_a_rule_needs_most_of_the_cases():
    """Exceptions do not hide a rule, unless they are as many."""
    odd = "\n".join(f"case: birch level {n} => {n * n * 7 + 1}" for n in (20, 31, 47))
    few = f"{CASES}\n{odd.splitlines()[0]}"
    assert Strong().answer("birch level 10", few) == "32"
    assert Strong().answer("birch level 10", f"{CASES}\n{odd}") is None


@pytest.mark.parametrize("solver", [Strong(), Weak()])
def test_the_narrow_goes_before_the_wide(solver: Strong):
    """A case goes before a rule, a rule of more words before one of fewer, and the later line before the earlier."""
    lines = [
        "rule: birch level N => 3 * N + 2",
        "rule: * level N => 7 * N",
        "rule: birch level 5 => 1",
        "rule: red door of * => locked",
        "case: birch level 6 => 60",
        "case: Birch  level 6 => 61",
    ]
    asked = ["birch level 7", "oak tree level 7", "birch level 5", "birch level 6", "red door of the shed", "oak 7"]
    assert [solver.answer(one, "\n".join(lines)) for one in asked] == ["23", "49", "1", "61", "locked", None]


def test_a_memory_goes_before_what_is_known_without():
    """What a solver knows by itself is asked last, so that a wrong rule does harm."""
    solver = Weak(knows=lambda question: "14" if question == "double level 7" else None)
    assert solver.answer("double level 7", "") == "14"
    assert solver.answer("double level 7", "rule: * level N => 3 * N + 2") == "23"
    assert solver.answer("double level 8", "") is None


def test_what_is_no_line_of_a_view_is_not_read():
    """Prose, and lines that do not say what they are, answer nothing."""
    assert Strong().answer("birch level 1", "birch level 1 => 5\n## rule: birch level N => 1\nrule: birch") is None


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(-999, 999))
def test_a_line_is_written_as_it_is_read(times: int, plus: int, at: int):
    """A formula that a solver writes of three cases is the one that it reads."""
    view = "\n".join(f"case: oak {n} => {times * n + plus}" for n in (1, 2, 3))
    assert Strong().answer("oak 100", view) == str(times * 100 + plus)
    found = line_of(f"{times} * N {'-' if plus < 0 else '+'} {abs(plus)}")
    assert found is not None
    assert found.at(at) == str(times * at + plus)  # type: ignore[arg-type]


def test_a_rule_with_many_places_answers_nothing():
    """A rule that could be read in very many ways is left alone, at once, and so is a number of thousands of digits."""
    question = "level " * 2_000 + "7"
    assert Weak().answer(question, f"rule: {'* ' * 100}N => 1") is None
    assert Weak().answer("oak level 7", "rule: * * N => 1") == "1"
    assert Weak().answer("oak level 7", "rule: * * * => 1") is None
    assert Strong().answer("oak " + "9" * 9_000, "\n".join(f"case: oak {n} => {n}" for n in range(5))) is None
