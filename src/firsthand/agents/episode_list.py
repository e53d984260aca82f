"""The episodes of an agent, as its own session of the log tells them.

An episode's event holds the readable file, and in its meta what it is the record of. A
session that went on later has several: the newest is the episode. The invariant: what
is an episode is read from the log, never from the folder; whether one was found after
it was written is an event too, so that health can tell it later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.agent_space import AgentSpace
from firsthand.agents.episode import Episode
from firsthand.agents.episode_names import topic_of
from firsthand.event import Event, Kind, texts
from firsthand.ledger.effect import Effect
from firsthand.value import replace, value

CHECK = "episode check"
"""The fact ``type`` in the meta of an event that says whether an episode was found after it was written."""

NOT_CHECKED = "not checked"
"""The stage of an episode that nobody has looked for yet: its closing was cut short."""


@value
class _Known:
    """What a handle knows of an agent's episodes: the newest by session, with what came of looking for it."""

    newest: dict[str, Episode]
    checks: dict[str, str]


def episodes(agent: AgentSpace) -> tuple[Episode, ...]:
    """Give the episodes of an agent, the newest version of each session's, oldest first.

    A handle reads each event of them once, until something is erased.
    """
    space = agent.space
    key, head = ("episodes", agent.name), space.log.reader.head(space.namespace)[0]
    through, known = space.read_once.get(key, (0, None))
    if known is None or any(space.events(kind=Kind.ERASURE, after=through, limit=1)):
        through, known = 0, _Known({}, {})
    if through < head:
        known = _read_on(agent, known, through, head)
        space.read_once[key] = (head, known)
    effect = Effect(space)
    return tuple(_named(episode, effect) for episode in known.newest.values())


def _named(episode: Episode, effect: Effect) -> Episode:
    """Give an episode under the name that stands: without words that are known from what the ledger takes out."""
    name = effect.name(episode.pointer, episode.name)
    if name == episode.name:
        return episode
    return replace(episode, name=name, topic=topic_of(name), terms=())


def _read_on(agent: AgentSpace, known: _Known, after: int, through: int) -> _Known:
    """Give what is known with what came since; another thread may be at the one before, which stays as it is."""
    space, newest = agent.space, dict(known.newest)
    for event in space.events(agent.session, kind=Kind.EPISODE, after=after, before=through + 1):
        episode = None if event.erased else from_event(agent, event)
        if episode is not None:
            newest.pop(episode.session, None)
            newest[episode.session] = episode
    checks = known.checks | (looked := _checks(agent, after, through))
    changed = {name: _checked(episode, checks) for name, episode in newest.items()
               if episode.pointer in looked or known.newest.get(name) is not episode}  # fmt: skip
    return _Known(newest | changed, checks)


def _checked(episode: Episode, checks: Mapping[str, str]) -> Episode:
    stage = checks.get(episode.pointer, NOT_CHECKED)
    return episode if stage == episode.stage else replace(episode, stage=stage, verified=not stage)


def from_event(agent: AgentSpace, event: Event) -> Episode | None:
    """Read an episode from its event, not yet looked for; None when the event is another program's."""
    meta = event.meta
    name, session, through = meta.get("name"), meta.get("session"), meta.get("through")
    if not isinstance(name, str) or not isinstance(session, str) or not isinstance(through, int):
        return None
    pointer = f"fh:{event.id}"
    return Episode(
        name=name, session=session, agent=agent.name, moment=event.time or event.ingested, pointer=pointer,
        topic=topic_of(name),
        terms=tuple(texts(meta.get("terms"))),
        through=through, verified=False, stage=NOT_CHECKED,
    )  # fmt: skip


def _checks(agent: AgentSpace, after: int, through: int) -> dict[str, str]:
    """Give the stage that was not seen to work, by pointer of the episode; empty text for one that was found."""
    checks: dict[str, str] = {}
    for event in agent.space.events(agent.session, kind=Kind.SESSION, after=after, before=through + 1):
        meta: Mapping[str, Any] = event.meta
        pointer, stage = meta.get("episode"), meta.get("stage")
        if meta.get("type") == CHECK and isinstance(pointer, str) and isinstance(stage, str):
            checks[pointer] = stage
    return checks
