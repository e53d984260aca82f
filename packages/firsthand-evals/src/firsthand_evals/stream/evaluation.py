"""The pack ``ledger``: made facts come to every memory, and two readers by rule answer from it.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 21 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Everything is made in memory: no store, no network, and no model unless one is named. The
checks are of the schedule ``stream`` alone; with a model come the loops that it writes
in, ten passes over the stream and over everything at once, and H7 and H8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from firsthand import InvalidArgument
from firsthand.ledger.solver import Solver
from firsthand.tokens import estimate
from firsthand_evals.models import CALLS_MAX, Cap, Models, Named, Price, named
from firsthand_evals.stream import arms, checks, measure
from firsthand_evals.stream.arms import GATED, KEEP_ALL, NO_MEMORY, Arm
from firsthand_evals.stream.checks import AT_ONCE, BY_MODEL_FORCED, STREAMED, Check
from firsthand_evals.stream.measure import MODEL, WEAK
from firsthand_evals.stream.model_writer import NO_ANSWER, SOLVER_TOKENS_MAX, ModelSolver
from firsthand_evals.stream.options import Options, Report
from firsthand_evals.stream.regimes import TOKENS_MAX
from firsthand_evals.stream.report import Run, report_of
from firsthand_evals.stream.run import Readers, Stream, lived, stream
from firsthand_evals.stream.run import run as run_streams
from firsthand_evals.stream.world import World, world

Complete = Callable[[str], str]
Checks = Callable[[Sequence[Stream], int], Sequence[Check]]
"""Gives the checks of streams, and of so many episodes each."""
ArmsOf = Callable[[Complete], Sequence[tuple[str, Sequence[Arm]]]]
CHECKED = "stream"
STREAMS, EPISODES = 20, 320
MODEL_STREAMS, MODEL_EPISODES = 5, 64
"""Of a run with a model that does not say otherwise."""
BESIDE = (NO_MEMORY, KEEP_ALL, arms.RULES, GATED)
"""Memories without a model that stand beside those of one."""


def run(options: Options) -> Report:
    """Run every schedule that was asked for."""
    seats = Seats.of(options)
    streams, episodes = (STREAMS, EPISODES) if seats is None else (MODEL_STREAMS, MODEL_EPISODES)
    first = options.seed or 0
    seeds = range(first, first + (streams if options.streams is None else options.streams))
    episodes = episodes if options.episodes is None else options.episodes
    names = [*dict.fromkeys(options.schedule)] or ([CHECKED] if seats is None else [CHECKED, STREAMED, AT_ONCE])
    if seats is None:
        there = [(name, arms.chosen(options.arm)) for name in names]
        return report_of(ran(there, seeds, episodes, options, measure.readers, checks.checks))

    with closing(seats):
        runses = with_model(
            options, seats, seeds, episodes, checks.harness,
            lambda complete: [(name, _of_model(name, complete, seats, options.arm)) for name in names],
        )  # fmt: skip
    last, made = runses[-1]
    runses[-1] = last, (*made, *checks.of_model([one for it, _ in runses for one in it.streams]))
    return report_of(runses, seats.told)


def with_model(
    options: Options, seats: Seats, seeds: Sequence[int], episodes: int, check: Checks, arms_of: ArmsOf
) -> list[tuple[Run, Sequence[Check]]]:
    """Tell what arms of a model will take, run them, and tell what it took.

    Args:
        arms_of: gives the arms of each schedule for a function from a prompt to a reply.
    """
    plan(options, seats.writer.name, arms_of, seats.readers_of, seeds, episodes, answered=seats.solver is not None)
    try:
        return ran(arms_of(seats.write), seeds, episodes, options, seats.readers, check)
    finally:
        options.tell(f"spent {seats.models.meter.spent}")


def _of_model(schedule: str, complete: Complete, seats: Seats, names: Sequence[str]) -> tuple[Arm, ...]:
    """Give the memories that a model writes, with those that stand beside them; of ten passes the forced one alone."""
    by_rule = [arm for arm in arms.ARMS if arm.name in BESIDE]
    there = (*by_rule, *arms.of_model(complete, seats.writer.name, seats.tried_by))
    if schedule in {STREAMED, AT_ONCE}:
        there = tuple(arm for arm in there if arm.name in {NO_MEMORY, KEEP_ALL, BY_MODEL_FORCED, *names})
    return arms.chosen_of(there, names)


def ran(
    there: Sequence[tuple[str, Sequence[Arm]]], seeds: Sequence[int], episodes: int, options: Options,
    readers: Readers, check: Checks,
) -> list[tuple[Run, Sequence[Check]]]:  # fmt: skip
    """Run arms by schedule; what comes as it happened is checked.

    Args:
        readers: gives those who answer.
    """
    runses: list[tuple[Run, Sequence[Check]]] = []
    for name, arms_ in there:
        made = run_streams(
            arms_, seeds, name, episodes=episodes, progress=options.progress(f"{name}:", "streams"), readers=readers
        )
        one = Run(name, episodes, tuple(made))
        runses.append((one, check(one.streams, episodes) if name == CHECKED else ()))
    return runses


class Seats:
    """Who writes and who answers; make it with `Seats.of`."""

    def __init__(self, models: Models, writer: Named, solver: Named | None, reply_tokens: int) -> None:
        self.models, self.writer, self.solver, self.reply_tokens = models, writer, solver, reply_tokens

    @classmethod
    def of(cls, options: Options) -> Seats | None:
        """Give the models that were typed; None without one."""
        if options.model is None:
            of_model = ("temperature", "calls_max", "tokens_max", "price", "cost_max", "replay")
            typed = sorted(name for name in of_model if getattr(options, name) not in (None, False))
            if typed:
                raise InvalidArgument(f"--{typed[0].replace('_', '-')} is of a run with a model: name one (--model)")
            if options.solver_model is not None:
                raise InvalidArgument("--solver-model answers from what a model wrote: name that one, too (--model)")
            return None
        if options.folder is None:
            raise InvalidArgument(
                "a run with a model is kept, so that no reply is paid for twice: name a folder (--out DIR)"
            )
        writer, solver = (
            None if model is None else named(model, temperature=options.temperature or 0.0)
            for model in (options.model, options.solver_model)
        )
        assert writer is not None  # it was typed
        price = None if options.price is None else Price(*options.price)
        cap = Cap(CALLS_MAX if options.calls_max is None else options.calls_max, options.tokens_max, options.cost_max)
        models = Models(options.folder, cap=cap, price=price, key=options.key, replay=options.replay)
        return cls(models, writer, solver, options.reply_tokens or TOKENS_MAX)

    def close(self) -> None:
        """Give back what servers were asked through."""
        self.models.close()

    @property
    def told(self) -> str:
        """Say who is asked, in a sentence."""
        answers = f"{self.solver.name} answers beside the readers by rule" if self.solver else "readers by rule answer"
        return f"{self.writer.name} writes, {answers}."

    @property
    def tried_by(self) -> str:
        """Name the reader that the gate asks."""
        return WEAK if self.solver is None else MODEL

    def write(self, prompt: str) -> str:
        return self._said(self.writer, prompt, self.reply_tokens)

    def readers(self, world: World) -> Mapping[str, Solver]:
        """Give those who answer of a world."""
        return self.readers_of(self._answer)(world)

    def readers_of(self, complete: Callable[[str], str]) -> Readers:
        """Give those who answer, with another one in the model's seat."""
        solver = self.solver

        def given(world: World) -> Mapping[str, Solver]:
            found = measure.readers(world)
            if solver is not None:
                found[MODEL] = ModelSolver(complete, solver.name, knows=world.known_rules)
            return found

        return given

    def _answer(self, prompt: str) -> str:
        assert self.solver is not None
        return self._said(self.solver, prompt, SOLVER_TOKENS_MAX)

    def _said(self, model: Named, prompt: str, tokens_max: int) -> str:
        messages = [{"role": "user", "content": prompt}]
        recorded = self.models.model(model)
        return recorded.complete(messages, max_tokens=tokens_max, temperature=model.temperature).text


