"""Language models of an evaluation: named by what is typed, held to a cap, and recorded before a reply counts.

    models = Models(folder, cap=Cap(calls=100), key=key)
    models.model(named("http://localhost:8080/v1#qwen")).complete(messages, max_tokens=800)

A model is any server of OpenAI chat completions (`firsthand_evals.endpoint`), or a GGUF
file in this process. The invariants: no call is made that could pass the cap; every reply
is in a file before it counts, so that a request is never paid for twice, a run can be
broken off and gone on with, and a recorded run is replayed with no key and no network.
What differs from run to run without meaning (ids in pointers, marks of fences, times) is
given a number before two requests are compared. It knows no prompt and no price list.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument
from firsthand.errors import CapReached, ModelRefused, ModelUnavailable, ReplyUnknown
from firsthand.tokens import estimate
from firsthand.value import asdict, replace, value
from firsthand_evals import endpoint
from firsthand_evals.endpoint import Model, Reply

LOCAL, URL = "local", "url"
REPLIES = "replies"
CALLS_MAX = 2_000
"""Of a run that does not say otherwise."""
PRICED_TOKENS = 1_000_000
COUNTED_MIN = 1 / 3
"""Of our own estimate: a model that counts fewer tokens is not believed, whatever its tokenizer."""
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"
_PASSING = re.compile(
    r"(?P<mark>(?:(?<=<<firsthand )|(?<=<<end ))[0-9a-f]{32})"
    r"|(?P<id>(?:(?<![0-9A-Za-z])|(?<=\\[nrt]))[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Za-z]))"
    rf"|(?P<time>{_TIME}(?: to (?:{_TIME}|\d\d:\d\d))?)"
)
_NUMBERED = re.compile("\ue000[a-z]+ \\d+\ue000")
_TAKE: ContextVar[int] = ContextVar("take", default=0)
"""Which of equal cases is asked: each has replies of its own."""


@value
class Named:
    """A model, by what was typed for it.

    Attributes:
        name: in reports.
        served: ``local`` (a GGUF file in this process) or ``url`` (any server of OpenAI chat completions).
        address: the file, or the URL.
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
    if not model.startswith(("http://", "https://")):
        raise InvalidArgument(
            f"a model is 'local', local:FILE.gguf or URL#NAME such as http://localhost:8080/v1#qwen; got {model!r}"
        )
    url, _, name = model.partition("#")
    if "@" in url:  # the URL goes into logs and error messages
        raise InvalidArgument("a model's URL holds no user and no password; a key stands in $FIRSTHAND_MODEL_KEY")
    if not name:
        raise InvalidArgument(f"a model is named URL#NAME, such as http://localhost:8080/v1#qwen; got {model!r}")
    return Named(name, URL, url.rstrip("/").removesuffix("/chat/completions"), temperature)


