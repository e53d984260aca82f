"""Whose memory a command is about: the agent that was named, else the one of a folder.

The invariant: an agent that has nothing in the store is no empty answer; whoever asks is
told so, and how sessions that are nobody's become its own.
"""

from __future__ import annotations

import shlex

from firsthand import Agent, InvalidArgument, Memory, agent_in


def agent_here(memory: Memory, name: str, folder: str) -> Agent:
    """Give an agent by its name, or that of a folder.

    Raises:
        InvalidArgument: no session of the store is its own, and it keeps nothing there.
    """
    one = memory.agent(name) if name else agent_in(memory, folder)
    if one.sessions() or any(memory.events(one.session, limit=1)):
        return one
    whose = "" if name else " (the agent of this folder)"
    with_it = f" --agent {shlex.quote(name)}" if name else ""
    raise InvalidArgument(
        f"no agent {one.name!r:.120}{whose} has anything in this store. `firsthand agents` lists those that do; "
        f"sessions become its own by: firsthand agents enrol 'SESSION*'{with_it}"
    )


def agent_named(memory: Memory, name: str) -> str:
    """Give the name of an agent that has something here; empty for none, which is all of the namespace.

    Raises:
        InvalidArgument: no session of the store is its own, and it keeps nothing there.
    """
    return agent_here(memory, name, "").name if name else ""
