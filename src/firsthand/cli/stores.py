"""How a command opens its store, finds the session or agent that was named, and walks past damaged events.

The invariants: a damaged event is named where it stands and hides no other; a session or
an agent that has nothing in the store is no empty answer, and whoever asks is told so.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import firsthand
from firsthand.cli.display import count, shown
from firsthand.cli.output import Output
from firsthand.errors import InvalidArgument, StoreDamaged, StoreOlder, Unresolvable
from firsthand.event import Event
from firsthand.space import Space
from firsthand.value import value

if TYPE_CHECKING:  # a recall does not pay for the import of what it does not use
    from firsthand import Agent, Memory

AnySpace = TypeVar("AnySpace", bound=Space)

POSITION_MAX = 1 << 48
DAMAGED_MAX = 10_000  # of one walk; beyond, the store is past being read event by event


def to_read(chosen: argparse.Namespace) -> Memory:
    """Open the store of a command that only reads; it must be there. One of an older version is migrated first."""
    return to_read_as(firsthand.Memory, chosen)


def to_read_as(facade: type[AnySpace], chosen: argparse.Namespace) -> AnySpace:
    """Open the store of a command that only reads, as `to_read` does, with no more around it than the command needs."""
    try:
        return facade(chosen.store, namespace=chosen.namespace, read_only=True, create=False)
    except StoreOlder:
        facade(chosen.store, namespace=chosen.namespace, create=False).close()
        return facade(chosen.store, namespace=chosen.namespace, read_only=True, create=False)


def position(memory: Memory, as_of: int | None) -> int | None:
    """Give a position that was typed, when the store has come so far; None stays None, which is now."""
    head = int(memory.head().partition(":")[0])
    if as_of is not None and not 0 <= as_of <= head:
        raise InvalidArgument(
            f"expected a position from 0 to {head}, where this store is now; got {as_of}. `firsthand timeline` "
            "shows that of each event"
        )
    return as_of


def to_write(chosen: argparse.Namespace, *, create: bool) -> Memory:
    """Open the store of a command that writes."""
    return firsthand.Memory(chosen.store, namespace=chosen.namespace, create=create)


def session_in(memory: Space, name: str) -> str:
    """Give the name of a session that is there.

    Raises:
        Unresolvable: it is not.
    """
    if all(session.name != name for session in memory.sessions()):
        raise Unresolvable(f"no session {name!r} here; see them all: firsthand session list")
    return name


def agent_here(memory: Memory, name: str, folder: str) -> Agent:
    """Give an agent by its name, or that of a folder.

    Raises:
        InvalidArgument: no session of the store is its own, and it keeps nothing there.
    """
    from firsthand.agents.agent import agent_in

    agent = memory.agent(name) if name else agent_in(memory, folder)
    if agent.sessions() or any(memory.events(agent.session, limit=1)):
        return agent
    whose = "" if name else " (the agent of this folder)"
    with_it = f" --agent {shlex.quote(name)}" if name else ""
    raise InvalidArgument(
        f"no agent {agent.name!r:.120}{whose} has anything in this store. `firsthand agent list` lists those that do; "
        f"sessions become its own by: firsthand agent enrol 'SESSION*'{with_it}"
    )


@contextmanager
def new_file(name: str, out: Output) -> Iterator[BinaryIO]:
    """Give a file that must not be there yet, synced at the end and removed on an error; for ``-`` standard output."""
    if name == "-":
        yield out.binary
        out.binary.flush()
        return
    path = Path(name).expanduser()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise


def vectors_left(memory: Memory) -> str:
    """Say how far the vectors of the embedder at hand are behind; empty when they are not, or without one."""
    head = int(memory.head().partition(":")[0])
    left = [head - space.through for space in memory.vectors() if space.current and space.through < head]
    return f"{count(left[0], 'event')} to go" if left else ""


def words_of(memory: Memory, address: str) -> str:
    """Give the text of an event, or why it is not to be had."""
    try:
        return memory.expand(address).decode("utf-8", "replace")
    except Unresolvable as error:
        return f"not to be had: {error}"


@value
class Damaged:
    """Stands where an event cannot be read."""

    position: int
    why: str

    @property
    def sentence(self) -> str:
        """Say that it is damaged, and how."""
        return f"firsthand: the event at position {self.position} is damaged: {shown(self.why)}"


def walk(
    memory: Memory,
    session: str | None = None,
    *,
    after: int = 0,
    before: int = POSITION_MAX,
    reverse: bool = False,
) -> Iterator[Event | Damaged]:
    """Yield events in order of position; one that is damaged is yielded as such, and the walk goes on.

    Args:
        after, before: exclusive bounds by position.

    Raises:
        StoreDamaged: the head cannot be read, or more than `DAMAGED_MAX` events cannot.
    """
    low, high = after, min(before, int(memory.head().partition(":")[0]) + 1)
    damaged = 0
    while True:
        try:
            for event in memory.events(session, after=low, before=high, newest_first=reverse):
                low, high = (low, event.position) if reverse else (event.position, high)
                yield event
        except StoreDamaged as error:
            edge = _edge(memory, session, low, high, reverse=reverse)
            # Good events that lie before the damaged one on its page were not handed out yet.
            left = (edge, high) if reverse else (low, edge)
            if left[1] - left[0] > 1:  # even a range without events cannot be asked for on an unreadable page
                yield from memory.events(session, after=left[0], before=left[1], newest_first=reverse)
            damaged += 1
            if damaged > DAMAGED_MAX:
                raise
            yield Damaged(edge, str(error))
            low, high = (low, edge) if reverse else (edge, high)
        else:
            return


def _edge(memory: Memory, session: str | None, low: int, high: int, *, reverse: bool) -> int:
    """Find the first position, in the direction of the walk, that cannot be read; low and high are exclusive."""
    first, last = low + 1, high - 1  # the damaged event lies between them, both included
    while first < last:
        middle = (first + last) // 2 + (1 if reverse else 0)
        bounds = (middle - 1, high) if reverse else (low, middle + 1)
        if _readable(memory, session, *bounds):
            first, last = (first, middle - 1) if reverse else (middle + 1, last)
        else:
            first, last = (middle, last) if reverse else (first, middle)
    return first


def _readable(memory: Memory, session: str | None, after: int, before: int) -> bool:
    """Say whether all events between two positions can be read."""
    try:
        for _ in memory.events(session, after=after, before=before):
            pass
    except StoreDamaged:
        return False
    return True
