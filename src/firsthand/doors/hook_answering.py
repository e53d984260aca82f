"""Answer a call of a hook on its store: what the daemon and a hook that is alone have in common.

It opens the store, hands payload and call to `firsthand.answer_hook`, and does what
waits: calls that were kept, and jobs. The invariant: a kept call is recorded, tried
again later, or, after `TRIES_MAX` times, named in the log of hooks and dropped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from firsthand import Answered, FirsthandError, Memory, Moment, after_hook, answer_hook, next_due_ms, run_due
from firsthand.doors import hook_asking, hook_files
from firsthand.doors.hook_asking import Call

TIMEOUT_MS = 300
"""Of a write that waits for other writers: under what a hook waits for its answer."""
TRIES_MAX = 5
KEPT_CALLS_MAX = 1_000  # of one look at the spool
_KEPT, _PART = ".call", ".part"
_PART_SECONDS = 600.0

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
    return Memory.open(call.store, namespace=call.namespace, timeout_ms=timeout_ms, embedder=embedder)


def answer_once(call: Call, payload: bytes, folder: str, left_ms: int, kept: list[object]) -> bytes:
    """Answer one call in a process that lives for it; by words alone, since a model takes too long to load.

    Args:
        kept: is given the memory, for `afterwards`.

    Raises:
        FirsthandError: the store cannot be opened, or the host is not known.
    """
    memory = opened(call, embedder="none", timeout_ms=max(1, min(TIMEOUT_MS, left_ms)))
    kept.append(memory)
    made = answered(memory, call, payload, lambda text: hook_files.log(folder, text))
    if made.again:
        hook_files.keep(call, payload, folder, "the store cannot take it now")
    return made.output


def afterwards(kept: list[object], store: str, folder: str, seconds: float) -> None:
    """Do what waits, where there is no daemon to do it."""
    for memory in kept:
        assert isinstance(memory, Memory)
        index(memory, lambda text: hook_files.log(folder, text))
        work(memory, store, lambda text: hook_files.log(folder, text), seconds=seconds)


def work(memory: Memory, store: str, log: Log, *, seconds: float) -> None:
    """Record the calls that were kept, and run the jobs that are due; what fails is in the log, and tried again."""
    by = time.monotonic() + seconds
    try:
        record_kept(memory, store, log, by)
        for done in run_due(memory, deadline_s=max(0.1, by - time.monotonic())):
            if done.why:
                log(f"job {done.job.kind} of {done.job.session or done.job.agent}: {done.why}")
    except FirsthandError as error:
        log(f"what waits in {store} is left for later: {type(error).__name__}: {error}")


def waits(store: str, namespace: str) -> float | None:
    """Say in how many seconds something is due in a store; None when nothing waits.

    Raises:
        FirsthandError: the list of jobs cannot be read.
    """
    if _kept(Path(store) / "hooks" / hook_files.KEPT_FOLDER):
        return 0.0
    due = next_due_ms(Path(store), namespace)
    return None if due is None else max(0.0, due / 1000 - time.time())


def is_kept(store: str) -> bool:
    """Say whether hooks kept calls in a store: a hook that asks for an answer tells nothing of those before it."""
    try:
        with os.scandir(Path(store) / "hooks" / hook_files.KEPT_FOLDER) as listing:
            return any(one.name.endswith(_KEPT) for one in listing)
    except FileNotFoundError:
        return False


def record_kept(memory: Memory, store: str, log: Log, by: float) -> int:
    """Record the calls that hooks kept for this namespace, oldest first; say how many.

    A call is renamed before it is tried, so that one which ends the process is dropped in the end.
    """
    recorded = 0
    for path in _kept(Path(store) / "hooks" / hook_files.KEPT_FOLDER):
        if time.monotonic() > by:
            break
        if (taken := _taken(path, memory.namespace, log)) is None:
            continue
        call, payload, again, last = taken
        try:
            if answered(memory, call, payload, log).again:
                again.rename(path)  # no fault of the call's
                break
        except FirsthandError as error:
            log(f"a kept call of {call.host} {'is lost' if last else 'waits on'}: {error}")
            if not last:
                continue
        again.unlink(missing_ok=True)
        recorded += 1
    return recorded


def _taken(path: Path, namespace: str, log: Log) -> tuple[Call, bytes, Path, bool] | None:
    """Take a kept call of a namespace for one more try: the call, its new place, and whether it is the last try.

    None for what is another's; what is no kept call at all is removed, and named.
    """
    try:
        call, payload = _read(path)
        if call.namespace != namespace:
            return None
        name, tries, _ = path.name.rsplit(".", 2)
        again = path.with_name(f"{name}.{int(tries) + 1}{_KEPT}")
        path.rename(again)
    except FileNotFoundError:  # another process has it
        return None
    except (OSError, ValueError) as error:
        log(f"{path} cannot be read, and is removed: {error}")
        path.unlink(missing_ok=True)
        return None
    return call, payload, again, int(tries) + 1 >= TRIES_MAX


def _kept(folder: Path) -> list[Path]:
    """Give the calls that were kept, oldest first; what a killed hook left half written goes."""
    try:
        found = sorted(os.scandir(folder), key=lambda one: one.name)[:KEPT_CALLS_MAX]
    except FileNotFoundError:
        return []
    for one in found:
        if one.name.endswith(_PART) and time.time() - one.stat().st_mtime > _PART_SECONDS:
            Path(one.path).unlink(missing_ok=True)
    return [Path(one.path) for one in found if one.name.endswith(_KEPT)]


def _read(path: Path) -> tuple[Call, bytes]:
    """Read a kept call.

    Raises:
        ValueError: it is not whole.
    """
    with path.open("rb") as file:
        head, payload = hook_asking.lengths(file.read(12))
        data = file.read(head + payload + 1)
    if len(data) != head + payload:
        raise ValueError(f"expected {head + payload:,} bytes behind its first 12, got {len(data):,} or more")
    return hook_asking.parsed(data[:head]), data[head:]