def opened(model: Named, key: str | None) -> Model:
    """Open a model.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    return endpoint.Local(model.address) if model.served == LOCAL else endpoint.Server(model.address, model.name, key)


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


Prices = Mapping[str, Price]
"""By the name of a model; the empty name is for every other one on a server."""


def price_of(prices: Prices, model: Named) -> Price | None:
    """Give the price of a model; one in this process is free unless it is named; None without any prices.

    Raises:
        InvalidArgument: there are prices, and none for this model.
    """
    if not prices:
        return None
    price = prices.get(model.name) or (Price(0, 0) if model.served == LOCAL else prices.get(""))
    if price is None:
        raise InvalidArgument(
            f"prices were given for {', '.join(prices)}, and none for {model.name}; add {model.name}=PROMPT,REPLY"
        )
    return price


@value
class Estimate:
    """What a run will ask, before it asks; estimates add up.

    Attributes:
        calls: expected; ``calls_max``: at the most, where memories may be asked.
        prompt_tokens: estimated; ``reply_tokens``: with every reply at its full length; both for ``calls``.
        cost: of these tokens; None without a price.
    """

    calls: int = 0
    calls_max: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Estimate) -> Estimate:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Estimate(
            self.calls + other.calls, self.calls_max + other.calls_max, self.prompt_tokens + other.prompt_tokens,
            self.reply_tokens + other.reply_tokens, sum(costs) if costs else None,
        )  # fmt: skip

    def __str__(self) -> str:
        cost = "no price was given" if self.cost is None else f"about {self.cost:,.2f} at the given price"
        pulls = f" (at most {self.calls_max:,} when memories are asked)" if self.calls_max > self.calls else ""
        return (
            f"about {self.calls:,} calls{pulls}, {self.prompt_tokens:,} tokens of prompts and at most "
            f"{self.reply_tokens:,} of replies; {cost}"
        )


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
        if any(limit is not None and not limit >= 0 for limit in (self.calls, self.tokens, self.cost)):
            raise InvalidArgument(
                f"a cap is 0 or more; got {self.calls!r} calls, {self.tokens!r} tokens, {self.cost!r}"
            )

    def passed(self, calls: int, tokens: int, cost: float | None) -> str:
        """Name the limit that so much is over; empty for none."""
        if self.calls is not None and calls > self.calls:
            return f"{self.calls:,} calls"
        if self.tokens is not None and tokens > self.tokens:
            return f"{self.tokens:,} tokens"
        return f"a cost of {self.cost:g}" if self.cost is not None and (cost or 0) > self.cost else ""


@value
class Spent:
    """What was spent.

    Attributes:
        calls: that were made, those that failed included; ``failed`` of them gave no reply.
        estimated: calls whose tokens are our estimate: the model counted none or too few, or its reply was lost.
        cost: at the given prices; None without any.
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


@value
class Promise:
    """What one call may take at the most."""

    prompt_tokens: int
    reply_tokens: int
    price: Price | None = None


class Meter:
    """Counts what is spent, from any thread; what was spent and what is promised never pass the cap together.

    A call is promised what it may take at the most before it is made; afterwards the model's own count stands in its
    place, or our estimate where it counts none or too few. Once a call was refused, none is made any more.
    """

    def __init__(self, cap: Cap) -> None:
        self.spent, self._cap, self._passed = Spent(), cap, ""
        self._promised: list[Promise] = []
        self._lock = threading.Lock()

    @property
    def stopped(self) -> str:
        """Why no call is made any more; empty while calls are made."""
        if not self._passed:
            return ""
        return (
            f"the next call could pass the cap of {self._passed}; spent are {self.spent}. What was made is kept: run "
            "again with a higher cap, and only the rest is asked"
        )

    def promise(self, promise: Promise) -> None:
        """Set aside what one call may take.

        Raises:
            CapReached: it could pass the cap, or an earlier one could.
        """
        with self._lock:
            self._passed = self._passed or self._over([*self._promised, promise])
            if self._passed:
                raise CapReached(self.stopped)
            self._promised.append(promise)

    def settle(self, promise: Promise, reply: Reply | None, *, free: bool = False) -> None:
        """Count what a call took; without a reply all that it may have taken, unless the model did nothing (free)."""
        taken, estimated = (promise.prompt_tokens, promise.reply_tokens), not free
        if free:
            taken = 0, 0
        elif reply is not None:
            said = min(promise.reply_tokens, estimate("".join((reply.text, *reply.calls))))
            counts = _believed(reply.prompt_tokens, taken[0]), _believed(reply.reply_tokens, said)
            estimated = None in counts
            taken = (
                taken[0] if counts[0] is None else counts[0],
                (said or promise.reply_tokens) if counts[1] is None else counts[1],
            )
        with self._lock:
            self._promised.remove(promise)
            before = self.spent
            cost = before.cost if promise.price is None else (before.cost or 0.0) + promise.price.of(*taken)
            self.spent = Spent(
                before.calls + 1, before.failed + (reply is None), before.prompt_tokens + taken[0],
                before.reply_tokens + taken[1], before.estimated + estimated, cost,
            )  # fmt: skip

    def _over(self, promised: Sequence[Promise]) -> str:
        """Name the limit that promised calls could pass; empty when they pass none."""
        tokens = self.spent.prompt_tokens + self.spent.reply_tokens
        tokens += sum(it.prompt_tokens + it.reply_tokens for it in promised)
        costs = (it.price.of(it.prompt_tokens, it.reply_tokens) for it in promised if it.price is not None)
        return self._cap.passed(self.spent.calls + len(promised), tokens, (self.spent.cost or 0) + sum(costs))


