"""Record the calls that hooks kept: each tried a few times, then set aside, and none in the way of another.

    kept file -> bounded, whole frame -> try counted -> answered as any call -> removed

The invariant: a call is removed when it is recorded, and stays otherwise, whatever it
raises; it is set aside after `TRIES_MAX` tries. A store that takes nothing from anybody
is no fault of a call: such a try is not counted.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from firsthand import Memory
from firsthand.agents.hook_answer import Answered
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.server.frames import START_BYTES, lengths, parsed
from firsthand.server.hook_client import Call
from firsthand.value import value

Log = Callable[[str], None]
Answer = Callable[[Memory, Call, bytes, Log], Answered]
Whose = tuple[str, str]
"""Namespace and embedder."""


@value
class Recorded:
    """What became of the calls that waited in a store.

    Attributes:
        recorded: how many are in the log now.
        failed: how many wait on, or were set aside.
        busy: True when another process held the store: the rest waits for another time.
    """

    recorded: int = 0
    failed: int = 0
    busy: bool = False


def record(memory: Memory, log: Log, by: float, answer: Answer) -> Recorded:
    """Record the calls that were kept for a namespace, those that were tried least first.

    Args:
        by: of the monotonic clock; no further call is begun after it.
        answer: answers a call as if it came now.

    Raises:
        StoreError: a file cannot be renamed or removed.
    """
    return _Spool(memory, log, answer).record(by)


class _Spool:
    """One look at what waits for a namespace."""

    def __init__(self, memory: Memory, log: Log, answer: Answer) -> None:
        self._memory, self._log, self._answer = memory, log, answer
        self._kept = KeptCalls(memory.path)
        self._recorded = self._failed = 0
        self._refused: list[tuple[Path, str]] = []

    def record(self, by: float) -> Recorded:
        self._kept.sweep()
        busy = False
        for path in self._kept.waiting():
            if busy or time.monotonic() > by:
                break
            busy = self._take(path)
        counts = self._recorded > 0 or _takes_files(self._kept.folder)
        for path, why in self._refused:
            if counts:
                self._has_failed(path, why)
            else:
                self._kept.uncount_try(path)
        return Recorded(self._recorded, self._failed, busy)

    def _take(self, path: Path) -> bool:
        """Try one call; True when another process holds the store."""
        try:
            call, payload = read(path)
        except FileNotFoundError:  # another process has it
            return False
        except (OSError, ValueError) as error:
            self._failed += 1
            if (counted := self._kept.count_try(path)) is not None:
                self._has_failed(counted, f"it cannot be read: {error}")
            return False
        if call.namespace != self._memory.namespace:
            return False
        if self._kept.is_tried_out(path):
            self._failed += 1
            self._has_failed(path, "its process ended, or nothing could be set aside")
            return False
        counted = self._kept.count_try(path)
        return counted is not None and self._try(call, payload, counted)

    def _try(self, call: Call, payload: bytes, path: Path) -> bool:
        try:
            made = self._answer(self._memory, call, payload, self._log)
        except Exception as error:  # noqa: BLE001 - one bad call must not hold up those behind it
            made = Answered(unrecorded=f"{type(error).__name__}: {error}")
        if made.again:
            self._kept.uncount_try(path)
        elif made.unrecorded:
            self._failed += 1
            self._refused.append((path, made.unrecorded))
        else:
            path.unlink(missing_ok=True)
            self._recorded += 1
        return made.again

    def _has_failed(self, path: Path, why: str) -> None:
        if not self._kept.is_tried_out(path):
            self._log(f"the kept call {path.name} waits on: {why}")
        elif (aside := self._kept.put_aside(path)) is not None:
            self._log(
                f"the kept call {aside.name} is set aside in {aside.parent}: {why}. Again: firsthand agent jobs --retry"
            )


def _takes_files(folder: Path) -> bool:
    """Say whether a file can be written here: where not, no call is to blame for what fails."""
    probe = folder / f"probe.{os.getpid()}.part"
    try:
        with probe.open("wb") as file:
            file.write(bytes(4_096))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


def whose(store: str) -> frozenset[Whose]:
    """Say for whom calls wait in a store; what cannot be read may be anybody's, and is given as nobody's.

    Raises:
        StoreError: the folder cannot be read.
    """
    calls = KeptCalls(Path(store))
    named: set[Whose] = set()
    for path in calls.waiting():
        try:
            call = _head(path)
            named.add((call.namespace, call.embedder))
        except FileNotFoundError:  # recorded meanwhile
            continue
        except (OSError, ValueError):  # to be set aside by whoever looks next
            named.add(("", ""))
    return frozenset(named)


def read(path: Path) -> tuple[Call, bytes]:
    """Read a kept call.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no regular file, or not whole.
    """
    with os.fdopen(_opened(path), "rb") as file:
        head, payload = lengths(file.read(START_BYTES))
        data = file.read(head + payload + 1)
    if len(data) != head + payload:
        raise ValueError(f"expected {head + payload:,} bytes behind its first 12, got {len(data):,} or more")
    return parsed(data[:head]), data[head:]


def _head(path: Path) -> Call:
    with os.fdopen(_opened(path), "rb") as file:
        head, _ = lengths(file.read(START_BYTES))
        return parsed(file.read(head))


def _opened(path: Path) -> int:
    """Open a regular file; nothing that could make the reader wait is read, and no link is followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"expected a regular file at {path}")
    return descriptor
