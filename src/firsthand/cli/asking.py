"""Models that a command asks: named by what is typed, estimated, held to a cap, and recorded where the user says.

The invariants: nothing is asked before it was told what it takes; no call is made that
could pass the cap; replies are kept in no place that the user did not name, since they
are made of what stands in the store. It knows no prompt.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from firsthand import InvalidArgument, environment
from firsthand.cli.output import Output
from firsthand.llm.asked import Asked, named, opened
from firsthand.llm.spending import Cap, Meter, Price
from firsthand.tokens import estimate

_OPTIONS = ("price", "cost_max", "tokens_max", "replies", "replay")


class Models:
    """The models of one command, with one cap for all; make it with `models`."""

    def __init__(self, chosen: argparse.Namespace, folder: Path, out: Output, closes: ExitStack) -> None:
        self.price = Price(*chosen.price) if chosen.price else None
        self.meter = Meter(Cap(chosen.calls_max, chosen.tokens_max, chosen.cost_max), self.price)
        self._chosen, self._folder, self._out, self._closes = chosen, folder, out, closes
        self._seconds_max = getattr(chosen, "seconds", None)
        """Of a command that has a limit of time: no reply is waited for longer than all of it may take."""
        self.was_asked = False
        """A model was named that there is: then what was spent is told, also when it is nothing."""

    def named(self, model: str) -> Asked:
        """Give a model: ``local``, ``local:FILE.gguf`` or ``URL#NAME``.

        Raises:
            InvalidArgument: it is none of these.
            ModelUnavailable: it cannot be loaded.
        """
        one = named(model)
        reached = None if self._chosen.replay else opened(one, environment.model_key(), seconds_max=self._seconds_max)
        if isinstance(reached, AbstractContextManager):  # one in this process has nothing to give back
            self._closes.enter_context(reached)
        self.was_asked = True
        return Asked(one, self._folder, self.meter, self.price, reached)

    def tell(self, asked: Asked, prompts: Sequence[str], reply_tokens: int) -> None:
        """Say what asking these prompts takes at the most.

        Raises:
            InvalidArgument: it would take more calls than are allowed.
        """
        planned = asked.planned(len(prompts), sum(map(estimate, prompts)), len(prompts) * reply_tokens)
        self._out.warn(f"{asked.name}: {planned}")
        if planned.calls > self._chosen.calls_max and not self._chosen.replay:
            raise InvalidArgument(
                f"this asks {planned.calls:,} times and at most {self._chosen.calls_max:,} calls are allowed; allow "
                "more (--calls-max)"
            )

    def told(self) -> None:
        """Say what was spent."""
        self._out.warn(f"spent {self.meter.spent}")


@contextmanager
def models(chosen: argparse.Namespace, out: Output, *names: str | None) -> Iterator[Models | None]:
    """Give the models of a command; None when none is named.

    Args:
        names: what was typed for each model; None for one that was not.

    Raises:
        InvalidArgument: an option of a model was typed without a model, or a replay without recorded replies.
    """
    given = [name for name in _OPTIONS if getattr(chosen, name)]
    if not any(names):
        if given:
            raise InvalidArgument(f"--{given[0].replace('_', '-')} is of a model: name one (--model)")
        yield None
        return
    if chosen.replay and not chosen.replies:
        raise InvalidArgument("a replay answers from what was recorded: name the folder (--replies DIR)")
    with ExitStack() as stack:
        kept = chosen.replies or stack.enter_context(tempfile.TemporaryDirectory(prefix="firsthand-replies-"))
        one = Models(chosen, Path(kept).expanduser(), out, stack)
        try:
            yield one
        finally:
            if one.was_asked:
                one.told()
