"""An agent: the sessions that are its own, the folder with its files, and what it is told from them.

All that an agent has beside its sessions (enrolments, episodes, versions of its
knowledge, messages to it) stands in one session of the log, ``agent:<name>``; the
files in its folder can be written anew from there, and what a person edits in them
is followed into it. The invariant: which sessions are an agent's is read from the
log, never from the folder.

It joins the parts of this room and decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from firsthand import event
from firsthand.answer import SCOPE_SESSIONS_MAX, Scope
from firsthand.errors import IdConflict
from firsthand.event import Draft, Event, Kind, Trust
from firsthand.log.prepare import check_name
from firsthand.notes.writer import NOTES

if TYPE_CHECKING:
    from firsthand.agents.cues import Cues
    from firsthand.agents.episode import Episode
    from firsthand.agents.episode_writer import CaughtUp, Closed
    from firsthand.agents.files import FileChange, Followed
    from firsthand.agents.inbox import Message
    from firsthand.agents.preamble import Preamble
    from firsthand.memory import Memory

OWN = "agent:"
"""What the name of the session begins with that holds what is an agent's own."""
ENROLMENT = "enrolment"
"""The fact ``type`` in the meta of an event that makes a session an agent's."""
SESSIONS_MAX = SCOPE_SESSIONS_MAX - 2
OURS = frozenset({NOTES, "ledger", "entries", "tuning"})
"""Sessions of Firsthand's own that are no agent's."""


class Agent:
    """One agent of a namespace; make one with `Memory.agent`."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory, self.name = memory, check_name(name, "agent", empty=False)

    @property
    def session(self) -> str:
        """The session of the log that holds what is the agent's own."""
        return f"{OWN}{self.name}"

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
        """Name the sessions that are the agent's, in the order in which they were enrolled.

        A handle reads each enrolment once: a daemon asks at every prompt.
        """
        key = ENROLMENT, self.name
        through, names = self.memory.read_once.get(key, (0, ()))
        new = list(self.memory.events(self.session, kind=Kind.SESSION, after=through))
        told = (one.meta.get("session") for one in new if one.meta.get("type") == ENROLMENT)
        found: tuple[str, ...] = (*names, *(name for name in told if isinstance(name, str)))
        self.memory.read_once[key] = (new[-1].position if new else through, found)
        return found

    def scope(self, *, across: bool = False) -> Scope:
        """Give what the agent may recall: its own sessions and the notes, or the whole namespace.

        Of more than `SESSIONS_MAX` sessions the newest count; the older ones are found by naming them.
        """
        return Scope() if across else Scope((*self.sessions()[-SESSIONS_MAX:], self.session, NOTES))

    def episodes(self) -> tuple[Episode, ...]:
        """Give the record of each of the agent's sessions that has one, the newest version of each, oldest first."""
        from firsthand.agents.episode_list import episodes

        return episodes(self)

    def close(self, session: str) -> Closed:
        """Write the episode of a session that has ended; `episode_writer.close` says what is promised."""
        from firsthand.agents.episode_writer import close

        return close(self, session)

    def catch_up(self, *, quiet_seconds: float = 900.0, deadline_seconds: float = 20.0) -> CaughtUp:
        """Write the episodes of the agent's sessions that are quiet and have none, or went on after it."""
        from firsthand.agents.episode_writer import catch_up

        return catch_up(self, quiet_seconds=quiet_seconds, deadline_seconds=deadline_seconds)

    # what it is told, and its files ------------------------------------------------------------------

    def preamble(self, *, tokens_max: int = 1_500, health: str = "") -> Preamble:
        """Assemble what a new session reads first; ``health`` is what is wrong with the memory, in a line."""
        from firsthand.agents.preamble_source import preamble_of

        return preamble_of(self, tokens_max=tokens_max, health=health)

    def cues(self, text: str, *, tokens_max: int = 80) -> Cues:
        """Choose the names of episodes, knowledge and entities that are shown with a message."""
        from firsthand.agents.preamble_source import cues_of

        return cues_of(self, text, tokens_max=tokens_max)

    def learn(self, file: str, text: str | bytes) -> FileChange | None:
        """Write a piece of knowledge into the log and the folder; `firsthand.agents.files.learn` says how."""
        from firsthand.agents.files import learn

        return learn(self, file, text)

    def follow(self) -> Followed:
        """Take what a person edited in the agent's folder into the log."""
        from firsthand.agents.files import follow

        return follow(self)

    def restore(self, files: Collection[str] = ()) -> tuple[str, ...]:
        """Write files anew from the log that are not in the folder; those that are named also when deleted."""
        from firsthand.agents.files import restore

        return restore(self, files)

    def tell(self, text: str, *, sender: str, about: Sequence[str] = ()) -> Message:
        """Send the agent a message of another one, if its settings allow it; see `firsthand.agents.inbox.send`."""
        from firsthand.agents.inbox import send

        return send(self.memory, self.name, text, sender, about)

    def messages(self, *, unread: bool = False) -> tuple[Message, ...]:
        """Give the messages to the agent, the oldest first."""
        from firsthand.agents.inbox import messages

        return tuple(one for one in messages(self) if not (unread and one.read))

    def mark_read(self, read: Iterable[Message | str]) -> int:
        """Let messages count as read; say how many of them did not before."""
        from firsthand.agents.inbox import mark_read

        return mark_read(self, read)


def agent_in(memory: Memory, folder: str) -> Agent:
    """Give the agent of a folder: the one that the settings name, else that of the project."""
    from firsthand.agents import settings

    return Agent(memory, settings.load(memory.path, folder).agent or settings.agent_of(folder))


def agents_of(memory: Memory) -> tuple[Agent, ...]:
    """Give the agents of a namespace, in the order in which they first had something of their own."""
    names = (one.name.removeprefix(OWN) for one in memory.sessions() if one.name.startswith(OWN) and one.name != OWN)
    return tuple(Agent(memory, name) for name in names)


def sessions_like(memory: Memory, name: str) -> tuple[str, ...]:
    """Give the sessions that may be an agent's by a name; a last ``*`` stands for any end.

    What a star stands for leaves out sub-agents: their events are reached through the session that they worked for.
    """
    known = [one.name for one in memory.sessions() if not one.name.startswith(OWN) and one.name not in OURS]
    if not name.endswith("*"):
        return tuple(one for one in known if one == name)
    return tuple(one for one in known if one.startswith(name[:-1]) and "/agent-" not in one)


def _as_file(name: str) -> str:
    quoted = quote(name, safe="@+=,")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")
