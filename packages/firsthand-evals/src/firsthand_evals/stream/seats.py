"""The models of a run: one that writes a memory, and one that answers from it if that was asked for.

The invariant: both stand under one cap and record in one folder; the paper's confound, one
model in both seats, is there only when it is typed. They know no arm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from firsthand import InvalidArgument
from firsthand.ledger.model_consolidator import NO_ANSWER, SOLVER_TOKENS_MAX, ModelSolver
from firsthand.ledger.solver import Solver
from firsthand.tokens import estimate
from firsthand_evals.models import CALLS_MAX, Cap, Models, Named, Price, named
from firsthand_evals.stream import measure
from firsthand_evals.stream.arms import Arm
from firsthand_evals.stream.measure import MODEL, WEAK
from firsthand_evals.stream.packs import Options
from firsthand_evals.stream.regimes import TOKENS_MAX
from firsthand_evals.stream.run import Readers, lived, stream
from firsthand_evals.stream.world import World, world


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
        """Give the writer's reply."""
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


Complete = Callable[[str], str]


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
        """Reply."""
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