def _believed(counted: int | None, estimated: int) -> int | None:
    """Take a model's count of tokens; None when it counts none, or too few for the words."""
    return counted if counted is not None and counted >= max(1, COUNTED_MIN * estimated) else None


@contextmanager
def taking(take: int) -> Iterator[None]:
    """Ask for one of equal cases: what is recorded of another one is not its reply."""
    token = _TAKE.set(take)
    try:
        yield
    finally:
        _TAKE.reset(token)


class Recorded:
    """A model by way of its record: what is in the file is replayed, anything else is asked and added.

    Several threads may ask at once; of two that ask the same, the first reply stands. A last line that a kill cut off
    is left out.

    Args:
        path: of the file; it need not exist.
        opens: gives the model when it is first asked; None asks nobody.
        meter: counts what is asked, at this ``price``.

    Raises:
        InvalidArgument: the file is none of ours.
    """

    def __init__(
        self, path: Path, opens: Callable[[], Model] | None = None, meter: Meter | None = None,
        price: Price | None = None,
    ) -> None:  # fmt: skip
        self.path, self.price, self._opens, self._meter = path, price, opens, meter or Meter(Cap(calls=None))
        self._model: Model | None = None
        self._lock = threading.Lock()
        self._replies: dict[str, dict[str, Any]] = {}
        data = path.read_bytes() if path.exists() else b""
        self._whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self._whole].splitlines(), 1):
            try:
                row = json.loads(line)
                self._replies[row["request"]] = asdict(Reply(**row["reply"]))
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidArgument(
                    f"line {number} of {path} is no recorded reply ({type(error).__name__}: {error}); "
                    "name another folder, or delete this file and ask again"
                ) from error

    def complete(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256, temperature: float = 0.0,
    ) -> Reply:  # fmt: skip
        """Give the recorded reply, else ask and record it.

        Raises:
            ReplyUnknown: nothing was recorded for this request, and there is no model to ask.
            CapReached: the call could pass the cap.
            ModelError: the model gave no reply.
        """
        request: dict[str, Any] = {
            "messages": [*messages], "tools": [*tools], "max_tokens": max_tokens, "temperature": temperature,
        }  # fmt: skip
        numbers: dict[str, str] = {}
        numbered = _renamed(request, _PASSING, lambda match: _number(match, numbers))
        digest = hashlib.sha256(json.dumps([numbered, _TAKE.get()], sort_keys=True).encode()).hexdigest()[:32]
        if digest not in self._replies:
            if self._opens is None:
                raise ReplyUnknown(
                    f"no reply to this request is recorded in {self.path}, which holds {len(self._replies):,}; "
                    "ask what was asked then, or let a model answer"
                )
            reply = asdict(self._asked(**request))
            self._record(digest, _renamed(reply, _PASSING, lambda match: numbers.get(match[0], match[0])))
        names = {number: name.partition("\0")[0] for name, number in numbers.items()}
        row = _renamed(self._replies[digest], _NUMBERED, lambda match: names.get(match[0], match[0]))
        return Reply(**row | {"calls": tuple(row["calls"])})

    def close(self) -> None:
        """Give back what the model was asked through; a later call opens it again."""
        close = getattr(self._model, "close", None)
        if callable(close):  # one in this process has nothing to give back
            close()
        self._model = None

    def _asked(self, messages: Any, tools: Any, max_tokens: int, temperature: float) -> Reply:
        promised = Promise(estimate(json.dumps([*messages, *tools], ensure_ascii=False)), max_tokens, self.price)
        self._meter.promise(promised)
        reply, free = None, False
        try:
            with self._lock:
                assert self._opens is not None  # complete looked
                self._model = model = self._model or self._opens()
            reply = model.complete(messages, tools=tools, max_tokens=max_tokens, temperature=temperature)
        except (ModelRefused, ModelUnavailable):
            free = True  # any other error comes after work that may be paid for
            raise
        finally:
            self._meter.settle(promised, reply, free=free)
        return reply

    def _record(self, digest: str, reply: dict[str, Any]) -> None:
        with self._lock:
            if digest not in self._replies:
                with self.path.open("ab") as file:
                    file.truncate(self._whole)  # the next line must not run into one that was cut off
                    file.write(json.dumps({"request": digest, "reply": reply}).encode() + b"\n")
                    self._whole = file.tell()
                self._replies[digest] = reply


