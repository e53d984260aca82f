"""The reader of derived memory: cases before rules, and the narrow rule before the wide."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from firsthand.ledger.solver import Line, Weak, line_of


def test_the_narrow_goes_before_the_wide():
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
    assert [Weak().answer(one, "\n".join(lines)) for one in asked] == ["23", "49", "1", "61", "locked", None]


def test_a_memory_goes_before_what_is_known_without():
    """What a solver knows by itself is asked last, so that a wrong rule does harm."""
    solver = Weak(knows=lambda question: "14" if question == "double level 7" else None)
    assert solver.answer("double level 7", "") == "14"
    assert solver.answer("double level 7", "rule: * level N => 3 * N + 2") == "23"
    assert solver.answer("double level 8", "") is None


def test_what_is_no_line_of_a_view_is_not_read():
    """Prose, and lines that do not say what they are, answer nothing."""
    assert Weak().answer("birch level 1", "birch level 1 => 5\n## rule: birch level N => 1\nrule: birch") is None


@given(st.integers(-9999, 9999), st.integers(-99, 99), st.integers(-999, 999))
def test_a_line_is_written_as_it_is_read(times: int, plus: int, at: int):
    """A rule says of a number what its formula gives, whole numbers and decimals as they are spelled."""
    line = Line(Fraction(times, 100), Fraction(plus))
    view = f"rule: oak N => {line}"
    if line.times:
        assert Weak().answer(f"oak {at}", view) == line.at(Fraction(at))
        assert line_of(str(line)) == line


def test_a_rule_with_many_places_answers_nothing():
    """A rule that could be read in very many ways is left alone, at once, and so is a number of thousands of digits."""
    question = "level " * 2_000 + "7"
    assert Weak().answer(question, f"rule: {'* ' * 100}N => 1") is None
    assert Weak().answer("oak level 7", "rule: * * N => 1") == "1"
    assert Weak().answer("oak level 7", "rule: * * * => 1") is None
    assert Weak().answer("oak " + "9" * 9_000, "rule: oak N => 2 * N") is None
