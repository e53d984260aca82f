"""The group agent: agents and their episodes, what they are told unasked, their messages, files and sleep."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from firsthand import Agent, InvalidArgument, Memory
from firsthand.agent_space import sessions_like
from firsthand.agents.agent import agent_in, agents_of
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.episode import Episode
from firsthand.agents.settings import switch, user_file
from firsthand.agents.sleep import Slept, sleep
from firsthand.agents.sleep_log import last_page, sleeps
from firsthand.cli import cost, jobs
from firsthand.cli.arguments import Parser, decimal, number
from firsthand.cli.display import clock, count, shown, table
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, STORE_FAILED
from firsthand.cli.output import Output
from firsthand.cli.stores import agent_here, position, project_of, store_of, to_read, to_write
from firsthand.json_codec import to_json

CATCH_UP_SECONDS = 600.0
QUIET_SECONDS = 900.0
SECONDS_MIN = 0.001


def add(group: Parser) -> None:
    """Add the commands of the group."""
    _add_episodes(group)
    _add_unasked(group)
    _add_files(group)
    jobs.add(group)
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
        "firsthand agent episodes --agent web-3f9a1c --json",
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
    command = group.command(
        "sleep", _sleep, "Go over what came since the last sleep; write episodes.",
        """
        firsthand agent sleep                            the agent of this folder, now
        firsthand agent sleep --all --seconds 120        every agent; no step is begun after two minutes
        firsthand agent sleep --show                     the page of the last sleep
        """,
    )  # fmt: skip
    whose = command.add_mutually_exclusive_group()
    whose.add_argument("--agent", default="", metavar="NAME", help="whose memory; default: the agent of this folder")
    whose.add_argument("--all", action="store_true", help="every agent of the namespace, one after the other")
    command.add_argument(
        "--seconds", type=decimal(0.001, 86_400), default=600.0, metavar="N",
        help="after so long nothing more is begun, default 600",
    )  # fmt: skip
    command.add_argument(
        "--ended", action="store_true", help="take every session as ended; else those quiet for 15 minutes"
    )
    command.add_argument("--show", action="store_true", help="only show the page of the last sleep")


def _add_unasked(group: Parser) -> None:
    command = group.command(
        "switch", _switch, "Turn on or off what happens unasked.",
        """
        firsthand agent switch recall off                     for all projects of this user
        firsthand agent switch cues off --project .           for one project
        """,
    )  # fmt: skip
    command.add_argument("what", metavar="WHAT", help="record, preamble, cues, recall, actions, episodes, ...")
    command.add_argument("state", choices=("on", "off"), help="on or off")
    command.add_argument("--project", metavar="DIR", help="for the project of this folder; default: for all")
    command = group.command(
        "preamble", _preamble, "Show what a new session of an agent reads first.",
        "firsthand agent preamble --agent web-3f9a1c --tokens 800",
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
        "digest", _digest, "Show which facts stand.", "firsthand agent digest --as-of 1200 --lines 40"
    )  # fmt: skip
    _add_agent(command)
    command.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    command.add_argument("--lines", type=number(1), default=120, metavar="N", help="at most so many, default 120")


def _add_files(group: Parser) -> None:
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
        agents = [(agent.name, len(agent.sessions()), len(agent.episodes()), str(agent.folder))
                  for agent in agents_of(memory)]  # fmt: skip
    if out.as_json:
        keys = ("agent", "sessions", "episodes", "folder")
        return out.each([dict(zip(keys, agent, strict=True)) for agent in agents], str)
    nothing = "no agent has a session here; sessions become an agent's by: firsthand agent enrol 'SESSION*'"
    rows = [(name, count(sessions, "session"), count(episodes, "episode"), folder)
            for name, sessions, episodes, folder in agents]  # fmt: skip
    return out.each(table(rows), shown, nothing)


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
    out.each([{"agent": agent.name, "session": name} for name in new],
             lambda row: f"{shown(row['agent'])}  {shown(row['session'])}")  # fmt: skip
    out.remark(f"{count(len(new), 'session')} more of agent {shown(agent.name)}, {len(wanted) - len(new)} were its own")
    return DONE


def _episodes(chosen: argparse.Namespace, out: Output) -> int:
    """List episodes, oldest first; those of one agent, or of all."""
    with to_read(chosen) as memory:
        episodes = [episode for agent in _agents(memory, chosen.agent) for episode in agent.episodes()]
    if out.as_json:
        return out.each(episodes, str)
    rows = [
        (episode.name, episode.agent, episode.session, episode.pointer,
         clock(episode.moment) + ("" if episode.verified else f"  not found: {episode.stage}"))
        for episode in episodes
    ]  # fmt: skip
    return out.each(table(rows), shown, "0 episodes")


def _close(chosen: argparse.Namespace, out: Output) -> int:
    """Write the episode of a session, or of all that are due, and look for each by its own topic."""
    if bool(chosen.session) == chosen.all:
        raise InvalidArgument("name one session whose episode to write, or say --all")
    with to_write(chosen, create=False) as memory:
        if chosen.all:
            runs = [
                agent.catch_up(quiet_seconds=0, deadline_seconds=CATCH_UP_SECONDS)
                for agent in _agents(memory, chosen.agent)
            ]
            closed, left = [closed for run in runs for closed in run.closed], sum(run.left for run in runs)
        else:
            closed, left = [_owner(memory, chosen.session, chosen.agent).close(chosen.session)], 0
    for close in closed:
        if out.as_json:
            written = {"name": None} if close.episode is None else to_json(close.episode)
            out.json({**written, "new": close.new, "why": close.why})
            continue
        if close.episode is not None:
            out.line(f"{close.episode.pointer}  {shown(close.episode.name)}{'' if close.new else '  (was there)'}")
        if close.why:
            out.warn(f"firsthand: {shown(close.why)}")
    if left:
        out.warn(f"firsthand: {count(left, 'session')} left; run it again")
    if not closed:
        out.remark("every session has its episode")
        return DONE
    written_all: list[Episode] = [close.episode for close in closed if close.episode]
    if not written_all:
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


# sleep -----------------------------------------------------------------------------------------------


def _sleep(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.show:
        return _show_sleep(chosen, out)
    by = time.monotonic() + chosen.seconds
    done: list[Slept] = []
    with to_write(chosen, create=False) as memory:
        for agent in _sleepers(memory, chosen):
            out.progress(partial(shown, f"{agent.name} sleeps"))
            left = by - time.monotonic()
            if done and left <= 0:
                out.warn(
                    f"firsthand: the time was up; {shown(agent.name)} and those behind it are left for the next time"
                )
                break
            quiet = 0.0 if chosen.ended else QUIET_SECONDS
            slept = sleep(memory, agent, seconds_max=max(left, SECONDS_MIN), quiet_seconds=quiet, cwd=str(Path.cwd()))
            done.append(slept)
            out.json(slept) if out.as_json else out.line(shown(slept.page, lines=True).rstrip("\n"))
            if not slept.finished:
                out.warn("firsthand: the sleep was not finished; the next one does what is left")
    if not done:
        out.remark("no agent has anything in this store")
        return NOTHING_FOUND
    return STORE_FAILED if any(step.state == "failed" for slept in done for step in slept.steps) else DONE


def _show_sleep(chosen: argparse.Namespace, out: Output) -> int:
    """Show the last page of each agent, and when it slept."""
    with to_read(chosen) as memory:
        nights = [
            {"agent": agent.name, "last": last, "page": last_page(agent)}
            for agent in _sleepers(memory, chosen)
            if (last := next(sleeps(agent), None)) is not None
        ]
    return out.each(nights, lambda night: shown(str(night["page"] or "its page was erased"), lines=True).rstrip("\n"),
                    "it has not slept yet: firsthand agent sleep")  # fmt: skip


def _sleepers(memory: Memory, chosen: argparse.Namespace) -> tuple[Agent, ...]:
    return agents_of(memory) if chosen.all else (agent_here(memory, chosen.agent, str(Path.cwd())),)


# what an agent is told -------------------------------------------------------------------------------


def _switch(chosen: argparse.Namespace, out: Output) -> int:
    """Write a switch into the settings file of those it is for, and say which."""
    file = user_file(store_of(chosen))
    switch(file, chosen.what, on=chosen.state == "on", project=project_of(chosen))
    if out.as_json:
        out.json({"file": str(file), "switch": chosen.what, "on": chosen.state == "on"})
    else:
        out.line(f"{chosen.what} is {chosen.state}: {shown(str(file))}")
    return DONE


def _preamble(chosen: argparse.Namespace, out: Output) -> int:
    """Show what a new session of an agent reads first; nothing is written."""
    with to_read(chosen) as memory:
        made = _agent(memory, chosen).preamble(tokens_max=chosen.tokens)
    if made.text and not out.as_json:
        out.remark(count(made.tokens, "token"))
    return out.each([made] if made.text or out.as_json else [], lambda preamble: shown(preamble.text, lines=True))


def _cues(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        cues = _agent(memory, chosen).cues(" ".join(chosen.text), tokens_max=chosen.tokens)
    return out.each([cues] if cues.names else [], lambda made: shown(made.text))


def _digest(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        agent = agent_here(memory, chosen.agent, str(Path.cwd()))
        digest = digest_of(agent, as_of=position(memory, chosen.as_of), lines_max=chosen.lines)
    out.each([digest], lambda made: shown(made.text, lines=True).rstrip("\n"))
    if digest.facts:
        return DONE
    then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
    out.remark(f"no fact stands{then}")
    return NOTHING_FOUND


# messages and files ----------------------------------------------------------------------------------


def _inbox(chosen: argparse.Namespace, out: Output) -> int:
    """Show the messages to an agent, send one, or let those that are unread count as read."""
    if bool(chosen.text) != (chosen.what == "send"):
        raise InvalidArgument("expected: firsthand agent inbox, inbox read, or inbox send TEXT")
    if chosen.what == "send":
        with to_write(chosen, create=False) as memory:
            sender = chosen.sender or agent_in(memory, str(Path.cwd())).name
            sent = _agent(memory, chosen).tell(" ".join(chosen.text), sender=sender, about=chosen.about)
        return out.each([{"pointer": sent.pointer}], lambda row: row["pointer"])
    with to_read(chosen) if chosen.what == "list" else to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        messages = agent.messages(unread=chosen.what == "read")
        if chosen.what == "read":
            agent.mark_read(messages)
    return out.each(messages, lambda message: (
        f"{message.pointer}  {clock(message.time)}  from {shown(message.sender)}"
        f"{'' if message.read else '  (unread)'}\n{shown(message.text, lines=True)}"
    ))  # fmt: skip


def _files(chosen: argparse.Namespace, out: Output) -> int:
    """Follow an agent's files into the log, or write them anew from there."""
    if chosen.file and chosen.what != "restore":
        raise InvalidArgument("files are named with restore alone: firsthand agent files restore FILE")
    with to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        restored = agent.restore(chosen.file) if chosen.what == "restore" else ()
        followed = agent.follow()
    if out.as_json:
        out.json({**to_json(followed), "restored": restored, "folder": str(agent.folder)})
        return DONE
    for file in restored:
        out.line(f"restored  {shown(file)}")
    for change in followed.changes:
        out.line(f"{change.what:8}  {shown(change.file)}  {change.pointer}")
    for sentence in followed.left_out:
        out.warn(f"firsthand: {shown(sentence)}")
    out.remark(f"{count(followed.files, 'file')} in {shown(str(agent.folder))}")
    return DONE
