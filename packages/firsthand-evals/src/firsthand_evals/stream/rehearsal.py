"""What a run with a model will ask, found by running it with one that says nothing.

The invariant: nobody is asked. A model that writes nothing has short memories, so
prompts are counted as they are at the least, and calls as they are when no reply comes
twice; it is an estimate and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firsthand import InvalidArgument
from firsthand.ledger.model_consolidator import NO_ANSWER, SOLVER_TOKENS_MAX
from firsthand.llm.budget import CALLS_MAX
from firsthand.tokens import estimate
from firsthand_evals.stream.arms import Arm
from firsthand_evals.stream.asked import Asked
from firsthand_evals.stream.model_agent import TOKENS_MAX
from firsthand_evals.stream.packs import Options
from firsthand_evals.stream.run import Readers, lived, stream
from firsthand_evals.stream.world import world

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
    options: Options, asked: Asked, arms: Callable[[Complete], Sequence[tuple[str, Sequence[Arm]]]],
    readers: Callable[[Complete], Readers], seeds: Sequence[int], episodes: int, *, answered: bool,
) -> None:  # fmt: skip
    """Tell what a run will take, from one of its worlds.

    Args:
        arms: gives the arms of each schedule for a model; ``readers`` who answers.
        answered: whether a model is among these, so that every question of every update is a call.

    Raises:
        InvalidArgument: it would take more calls than are allowed; nothing is asked then.
    """
    writes, answers = Rehearsed("[]"), Rehearsed(NO_ANSWER)
    made = world(seeds[0], episodes)
    for name, there in arms(writes):
        for arm in there:
            if answered:
                stream(arm, made, name, readers=readers(answers))
            else:
                lived(arm, made, name, readers(answers))
    n = len(seeds)
    replies = n * (writes.calls * (options.reply_tokens or TOKENS_MAX) + answers.calls * SOLVER_TOKENS_MAX)
    planned = asked.planned(n * (writes.calls + answers.calls), n * (writes.tokens + answers.tokens), replies)
    options.tell(f"{asked.name}: {planned}; found by a run with replies that say nothing, so prompts will be longer")
    allowed = CALLS_MAX if options.calls_max is None else options.calls_max
    if planned.calls > allowed and not options.replay:
        raise InvalidArgument(
            f"this run makes about {planned.calls:,} calls and at most {allowed:,} are allowed; take fewer streams, "
            "episodes or arms, or allow more (--calls-max)"
        )
