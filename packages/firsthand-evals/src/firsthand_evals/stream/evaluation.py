"""The pack ``ledger``: made facts come to every memory, and two readers by rule answer from it.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 21 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Everything is made in memory: no store, no network, and no model unless one is named. The
checks are of the schedule ``stream``; of every other one it is checked that the plain
memories are as known. With a model come the loops that it writes in, ten passes over the
stream and over everything at once, and H7 and H8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from firsthand import InvalidArgument
from firsthand.errors import ReplyUnknown
from firsthand.ledger.solver import Solver
from firsthand.tokens import estimate
from firsthand.value import asdict
from firsthand_evals.models import CALLS_MAX, Cap, Estimate, Models, Named, Price, Recorded, named
from firsthand_evals.pages import Page
from firsthand_evals.stream import arms, checks, measure
from firsthand_evals.stream.arms import GATED, KEEP_ALL, NO_MEMORY, Arm
from firsthand_evals.stream.checks import AT_ONCE, BY_MODEL_FORCED, STREAMED, Check
from firsthand_evals.stream.measure import MODEL, WEAK
from firsthand_evals.stream.model_writer import SOLVER_TOKENS_MAX, ModelSolver
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
SMALL_STREAMS, SMALL_EPISODES = 5, 64
"""Of a run with a model, or with a memory of somebody's own, that does not say otherwise."""
ENTRY = '[{"action": "consolidate", "cases": [1], "sources": [1], "text": "rehearsed kind %d level N => 3 * N + 2"}]'
"""What a rehearsal takes for a reply, of an agent and of a writer: it fills the memory that prompts show."""
BESIDE = (NO_MEMORY, KEEP_ALL, arms.RULES, GATED)
"""Memories by rule that stand beside those of a model, and beside those under test."""


def run(options: Options) -> Report:
    """Run every schedule that was asked for."""
    seats = Seats.of(options)
    is_small = seats is not None or options.memory
    streams, episodes = (SMALL_STREAMS, SMALL_EPISODES) if is_small else (STREAMS, EPISODES)
    first = options.seed or 0
    seeds = range(first, first + (streams if options.streams is None else options.streams))
    episodes = episodes if options.episodes is None else options.episodes
    names = [*dict.fromkeys(options.schedule)] or ([CHECKED] if seats is None else [CHECKED, STREAMED, AT_ONCE])
    if seats is None:
        memories = arms.under_test(options.memory) if options.memory else ()
        beside = arms.chosen(options.arm or (BESIDE if memories else ()))
        there = [(name, (*beside, *memories)) for name in names]
        return report_of(ran(there, seeds, episodes, options, measure.readers, checks.checks))

    def arms_of(complete: Complete) -> Sequence[tuple[str, Sequence[Arm]]]:
        return [(name, _of_model(name, complete, seats, options.arm)) for name in names]

    with closing(seats):
        planned = estimated(seats, arms_of, seeds, episodes)
        told = f"{seats.told} {planned}"
        if options.estimate:
            return Report(Page("What a run will take", told, None, ()), [{"estimate": asdict(planned)}], "", (), {})
        options.tell(told)
        seats.models.allow(planned)
        try:
            runses = ran(arms_of(seats.write), seeds, episodes, options, seats.readers, checks.harness)
        finally:
            options.tell(f"spent {seats.models.meter.spent}")
    last, made = runses[-1]
    runses[-1] = last, (*made, *checks.of_model([one for it, _ in runses for one in it.streams]))
    return report_of(runses, seats.told)


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
    """Run arms by schedule; what comes as it happened is checked whole, of other schedules the plain memories.

    Args:
        readers: gives those who answer.
    """
    runses: list[tuple[Run, Sequence[Check]]] = []
    for name, arms_ in there:
        faults: dict[str, str] = {}
        made = [*run_streams(
            arms_, seeds, name, episodes=episodes, progress=options.progress(f"{name}:", "streams"), readers=readers,
            faults=faults,
        )]  # fmt: skip
        one = Run(name, episodes, tuple(it for it in made if it.arm not in faults), faults,
                  tuple(it for it in made if it.arm in faults))  # fmt: skip
        runses.append((one, (check if name == CHECKED else checks.plain)(one.streams, episodes)))
    return runses


