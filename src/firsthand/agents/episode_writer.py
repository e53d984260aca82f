"""The end of a session: its episode is taken out of the log, named, written, and looked for (recall-problem 3.2, 9.2).

    close(agent, "claude-code:5c1f...")     -> Closed(episode, verified=True, why="")

An episode is done only when a fresh handle finds it by its own topic within what the
agent may recall; otherwise the result names the stage that was not seen to work. The
invariant: closing again changes nothing when the session did not go on, at whatever
point an earlier call was interrupted; a version that is in the log is never changed.

It does not know when a session has ended: a host's hook says so, or `catch_up` takes
those that have been quiet for some time.
"""

from __future__ import annotations

import time

from firsthand import event as events
from firsthand import moment
from firsthand.agent_space import AgentSpace
from firsthand.agents.episode import Episode, written
from firsthand.agents.episode_facts import TELLING, Extract, extract
from firsthand.agents.episode_list import CHECK, NOT_CHECKED, episodes, from_event
from firsthand.agents.episode_names import Word, distinctive, slug_of, topic_of
from firsthand.agents.files import SUPERSEDES
from firsthand.answer import Outcome, Query
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.event import INJECTED, Draft, Event, Kind, Trust
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import Moment
from firsthand.notes.sources import SOURCES
from firsthand.recall.lookup import shares
from firsthand.space import Space
from firsthand.value import replace, value

FOUND_WITHIN = 3
"""The episode is among so many hits of its own topic (recall-problem 8.2, SRR)."""
QUIET_SECONDS = 900.0
CATCH_UP_SECONDS = 20.0
LOOKED_BACK = 2_000  # events behind the last telling one, such as records of prompts


@value
class Closed:
    """What closing a session came to.

    Attributes:
        episode: None when the session has nothing to tell.
        new: False when it was written before, and the session did not go on.
        verified: it was found by its own topic.
        why: what was not as it should be, in sentences; empty for nothing.
    """

    episode: Episode | None
    new: bool
    verified: bool
    why: str = ""


@value
class CaughtUp:
    """What `catch_up` did: sessions closed now, and how many are left for the next time."""

    closed: tuple[Closed, ...]
    left: int


def close(agent: AgentSpace, session: str) -> Closed:
    """Write the episode of a session, or its next version, and look for it by its own topic.

    Raises:
        InvalidArgument: the session is the agent's own, which has no episode.
        StoreError: the store cannot be read or written.
    """
    if session == agent.session:
        raise InvalidArgument(f"{session} holds what is the agent's own; expected a session that it had")
    last = last_telling(agent, session)
    if last is None:
        return Closed(None, new=False, verified=False, why=f"nothing was said or done in session {session!r:.120}")
    before = _newest(agent, session)
    if before is not None and before.through >= last.position:
        return _again(agent, before)
    agent.space.log.flush_indexes(agent.space.namespace)  # how rare a word is: what is indexed, and no clock, decides
    gathered = extract(agent.space.events(session))
    name = _name(agent, session, gathered, before)
    episode = _append(agent, session, gathered, name, before)
    stage = _missing(agent, episode)
    if stage == "retrievable" and (other := _renamed(agent, session, gathered, episode.name)) != episode.name:
        episode = _append(agent, session, gathered, other, episode)
        stage = _missing(agent, episode)
    return _checked(agent, episode, stage, new=True)


def catch_up(
    agent: AgentSpace,
    *,
    quiet_seconds: float = QUIET_SECONDS,
    deadline_seconds: float = CATCH_UP_SECONDS,
    now: Moment | None = None,
) -> CaughtUp:
    """Close the agent's sessions that went on after their episode, or have none, and are quiet; the newest first.

    Args:
        quiet_seconds: since a session's last event; 0 takes all.
        deadline_seconds: after this long no further session is begun; at least one is.
    """
    started = time.monotonic()
    at = now or moment.now()
    done: list[Closed] = []
    waiting = due(agent, quiet_seconds=quiet_seconds, now=at)
    for number, session in enumerate(waiting):
        if number and time.monotonic() - started > deadline_seconds:
            return CaughtUp(tuple(done), len(waiting) - number)
        done.append(close(agent, session))
    return CaughtUp(tuple(done), 0)


def due(agent: AgentSpace, *, quiet_seconds: float = QUIET_SECONDS, now: Moment | None = None) -> tuple[str, ...]:
    """Name the agent's quiet sessions whose last telling event is in no episode, the newest first.

    A session below another one of the agent's, such as a subagent's, is told with that one.
    """
    at = now or moment.now()
    # An episode that was not looked for is one whose closing was cut short: closing again writes what is missing.
    through = {episode.session: episode.through for episode in episodes(agent) if episode.stage != NOT_CHECKED}
    own = set(agent.sessions())
    sessions: list[tuple[int, str]] = []
    for info in agent.space.sessions():
        name = info.name
        if name not in own or info.last_position <= through.get(name, 0) or _is_below(name, own):
            continue
        last = last_telling(agent, name)
        if last is None or last.position <= through.get(name, 0):
            continue
        quiet = (at.microseconds - (last.time or last.ingested).microseconds) / moment.MICROSECONDS
        # A last event from the future says that a clock is wrong, not that the session goes on.
        if quiet >= quiet_seconds or quiet < -quiet_seconds:
            sessions.append((last.position, name))
    return tuple(name for _, name in sorted(sessions, reverse=True))


