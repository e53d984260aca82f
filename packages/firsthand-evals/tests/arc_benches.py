"""A small world of tasks on grids, for tests: made once, with the sandbox that runs its programs."""

from __future__ import annotations

import atexit
from functools import cache

from firsthand_evals.stream.arc_grids import SKILLS
from firsthand_evals.stream.arc_sandbox import Sandbox
from firsthand_evals.stream.arc_tasks import COLOR, FRAME, MARKER, task
from firsthand_evals.stream.arc_world import World


@cache
def small() -> World:
    """Give a world of three families and four skills each, and one skill of each that never came."""
    tasks = {}
    for number, (family, skill) in enumerate([(f, s) for s in [*SKILLS][:4] for f in (COLOR, MARKER, FRAME)], 1):
        tasks[f"task {number}"] = task(f"task {number}", family, skill, "small")
    pool = tuple(tasks)
    for number, family in enumerate((COLOR, MARKER, FRAME), 1):
        tasks[f"unseen {number}"] = task(f"unseen {number}", family, "hollow", "small unseen")
        tasks[f"variant {number}"] = task(f"variant {number}", family, "recolor", "small variant")
    names = [*tasks]
    return World(0, tasks, pool, tuple(one for one in names if one.startswith("unseen")),
                 tuple(one for one in names if one.startswith("variant")))  # fmt: skip


@cache
def sandbox() -> Sandbox:
    """Give a sandbox; it ends with the tests."""
    one = Sandbox()
    atexit.register(one.close)
    return one
