"""The handler of hooks: answers a call from an open store, and does what waits there afterwards.

Each call goes through `Handler.answer`, in the server and in a process of one call, so that there is one way to
answer a hook. The invariant: a call that could not be recorded is kept, and one that was kept before and is recorded
now is removed.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

from firsthand import FirsthandError, Memory, Moment
from firsthand.agents.hook_answer import Answered, after_hook, answer_hook
from firsthand.agents.jobs import next_due_ms
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.health.job_runner import run_due
from firsthand.server import hook_client, spool
from firsthand.server.daemon_stores import Stores
from firsthand.server.frames import reply
from firsthand.server.hook_client import ANSWERED, Call
from firsthand.server.spool import Recorded

SEND_S = 5.0
"""A caller that does not take its reply in so long is let go."""

Log = Callable[[str], None]


class Handler:
    """Answers calls from the stores that are open."""

    def __init__(self, folder: str, stores: Stores) -> None:
        self._folder, self._stores = folder, stores

    def log(self, text: str) -> None:
        """Write a line to the log of hooks."""
        hook_client.log(self._folder, text)

    def answer(
        self,
        connection: socket.socket,
        call: Call,
        payload: bytes,
        *,
        recall_by: float,
        gone_by: float,
        busy: Callable[[], bool],
    ) -> bool:
        """Answer one call; say whether something was left to do in its store.

        Args:
            recall_by: the hook is recorded and told nothing more after this time (of the monotonic clock).
            gone_by: it waits no more after this time, and has kept its call itself.
            busy: others are at work; what can wait then does.
        """
        try:
            with self._stores.measures.call("hook", call.host) as ends, self._stores.of(call) as memory:
                now = time.monotonic()
                if now > gone_by:
                    return False
                made = answered(memory, call, payload, self.log, max(1, int(1000 * (recall_by - now))))
                send(connection, ANSWERED, made.output)
                ends("unrecorded" if made.unrecorded else "fault" if made.fault else "ok")
                if not busy():  # it would hold up what the others append
                    _index(memory, self.log)
        except FirsthandError as error:
            # The hook would meet the same; it is told nothing, and the call is kept.
            hook_client.keep(call, payload, self._folder, f"{type(error).__name__}: {error}")
            send(connection, ANSWERED)
            return False
        if made.unrecorded:
            hook_client.keep(call, payload, self._folder, made.unrecorded)
        else:
            hook_client.forget(call)  # its hook had kept it where it had to start this process
        return made.jobs or bool(KeptCalls(Path(call.store)).waiting())


def send(connection: socket.socket, status: bytes, output: bytes = b"") -> None:
    """Reply; a hook that waits no more has kept its call."""
    connection.settimeout(SEND_S)
    try:
        connection.sendall(reply(status, output))
    except (BrokenPipeError, ConnectionResetError):  # it went away
        return


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


def _index(memory: Memory, log: Log) -> None:
    """Index what the answered hooks recorded; what cannot be indexed now is, with the next events."""
    try:
        after_hook(memory)
    except FirsthandError as error:
        log(f"the newest events of {memory.path} are indexed later: {type(error).__name__}: {error}")


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