def last_telling(agent: AgentSpace, session: str) -> Event | None:
    """Give the last event of a session that an episode would tell of; None when there is none."""
    for event in agent.space.events(session, newest_first=True, limit=LOOKED_BACK):
        if event.kind in TELLING and not event.erased and event.meta.get(INJECTED) is not True:
            return event
    return None


# naming ------------------------------------------------------------------------------------------------


def _newest(agent: AgentSpace, session: str) -> Episode | None:
    written = [episode for episode in episodes(agent) if episode.session == session]
    return written[-1] if written else None


def _name(agent: AgentSpace, session: str, gathered: Extract, before: Episode | None) -> str:
    """Keep the name of an earlier version as long as it says what the session is about."""
    if before is not None and set(before.topic.split()) & set(gathered.terms[:8]):
        return before.name
    return distinctive(
        _rare(agent, gathered.words), _date(gathered), _neighbours(agent, session), telling=gathered.telling
    )


def _renamed(agent: AgentSpace, session: str, gathered: Extract, name: str) -> str:
    """Give a more distinctive name than one by which the episode was not found: its words count as common."""
    neighbours = [*_neighbours(agent, session), name]
    return distinctive(_rare(agent, gathered.words), _date(gathered), neighbours, telling=gathered.telling)


def _neighbours(agent: AgentSpace, session: str) -> list[str]:
    return [episode.name for episode in episodes(agent) if episode.session != session]


def _rare(agent: AgentSpace, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Weigh words by how rare they are in the store: a word of one session alone is worth twice a common one."""
    space = agent.space
    reader = space.log.reader
    share = shares(reader, space.namespace, [word.text for word in words])
    return tuple(replace(word, weight=word.weight * (2.0 - min(1.0, 20 * share.get(word.text, 0.0)))) for word in words)


def _date(gathered: Extract) -> str:
    when = gathered.began or gathered.moment
    return str(when)[:10] if when is not None else "undated"


# writing -----------------------------------------------------------------------------------------------


def _append(agent: AgentSpace, session: str, gathered: Extract, name: str, before: Episode | None) -> Episode:
    """Append a version of an episode; the same version again is the same event."""
    space = agent.space
    common = shares(space.log.reader, space.namespace, [*gathered.strings])
    laid = written(name, gathered.head, gathered.all_sections(common))
    content = events.to_bytes(laid.text)
    meta = {
        "name": name, "title": slug_of(name), "session": session, "topic": topic_of(name), "date": name[:10],
        "through": gathered.through, "terms": list(gathered.terms), SOURCES: [gathered.source],
    }  # fmt: skip
    if before is not None:
        meta[SUPERSEDES] = [before.pointer]
    # After an erasure the span is another one, and the same words are another event.
    key = (*map(str.encode, (agent.name, session, str(gathered.through), name, gathered.source)), content)
    draft = Draft(
        Kind.EPISODE, content, "text/markdown", meta, agent=agent.name, origin="firsthand", trust=Trust.AGENT,
        time=gathered.moment, id=events.derived_id(gathered.moment, b"episode", *key),
    )  # fmt: skip
    appended = agent.space.append([draft], session=agent.session)[0]
    episode = from_event(agent, agent.space.event(appended))
    assert episode is not None, "it was written with a name, a session and a position"
    return episode


# looking for it ----------------------------------------------------------------------------------------


def _again(agent: AgentSpace, episode: Episode) -> Closed:
    """Look for an episode if that was not done."""
    if episode.verified:
        return Closed(episode, new=False, verified=True)
    return _checked(agent, episode, _missing(agent, episode), new=False)


def _missing(agent: AgentSpace, episode: Episode) -> str:
    """Name the first stage that was not seen to work; empty when the episode is found by its own topic."""
    space = agent.space
    query = Query(slug_of(episode.name), agent.scope(), hits_max=FOUND_WITHIN)
    try:
        # A fresh handle sees what any other process sees: nothing of this one's memory helps it.
        with Space(space.path, namespace=space.namespace, read_only=True, create=False, embedder="none") as fresh:
            position = fresh.event(episode.pointer).position
            answer = recall(fresh, query)
    except FirsthandError:  # what was written cannot be read: that is the stage, and health says more
        return "written"
    if answer.outcome is Outcome.DEGRADED or answer.through < position:
        return "indexed"  # what a scan of the log still finds is not found for long
    return "" if any(hit.pointer == episode.pointer for hit in answer.hits) else "retrievable"


def _checked(agent: AgentSpace, episode: Episode, stage: str, *, new: bool) -> Closed:
    """Keep what came of looking for an episode, for health to tell."""
    if stage != episode.stage:
        meta = {"type": CHECK, "episode": episode.pointer, "stage": stage}
        identity = events.IdMaker()()  # the same result may come again after another one
        draft = Draft(Kind.SESSION, b"", meta=meta, origin="firsthand", trust=Trust.TRUSTED, id=identity)
        agent.space.append([draft], session=agent.session)
    why = ""
    if stage:
        what = {
            "written": "it cannot be read by a fresh handle: run 'firsthand store verify'",
            "indexed": "the index has not reached it: run 'firsthand store rebuild'",
            "retrievable": f"{topic_of(episode.name)!r} does not bring it back among the first {FOUND_WITHIN}",
        }[stage]
        why = f"episode {episode.name}: {what}."
    return Closed(replace(episode, verified=not stage, stage=stage), new, not stage, why)


def _is_below(session: str, own: set[str]) -> bool:
    parts = session.split("/")
    return any("/".join(parts[:number]) in own for number in range(1, len(parts)))
