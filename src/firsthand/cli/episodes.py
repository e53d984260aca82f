"""The commands episodes, episode and agents: the records of sessions, whose they are, and writing them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from firsthand import Agent, Closed, Episode, InvalidArgument, Memory, agent_in, agents_of, sessions_like
from firsthand.cli.display import clock, count, shown, table
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write


def episodes(chosen: argparse.Namespace, out: Output) -> int:
    """List episodes, oldest first; those of one agent, or of all."""
    with to_read(chosen) as memory:
        found = [one for agent in _agents(memory, chosen.agent) for one in agent.episodes()]
    if out.as_json:
        for one in found:
            out.json(_episode_form(one))
        return DONE if found else NOTHING_FOUND
    for line in table([(one.name, one.agent, one.session, one.pointer, _state(one)) for one in found]):
        out.line(shown(line))
    out.remark(count(len(found), "episode"))
    return DONE if found else NOTHING_FOUND


def episode(chosen: argparse.Namespace, out: Output) -> int:
    """Write the episode of a session, or of all that are due, and look for each by its own topic."""
    if bool(chosen.session) == chosen.all:
        raise InvalidArgument("name one session whose episode to write, or say --all")
    with to_write(chosen, create=False) as memory:
        if chosen.all:
            runs = [
                one.catch_up(quiet_seconds=0, deadline_seconds=chosen.seconds) for one in _agents(memory, chosen.agent)
            ]
            done, left = [closed for run in runs for closed in run.closed], sum(run.left for run in runs)
        else:
            done, left = [_owner(memory, chosen.session, chosen.agent).close(chosen.session)], 0
    for one in done:
        _say(one, out)
    if left:
        out.warn(f"firsthand: {count(left, 'session')} left; run it again")
    if not done:
        out.remark("every session has its episode")
        return DONE
    if not any(one.episode for one in done):
        return NOTHING_FOUND
    return DONE if all(one.verified for one in done if one.episode) else DAMAGED


def agents_(chosen: argparse.Namespace, out: Output) -> int:
    """List agents with their sessions and episodes, or make sessions an agent's own."""
    if chosen.what == "enrol":
        return _enrol(chosen, out)
    if chosen.sessions:
        raise InvalidArgument("firsthand agents lists them all; expected no words behind list, "
                              f"got {count(len(chosen.sessions), 'word')}")  # fmt: skip
    with to_read(chosen) as memory:
        rows = [(one.name, len(one.sessions()), len(one.episodes()), str(one.folder)) for one in agents_of(memory)]
    for name, sessions, written, folder in rows if out.as_json else ():
        out.json({"agent": name, "sessions": sessions, "episodes": written, "folder": folder})
    told = [(name, count(n, "session"), count(e, "episode"), folder) for name, n, e, folder in rows]
    for line in () if out.as_json else table(told):
        out.line(shown(line))
    return DONE if rows else NOTHING_FOUND


def _enrol(chosen: argparse.Namespace, out: Output) -> int:
    """Make the sessions that were named an agent's; those that others have stay theirs too."""
    if not chosen.sessions:
        raise InvalidArgument("name the sessions to enrol, such as 'claude-code:*'; `firsthand sessions` lists them")
    with to_write(chosen, create=False) as memory:
        agent = memory.agent(chosen.agent) if chosen.agent else agent_in(memory, str(Path.cwd()))
        wanted: dict[str, None] = {}
        for one in chosen.sessions:
            found = sessions_like(memory, one)
            if not found:
                raise InvalidArgument(f"no session is named {one!r:.120}; `firsthand sessions` lists them")
            wanted |= dict.fromkeys(found)
        new = [name for name in wanted if agent.enrol(name)]
    for name in new:
        if out.as_json:
            out.json({"agent": agent.name, "session": name})
        else:
            out.line(f"{shown(agent.name)}  {shown(name)}")
    out.remark(f"{count(len(new), 'session')} more of agent {shown(agent.name)}, {len(wanted) - len(new)} were its own")
    return DONE


def _agents(memory: Memory, name: str) -> tuple[Agent, ...]:
    return (memory.agent(name),) if name else agents_of(memory)


def _owner(memory: Memory, session: str, name: str) -> Agent:
    """Give the agent whose session it is; one that is named takes it on."""
    if name:
        agent = memory.agent(name)
        if any(info.name == session for info in memory.sessions()):
            agent.enrol(session)
        return agent
    for one in agents_of(memory):
        if session in one.sessions():
            return one
    raise InvalidArgument(f"no agent has a session {session!r:.120}; say whose it is with --agent NAME")


def _say(one: Closed, out: Output) -> None:
    if out.as_json:
        form = _episode_form(one.episode) if one.episode is not None else {"name": None}
        out.json({**form, "new": one.new, "why": one.why})
        return
    if one.episode is not None:
        out.line(f"{one.episode.pointer}  {shown(one.episode.name)}" + ("" if one.new else "  (was there)"))
    if one.why:
        out.warn(f"firsthand: {shown(one.why)}")


def _state(one: Episode) -> str:
    return clock(one.moment) + ("" if one.verified else f"  not found: {one.stage}")


def _episode_form(one: Episode) -> dict[str, Any]:
    return {
        "name": one.name, "agent": one.agent, "session": one.session, "time": str(one.moment), "pointer": one.pointer,
        "path": one.path, "topic": one.topic, "terms": one.terms, "verified": one.verified, "stage": one.stage,
    }  # fmt: skip
