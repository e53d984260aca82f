"""What a run spends on models: a cap that is held before each call, and what was spent after it.

The invariant: spent and promised together never pass the cap. A call is promised what it
may take at the most (its prompt as estimated, its reply at full length) before it is
made; afterwards the model's own count stands in its place, or the estimate, marked as
one, when it tells none. Once a call was refused, none is made any more.

It knows no price list: what a token costs is told by who pays.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import CapReached, InvalidArgument
from firsthand.llm import Model, Reply
from firsthand.tokens import estimate
from firsthand.value import replace, value

CALLS_MAX = 2_000
"""Of a run that does not say otherwise."""
PRICED_TOKENS = 1_000_000


@value
class Price:
    """What a million tokens of prompt and of reply cost, in any currency.

    Raises:
        InvalidArgument: one is less than nothing.
    """

    prompt: float
    reply: float

    def __post_init__(self) -> None:
        if not (self.prompt >= 0 and self.reply >= 0):
            raise InvalidArgument(f"prices of a million tokens are 0 or more; got {self.prompt!r} and {self.reply!r}")

    def of(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Give what so many tokens cost."""
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / PRICED_TOKENS


@value
class Cap:
    """What a run may spend: calls, tokens, and cost when there is a price; None is no limit.

    Raises:
        InvalidArgument: one is less than nothing.
    """

    calls: int | None = CALLS_MAX
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if any(one is not None and not one >= 0 for one in (self.calls, self.tokens, self.cost)):
            raise InvalidArgument(
                f"a cap is 0 or more; got {self.calls!r} calls, {self.tokens!r} tokens, {self.cost!r}"
            )


@value
class Spent:
    """What was spent.

    Attributes:
        calls: that were made, those that failed included; ``failed`` of them gave no reply.
        prompt_tokens, reply_tokens: as the models counted them.
        estimated: calls whose tokens are our estimate, since the model told none.
        cost: at the given price; None without one.
    """

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    cost: float | None = None

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", {self.cost:,.4f} at the given price"
        failed = f", {self.failed:,} without a reply" if self.failed else ""
        estimated = f" ({self.estimated:,} calls estimated)" if self.estimated else ""
        return (
            f"{self.calls:,} calls{failed}, {self.prompt_tokens:,} tokens of prompts and {self.reply_tokens:,} of "
            f"replies{estimated}{cost}"
        )


class Meter:
    """Counts what is spent, from any thread.

    Raises:
        InvalidArgument: a cost is capped and there is no price.
    """

    def __init__(self, cap: Cap, price: Price | None = None) -> None:
        if cap.cost is not None and price is None:
            raise InvalidArgument("a cap on the cost wants the price of a million tokens; give it, or cap the tokens")
        self._cap, self._price = cap, price
        self._passed = ""
        self._spent = Spent(cost=None if price is None else 0.0)
        self._promised: list[tuple[int, int]] = []
        self._lock = threading.Lock()

    @property
    def stopped(self) -> str:
        """Why no call is made any more; empty while calls are made."""
        if not self._passed:
            return ""
        return (
            f"the next call could pass the cap of {self._passed}; spent are {self._spent}. What was made is kept: run "
            "again with a higher cap, and only the rest is asked"
        )

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        return self._spent

    def promise(self, prompt_tokens: int, reply_tokens: int) -> None:
        """Set aside what one call may take.

        Raises:
            CapReached: it could pass the cap, or an earlier one could.
        """
        with self._lock:
            self._passed = self._passed or self._over(prompt_tokens, reply_tokens)
            if self._passed:
                raise CapReached(self.stopped)
            self._promised.append((prompt_tokens, reply_tokens))

    def settle(self, promised: tuple[int, int], reply: Reply | None) -> None:
        """Count what a call took; without a reply the call alone."""
        with self._lock:
            self._promised.remove(promised)
            told = reply is not None and None not in {reply.prompt_tokens, reply.completion_tokens}
            prompt = 0 if reply is None else promised[0] if reply.prompt_tokens is None else reply.prompt_tokens
            said = 0 if reply is None else (
                estimate(reply.text) if reply.completion_tokens is None else reply.completion_tokens
            )  # fmt: skip
            before = self._spent
            self._spent = replace(
                before, calls=before.calls + 1, failed=before.failed + (reply is None),
                prompt_tokens=before.prompt_tokens + prompt, reply_tokens=before.reply_tokens + said,
                estimated=before.estimated + (reply is not None and not told),
                cost=None if before.cost is None or self._price is None else before.cost + self._price.of(prompt, said),
            )  # fmt: skip

    def _over(self, prompt_tokens: int, reply_tokens: int) -> str:
        """Name the limit that a call could pass; empty when it passes none."""
        spent, cap = self._spent, self._cap
        prompts = prompt_tokens + spent.prompt_tokens + sum(one for one, _ in self._promised)
        replies = reply_tokens + spent.reply_tokens + sum(one for _, one in self._promised)
        if cap.calls is not None and spent.calls + len(self._promised) + 1 > cap.calls:
            return f"{cap.calls:,} calls"
        if cap.tokens is not None and prompts + replies > cap.tokens:
            return f"{cap.tokens:,} tokens"
        if cap.cost is not None and self._price is not None and self._price.of(prompts, replies) > cap.cost:
            return f"a cost of {cap.cost:g}"
        return ""


class Metered:
    """A model whose calls are counted and held to a cap."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self._model, self._meter = model, meter

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Reply to messages; see `firsthand.llm.Model`.

        Raises:
            CapReached: the call could pass the cap.
            ModelError: there is no reply.
        """
        promised = (estimate(json.dumps([*messages, *tools], ensure_ascii=False)), max_tokens)
        self._meter.promise(*promised)
        reply: Reply | None = None
        try:
            reply = self._model.complete(
                messages, tools=tools, max_tokens=max_tokens, temperature=temperature, stop=stop
            )
        finally:
            self._meter.settle(promised, reply)
        return reply
