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
from firsthand import environment
from firsthand.cli.display import count, shown
from firsthand.cli.output import Output
from firsthand.errors import InvalidArgument, StoreDamaged, StoreOlder, Unresolvable
from firsthand.event import Event
from firsthand.space import Space
from firsthand.value import value

if TYPE_CHECKING:  # a recall does not pay for the import of what it does not use
    from firsthand import Agent, Memory

AnySpace = TypeVar("AnySpace", bound=Space)


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


def store_of(chosen: argparse.Namespace) -> Path:
    """Give the folder of the store that a command is for, whether it is there or not."""
    return Path(chosen.store) if chosen.store else environment.default_store()


def project_of(chosen: argparse.Namespace) -> Path | None:
    """Give the folder after ``--project``; None without one.

    Raises:
        InvalidArgument: there is no such folder.
    """
    project = None if chosen.project is None else Path(chosen.project).expanduser().absolute()
    if project is not None and not project.is_dir():
        raise InvalidArgument(f"expected the folder of a project after --project; there is no folder {project}")
    return project


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
    memory: Memory, session: str | None = None, *, after: int = 0, reverse: bool = False
) -> Iterator[Event | Damaged]:
    """Yield events in order of position; one that is damaged is yielded as such, and the walk goes on.

    Raises:
        StoreDamaged: the head cannot be read.
    """
    damaged: list[Damaged] = []
    reader, head = memory.log.reader, int(memory.head().partition(":")[0])
    events = reader.events(
        memory.namespace, session=session, after=after, newest_first=reverse,
        damaged=lambda position, error: damaged.append(Damaged(position, str(error))),
    )  # fmt: skip
    last = head + 1 if reverse else after
    try:
        for event in events:
            yield from damaged
            damaged.clear()
            last = event.position
            yield event
        yield from damaged
    except StoreDamaged:  # a page of the database: what lies before and behind it is asked for one by one
        for position in range(last - 1, after, -1) if reverse else range(last + 1, head + 1):
            try:
                single = reader.event_at(memory.namespace, position)
            except StoreDamaged as error:
                yield Damaged(position, str(error))
            else:
                if single is not None and session in (None, single.session):
                    yield single
