"""An agent's part of a space: the sessions that are its own, its folder, and its own events.

All that an agent has beside its sessions (enrolments, episodes, versions of its
knowledge, messages to it) stands in one session of the log, ``agent:<name>``; the
files in its folder can be written anew from there. The invariant: which sessions are
an agent's is read from the log, never from the folder.

It knows nothing of episodes, preambles or files: `firsthand.agents.agent.Agent` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from firsthand import event
from firsthand.answer import SCOPE_SESSIONS_MAX, Scope
from firsthand.errors import IdConflict
from firsthand.event import Draft, Event, Kind, Trust
from firsthand.log.prepare import check_name
from firsthand.space import Space

NOTES = "notes"
"""The session that `Memory.note` writes to when none is named; every agent of the namespace reads it."""
OWN = "agent:"
"""What the name of the session begins with that holds what is an agent's own."""
ENROLMENT = "enrolment"
"""The fact ``type`` in the meta of an event that makes a session an agent's."""
SESSIONS_MAX = SCOPE_SESSIONS_MAX - 2
OURS = frozenset({NOTES, "ledger", "entries", "tuning"})
"""Sessions of Firsthand's own that are no agent's."""


class AgentSpace:
    """What of a space is an agent's."""

    def __init__(self, space: Space, name: str) -> None:
        self.space, self.name = space, check_name(name, "agent", empty=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name[:80]!r}, namespace={self.space.namespace[:16]!r})"

    @property
    def session(self) -> str:
        """The session of the log that holds what is the agent's own."""
        return f"{OWN}{self.name}"

    @property
    def folder(self) -> Path:
        """Where its files are: ``agents/<namespace>/<agent>`` in the store's folder, names percent-encoded."""
        return self.space.path / "agents" / _as_file(self.space.namespace) / _as_file(self.name)

    def own(self, kind: Kind, *, newest_first: bool = False, limit: int | None = None) -> Iterator[Event]:
        """Yield the agent's own events of a kind, in order."""
        return self.space.events(self.session, kind=kind, newest_first=newest_first, limit=limit)

    def enrol(self, session: str, *, host: str = "", cwd: str = "") -> bool:
        """Make a session the agent's; False when it was already, wherever it ran then."""
        identity = event.derived_id(None, b"enrolment", self.name.encode(), session.encode())
        meta = {"type": ENROLMENT, "session": session} | {k: v for k, v in (("host", host), ("cwd", cwd)) if v}
        draft = Draft(Kind.SESSION, b"", meta=meta, origin="firsthand", trust=Trust.TRUSTED, id=identity)
        try:
            return self.space.append([draft], session=self.session)[0].new
        except IdConflict:  # enrolled from another folder, or by another host
            return False

    def sessions(self) -> tuple[str, ...]:
        """Name the sessions that are the agent's, in the order of enrolment; a handle reads each enrolment once."""
        key = ENROLMENT, self.name
        through, names = self.space.read_once.get(key, (0, ()))
        new = list(self.space.events(self.session, kind=Kind.SESSION, after=through))
        names_of_events = (event.meta.get("session") for event in new if event.meta.get("type") == ENROLMENT)
        sessions: tuple[str, ...] = (*names, *(name for name in names_of_events if isinstance(name, str)))
        self.space.read_once[key] = (new[-1].position if new else through, sessions)
        return sessions

    def scope(self, *, across: bool = False) -> Scope:
        """Give what the agent may recall: its own sessions and the notes, or the whole namespace.

        Of more than `SESSIONS_MAX` sessions the newest count; the older ones are found by naming them.
        """
        return Scope() if across else Scope((*self.sessions()[-SESSIONS_MAX:], self.session, NOTES))


def newest_sessions(agent: AgentSpace, limit: int) -> list[str]:
    """Name those of an agent's sessions in which something was said last, the newest first."""
    own = set(agent.sessions())
    sessions = (session for session in agent.space.sessions() if session.name in own)
    return [session.name for session in sorted(sessions, key=lambda session: -session.last_position)[:limit]]


def agent_names(space: Space) -> tuple[str, ...]:
    """Name the agents of a space, in the order in which they first had something of their own."""
    names = (session.name for session in space.sessions())
    return tuple(name.removeprefix(OWN) for name in names if name.startswith(OWN) and name != OWN)


def sessions_like(space: Space, name: str) -> tuple[str, ...]:
    """Give the sessions that may be an agent's by a name; a last ``*`` stands for any end.

    What a star stands for leaves out sub-agents: their events are reached through the session that they worked for.
    """
    known = [
        session.name for session in space.sessions() if not session.name.startswith(OWN) and session.name not in OURS
    ]
    if not name.endswith("*"):
        return tuple(session for session in known if session == name)
    return tuple(session for session in known if session.startswith(name[:-1]) and "/agent-" not in session)


def _as_file(name: str) -> str:
    quoted = quote(name, safe="@+=,")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