class Seats:
    """Who writes and who answers; make it with `Seats.of`."""

    def __init__(self, models: Models, writer: Named, solver: Named | None, reply_tokens: int) -> None:
        self.models, self.writer, self.solver, self.reply_tokens = models, writer, solver, reply_tokens

    @classmethod
    def of(cls, options: Options) -> Seats | None:
        """Give the models that were typed; None without one."""
        if options.model is not None and options.memory:
            raise InvalidArgument("a memory under test brings its own model: name it there, and no --model here")
        if options.model is None:
            of_model = ("temperature", "calls_max", "tokens_max", "price", "cost_max", "replay", "estimate")
            typed = sorted(name for name in of_model if getattr(options, name) not in (None, False, ()))
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
        prices = {name: Price(prompt, reply) for name, prompt, reply in options.price}
        cap = Cap(CALLS_MAX if options.calls_max is None else options.calls_max, options.tokens_max, options.cost_max)
        models = Models(options.folder, cap=cap, prices=prices, key=options.key, replay=options.replay)
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
        return self.readers_of(self.answer)(world)

    def readers_of(self, complete: Callable[[str], str]) -> Readers:
        """Give those who answer, with another one in the model's seat."""
        solver = self.solver

        def given(world: World) -> Mapping[str, Solver]:
            found = measure.readers(world)
            if solver is not None:
                found[MODEL] = ModelSolver(complete, solver.name, knows=world.known_rules)
            return found

        return given

    def answer(self, prompt: str) -> str:
        assert self.solver is not None
        return self._said(self.solver, prompt, SOLVER_TOKENS_MAX)

    def _said(self, model: Named, prompt: str, tokens_max: int) -> str:
        messages = [{"role": "user", "content": prompt}]
        recorded = self.models.model(model)
        return recorded.complete(messages, max_tokens=tokens_max, temperature=model.temperature).text


class Rehearsed:
    """Counts what a model is asked that has not answered it yet, and replies as one would that writes an entry a time.

    The same prompt counts once, since its reply is recorded; what is recorded already is replied, and costs nothing.
    """

    def __init__(self, says: Callable[[str], str], reply_tokens: int, recorded: Recorded) -> None:
        self._says, self._reply_tokens, self._recorded = says, reply_tokens, recorded
        self._asked: dict[str, str] = {}
        self.planned = Estimate()

    def __call__(self, prompt: str) -> str:
        if prompt not in self._asked:
            try:
                self._asked[prompt] = self._says(prompt)
            except ReplyUnknown:
                self._asked[prompt] = ENTRY % len(self._asked)
                tokens, price = estimate(prompt), self._recorded.price
                cost = None if price is None else price.of(tokens, self._reply_tokens)
                self.planned += Estimate(1, 1, tokens, self._reply_tokens, cost)
        return self._asked[prompt]


def estimated(seats: Seats, arms_of: ArmsOf, seeds: Sequence[int], episodes: int) -> Estimate:
    """Rehearse a run without a model: what it will take, beside what is recorded already."""
    rehearsed = Seats(seats.models.replayed(), seats.writer, seats.solver, seats.reply_tokens)
    writes = Rehearsed(rehearsed.write, seats.reply_tokens, seats.models.model(seats.writer))
    answers = Rehearsed(rehearsed.answer, SOLVER_TOKENS_MAX, seats.models.model(seats.solver or seats.writer))
    for seed in seeds:
        made = world(seed, episodes)
        for schedule, there in arms_of(writes):
            for arm in there:
                if seats.solver is not None:  # every question of every update is a call
                    stream(arm, made, schedule, readers=rehearsed.readers_of(answers))
                else:
                    lived(arm, made, schedule, rehearsed.readers_of(answers))
    return writes.planned + answers.planned
