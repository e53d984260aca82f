"""Who wrote a file of an agent's folder, and whose words it holds: so that an agent's file is not taken for a person's.

A person's edit and an agent's look alike on the disk. What tells them apart is the log: an
agent writes with a tool, and its call names the file. The invariant: a file that a call of the
agent's newest sessions named since its last version is the agent's; and where its words stand
in what a tool or the web said, it is believed no further than that.

It does not see a file that was written by a script which names it otherwise.
"""

from __future__ import annotations

import json

from firsthand.agent_space import AgentSpace, newest_sessions
from firsthand.event import Event, Kind, Trust, to_text
from firsthand.notes.writer import echoed
from firsthand.value import value

SESSIONS_MAX = 3
"""The newest ones of the agent, in which its calls are looked for."""
CALLS_MAX = 300
"""Of each, the newest."""
ECHO_BYTES_MAX = 20_000
"""Of a file, that are compared with what tools said."""


@value
class Author:
    """Whose a version of a file is.

    Attributes:
        sources: pointers of what a tool or the web said in its words.
    """

    origin: str
    trust: Trust
    sources: tuple[str, ...] = ()


USER = Author("user", Trust.TRUSTED)


def author_of(agent: AgentSpace, file: str, content: bytes, after: int, *, by_user: bool) -> Author:
    """Say whose a version of a file is.

    Args:
        after: position of the version before it; what was called up to there counts no more.
        by_user: nobody said who wrote it; False when it is known to be the agent.
    """
    if by_user and not _is_called(agent, file, after):
        return USER
    echoes: tuple[Event, ...] = echoed(agent.space, to_text(content[:ECHO_BYTES_MAX]))
    trust = Trust.UNTRUSTED if echoes else Trust.AGENT
    return Author("agent", trust, tuple(f"fh:{event.id}" for event in echoes))


def _is_called(agent: AgentSpace, file: str, after: int) -> bool:
    """Say whether a tool's call named a file, by the last part of its name, as JSON may spell it."""
    name = file.rpartition("/")[2]
    spelled = {name, json.dumps(name)[1:-1]}
    for session in newest_sessions(agent, SESSIONS_MAX):
        calls = agent.space.events(session, kind=Kind.TOOL_CALL, after=after, newest_first=True, limit=CALLS_MAX)
        if any(spelling in call.text for call in calls for spelling in spelled):
            return True
    return False
