"""evals/stream/arc_tasks.py: tasks of 42 programs, each explained by one of them alone."""

from __future__ import annotations

import pytest

from firsthand_evals.stream.arc_grids import SKILLS
from firsthand_evals.stream.arc_tasks import (
    ALL,
    ANY,
    COLOR,
    COMPOSE,
    FAMILIES,
    LARGEST,
    PAIRS,
    TESTS,
    Explained,
    Program,
    applied,
    explanations,
    task,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_task_is_explained_by_one_program_alone(family):
    """Of all 42 programs with all parameters one gives the pairs, and it gives what is held out too."""
    for skill in SKILLS:
        made = task("a", family, skill, "7")
        pairs = [*made.grids["train"], *made.grids["test"]]
        assert (len(made.grids["train"]), len(made.grids["test"])) == (PAIRS, TESTS)
        assert [*explanations(made.grids["train"])] == [made.truth]
        assert (made.truth.family, made.truth.skill) == (family, skill)
        assert all(applied(made.truth, pair["input"]) == pair["output"] for pair in pairs)
        assert all(sum(it != 0 for row in pair["output"] for it in row) > 0 for pair in pairs)


def test_the_same_seed_gives_the_same_task():
    """A task is a function of its seed; another seed gives another one, and what is given is kept."""
    one, same, other = (task("a", COLOR, "recolor", seed, given={"color": 4}) for seed in ("1", "1", "2"))
    assert (one.grids, one.truth, one.digest) == (same.grids, same.truth, same.digest)
    assert one.grids != other.grids
    assert dict(one.truth.parameters)["color"] == dict(other.truth.parameters)["color"] == 4


def test_what_two_programs_explain_is_seen():
    """Of a grid with one thing nothing says which choice it was: many programs explain it."""
    rows = [[0] * 9 for _ in range(9)]
    for row, column in ((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4), (5, 2)):
        rows[row][column] = 3
    found = {(one.family, one.skill) for one in explanations([{"input": rows, "output": rows}] * PAIRS)}
    assert {("detect_color_property", "keep"), ("detect_largest_objects_select", "keep")} <= found
    assert ("compose_horizontal", "keep") not in found


def test_a_program_is_written_with_what_is_known_and_without_what_is_sought():
    """A solved task has its numbers as defaults; a rule has none; what never changed can stand in it as a number."""
    solved = Explained(COLOR, "recolor", (("color", 3), ("fill", 5)))
    body = "draw(grid, [recolor(o, fill) for o in [o for o in objects(grid) if o.color == color]])"
    assert solved.text == f"def solve(grid, color=3, fill=5): return {body}"
    assert solved.program.text() == f"def solve(grid, color, fill): return {body}"
    assert Program(COLOR, "recolor", (("color", 3), ("fill", 5))).text() == (
        "def solve(grid): return draw(grid, [recolor(o, 5) for o in [o for o in objects(grid) if o.color == 3]])"
    )
    assert Program(LARGEST, "keep", (("count", 2),)).text() == (
        "def solve(grid): return draw(grid, largest(objects(grid), 2))"
    )
    assert Program(COMPOSE, ANY).text() == (
        "def solve(grid, do, fill, down, right): return "
        "beside(draw(grid, [doing(o, do, fill, down, right) for o in objects(grid)]), grid)"
    )
    assert Program(ALL, "keep").text() == "def solve(grid): return draw(grid, objects(grid))"
    assert max(len(Program(family, ANY).text()) for family in (*FAMILIES, ALL)) < 300
