"""What an agent would take for an instruction or a fact, for tests of what may get there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consolidate_worlds import by_lines
from firsthand import Agent, Memory, Trust
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.reminders import remind
from firsthand.agents.settings import Settings
from firsthand.context.task_observer import observe
from firsthand.context.task_state import TaskState
from firsthand.ledger.consolidation import consolidate_in, consolidated_view
from stores import quick_folder

POINTER = re.compile(r"fh:\w+")  # whose signs may hold any number by chance
OTHERS = ("the agent said: ", "message of agent ")
"""How items of a preamble begin that name another as their author."""


@contextmanager
def opened() -> Iterator[Memory]:
    """Open a store in a folder of its own, in memory where there is one, and verify it at the end."""
    with quick_folder() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        yield memory
        assert memory.verify().problems == ()


def night(agent: Agent) -> None:
    """Let everything be derived that can be: episodes, rules."""
    agent.catch_up(quiet_seconds=0)
    consolidate_in(agent.space, by_lines, "test", keep=True)


def believed(agent: Agent, asked: str = "What do you know of the port, the level and the rules?") -> str:
    """Give the task states, the digest, the view of consolidation, the preamble, and a reminder's trusted hits."""
    reminder = remind(agent, asked, "a new session", Settings())
    parts = agent.preamble(tokens_max=8_000).parts
    return POINTER.sub("", "\n".join([
        *states(agent.space),
        *digest_lines(agent),
        consolidated_view(agent.space).text,
        *(part.text for part in parts if not part.text.startswith(OTHERS)),
        *(hit.preview for hit in reminder.hits if hit.trust is Trust.TRUSTED),
    ]))  # fmt: skip


def digest_lines(agent: Agent) -> list[str]:
    """Give the lines of a digest but for those that name the agent as their author."""
    return [line for line in digest_of(agent).text.splitlines() if not line.startswith("- the agent: ")]


def states(memory: Memory) -> Iterator[str]:
    """Yield what stands in the task state of each session."""
    for session in memory.sessions():
        state = TaskState()
        for event in memory.events(session.name):
            state = observe(state, event)
        entries = [state.goal, state.phase, *state.constraints, *state.premises, *state.open_loops, *state.key_events]
        yield from (one.text for one in entries if one is not None)
