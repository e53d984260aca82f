"""The group agent: agents and their episodes, what they are told unasked, their messages, files and sleep."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from firsthand import Agent, InvalidArgument, Memory
from firsthand.agent_space import sessions_like
from firsthand.agents.agent import agent_in, agents_of
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.episode import Episode
from firsthand.agents.episode_writer import Closed
from firsthand.cli import cost, sleep, switches
from firsthand.cli.argument_values import LIMIT_MAX, decimal, number
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, count, shown, table
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import agent_here, position, to_read, to_write
from firsthand.value import asdict


def add(group: Parser) -> None:
    """Add the commands of the group."""
    _add_episodes(group)
    _add_unasked(group)
    command = group.command(
        "digest", _digest, "Show which facts stand.",
        """
        firsthand agent digest
        firsthand agent digest --as-of 1200 --lines 40
        """,
    )  # fmt: skip
    _add_agent(command)
    command.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    command.add_argument("--lines", type=number(1), default=120, metavar="N", help="at most so many, default 120")
    sleep.add(group)
    switches.add(group)
    cost.add(group)


def _add_episodes(group: Parser) -> None:
    group.command("list", _list, "List the agents, with their sessions, episodes and folders.", "firsthand agent list")
    command = group.command(
        "enrol", _enrol, "Make sessions an agent's own.",
        """
        firsthand agent enrol 'claude-code:*'                     what was imported becomes the folder's agent's
        firsthand agent enrol deploy-42 deploy-43 --agent planner
        """,
    )  # fmt: skip
    command.add_argument("sessions", nargs="+", metavar="SESSION", help="names; a last * stands for any end")
    _add_agent(command)
    command = group.command(
        "episodes", _episodes, "List episodes, the records of sessions, oldest first.",
        """
        firsthand agent episodes
        firsthand agent episodes --agent web-3f9a1c --json
        """,
    )  # fmt: skip
    command.add_argument("--agent", default="", metavar="NAME", help="only of this agent")
    command = group.command(
        "close", _close, "Write the episode of a session that has ended.",
        """
        firsthand agent close pi:ffae836b-9420-4060-ac13-7745215f90ff
        firsthand agent close deploy --agent web-3f9a1c          the session becomes this agent's
        firsthand agent close --all                              whatever has none yet, or went on after it
        """,
    )  # fmt: skip
    command.add_argument("session", nargs="?", default="", metavar="SESSION", help="of one session")
    command.add_argument("--all", action="store_true", help="of all sessions of agents")
    command.add_argument("--agent", default="", metavar="NAME", help="whose it is; default: who has the session")
    command.add_argument(
        "--seconds", type=decimal(0, LIMIT_MAX), default=600.0, metavar="S",
        help="with --all: begin no further one after this, default 600",
    )  # fmt: skip


def _add_unasked(group: Parser) -> None:
    command = group.command(
        "preamble", _preamble, "Show what a new session of an agent reads first.",
        """
        firsthand agent preamble
        firsthand agent preamble --agent web-3f9a1c --tokens 800
        """,
    )  # fmt: skip
    _add_agent(command)
    command.add_argument("--tokens", type=number(1), default=1_500, metavar="N", help="at most so many, default 1500")
    command = group.command(
        "cues", _cues, "Show the names that remind an agent of earlier work.",
        "firsthand agent cues why does the cold start fail again",
    )  # fmt: skip
    command.add_argument("text", nargs="+", metavar="TEXT", help="the message")
    _add_agent(command)
    command.add_argument("--tokens", type=number(1), default=80, metavar="N", help="at most so many, default 80")
    command = group.command(
        "inbox", _inbox, "Show the messages of other agents, or send one.",
        """
        firsthand agent inbox
        firsthand agent inbox read                 show those that are unread; they count as read then
        firsthand agent inbox send "the schema of orders has changed" --agent web-3f9a1c
        """,
    )  # fmt: skip
    command.add_argument("what", nargs="?", choices=("list", "read", "send"), default="list", help="default: list")
    command.add_argument("text", nargs="*", metavar="TEXT", help="with send: the message")
    _add_agent(command)
    command.add_argument("--sender", default="", metavar="NAME", help="with send: who; default: this folder's agent")
    command.add_argument("--about", action="append", default=[], metavar="POINTER", help="with send: what it is about")
    command = group.command(
        "files", _files, "Record an agent's files in the log, or restore them.",
        """
        firsthand agent files
        firsthand agent files restore                                what is missing
        firsthand agent files restore knowledge/retry-policy.md      also when it was deleted
        """,
    )  # fmt: skip
    command.add_argument("what", nargs="?", choices=("follow", "restore"), default="follow", help="default: follow")
    command.add_argument("file", nargs="*", metavar="FILE", help="with restore: only these")
    _add_agent(command)


def _add_agent(command: Parser) -> None:
    command.add_argument("--agent", default="", metavar="NAME", help="whose; default: the agent of this folder")


# agents and episodes ---------------------------------------------------------------------------------


def _list(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        rows = [
            (agent.name, len(agent.sessions()), len(agent.episodes()), str(agent.folder)) for agent in agents_of(memory)
        ]
    if out.as_json:
        for name, sessions, episodes, folder in rows:
            out.json({"agent": name, "sessions": sessions, "episodes": episodes, "folder": folder})
        return DONE if rows else NOTHING_FOUND
    for line in table([(row[0], count(row[1], "session"), count(row[2], "episode"), row[3]) for row in rows]):
        out.line(shown(line))
    if not rows:
        out.remark("no agent has a session here; sessions become an agent's by: firsthand agent enrol 'SESSION*'")
    return DONE if rows else NOTHING_FOUND


def _enrol(chosen: argparse.Namespace, out: Output) -> int:
    """Make the sessions that were named an agent's; those that others have stay theirs too."""
    with to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        wanted: dict[str, None] = {}
        for name in chosen.sessions:
            sessions = sessions_like(memory, name)
            if not sessions:
                raise InvalidArgument(f"no session is named {name!r:.120}; `firsthand session list` lists them")
            wanted |= dict.fromkeys(sessions)
        new = [name for name in wanted if agent.enrol(name)]
    for name in new:
        if out.as_json:
            out.json({"agent": agent.name, "session": name})
        else:
            out.line(f"{shown(agent.name)}  {shown(name)}")
    out.remark(f"{count(len(new), 'session')} more of agent {shown(agent.name)}, {len(wanted) - len(new)} were its own")
    return DONE


