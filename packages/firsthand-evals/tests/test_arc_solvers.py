"""evals/stream/arc_solvers.py: what three solvers make of a memory."""

from __future__ import annotations

from arc_benches import sandbox, small

from firsthand.ledger.entries import View
from firsthand_evals.stream.arc_solvers import FORCED, SOLVERS, STRONG, WEAK, Desk, GridSolver, programs_of
from firsthand_evals.stream.arc_tasks import ALL, ANY, COLOR, FRAME, MARKER, Program
from firsthand_evals.stream.arc_world import SOLVED_BY


def solvers():
    desk = Desk(small(), sandbox())
    return {name: GridSolver(name, desk) for name in SOLVERS}


def solved(solver, view: str) -> set[str]:
    return {name for name, one in small().tasks.items() if solver.answer(name, view) == one.digest}


def rule(*of: Program) -> str:
    return "\n".join(f"rule: a strategy: {one.text()}" for one in of)


def of_family(*families: str) -> set[str]:
    return {name for name, one in small().tasks.items() if one.truth.family in families}


def test_without_memory_each_does_what_it_can_by_itself():
    """Strong and forced solve what the search finds, weak nothing."""
    asked, world = solvers(), small()
    alone = set(world.p0) | {"unseen 1", "unseen 3", "variant 1", "variant 2", "variant 3"}
    assert {name: solved(one, "") for name, one in asked.items()} == {STRONG: alone, WEAK: set(), FORCED: alone}
    assert set() < set(world.p0) < set(world.pool)


def test_a_rule_is_adapted_and_what_it_does_not_give_is_not_answered():
    """Weak solves the family of a rule, whatever skill and numbers, and says nothing of another family."""
    asked = solvers()
    view = rule(Program(MARKER, ANY))
    assert solved(asked[WEAK], view) == of_family(MARKER)
    assert {asked[WEAK].answer(name, view) for name in of_family(COLOR, FRAME)} == {None}
    assert solved(asked[STRONG], view) >= of_family(MARKER) | set(small().p0)


def test_forced_follows_memory_and_does_not_seek():
    """With one strategy that fits nothing it answers all the same, and solves nothing; strong abstains and is well."""
    asked = solvers()
    view = rule(Program(ALL, "keep"))
    assert solved(asked[FORCED], view) == set()
    assert None not in {asked[FORCED].answer(name, view) for name in small().tasks}
    assert solved(asked[STRONG], view) == solved(asked[STRONG], "")
    both = rule(Program(ALL, "keep"), Program(FRAME, ANY))
    assert solved(asked[FORCED], both) == of_family(FRAME)


def test_raw_episodes_are_programs_too():
    """A line of an episode gives its task, and with other numbers those like it: also what keeps its one colour."""
    asked, world = solvers(), small()
    recolored = [one for one in world.episodes if world.truth(one).skill == "recolor"]
    assert solved(asked[WEAK], View((), tuple(recolored)).text) == {
        *(one.case.partition(SOLVED_BY)[0] for one in recolored), *world.variants, "task 1",
    }  # fmt: skip


def test_the_program_that_solved_a_task_is_no_part_of_the_question():
    """Asked with the right program, another one or none in the question, every solver answers the same."""
    asked = solvers()
    views = ("", rule(Program(COLOR, ANY)))
    for one in small().episodes:
        name = one.case.partition(SOLVED_BY)[0]
        for solver in asked.values():
            for view in views:
                told = {
                    solver.answer(it, view) for it in (one.case, name, f"{name}{SOLVED_BY}def solve(grid): return 1")
                }
                assert len(told) == 1


def test_programs_are_read_from_lines():
    """In the order they stand, each once, without their defaults; what is no program is passed over."""
    lines = (
        "rule: about: def solve(grid): return grid",
        "case: task 1 solved by def solve(grid, color=3, fill=5): return f(grid, color) => 5f3a",
        "case: task 2 solved by def solve(grid, color=4, fill=-1): return f(grid, color) => 77aa",
        "case: birch level 7 => 23", "rule: prose alone", "other: def solve(grid): return 2",
    )  # fmt: skip
    assert list(programs_of("\n".join(lines))) == [
        "def solve(grid): return grid",
        "def solve(grid, color, fill): return f(grid, color)",
    ]
