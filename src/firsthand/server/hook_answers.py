"""Answer a call of a hook on its store, and do what waits there: calls that were kept, and jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from firsthand import FirsthandError, Memory, Moment
from firsthand.agents.hook_answer import Answered, after_hook, answer_hook
from firsthand.agents.jobs import next_due_ms
from firsthand.health.job_runner import run_due
from firsthand.server import spool
from firsthand.server.hook_protocol import Call
from firsthand.server.spool import Recorded

TIMEOUT_MS = 300
"""Of a write that waits for other writers: under what a hook waits for its answer."""

Log = Callable[[str], None]


def answered(memory: Memory, call: Call, payload: bytes, log: Log, left_ms: int | None = None) -> Answered:
    """Give what is answered; its faults are in the log of hooks.

    Args:
        left_ms: of the hook's time; None for all of it.

    Raises:
        FirsthandError: the host is not known.
    """
    moment = Moment(int(call.moment_ns) // 1_000)
    made = answer_hook(call.host, payload, memory, nonce=call.nonce, now=moment, left_ms=left_ms)
    if made.fault:
        log(f"{call.host}: {made.fault}")
    return made


def index(memory: Memory, log: Log) -> None:
    """Index what the answered hooks recorded; what cannot be indexed now is, with the next events."""
    try:
        after_hook(memory)
    except FirsthandError as error:
        log(f"the newest events of {memory.path} are indexed later: {type(error).__name__}: {error}")


def opened(call: Call, *, embedder: str, timeout_ms: int = TIMEOUT_MS) -> Memory:
    """Open the store of a call."""
    return Memory(call.store, namespace=call.namespace, timeout_ms=timeout_ms, embedder=embedder)


def work(memory: Memory, log: Log, *, seconds: float) -> Recorded:
    """Record the calls that were kept, and run the jobs that are due; what fails is in the log, and tried again."""
    by = time.monotonic() + seconds
    try:
        recorded = spool.record(memory, log, by, answered)
        for done in run_due(memory, deadline_s=max(0.1, by - time.monotonic())):
            if done.why:
                log(f"job {done.job.kind} of {done.job.session or done.job.agent}: {done.why}")
    except FirsthandError as error:
        log(f"what waits in {memory.path} is left for later: {type(error).__name__}: {error}")
        return Recorded(failed=1)
    return recorded


def waits(store: str, namespace: str) -> float | None:
    """Say in how many seconds a job of a store is due; None when there is none.

    Raises:
        FirsthandError: the list of jobs cannot be read.
    """
    due = next_due_ms(Path(store), namespace)
    return None if due is None else max(0.0, due / 1000 - time.time())