def _episodes(chosen: argparse.Namespace, out: Output) -> int:
    """List episodes, oldest first; those of one agent, or of all."""
    with to_read(chosen) as memory:
        episodes = [episode for agent in _agents(memory, chosen.agent) for episode in agent.episodes()]
    if out.as_json:
        for episode in episodes:
            out.json(_episode_form(episode))
        return DONE if episodes else NOTHING_FOUND
    rows = [
        (episode.name, episode.agent, episode.session, episode.pointer,
         clock(episode.moment) + ("" if episode.verified else f"  not found: {episode.stage}"))
        for episode in episodes
    ]  # fmt: skip
    for line in table(rows):
        out.line(shown(line))
    out.remark(count(len(episodes), "episode"))
    return DONE if episodes else NOTHING_FOUND


def _close(chosen: argparse.Namespace, out: Output) -> int:
    """Write the episode of a session, or of all that are due, and look for each by its own topic."""
    if bool(chosen.session) == chosen.all:
        raise InvalidArgument("name one session whose episode to write, or say --all")
    with to_write(chosen, create=False) as memory:
        if chosen.all:
            runs = [
                agent.catch_up(quiet_seconds=0, deadline_seconds=chosen.seconds)
                for agent in _agents(memory, chosen.agent)
            ]
            closed, left = [closed for run in runs for closed in run.closed], sum(run.left for run in runs)
        else:
            closed, left = [_owner(memory, chosen.session, chosen.agent).close(chosen.session)], 0
    for close in closed:
        _say_closed(close, out)
    if left:
        out.warn(f"firsthand: {count(left, 'session')} left; run it again")
    if not closed:
        out.remark("every session has its episode")
        return DONE
    if not any(close.episode for close in closed):
        return NOTHING_FOUND
    return DONE if all(close.verified for close in closed if close.episode) else DAMAGED


def _agents(memory: Memory, name: str) -> tuple[Agent, ...]:
    return (memory.agent(name),) if name else agents_of(memory)


def _agent(memory: Memory, chosen: argparse.Namespace) -> Agent:
    return memory.agent(chosen.agent) if chosen.agent else agent_in(memory, str(Path.cwd()))


def _owner(memory: Memory, session: str, name: str) -> Agent:
    """Give the agent whose session it is; one that is named takes it on."""
    if name:
        agent = memory.agent(name)
        if any(info.name == session for info in memory.sessions()):
            agent.enrol(session)
        return agent
    for agent in agents_of(memory):
        if session in agent.sessions():
            return agent
    raise InvalidArgument(f"no agent has a session {session!r:.120}; say whose it is with --agent NAME")