class Rehearsed:
    """Replies nothing, and counts what it is asked; the same prompt counts once, since its reply is recorded."""

    def __init__(self, reply: str) -> None:
        self._reply = reply
        self._asked: set[str] = set()
        self.tokens = 0

    @property
    def calls(self) -> int:
        """Count the prompts."""
        return len(self._asked)

    def __call__(self, prompt: str) -> str:
        if prompt not in self._asked:
            self._asked.add(prompt)
            self.tokens += estimate(prompt)
        return self._reply


def plan(
    options: Options, name: str, arms: Callable[[Complete], Sequence[tuple[str, Sequence[Arm]]]],
    readers: Callable[[Complete], Readers], seeds: Sequence[int], episodes: int, *, answered: bool,
) -> None:  # fmt: skip
    """Tell what a run will take, from one of its worlds.

    Args:
        name: of the model; ``arms``: gives the arms of each schedule for a model; ``readers`` who answers.
        answered: whether a model is among these, so that every question of every update is a call.
    """
    writes, answers = Rehearsed("[]"), Rehearsed(NO_ANSWER)
    made = world(seeds[0], episodes)
    for schedule, there in arms(writes):
        for arm in there:
            if answered:
                stream(arm, made, schedule, readers=readers(answers))
            else:
                lived(arm, made, schedule, readers(answers))
    n = len(seeds)
    replies = n * (writes.calls * (options.reply_tokens or TOKENS_MAX) + answers.calls * SOLVER_TOKENS_MAX)
    calls, prompts = n * (writes.calls + answers.calls), n * (writes.tokens + answers.tokens)
    cost = "no price was given"
    if options.price is not None:
        cost = f"about {Price(*options.price).of(prompts, replies):,.2f} at the given price"
    options.tell(
        f"{name}: at most {calls:,} calls, about {prompts:,} tokens of prompts and at most {replies:,} of replies; "
        f"{cost}; found by a run with replies that say nothing, so prompts will be longer"
    )
    allowed = CALLS_MAX if options.calls_max is None else options.calls_max
    if calls > allowed and not options.replay:
        raise InvalidArgument(
            f"this run makes about {calls:,} calls and at most {allowed:,} are allowed; take fewer streams, episodes "
            "or arms, or allow more (--calls-max)"
        )