class Models:
    """The models of one run: under one cap, recorded in one folder, opened when they are first asked.

    Args:
        folder: holds ``replies/``, a file for each model.
        cap: of this run; what is replayed is free.
        prices: for what it costs; without any, calls and tokens alone are counted.
        key: for a server; it goes into requests to that server and nowhere else.
        replay: True asks nobody: what was not recorded fails.

    Raises:
        InvalidArgument: a cost is capped and there is no price.
    """

    def __init__(
        self, folder: Path, *, cap: Cap | None = None, prices: Prices | None = None, key: str | None = None,
        replay: bool = False,
    ) -> None:  # fmt: skip
        self.folder, self.prices, self.replay, self._key = folder, prices or {}, replay, key
        self.cap = cap or Cap()
        if self.cap.cost is not None and not self.prices:
            raise InvalidArgument("a cap on the cost wants the price of a million tokens; give it, or cap the tokens")
        self.meter = Meter(self.cap)
        self.recorded: dict[Named, Recorded] = {}

    def model(self, model: Named) -> Recorded:
        """Give a model by way of its record."""
        reached = replace(model, temperature=0.0)  # which is part of each request
        if reached not in self.recorded:
            mark = hashlib.sha256(f"{model.served} {model.address}".encode()).hexdigest()[:8]
            file = self.folder / REPLIES / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', model.name)}-{mark}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            opens = None if self.replay else lambda: opened(model, self._key)
            self.recorded[reached] = Recorded(file, opens, self.meter, price_of(self.prices, model))
        return self.recorded[reached]

    def replayed(self) -> Models:
        """Give the same models as far as they are recorded; they ask nobody."""
        return Models(self.folder, prices=self.prices, replay=True)

    def allow(self, planned: Estimate) -> None:
        """Let a run begin.

        Raises:
            InvalidArgument: what is estimated is over the cap; a replay asks nobody and passes none.
        """
        over = self.cap.passed(planned.calls, planned.prompt_tokens + planned.reply_tokens, planned.cost)
        if over and not self.replay:
            raise InvalidArgument(
                f"this run is estimated over the cap of {over}: {planned}. Nothing was asked; take less (problems, "
                "streams, experiments, arms), or raise the cap (--calls-max, --tokens-max, --cost-max)"
            )

    def close(self) -> None:
        """Give back what servers were asked through."""
        for recorded in self.recorded.values():
            recorded.close()


def _renamed(data: Any, pattern: re.Pattern[str], name: Callable[[re.Match[str]], str]) -> Any:
    """Copy JSON values with what the pattern finds in their texts under other names."""
    if isinstance(data, str):
        return pattern.sub(name, data)
    if isinstance(data, Mapping):
        return {key: _renamed(inner, pattern, name) for key, inner in data.items()}
    return [_renamed(inner, pattern, name) for inner in data] if isinstance(data, list | tuple) else data


def _number(match: re.Match[str], numbers: dict[str, str]) -> str:
    """Give a passing name the next number of its kind, or the one that it has.

    A time has a number wherever it stands: which times are equal depends on when a program ran.
    """
    kind = match.lastgroup or ""
    if kind != "time" and match[0] in numbers:
        return numbers[match[0]]
    number = f"\ue000{kind} {len(numbers)}\ue000"
    if match[0] in numbers:
        numbers[f"{match[0]}\0{number}"] = number
    return numbers.setdefault(match[0], number) if match[0] not in numbers else number
