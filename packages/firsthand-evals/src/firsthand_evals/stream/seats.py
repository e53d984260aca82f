"""The models of a run: one that writes a memory, and one that answers from it if that was asked for.

The invariant: both stand under one cap and record in one folder; the paper's confound, one
model in both seats, is there only when it is typed. They know no arm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firsthand import InvalidArgument
from firsthand.ledger.model_consolidator import SOLVER_TOKENS_MAX, ModelSolver
from firsthand.ledger.solver import Solver
from firsthand_evals.stream import measure
from firsthand_evals.stream.asked import Asked
from firsthand_evals.stream.measure import WEAK
from firsthand_evals.stream.model_agent import TOKENS_MAX
from firsthand_evals.stream.packs import Options
from firsthand_evals.stream.report import MODEL
from firsthand_evals.stream.run import Readers
from firsthand_evals.stream.world import World


class Seats:
    """Who writes and who answers; make it with `Seats.of`."""

    def __init__(self, writer: Asked, solver: Asked | None, reply_tokens: int = TOKENS_MAX) -> None:
        self.writer, self.solver, self.reply_tokens = writer, solver, reply_tokens

    @classmethod
    def of(cls, options: Options) -> Seats | None:
        """Give the models that were typed; None without one.

        Raises:
            InvalidArgument: what was typed does not fit together.
            ModelUnavailable: one cannot be loaded.
        """
        writer = Asked.of(options)
        if writer is None:
            if options.solver_model is not None:
                raise InvalidArgument("--solver-model answers from what a model wrote: name that one, too (--model)")
            return None
        solver = None if options.solver_model is None else writer.beside(options, options.solver_model)
        return cls(writer, solver, options.reply_tokens or TOKENS_MAX)

    def close(self) -> None:
        """Give back what servers were asked through."""
        for one in filter(None, (self.writer, self.solver)):
            one.close()

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
        return self.writer.complete(prompt, tokens_max=self.reply_tokens)

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
        return self.solver.complete(prompt, tokens_max=SOLVER_TOKENS_MAX)
