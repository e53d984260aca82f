"""An agent: the sessions that are its own, the folder with its files, and what it is told from them.

All that an agent has beside its sessions (enrolments, episodes, versions of its
knowledge, messages to it) stands in one session of the log, ``agent:<name>``; the
files in its folder can be written anew from there, and what a person edits in them
is followed into it. The invariant: which sessions are an agent's is read from the
log, never from the folder.

It joins the parts of this room and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from firsthand import event
from firsthand.answer import SCOPE_SESSIONS_MAX, Scope
from firsthand.errors import IdConflict
from firsthand.event import Draft, Event, Kind, Trust
from firsthand.log.prepare import check_name

if TYPE_CHECKING:
    from firsthand.memory import Memory

ENROLMENT = "enrolment"
"""The fact ``type`` in the meta of an event that makes a session an agent's."""
SESSIONS_MAX = SCOPE_SESSIONS_MAX - 2
NOTES = "notes"
"""The session that `Memory.note` writes to when none is named; every agent of the namespace reads it."""


class Agent:
    """One agent of a namespace; make one with `Memory.agent`."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory, self.name = memory, check_name(name, "agent", empty=False)

    @property
    def session(self) -> str:
        """The session of the log that holds what is the agent's own."""
        return f"agent:{self.name}"

    @property
    def folder(self) -> Path:
        """Where its files are: ``agents/<namespace>/<agent>`` in the store's folder, names percent-encoded."""
        return self.memory.path / "agents" / _as_file(self.memory.namespace) / _as_file(self.name)

    def own(self, kind: Kind, *, newest_first: bool = False, limit: int | None = None) -> Iterator[Event]:
        """Yield the agent's own events of a kind, in order."""
        return self.memory.events(self.session, kind=kind, newest_first=newest_first, limit=limit)

    def enrol(self, session: str, *, host: str = "", cwd: str = "") -> bool:
        """Make a session the agent's; False when it was already, wherever it ran then."""
        identity = event.derived_id(None, b"enrolment", self.name.encode(), session.encode())
        meta = {"type": ENROLMENT, "session": session} | {k: v for k, v in (("host", host), ("cwd", cwd)) if v}
        draft = Draft(Kind.SESSION, b"", meta=meta, origin="firsthand", trust=Trust.TRUSTED, id=identity)
        try:
            return self.memory.append([draft], session=self.session)[0].new
        except IdConflict:  # enrolled from another folder, or by another host
            return False

    def sessions(self) -> tuple[str, ...]:
        """Name the sessions that are the agent's, in the order in which they were enrolled."""
        named = (one.meta.get("session") for one in self.own(Kind.SESSION) if one.meta.get("type") == ENROLMENT)
        return tuple(name for name in named if isinstance(name, str))

    def scope(self, *, across: bool = False) -> Scope:
        """Give what the agent may recall: its own sessions and the notes, or the whole namespace.

        Of more than `SESSIONS_MAX` sessions the newest count; the older ones are found by naming them.
        """
        return Scope() if across else Scope((*self.sessions()[-SESSIONS_MAX:], self.session, NOTES))


def _as_file(name: str) -> str:
    quoted = quote(name, safe="@+=,")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
