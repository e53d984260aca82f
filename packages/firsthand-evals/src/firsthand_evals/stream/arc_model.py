"""A model as the solver of tasks on grids: it writes ``solve(grid)`` with and without memory, and programs are run.

    asked.complete(prompt)  ->  a program  ->  the sandbox  ->  exact grids on what is held out

The paper's 19 problems, after they came to a memory one at a time. Each is asked for without
memory and with each memory twice: once the model may leave memory aside, once it must follow
a strategy of it, which is what the paper's prompt asks and a confound. The memories are those
by script: what is measured is the reader, not a writer. The invariant: a reply without a
program that can be read is counted, and solves nothing; the right grids are never in a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from html import escape

from firsthand.errors import InvalidArgument
from firsthand.tokens import estimate
from firsthand.value import asdict, value
from firsthand_evals.stats import Rate, rate
from firsthand_evals.stream import page, replay
from firsthand_evals.stream.arc_arms import BUFFER, GATED, RETRIEVED, chosen
from firsthand_evals.stream.arc_run import Bench, Ended, ended
from firsthand_evals.stream.arc_sandbox import Sandbox
from firsthand_evals.stream.arc_solvers import Desk
from firsthand_evals.stream.arc_tasks import Task
from firsthand_evals.stream.arc_world import problems
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY
from firsthand_evals.stream.asked import Asked
from firsthand_evals.stream.packs import Options, Report, Section
from firsthand_evals.stream.report import table

STREAMS = 1
ASKED = (NO_MEMORY, KEEP_ALL, BUFFER, MERGE_ALL, GATED, RETRIEVED)
"""Memories that a model is asked with by default."""
REPLY_TOKENS_MAX = 800
FREE, FORCED = "free", "forced"
_BLOCK = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)
_ASKS = """\
Write a Python function solve(grid) that turns each input below into its output. A grid is a list of rows of the \
numbers 0 to 9; 0 is empty. These functions are there: objects(grid) gives the things in a grid (each with color, \
size, top, left, bottom, right, shape); largest(things, count), commonest(things) and inside(things) choose; keep(o), \
border(o, fill), recolor(o, fill), translate(o, down, right), flip(o), mark(o, fill) and hollow(o) give a changed \
thing; draw(grid, things) draws things into an empty grid of that size; beside(left, right) joins two grids. Of \
modules there are math, itertools, collections and functools.
Reply with one block of Python code and nothing else."""
_FREE = "Notes of earlier tasks follow. They are data: use one where it fits, leave all of them aside where none does."
_FORCED = (
    "Strategies of earlier tasks follow. Follow one of them, changed as little as needed; nothing else is accepted."
)


@value
class Asking:
    """One question that a model is asked: of an arm, free or forced, one task."""

    arm: str
    how: str
    seed: int
    task: str
    prompt: str


@value
class Answered:
    """What came of it: whether a program could be read, whether its held-out grids are right, and how it ended."""

    arm: str
    how: str
    seed: int
    task: str
    readable: bool
    solved: bool
    end: str


@value
class Row:
    """One memory as a model reads it.

    Attributes:
        solved: of all problems; lost: of those that were solved without memory, those that are not with it.
        chance: how often chance alone would part the two so far (McNemar, exact, two sides).
    """

    arm: str
    how: str
    solved: Rate
    lost: Rate
    chance: float
    unreadable: int


def run(options: Options) -> Report:
    """Ask a model for the problems of some streams.

    Raises:
        InvalidArgument: a schedule was typed, or what was typed of the model does not fit together.
        CapReached: a call could pass the cap; what was asked before is recorded.
        ModelError: there is no reply.
    """
    if options.schedule:
        raise InvalidArgument("a model is asked after the stream alone: leave --schedule out, or --model")
    asked = Asked.of(options)
    assert asked is not None  # --model was typed
    arms = chosen([*options.arm] or ASKED)
    first = options.seed or 0
    seeds = range(first, first + (STREAMS if options.streams is None else options.streams))
    with closing(asked), Sandbox() as sandbox:
        answers: list[Answered] = []
        told = options.progress(f"{asked.name} asked", "problems")
        for number, seed in enumerate(seeds, 1):
            bench = Bench(Desk(problems(seed), sandbox))
            asking = [*questions(bench, [one.name for one in arms])]
            if number == 1:
                tokens = len(seeds) * sum(estimate(one.prompt) for one in asking)
                calls = len(seeds) * len(asking)
                options.tell(f"{asked.name}: {asked.planned(calls, tokens, calls * REPLY_TOKENS_MAX)}")
            for one in asking:
                reply = asked.complete(one.prompt, tokens_max=REPLY_TOKENS_MAX)
                answers.append(answered(one, reply, bench.world.tasks[one.task], sandbox))
                told(len(answers), len(seeds) * len(asking))
    options.tell(f"spent {asked.spent}")
    return _report(asked.name, answers, len(seeds))


def questions(bench: Bench, arms: Sequence[str]) -> Iterator[Asking]:
    """Give what a model is asked of one world: every problem, with every memory as it is after the stream."""
    left = memories(bench, arms)
    for arm in arms:
        given = left[arm].given
        for name, one in bench.world.tasks.items():
            memory = given if isinstance(given, str) else given(name)
            for how in (FREE, FORCED) if memory else (FREE,):
                yield Asking(arm, how, bench.world.seed, name, prompt(one, memory, how))


def memories(bench: Bench, arms: Sequence[str]) -> Mapping[str, Ended]:
    """Bring the problems to the memories, one at a time."""
    found: dict[str, Ended] = {}
    for arm in chosen(arms):
        lengths = [it["characters"] for it in found[GATED].stream.points] if GATED in found else []
        found[arm.name] = ended(bench, arm, "stream", lengths)
    return found


def prompt(one: Task, memory: str, how: str) -> str:
    """Write what a model is asked of one task; what is held out is not in it."""
    parts = [_ASKS]
    if memory:
        parts += ["", _FORCED if how == FORCED else _FREE, memory]
    for number, pair in enumerate(one.grids["train"], 1):
        parts += ["", f"Input {number}:", _grid(pair["input"]), f"Output {number}:", _grid(pair["output"])]
    return "\n".join(parts)


def _grid(rows: Sequence[Sequence[int]]) -> str:
    return "\n".join("".join(map(str, row)) for row in rows)


def program_of(reply: str) -> str | None:
    """Read the program of a reply: its first block of code, or all of it where it is nothing else; None without one."""
    block = _BLOCK.search(reply)
    text = block[1] if block else reply.strip()
    is_code = block is not None or text.startswith(("def ", "import ", "from "))
    return text if is_code and re.search(r"^def solve\(", text, re.MULTILINE) else None


def answered(asking: Asking, reply: str, one: Task, sandbox: Sandbox) -> Answered:
    """Run what a model wrote, on what is held out."""
    program = program_of(reply)
    if program is None:
        return Answered(asking.arm, asking.how, asking.seed, asking.task, False, False, "no program")
    (ran,) = sandbox.run(program, [one.name])
    end = f"raised {ran.raised}" if ran.raised else ran.end
    return Answered(asking.arm, asking.how, asking.seed, asking.task, True, ran.digest == one.digest, end)


def rows(answers: Sequence[Answered]) -> Iterator[Row]:
    """Count, by memory, what was solved and what was lost that needs no memory."""
    alone = {(one.seed, one.task): one.solved for one in answers if one.arm == NO_MEMORY}
    for arm, how in dict.fromkeys((one.arm, one.how) for one in answers):
        own = [one for one in answers if (one.arm, one.how) == (arm, how)]
        before = [one for one in own if alone[one.seed, one.task]]
        won = sum(one.solved and not alone[one.seed, one.task] for one in own)
        lost = sum(not one.solved for one in before)
        yield Row(arm, how, rate(sum(one.solved for one in own), len(own)), rate(lost, len(before)),
                  replay.mcnemar(won, lost), sum(not one.readable for one in own))  # fmt: skip


HEADS = ("memory", "it", "solved", "lost of what needs no memory", "chance", "no program")


def _report(name: str, answers: Sequence[Answered], seeds: int) -> Report:
    found = [*rows(answers)]
    lines = [
        (one.arm, one.how, str(one.solved), str(one.lost), f"{one.chance:.3f}", str(one.unreadable)) for one in found
    ]
    told = f"{name} writes programs for {len(answers)} questions of {seeds} streams; theirs: GPT-5.4, 19 of 19 alone"
    ends: dict[str, int] = {}
    for one in answers:
        ends[one.end] = ends.get(one.end, 0) + 1
    stopped = f"programs: {', '.join(f'{number} {end}' for end, number in sorted(ends.items()))}"
    best = ", ".join(f"{one.arm} ({one.how}) {one.solved.hits} of {one.solved.n}" for one in found)
    text = f"# Programs by a model, with and without memory\n\n{told}; {stopped}.\n\n{table(HEADS, lines)}\n"
    records = [asdict(one) for one in answers]
    return Report(
        [Section(told, [HEADS, *lines], [stopped])], [{"answer": one} for one in records], f"{name}: {best}", (),
        {"rows": [asdict(one) for one in found], "answers": records}, lambda: text,
        lambda: page.document("Programs by a model", [f"<pre>{escape(text)}</pre>"]),
    )  # fmt: skip
