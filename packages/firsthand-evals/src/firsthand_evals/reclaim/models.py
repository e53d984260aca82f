"""Language models in the reclaim evaluation: planned, capped, recorded, and asked several at once.

    asking = Asking(folder, cap=Cap(calls=500), prices={"qwen": Price(0.15, 0.6)})
    reader = asking.reader(named("http://localhost:8080/v1#qwen"))
    asking.allow(plan(cases, reader))
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
from firsthand.errors import CapReached, ModelRefused
from firsthand.tokens import estimate
from firsthand.value import value
from firsthand_evals.models import LOCAL, Estimate, Models, Named, Price, Spent, taking
from firsthand_evals.reclaim import items, readers, writers
from firsthand_evals.reclaim import run as running
from firsthand_evals.reclaim.ask import Probe
from firsthand_evals.reclaim.corrections import correction
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import PULLS_MAX, REPLY_TOKENS_MAX, SYSTEM, Calling, Reader
from firsthand_evals.reclaim.seam import Subject

ITEMS = "items.jsonl"
CONNECTIONS, CONNECTIONS_MAX = 4, 64
REFUSED_MAX = 3
"""Requests that are refused before any is answered; then nothing more is asked."""
ERROR_CHARACTERS_MAX = 1_000

Progress = Callable[[int, int], None]


def plan(
    asked: Sequence[Case], reader: Reader, known: Mapping[str, Item] | None = None,
    prices: tuple[Price | None, Price | None] = (None, None),
) -> Estimate:  # fmt: skip
    """Estimate what asking will take, without asking.

    Args:
        prices: of the reader, and of the model that writes memories.
    """
    planned = Estimate()
    for case in asked:
        if items.key(case, reader) in (known or {}):
            continue
        messages = 2 * (case.depth + case.filler + 1) + 1 if not case.hops else 4
        written = _calls(case.subject.make, messages) * max(1, case.hops)
        if written:
            planned += _estimate(written, 0, written * _session(case), writers.NOTE_TOKENS_MAX, prices[1])
        if reader.costs:
            turns = correction(case.correction, case.problem)
            answers = len(turns) + case.hops
            carried = case.budget if case.budget is not None else 400 * (case.depth + case.filler + 1)
            prompts = answers * (estimate(SYSTEM + "".join(turns)) + carried // 4)
            asks = not case.subject.policy and not written and case.budget is not None
            more = answers * (PULLS_MAX + 1) if asks else 0
            planned += _estimate(answers, more, prompts, REPLY_TOKENS_MAX, prices[0])
    return planned


def _estimate(calls: int, more: int, prompts: int, each: int, price: Price | None) -> Estimate:
    """Estimate calls with so many tokens of prompts in all and of each reply; ``more`` of them may come."""
    cost = None if price is None else price.of(prompts, calls * each)
    return Estimate(calls, calls + more, prompts, calls * each, cost)


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
        known, keys, said = items.load(file), running.keys_of(asked, reader), running.said_in(asked)
        left = [case for case, key in zip(asked, keys, strict=True) if key not in known]
        made: dict[str, Item] = {}
        failed: list[Failed] = []
        refused: list[str] = []
        lock, turns = threading.Lock(), defaultdict[int, threading.Lock](threading.Lock)

        def ask(case: Case) -> None:
            """Ask one case, from any thread; cases of one memory object wait for each other."""
            if self.meter.stopped or (len(refused) >= REFUSED_MAX and not made):
                return
            with lock:
                turn: AbstractContextManager[Any] = (
                    turns[id(case.subject.make)] if case.subject.shared else nullcontext()
                )
            try:
                with turn, taking(case.repetition):
                    item = running.one(case, reader, probe=probe, said=said)
            except CapReached:
                return  # it is counted as left, and the run says why
            except FirsthandError as error:
                told = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS_MAX]
                with lock:
                    refused.extend([told] if isinstance(error, ModelRefused) else ())
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
        none = f"the model takes no request: {refused[0]}" if len(refused) >= REFUSED_MAX and not made else ""
        stopped = self.meter.stopped or none
        return Run(whole, len(asked) - len(left), len(made), tuple(failed), not_asked, stopped, self.meter.spent)
