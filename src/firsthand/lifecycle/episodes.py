"""The episodes of an agent, as its own session of the log tells them.

An episode's event holds the readable file, and in its meta what it is the record of. A
session that went on later has several: the newest is the episode. The invariant: what
is an episode is read from the log, never from the folder; whether one was found after
it was written is an event too, so that health can tell it later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from firsthand.event import Event, Kind, texts
from firsthand.lifecycle import files, small_files
from firsthand.lifecycle.episode import Episode
from firsthand.lifecycle.files import EPISODES, SUFFIX
from firsthand.lifecycle.naming import topic_of

if TYPE_CHECKING:
    from firsthand.lifecycle.agent import Agent

CHECK = "episode check"
"""The fact ``type`` in the meta of an event that says whether an episode was found after it was written."""

NOT_CHECKED = "not checked"
"""The stage of an episode that nobody has looked for yet: its closing was cut short."""


def episodes(agent: Agent) -> tuple[Episode, ...]:
    """Give the episodes of an agent, the newest version of each session's, oldest first."""
    checks = _checks(agent)
    newest: dict[str, Episode] = {}
    for event in agent.own(Kind.EPISODE):
        one = None if event.erased else from_event(agent, event, checks)
        if one is not None:
            newest.pop(one.session, None)
            newest[one.session] = one
    return tuple(newest.values())


def from_event(agent: Agent, event: Event, checks: Mapping[str, str] | None = None) -> Episode | None:
    """Read an episode from its event; None when the event is another program's."""
    meta = event.meta
    name, session, through = meta.get("name"), meta.get("session"), meta.get("through")
    if not isinstance(name, str) or not isinstance(session, str) or not isinstance(through, int):
        return None
    pointer = f"fh:{event.id}"
    stage = (checks or {}).get(pointer, NOT_CHECKED)
    return Episode(
        name=name, session=session, agent=agent.name, moment=event.time or event.ingested, pointer=pointer,
        path=str(agent.folder / file_of(name)), topic=topic_of(name),
        terms=tuple(texts(meta.get("terms"))),
        through=through, verified=stage == "", stage=stage,
    )  # fmt: skip


def file_of(name: str) -> str:
    """Give the file of an episode, below the agent's folder."""
    return f"{EPISODES}/{name}{SUFFIX}"


def remove_ours(agent: Agent, episode: Episode) -> bool:
    """Remove the file of an episode if it is what we wrote; False when there is none, or it is a person's.

    Raises:
        StoreError: it cannot be removed.
    """
    path = agent.folder / file_of(episode.name)
    with small_files.ours(f"read {path}"):
        ours = agent.memory.expand(episode.pointer)
        if not path.is_file() or small_files.beginning(path, len(ours) + 1) != ours:
            return False
    files.remove_written(agent, file_of(episode.name))
    return True


def _checks(agent: Agent) -> dict[str, str]:
    """Give the stage that was not seen to work, by pointer of the episode; empty text for one that was found."""
    found: dict[str, str] = {}
    for event in agent.own(Kind.SESSION):
        meta: Mapping[str, Any] = event.meta
        pointer, stage = meta.get("episode"), meta.get("stage")
        if meta.get("type") == CHECK and isinstance(pointer, str) and isinstance(stage, str):
            found[pointer] = stage
    return found
