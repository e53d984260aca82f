"""Solvers of tasks on grids that are no model: they run what a memory shows, and answer with grids.

    strong   tries what memory shows on the pairs; what none of it gives, it seeks by itself
    weak     tries what memory shows, and seeks nothing
    forced   follows a strategy of the memory as soon as there is one, and never seeks then: what the
             paper's prompt asks of its solver ("You MUST pick one existing strategy")

A program of memory is adapted: its parameters are sought among what the first pair allows.
The invariant: an answer is a function of the task's pairs and of the lines of a view; the
program that solved a task once is read from memory alone, never from the question. Forced
is a confound, and stands beside strong, which may abstain from memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from firsthand.ledger.entries import BETWEEN, CASE, RULE
from firsthand_evals.stream.arc_sandbox import Ran, Sandbox
from firsthand_evals.stream.arc_world import SOLVED_BY, World, alone, task_of

TRIED_MAX = 64
"""Lines of memory that a solver tries on one task: the first ones."""
STRONG, WEAK, FORCED = "strong", "weak", "forced"
SOLVERS = (STRONG, WEAK, FORCED)
_DEFAULTS = re.compile(r"=-?\d+(?=[,)])")
_BEGINS = "def solve("


class Desk:
    """The tasks of one world and what came of programs on them; each program is run once on all."""

    def __init__(self, world: World, sandbox: Sandbox) -> None:
        self.world, self._sandbox = world, sandbox
        self._names = [*world.tasks]
        self._ran: dict[str, Mapping[str, Ran]] = {}
        self.stopped: dict[str, int] = {}
        sandbox.load({name: one.grids for name, one in world.tasks.items()})

    def ran(self, program: str) -> Mapping[str, Ran]:
        """Give what came of a program on every task of the world."""
        if program not in self._ran:
            found = {one.task: one for one in self._sandbox.run(program, self._names)}
            self._ran[program] = found
            for one in found.values():
                if one.end != "done":
                    self.stopped[one.end] = self.stopped.get(one.end, 0) + 1
        return self._ran[program]

    def alone(self, name: str) -> str | None:
        """Give what a strong solver makes of a task by itself."""
        found = alone(self.world.tasks[name])
        return None if found is None else self.ran(found.program.text())[name].digest


class GridSolver:
    """One of the three."""

    def __init__(self, name: str, desk: Desk) -> None:
        self.name, self._desk = name, desk

    def answer(self, question: str, view: str) -> str | None:
        """Give the digest of the grids that it makes of a task; None when it has none."""
        name = task_of(question)
        programs = programs_of(view)
        for program in programs[:TRIED_MAX]:
            found = self._desk.ran(program)[name]
            if found.fits:
                return found.digest
        if self.name == WEAK or (self.name == FORCED and programs):
            followed = self._desk.ran(programs[0])[name].digest if self.name == FORCED else "-"
            return None if followed == "-" else followed
        return self._desk.alone(name)


@lru_cache(maxsize=1_024)
def programs_of(view: str) -> Sequence[str]:
    """Give the programs that stand in the lines of a view, in order, each once, without what they began with."""
    found: dict[str, None] = {}
    for line in view.split("\n"):
        if line.startswith(CASE):
            program = line.rpartition(BETWEEN)[0].partition(SOLVED_BY)[2]
        else:
            at = line.find(_BEGINS) if line.startswith(RULE) else -1
            program = line[at:] if at >= 0 else ""
        if program.startswith(_BEGINS):
            found[_DEFAULTS.sub("", program)] = None
    return tuple(found)
