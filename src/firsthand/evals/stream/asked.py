"""A model in a stream: asked with a cap, and every reply recorded before it counts.

    asked = Asked.of(options)           None without --model
    asked.complete("...", tokens_max=800)

The invariants: no call is made that could pass the cap; a request that was answered is
never paid for again, so a run can be broken off and gone on with, and a recorded run is
replayed with no key and no network. It knows no prompt.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import AbstractContextManager
from pathlib import Path

from firsthand.errors import InvalidArgument
from firsthand.evals.reclaim.chosen import LOCAL, URL, Chosen, chosen
from firsthand.evals.reclaim.spending import CALLS_MAX, Cap, Meter, Metered, Price, Spent
from firsthand.evals.stream.packs import Options
from firsthand.llm import Model, Recorded
from firsthand.value import value

REPLIES = "replies"


@value
class Planned:
    """What a run will ask at the most, before it asks; tokens are estimates, the cost is None without a price."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "no price was given" if self.cost is None else f"about {self.cost:,.2f} at the given price"
        return (
            f"at most {self.calls:,} calls, about {self.prompt_tokens:,} tokens of prompts and at most "
            f"{self.reply_tokens:,} of replies; {cost}"
        )


class Asked:
    """One model of one run."""

    def __init__(self, one: Chosen, folder: Path, meter: Meter, price: Price | None, model: Model | None) -> None:
        told = hashlib.sha256(f"{one.served} {one.address} {one.temperature}".encode()).hexdigest()[:8]
        file = folder / REPLIES / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', one.name)}-{told}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        self.name, self.price, self._one, self._meter, self._folder = one.name, price, one, meter, folder
        self._model = model
        self._recorded = Recorded(file, None if model is None else Metered(model, meter))

    @classmethod
    def of(cls, options: Options) -> Asked | None:
        """Give the model that was typed; None without one.

        Raises:
            InvalidArgument: what was typed does not fit together.
            ModelUnavailable: it cannot be loaded.
        """
        of_model = {"temperature", "calls_max", "tokens_max", "price", "cost_max", "replay"}
        if options.model is None:
            given = sorted(name for name in of_model if getattr(options, name) not in (None, False))
            if given:
                raise InvalidArgument(f"--{given[0].replace('_', '-')} is of a run with a model: name one (--model)")
            return None
        if options.folder is None:
            raise InvalidArgument(
                "a run with a model is kept, so that no reply is paid for twice: name a folder (--out DIR)"
            )
        price = None if options.price is None else Price(*options.price)
        calls = CALLS_MAX if options.calls_max is None else options.calls_max
        meter = Meter(Cap(calls, options.tokens_max, options.cost_max), price)
        one = chosen(options.model, temperature=options.temperature or 0.0, tools=False)
        model = None if options.replay else opened(one, options.key)
        return cls(one, options.folder, meter, price, model)

    def beside(self, options: Options, model: str) -> Asked:
        """Give another model of the same run: under the same cap, in the same folder."""
        one = chosen(model, temperature=options.temperature or 0.0, tools=False)
        reached = None if options.replay else opened(one, options.key)
        return Asked(one, self._folder, self._meter, self.price, reached)

    def close(self) -> None:
        """Give back what a server was asked through."""
        if isinstance(self._model, AbstractContextManager):  # one in this process has nothing to give back
            self._model.__exit__(None, None, None)

    @property
    def spent(self) -> Spent:
        """What was spent so far; what was recorded before is free."""
        return self._meter.spent

    def complete(self, prompt: str, *, tokens_max: int) -> str:
        """Give the reply to a prompt.

        Raises:
            CapReached: the call could pass the cap.
            ReplyUnknown: it is a replay, and this was not recorded.
            ModelError: there is no reply.
        """
        said = [{"role": "user", "content": prompt}]
        reply = self._recorded.complete(said, max_tokens=tokens_max, temperature=self._one.temperature)
        return reply.text

    def planned(self, calls: int, prompt_tokens: int, reply_tokens: int) -> Planned:
        """Say what so many calls may take."""
        cost = None if self.price is None else self.price.of(prompt_tokens, reply_tokens)
        return Planned(calls, prompt_tokens, reply_tokens, cost)


def opened(one: Chosen, key: str | None, *, seconds_max: float | None = None) -> Model:
    """Open a model that is asked without Inspect.

    Args:
        seconds_max: for one reply of a server; None is the client's own limit.

    Raises:
        InvalidArgument: it is of a provider that only Inspect knows.
        ModelUnavailable: it cannot be loaded.
    """
    from firsthand.llm import LocalModel, OpenAICompatible  # noqa: PLC0415 - an extra is imported when it is used
    from firsthand.llm.compatible import SECONDS_MAX  # noqa: PLC0415 - the same

    if one.served == LOCAL:
        return LocalModel(one.address or None, threads=1)
    if one.served == URL:
        patience = SECONDS_MAX if seconds_max is None else seconds_max
        return OpenAICompatible(one.address, one.name, key, seconds_max=patience)
    raise InvalidArgument(f"a stream asks 'local', local:FILE.gguf, or URL#NAME; got {one.address!r}")
