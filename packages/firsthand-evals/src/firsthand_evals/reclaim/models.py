"""Language models in the reclaim evaluation: planned, capped, recorded, and asked several at once.

    asking = Asking(folder, cap=Cap(calls=500), price=Price(0.15, 0.6))
    reader = asking.reader(named("http://localhost:8080/v1#qwen"))
    print(plan(cases, reader, price=asking.price))
    run = asking.run(cases, reader)

The invariant, beside those of `firsthand_evals.models`: the cases of a run are those
known, made, failed and left, added up.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from firsthand import FirsthandError, InvalidArgument
from firsthand.errors import CapReached
from firsthand.tokens import estimate
from firsthand.value import value
from firsthand_evals.models import LOCAL, Models, Named, Price, Spent, taking
from firsthand_evals.reclaim import items, readers, writers
from firsthand_evals.reclaim import run as running
from firsthand_evals.reclaim.ask import Probe
from firsthand_evals.reclaim.corrections import correction
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import PULLS_MAX, REPLY_TOKENS_MAX, SYSTEM, Calling, Reader
from firsthand_evals.reclaim.seam import Subject

ITEMS = "items.jsonl"
CONNECTIONS, CONNECTIONS_MAX = 4, 64
ERROR_CHARACTERS_MAX = 1_000

Progress = Callable[[int, int], None]


@value
class Plan:
    """What a run will ask, before it asks.

    Attributes:
        cases: that are not known yet.
        calls: at the least, those of writers included; ``calls_max``: when every memory that may be asked is asked as
            often as it may.
        prompt_tokens: estimated, for ``calls``; ``reply_tokens``: at the most, for ``calls``.
        cost: of these tokens; None without a price.
    """

    cases: int
    calls: int
    calls_max: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "no price was given" if self.cost is None else f"about {self.cost:,.2f} at the given price"
        pulls = f" (at most {self.calls_max:,} when memories are asked)" if self.calls_max > self.calls else ""
        return (
            f"{self.cases:,} cases, {self.calls:,} calls{pulls}, about {self.prompt_tokens:,} tokens of prompts and "
            f"at most {self.reply_tokens:,} of replies; {cost}"
        )


def plan(
    asked: Sequence[Case], reader: Reader, known: Mapping[str, Item] | None = None, price: Price | None = None
) -> Plan:
    """Say what asking will take, without asking."""
    left = [case for case in asked if items.key(case, reader) not in (known or {})]
    calls, calls_max, prompts, replies = 0, 0, 0, 0
    for case in left:
        messages = 2 * (case.depth + case.filler + 1) + 1 if not case.hops else 4
        written = _calls(case.subject.make, messages) * max(1, case.hops)
        calls, calls_max = calls + written, calls_max + written
        prompts += written * _session(case) if written else 0
        replies += written * writers.NOTE_TOKENS_MAX
        if reader.costs:
            turns = correction(case.correction, case.problem)
            answers = len(turns) + case.hops
            carried = case.budget if case.budget is not None else 400 * (case.depth + case.filler + 1)
            calls, replies = calls + answers, replies + answers * REPLY_TOKENS_MAX
            prompts += answers * (estimate(SYSTEM + "".join(turns)) + carried // 4)
            asks = not case.subject.policy and not written and case.budget is not None
            calls_max += answers * (PULLS_MAX + 2 if asks else 1)
    return Plan(len(left), calls, calls_max, prompts, replies, None if price is None else price.of(prompts, replies))


def _session(case: Case) -> int:
    """Estimate the tokens that a writer is shown."""
    if case.hops:
        return 2 * estimate(SYSTEM) + (case.budget or 0) // 4
    return estimate(SYSTEM) + sum(estimate(message["content"]) for message in case.session(scripted=True))


def _calls(make: object, messages: int) -> int:
    """Count the calls of a memory that a model writes, for one session of so many messages."""
    count = getattr(make, "calls", None)
    return int(count(messages)) if callable(count) else 0


@value
class Failed:
    """A case that gave no item, and why; asked again by the next run."""

    key: str
    parameters: dict[str, Any]
    error: str


@value
class Run:
    """What came of a run.

    Attributes:
        items: of all cases that have one, in the order of the cases.
        known: those that were there before; ``made``: those that are new.
        left: cases that were not asked, since the run stopped before.
        stopped: why it stopped; empty when it came to its end.
        spent: by this run.
    """

    items: tuple[Item, ...]
    known: int
    made: int
    failed: tuple[Failed, ...]
    left: int
    stopped: str
    spent: Spent


class Asking(Models):
    """The models of a run, in a folder that also holds its items.

    Args:
        connections: cases that are asked at once; a model in this process is asked one at a time.
        models: see `Models`.
    """

    def __init__(self, folder: Path, *, connections: int = CONNECTIONS, **models: Any) -> None:
        if connections not in range(1, CONNECTIONS_MAX + 1):
            raise InvalidArgument(f"connections are 1 to {CONNECTIONS_MAX}; got {connections!r}")
        super().__init__(folder, **models)
        self._connections = connections

    def reader(self, model: Named) -> Reader:
        """Give the reader that a model is: a server's is taught to call tools, a file's asks in words."""
        kind = readers.Asked if model.served == LOCAL else Calling
        return kind(self.model(model), model.name, temperature=model.temperature)

    def writers(self, model: Named) -> tuple[Subject, ...]:
        """Give the memories that a model writes."""
        return writers.all_of(self.model(model), model.name)

    def run(
        self, asked: Sequence[Case], reader: Reader, *, probe: Probe | None = None,
        progress: Progress = lambda _done, _whole: None,
    ) -> Run:  # fmt: skip
        """Ask the cases that the folder has no item of; what is made is kept at once.

        Args:
            probe: see `run.run`; progress: called with cases done and cases to be asked.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / ITEMS
        known, keys = items.load(file), running.keys_of(asked, reader)
        left = [case for case, key in zip(asked, keys, strict=True) if key not in known]
        made: dict[str, Item] = {}
        failed: list[Failed] = []
        lock, turns = threading.Lock(), defaultdict[int, threading.Lock](threading.Lock)

        def ask(case: Case) -> None:
            """Ask one case, from any thread; cases of one memory object wait for each other."""
            if self.meter.stopped:
                return
            with lock:
                turn: AbstractContextManager[Any] = (
                    turns[id(case.subject.make)] if case.subject.shared else nullcontext()
                )
            try:
                with turn, taking(case.repetition):
                    item = running.one(case, reader, probe=probe)
            except CapReached:
                return  # it is counted as left, and the run says why
            except FirsthandError as error:
                told = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS_MAX]
                with lock:
                    failed.append(Failed(items.key(case, reader), case.parameters(reader), told))
            else:
                with lock:
                    made[item.key] = items.write(item, opened)
            with lock:
                progress(len(made) + len(failed), len(left))

        alone = self.replay or any(model.served == LOCAL for model in self.recorded)
        pool = ThreadPoolExecutor(max_workers=1 if alone else self._connections)
        with items.appending(file) as opened:
            try:
                for _ in pool.map(ask, left):
                    pass
            finally:
                pool.shutdown(cancel_futures=True)  # Ctrl-C asks nothing more, and what was answered is kept
                self.close()
        whole = tuple(item for key in keys if (item := known.get(key) or made.get(key)) is not None)
        not_asked = len(left) - len(made) - len(failed)
        assert not_asked >= 0, f"{len(made)} made and {len(failed)} failed of {len(left)}"
        return Run(
            whole, len(asked) - len(left), len(made), tuple(failed), not_asked, self.meter.stopped, self.meter.spent
        )
