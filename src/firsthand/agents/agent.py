"""An agent: its part of a space, with what is made for it and what it is told unasked.

What a person edits in its folder is followed into the log. It joins the parts of this
room and decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from firsthand.agent_space import AgentSpace, agent_names
from firsthand.agents import cues, episode_writer, files, inbox, preamble_source, settings
from firsthand.agents.cues import Cues
from firsthand.agents.episode import Episode, episodes
from firsthand.agents.episode_writer import CaughtUp, Closed
from firsthand.agents.files import FileChange, Followed
from firsthand.agents.inbox import Message
from firsthand.agents.preamble import Preamble
from firsthand.space import Space


class Agent(AgentSpace):
    """One agent of a namespace; make one with `Memory.agent`."""

    def episodes(self) -> tuple[Episode, ...]:
        """Give the record of each of the agent's sessions that has one, the newest version of each, oldest first."""
        return episodes(self)

    def close(self, session: str) -> Closed:
        """Write the episode of a session that has ended; `episode_writer.close` says what is promised."""
        return episode_writer.close(self, session)

    def catch_up(self, *, quiet_seconds: float = 900.0, deadline_seconds: float = 20.0) -> CaughtUp:
        """Write the episodes of the agent's sessions that are quiet and have none, or went on after it."""
        return episode_writer.catch_up(self, quiet_seconds=quiet_seconds, deadline_seconds=deadline_seconds)

    # what it is told, and its files ------------------------------------------------------------------

    def preamble(self, *, tokens_max: int = 1_500, health: str = "", tools: Collection[str] = ()) -> Preamble:
        """Assemble what a new session reads first.

        Args:
            health: what is wrong with the memory, in a line.
            tools: names of Firsthand's tools that the session has; no other is named.
        """
        return preamble_source.preamble_of(self, tokens_max=tokens_max, health=health, tools=tools)

    def cues(self, text: str, *, tokens_max: int = 80) -> Cues:
        """Choose the names of episodes, knowledge and entities that are shown with a message."""
        return cues.cues_of(self, text, tokens_max=tokens_max)

    def learn(self, file: str, text: str | bytes) -> FileChange | None:
        """Write a piece of knowledge into the log and the folder; `firsthand.agents.files.learn` says how."""
        return files.learn(self, file, text)

    def follow(self) -> Followed:
        """Take what a person edited in the agent's folder into the log."""
        return files.follow(self)

    def restore(self, names: Collection[str] = ()) -> tuple[str, ...]:
        """Write files anew from the log that are not in the folder; those that are named also when deleted."""
        return files.restore(self, names)

    def tell(self, text: str, *, sender: str, about: Sequence[str] = ()) -> Message:
        """Send the agent a message of another one, if its settings allow it; see `firsthand.agents.inbox.send`."""
        return inbox.send(self.space, self.name, text, sender, about)

    def messages(self, *, unread: bool = False) -> tuple[Message, ...]:
        """Give the messages to the agent, the oldest first."""
        return tuple(message for message in inbox.messages(self) if not (unread and message.read))

    def mark_read(self, read: Iterable[Message | str]) -> int:
        """Let messages count as read; say how many of them did not before."""
        return inbox.mark_read(self, read)


def agent_in(space: Space, folder: str) -> Agent:
    """Give the agent of a folder: the one that the settings name, else that of the project."""
    return Agent(space, settings.load(space.path, folder).agent or settings.agent_of(folder))


def agents_of(space: Space) -> tuple[Agent, ...]:
    """Give the agents of a namespace, in the order in which they first had something of their own."""
    return tuple(Agent(space, name) for name in agent_names(space))
