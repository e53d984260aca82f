"""The end of a session: its episode is read out of the log, named, written, and looked for (recall-problem 3.2, 9.2).

    close(agent, "claude-code:5c1f...")     -> Closed(episode, verified=True, why="")

An episode is done only when a fresh handle finds it by its own topic within what the agent may recall; otherwise the
result names the stage that was not seen to work. The invariant: closing again changes nothing when the session did not
go on, at whatever point an earlier call was interrupted; a version that is in the log is never changed.

It does not know when a session has ended: a host's hook says so, or `catch_up` takes those that have been quiet for
some time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from firsthand import event as events
from firsthand import moment
from firsthand.agent_space import AgentSpace
from firsthand.agents import session_record
from firsthand.agents.episode import CHECK, NOT_CHECKED, Episode, episodes, from_event, written
from firsthand.agents.episode_names import name_of, slug_of, topic_of
from firsthand.agents.files import SUPERSEDES
from firsthand.agents.session_record import STRINGS, SessionRecord
from firsthand.answer import Outcome, Query
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.event import INJECTED, Draft, Event, Kind, Trust
from firsthand.index.frequency import shares
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import Moment, clock
from firsthand.notes.sources import SOURCES
from firsthand.space import Space
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace, value

FOUND_WITHIN = 3
"""The episode is among so many hits of its own topic (recall-problem 8.2, SRR)."""
QUIET_SECONDS = 900.0
CATCH_UP_SECONDS = 20.0
LOOKED_BACK = 2_000  # events behind the last telling one, such as records of prompts
COMMON_SHARE = 0.02
"""A string that stands in a larger share of the store tells nothing of this session."""
TELLING = frozenset(
    {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SUMMARY, Kind.DOCUMENT}
)
"""Kinds that make a session one that has an episode."""


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
    episode = next((episode for episode in episodes(agent) if episode.session == session), None)
    is_new = episode is None or episode.through < last.position
    if episode is None or is_new:
        agent.space.log.flush_indexes(agent.space.namespace)  # what is indexed, and no clock, says how rare a word is
        episode = _append(agent, session, last, episode)
    stage = "" if episode.verified else _missing(agent, episode)
    return _checked(agent, episode, stage, new=is_new)


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
    done: list[Closed] = []
    waiting = due(agent, quiet_seconds=quiet_seconds, now=now)
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
        name, done = info.name, through.get(info.name, 0)
        if name not in own or info.last_position <= done or _is_below(name, own):
            continue
        last = last_telling(agent, name)
        if last is None or last.position <= done:
            continue
        quiet = (at.microseconds - (last.time or last.ingested).microseconds) / moment.MICROSECONDS
        # A last event from the future says that a clock is wrong, not that the session goes on.
        if quiet >= quiet_seconds or quiet < -quiet_seconds:
            sessions.append((last.position, name))
    return tuple(name for _, name in sorted(sessions, reverse=True))


def last_telling(agent: AgentSpace, session: str) -> Event | None:
    """Give the last event of a session that an episode would tell of; None when there is none."""
    newest = agent.space.events(session, newest_first=True, limit=LOOKED_BACK)
    said = (event for event in newest if event.kind in TELLING and event.meta.get(INJECTED) is not True)
    return next((event for event in said if not event.erased), None)


def _is_below(session: str, own: set[str]) -> bool:
    parts = session.split("/")
    return any("/".join(parts[:number]) in own for number in range(1, len(parts)))


# writing -----------------------------------------------------------------------------------------------


def _append(agent: AgentSpace, session: str, last: Event, before: Episode | None) -> Episode:
    """Append a version of an episode; the same version again is the same event."""
    space = agent.space
    first = next(space.events(session, limit=1))
    end = next(space.events(session, newest_first=True, limit=1))
    record = session_record.read(space.events(session, before=end.position + 1))
    source = f"fh:{first.id}..{end.id}"
    name = before.name if before is not None and slug_of(before.name) != "session" else _name(agent, session, record)
    times = " to ".join(dict.fromkeys(clock(time) for time in (record.began, record.ended) if time is not None))
    requests = f"{record.requests:,} request{'' if record.requests == 1 else 's'}"
    head = f"{times}, {requests}; word for word, `firsthand show POINTER` gives the whole."
    content = events.to_bytes(written(name, head, _rare(space, record)))
    meta = {
        "name": name, "title": slug_of(name), "session": session, "topic": topic_of(name), "date": name[:10],
        "through": last.position, SOURCES: [source],
    }  # fmt: skip
    if before is not None:
        meta[SUPERSEDES] = [before.pointer]
    # After an erasure the span is another one, and the same words are another event.
    key = (*map(str.encode, (agent.name, session, str(last.position), name, source)), content)
    ended = record.ended or last.ingested
    draft = Draft(
        Kind.EPISODE, content, "text/markdown", meta, agent=agent.name, origin="firsthand", trust=Trust.AGENT,
        time=ended, id=events.derived_id(ended, b"episode", *key),
    )  # fmt: skip
    episode = from_event(agent, space.event(space.append([draft], session=agent.session)[0]))
    assert episode is not None, "it was written with a name, a session and a position"
    return episode


def _name(agent: AgentSpace, session: str, record: SessionRecord) -> str:
    """Name a session by what was asked first; one in which nothing was asked that says something by its day alone."""
    request = record.opening.text if record.opening is not None else ""
    taken = [episode.name for episode in episodes(agent) if episode.session != session]
    return name_of(str(record.began)[:10] if record.began is not None else "undated", request, taken)


def _rare(space: Space, record: SessionRecord) -> Iterator[Piece]:
    """Yield what is on record, without exact strings that are common in the store."""
    common = shares(space.log.reader, space.namespace, record.strings)
    for piece in record.pieces():
        if piece.section != STRINGS or common.get(piece.words, 0.0) <= COMMON_SHARE:
            yield piece


# looking for it ----------------------------------------------------------------------------------------


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
