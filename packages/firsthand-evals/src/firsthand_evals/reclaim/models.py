"""Language models in the evaluation: planned, capped, recorded, and asked several at once.

    asking = Asking(folder, cap=Cap(calls=500), price=Price(0.15, 0.6))
    reader = asking.reader(named("http://localhost:8080/v1#qwen"))
    print(plan(cases, reader, price=asking.price))
    run = asking.run(cases, reader)

A model is any server of OpenAI chat completions, or a GGUF file in this process
(`firsthand.llm`). The invariants: every reply is in a file before it counts, so that no
call is paid for twice, and a recorded run is replayed without a key and a network; no
call is made that could pass the cap; the cases of a run are those known, made, failed
and left, added up.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from firsthand import FirsthandError, InvalidArgument
from firsthand.errors import CapReached
from firsthand.llm import Model, Recorded, Reply
from firsthand.llm.asked import LOCAL, REPLIES, Named, opened
from firsthand.llm.budget import Cap, Meter, Metered, Price, Spent
from firsthand.tokens import estimate
from firsthand.value import value
from firsthand_evals.reclaim import drift, items, readers, writers
from firsthand_evals.reclaim import run as running
from firsthand_evals.reclaim.ask import PULLS_MAX, Probe
from firsthand_evals.reclaim.calling import Calling
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import REPLY_TOKENS_MAX, SYSTEM, Reader
from firsthand_evals.reclaim.seam import CUT, Subject

ITEMS = "items.jsonl"
CONNECTIONS, CONNECTIONS_MAX = 4, 64
ERROR_CHARACTERS_MAX = 1_000

_TAKE: ContextVar[int] = ContextVar("take", default=0)
"""Which of equal cases is asked: each has replies of its own."""


# before ------------------------------------------------------------------------------------------------------


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
            own = running.plan([case], reader)
            calls, replies = calls + own.calls, replies + own.calls * REPLY_TOKENS_MAX
            prompts += own.tokens - own.calls * REPLY_TOKENS_MAX
            asks = not case.subject.policy and not written and case.budget is not None
            calls_max += own.calls * (PULLS_MAX + 2 if asks else 1)
    cost = None if price is None else price.of(prompts, replies)
    return Plan(len(left), calls, calls_max, prompts, replies, cost)


def _session(case: Case) -> int:
    """Estimate the tokens that a writer is shown."""
    if case.hops:
        return 2 * estimate(SYSTEM) + (case.budget or 0) // 4
    said = drift.dialogue(case.problem, case.depth, filler=case.filler, source_at=case.source_at, premise=case.premise)
    return estimate(SYSTEM) + sum(estimate(one["content"]) for one in said)


def _calls(make: object, messages: int) -> int:
    """Count the calls of a memory that a model writes, for one session of so many messages."""
    counted = getattr(make, "calls", None)
    return int(counted(messages)) if callable(counted) else 0


# the run -----------------------------------------------------------------------------------------------------


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


class Asking:
    """The models of a run, in a folder: every reply recorded, every call counted and held to one cap.

    Args:
        folder: holds ``items.jsonl`` and ``replies/`` (one file a model and repetition).
        cap: of this run; what is replayed is free.
        price: for what it costs; None counts calls and tokens alone.
        key: for a server; it goes into requests to that server and nowhere else.
        replay: True asks nobody: what was not recorded fails.
        connections: cases that are asked at once; a model in this process is asked one at a time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        cap: Cap | None = None,
        price: Price | None = None,
        key: str | None = None,
        replay: bool = False,
        connections: int = CONNECTIONS,
    ) -> None:
        if connections not in range(1, CONNECTIONS_MAX + 1):
            raise InvalidArgument(f"connections are 1 to {CONNECTIONS_MAX}; got {connections!r}")
        self.folder, self.price, self.replay, self._key = folder, price, replay, key
        self.meter = Meter(cap or Cap(), price)
        self._connections = connections
        self._records: dict[Path, Recorded] = {}
        self._models: dict[Named, Model] = {}
        self._served: set[str] = set()
        self._lock = threading.Lock()

    def model(self, one: Named) -> Model:
        """Give a model by way of its record."""
        self._served.add(one.served)
        return _Through(self, one)

    def reader(self, one: Named) -> Reader:
        """Give the reader that a model is: a server's is taught to call tools, a file's asks in words."""
        asked = readers.Asked if one.served == LOCAL else Calling
        return asked(self.model(one), one.name, temperature=one.temperature)

    def writers(self, one: Named) -> tuple[Subject, ...]:
        """Give the memories that a model writes."""
        return writers.all_of(self.model(one), one.name)

    def run(
        self,
        asked: Sequence[Case],
        reader: Reader,
        *,
        over: str = CUT,
        probe: Probe | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Run:
        """Ask the cases that the folder has no item of; what is made is kept at once.

        Args:
            over, probe: see `run.run`; progress: called with cases done and cases to be asked.

        Raises:
            InvalidArgument: two cases are the same, or there are too many.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / ITEMS
        known = items.load(file)
        keys = running.keys_of(asked, reader)
        left = [case for case, name in zip(asked, keys, strict=True) if name not in known]
        work = _Work(reader, _Kept(file), over, probe, progress, len(left))
        alone = self.replay or LOCAL in self._served
        pool = ThreadPoolExecutor(max_workers=1 if alone else self._connections)
        try:
            for _ in pool.map(lambda case: self._once(work, case), left):
                pass
        finally:
            pool.shutdown(cancel_futures=True)  # Ctrl-C asks nothing more, and what was answered is kept
            work.kept.close()
            self.close()
        made = {item.key: item for item in work.made}
        whole = tuple(item for name in keys if (item := known.get(name) or made.get(name)) is not None)
        not_asked = len(left) - len(made) - len(work.failed)
        assert not_asked >= 0, f"{len(made)} made and {len(work.failed)} failed of {len(left)}"
        return Run(
            whole, len(asked) - len(left), len(made), tuple(work.failed), not_asked, self.meter.stopped,
            self.meter.spent,
        )  # fmt: skip

    def close(self) -> None:
        """Give back what servers were asked through; a later call opens them again."""
        for model in self._models.values():
            if isinstance(model, AbstractContextManager):
                model.__exit__(None, None, None)
        self._models.clear()
        self._records.clear()

    def _once(self, work: _Work, case: Case) -> None:
        if self.meter.stopped:
            return
        try:
            work.one(case)
        except CapReached:
            return  # it is counted as left, and the run says why
        except FirsthandError as error:
            work.fail(case, error)

    def recorded(self, one: Named, take: int) -> Recorded:
        """Give the record of a model, of one of equal cases."""
        mark = hashlib.sha256(f"{one.served} {one.address}".encode()).hexdigest()[:8]
        file = self.folder / REPLIES / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', one.name)}-{mark}-{take}.jsonl"
        with self._lock:
            if file not in self._records:
                file.parent.mkdir(parents=True, exist_ok=True)
                model = None if self.replay else Metered(_Opened(self, one), self.meter)
                self._records[file] = Recorded(file, model)
            return self._records[file]

    def opened(self, one: Named) -> Model:
        """Give a model, opened once, when it is first asked."""
        with self._lock:
            if one not in self._models:
                self._models[one] = opened(one, self._key)
            return self._models[one]


# its parts ---------------------------------------------------------------------------------------------------


class _Through:
    """A model by way of its record."""

    def __init__(self, asking: Asking, one: Named) -> None:
        self._asking, self._one = asking, one

    def complete(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> Reply:
        """Give the recorded reply, else ask and record it."""
        return self._asking.recorded(self._one, _TAKE.get()).complete(messages, **how)


class _Opened:
    """A model that is opened when it is asked: a run whose replies are all recorded opens none."""

    def __init__(self, asking: Asking, one: Named) -> None:
        self._asking, self._one = asking, one

    def complete(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> Reply:
        """Ask."""
        return self._asking.opened(self._one).complete(messages, **how)


class _Kept:
    """Items written to their file as they are made."""

    def __init__(self, file: Path) -> None:
        self._newest: list[Item] = []
        self._written = items.keep(self._feed(), file)

    def add(self, item: Item) -> None:
        """Write one."""
        self._newest.append(item)
        next(self._written)

    def close(self) -> None:
        """Close the file."""
        assert isinstance(self._written, Generator)
        self._written.close()

    def _feed(self) -> Iterator[Item]:
        while True:
            yield self._newest.pop()


class _Work:
    """Asks cases, from any thread, and keeps what came of them."""

    def __init__(
        self, reader: Reader, kept: _Kept, over: str, probe: Probe | None,
        progress: Callable[[int, int], None] | None, whole: int,
    ) -> None:  # fmt: skip
        self.kept = kept
        self.made: list[Item] = []
        self.failed: list[Failed] = []
        self._reader, self._over, self._probe, self._progress, self._whole = reader, over, probe, progress, whole
        self._lock = threading.Lock()
        self._turns: dict[int, threading.Lock] = defaultdict(threading.Lock)

    def one(self, case: Case) -> Item:
        """Ask one case."""
        with self._turn(case), _taking(case.repetition):
            item = running.one(case, self._reader, over=self._over, probe=self._probe)
        with self._lock:
            self.kept.add(item)
            self.made.append(item)
            self._tell()
        return item

    def fail(self, case: Case, error: BaseException) -> None:
        """Keep why a case has no item."""
        told = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS_MAX]
        with self._lock:
            self.failed.append(Failed(items.key(case, self._reader), case.parameters(self._reader), told))
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(len(self.made) + len(self.failed), self._whole)

    def _turn(self, case: Case) -> AbstractContextManager[Any]:
        """Let cases of one memory object wait for each other; those that have a memory each do not."""
        if not case.subject.shared:
            return nullcontext()
        with self._lock:
            return self._turns[id(case.subject.make)]


@contextmanager
def _taking(take: int) -> Iterator[None]:
    token = _TAKE.set(take)
    try:
        yield
    finally:
        _TAKE.reset(token)
