"""Asks a model by what is typed for it, with a cap, and records every reply before it counts.

    one = named("http://localhost:8080/v1#qwen")
    asked = Asked(one, folder, Meter(Cap(calls=100)), None, opened(one, key))
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
from firsthand.llm.budget import Meter, Metered, Price, Spent
from firsthand.llm.compatible import SECONDS_MAX, OpenAICompatible
from firsthand.llm.local import LocalModel
from firsthand.llm.port import Model
from firsthand.llm.recorded import Recorded
from firsthand.value import value

LOCAL, URL = "local", "url"
REPLIES = "replies"


@value
class Named:
    """A model, by what was typed for it.

    Attributes:
        name: in reports.
        served: ``local`` (a GGUF file in this process) or ``url`` (any server of OpenAI chat completions).
        address: the file, or the URL.
        temperature: 0 to 2.
    """

    name: str
    served: str
    address: str
    temperature: float = 0.0


def named(model: str, *, temperature: float = 0.0) -> Named:
    """Read the name of a model: ``local`` (SmolLM2), ``local:FILE.gguf`` or ``URL#NAME``.

    Raises:
        InvalidArgument: it is none of these.
    """
    if model == LOCAL or model.startswith(f"{LOCAL}:"):
        file = model.removeprefix(LOCAL).removeprefix(":")
        return Named(Path(file).stem if file else "SmolLM2-135M-Instruct", LOCAL, file, temperature)
    if model.startswith(("http://", "https://")):
        url, _, name = model.partition("#")
        if "@" in url:  # the URL goes into logs and error messages
            raise InvalidArgument("a model's URL holds no user and no password; a key stands in $FIRSTHAND_MODEL_KEY")
        if not name:
            raise InvalidArgument(f"a model is named URL#NAME, such as http://localhost:8080/v1#qwen; got {model!r}")
        return Named(name, URL, url.rstrip("/").removesuffix("/chat/completions"), temperature)
    raise InvalidArgument(
        f"a model is 'local', local:FILE.gguf or URL#NAME such as http://localhost:8080/v1#qwen; got {model!r}"
    )


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

    def __init__(self, one: Named, folder: Path, meter: Meter, price: Price | None, model: Model | None) -> None:
        told = hashlib.sha256(f"{one.served} {one.address} {one.temperature}".encode()).hexdigest()[:8]
        file = folder / REPLIES / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', one.name)}-{told}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        self.name, self.price, self._one, self._meter, self._folder = one.name, price, one, meter, folder
        self._model = model
        self._recorded = Recorded(file, None if model is None else Metered(model, meter))

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


def opened(one: Named, key: str | None, *, seconds_max: float | None = None) -> Model:
    """Open a model.

    Args:
        seconds_max: for one reply of a server; None is the client's own limit.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    if one.served == LOCAL:
        return LocalModel(one.address or None, threads=1)
    patience = SECONDS_MAX if seconds_max is None else seconds_max
    return OpenAICompatible(one.address, one.name, key, seconds_max=patience)
