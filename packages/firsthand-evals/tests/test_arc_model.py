"""evals/stream/arc_model.py: a model writes programs, with memory and without."""

from __future__ import annotations

import re
from functools import cache

import pytest
from arc_benches import sandbox, small

from firsthand.errors import InvalidArgument
from firsthand_evals.stream import arc_model
from firsthand_evals.stream.arc_arms import BUFFER, GATED, RETRIEVED
from firsthand_evals.stream.arc_model import FORCED, FREE, Answered, answered, program_of, prompt, questions, rows
from firsthand_evals.stream.arc_run import Bench
from firsthand_evals.stream.arc_solvers import Desk
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY
from firsthand_evals.stream.packs import Options

ARMS = [NO_MEMORY, KEEP_ALL, BUFFER, MERGE_ALL, GATED, RETRIEVED]


@cache
def asked() -> list[arc_model.Asking]:
    return [*questions(Bench(Desk(small(), sandbox())), ARMS)]


def test_every_problem_is_asked_with_every_memory_free_and_forced():
    """Without memory each once, with a memory twice; the memory stands in the prompt, the held-out grids do not."""
    found = {
        (one.arm, one.how): [it.task for it in asked() if (it.arm, it.how) == (one.arm, one.how)] for one in asked()
    }
    assert list(found) == [(NO_MEMORY, FREE), *((arm, how) for arm in ARMS[1:] for how in (FREE, FORCED))]
    assert all(names == [*small().tasks] for names in found.values())
    for one in asked():
        assert ("def solve(grid" in one.prompt) == (one.arm != NO_MEMORY)
        assert ("nothing else is accepted" in one.prompt) == (one.how == FORCED)
        task = small().tasks[one.task]
        for pair in task.grids["test"]:
            assert "\n".join("".join(map(str, row)) for row in pair["output"]) not in one.prompt


def test_a_prompt_shows_the_pairs():
    """All five pairs stand in it, as rows of digits."""
    one = next(iter(small().tasks.values()))
    shown = re.findall(r"Input \d:\n([\d\n]+)Output \d:\n([\d\n]+)", prompt(one, "", FREE) + "\n")
    assert [[[int(it) for it in row] for row in part.split()] for pair in shown for part in pair] == [
        pair[side] for pair in one.grids["train"] for side in ("input", "output")
    ]


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("```python\ndef solve(grid):\n    return grid\n```", "def solve(grid):\n    return grid\n"),
        ("Here:\n```\nimport math\ndef solve(grid): return 1\n```\nDone.", "import math\ndef solve(grid): return 1\n"),
        ("def solve(grid): return grid", "def solve(grid): return grid"),
        ("I would write def solve(grid): return grid", None),
        ("Here it is:\ndef solve(grid): return grid", None),
        ("```python\nprint(1)\n```", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_program_is_read_or_it_is_said_that_there_is_none(reply, program):
    """A block of code, or a reply that is nothing but code; prose is none."""
    assert program_of(reply) == program


def test_what_a_model_wrote_is_run_on_what_is_held_out():
    """The right program solves, another does not, prose is unreadable, and what hangs is stopped by name."""
    one = asked()[0]
    task = small().tasks[one.task]
    right = f"```python\n{task.truth.program.text(dict(task.truth.parameters))}\n```"
    told = {
        right: (True, True, "done"), "def solve(grid): return grid": (True, False, "done"),
        "def solve(grid): return grid[99]": (True, False, "raised IndexError"),
        "no idea": (False, False, "no program"), "import os\ndef solve(grid): return grid": (True, False, "import"),
    }  # fmt: skip
    for reply, wanted in told.items():
        found = answered(one, reply, task, sandbox())
        assert (found.readable, found.solved, found.end) == wanted


def test_rows_count_what_was_lost_that_needs_no_memory():
    """Lost are those solved without memory and not with it; the chance is that of the pairs that differ."""

    def answers(arm: str, how: str, *solved: bool) -> list[Answered]:
        return [Answered(arm, how, 0, f"t{at}", True, it, "done") for at, it in enumerate(solved)]

    alone = answers(NO_MEMORY, FREE, True, True, True, False)
    found = [*rows([*alone, *answers(MERGE_ALL, FORCED, False, False, True, True)])]
    assert [(one.arm, one.how, one.solved.hits, one.lost.hits, one.lost.n, one.chance) for one in found] == [
        (NO_MEMORY, FREE, 3, 0, 3, 1.0),
        (MERGE_ALL, FORCED, 2, 2, 3, 1.0),
    ]


def test_a_schedule_is_refused(tmp_path):
    """A model is asked after the stream alone."""
    with pytest.raises(InvalidArgument, match="leave --schedule out"):
        arc_model.run(Options(model="local", schedule=["mixed"], folder=tmp_path))