def _say_closed(close: Closed, out: Output) -> None:
    episode = close.episode
    if out.as_json:
        form = _episode_form(episode) if episode is not None else {"name": None}
        out.json({**form, "new": close.new, "why": close.why})
        return
    if episode is not None:
        out.line(f"{episode.pointer}  {shown(episode.name)}" + ("" if close.new else "  (was there)"))
    if close.why:
        out.warn(f"firsthand: {shown(close.why)}")


def _episode_form(episode: Episode) -> dict[str, Any]:
    return {
        "name": episode.name, "agent": episode.agent, "session": episode.session, "time": str(episode.moment),
        "pointer": episode.pointer, "topic": episode.topic, "verified": episode.verified, "stage": episode.stage,
    }  # fmt: skip


# what an agent is told -------------------------------------------------------------------------------


def _preamble(chosen: argparse.Namespace, out: Output) -> int:
    """Show what a new session of an agent reads first; nothing is written."""
    with to_read(chosen) as memory:
        made = _agent(memory, chosen).preamble(tokens_max=chosen.tokens)
    if out.as_json:
        left = dict(made.left_out)
        out.json({"text": made.text, "tokens": made.tokens, "left_out": left, "names_left_out": made.names_left_out})
    elif made.text:
        out.line(shown(made.text, lines=True))
        out.remark(count(made.tokens, "token"))
    return DONE if made.text else NOTHING_FOUND


def _cues(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        cues = _agent(memory, chosen).cues(" ".join(chosen.text), tokens_max=chosen.tokens)
    if out.as_json:
        out.json(asdict(cues))
    elif cues.text:
        out.line(shown(cues.text))
    return DONE if cues.names else NOTHING_FOUND


def _inbox(chosen: argparse.Namespace, out: Output) -> int:
    """Show the messages to an agent, send one, or let those that are unread count as read."""
    if bool(chosen.text) != (chosen.what == "send"):
        raise InvalidArgument("expected: firsthand agent inbox, inbox read, or inbox send TEXT")
    if chosen.what == "send":
        with to_write(chosen, create=False) as memory:
            sender = chosen.sender or agent_in(memory, str(Path.cwd())).name
            sent = _agent(memory, chosen).tell(" ".join(chosen.text), sender=sender, about=chosen.about)
        out.json({"pointer": sent.pointer}) if out.as_json else out.line(sent.pointer)
        return DONE
    with to_read(chosen) if chosen.what == "list" else to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        messages = agent.messages(unread=chosen.what == "read")
        if chosen.what == "read":
            agent.mark_read(messages)
    for message in messages:
        if out.as_json:
            out.json({**asdict(message), "time": str(message.time or "")})
        else:
            new = "" if message.read else "  (unread)"
            out.line(f"{message.pointer}  {clock(message.time)}  from {shown(message.sender)}{new}")
            out.line(shown(message.text, lines=True))
    return DONE if messages else NOTHING_FOUND


def _files(chosen: argparse.Namespace, out: Output) -> int:
    """Follow an agent's files into the log, or write them anew from there."""
    if chosen.file and chosen.what != "restore":
        raise InvalidArgument("files are named with restore alone: firsthand agent files restore FILE")
    with to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        restored = agent.restore(chosen.file) if chosen.what == "restore" else ()
        followed = agent.follow()
    if out.as_json:
        out.json({**asdict(followed), "restored": restored, "folder": str(agent.folder)})
        return DONE
    for file in restored:
        out.line(f"restored  {shown(file)}")
    for change in followed.changes:
        out.line(f"{change.what:8}  {shown(change.file)}  {change.pointer}")
    for sentence in followed.left_out:
        out.warn(f"firsthand: {shown(sentence)}")
    out.remark(f"{count(followed.files, 'file')} in {shown(str(agent.folder))}")
    return DONE


def _digest(chosen: argparse.Namespace, out: Output) -> int:
    """Show the digest."""
    with to_read(chosen) as memory:
        agent = agent_here(memory, chosen.agent, str(Path.cwd()))
        digest = digest_of(agent, as_of=position(memory, chosen.as_of), lines_max=chosen.lines)
    if out.as_json:
        out.json(asdict(digest))
    else:
        out.line(shown(digest.text, lines=True).rstrip("\n"))
    if digest.facts:
        return DONE
    then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
    out.remark(f"no fact stands{then}")
    return NOTHING_FOUND
