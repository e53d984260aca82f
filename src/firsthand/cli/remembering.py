"""The commands preamble, cues, inbox and files: what an agent is told unasked, and what it is made from."""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand import Agent, InvalidArgument, Memory, agent_in
from firsthand.cli.display import clock, count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write
from firsthand.value import asdict


def preamble(chosen: argparse.Namespace, out: Output) -> int:
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


def cues(chosen: argparse.Namespace, out: Output) -> int:
    """Show the names that remind of what a message is about."""
    with to_read(chosen) as memory:
        made = _agent(memory, chosen).cues(" ".join(chosen.text), tokens_max=chosen.tokens)
    if out.as_json:
        out.json(asdict(made))
    elif made.text:
        out.line(shown(made.text))
    return DONE if made.names else NOTHING_FOUND


def inbox(chosen: argparse.Namespace, out: Output) -> int:
    """Show the messages to an agent, send one, or let those that are unread count as read."""
    if bool(chosen.text) != (chosen.what == "send"):
        raise InvalidArgument("expected: firsthand inbox send TEXT, firsthand inbox read, or firsthand inbox")
    if chosen.what == "send":
        with to_write(chosen, create=False) as memory:
            sender = chosen.sender or agent_in(memory, str(Path.cwd())).name
            sent = _agent(memory, chosen).tell(" ".join(chosen.text), sender=sender, about=chosen.about)
        out.line(sent.pointer)
        return DONE
    with to_read(chosen) if chosen.what == "list" else to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        found = agent.messages(unread=chosen.what == "read")
        if chosen.what == "read":
            agent.mark_read(found)
    for one in found:
        if out.as_json:
            out.json({**asdict(one), "time": str(one.time or "")})
        else:
            new = "" if one.read else "  (unread)"
            out.line(f"{one.pointer}  {clock(one.time)}  from {shown(one.sender)}{new}")
            out.line(shown(one.text, lines=True))
    return DONE if found else NOTHING_FOUND


def files(chosen: argparse.Namespace, out: Output) -> int:
    """Follow an agent's files into the log, or write them anew from there."""
    if chosen.file and chosen.what != "restore":
        raise InvalidArgument("files are named with restore alone: firsthand files restore FILE")
    with to_write(chosen, create=False) as memory:
        agent = _agent(memory, chosen)
        restored = agent.restore(chosen.file) if chosen.what == "restore" else ()
        followed = agent.follow()
    if out.as_json:
        out.json({**asdict(followed), "restored": restored, "folder": str(agent.folder)})
    else:
        for file in restored:
            out.line(f"restored  {shown(file)}")
        for change in followed.changes:
            out.line(f"{change.what:8}  {shown(change.file)}  {change.pointer}")
        for sentence in followed.left_out:
            out.warn(f"firsthand: {shown(sentence)}")
        out.remark(f"{count(followed.files, 'file')} in {shown(str(agent.folder))}")
    return DONE


def _agent(memory: Memory, chosen: argparse.Namespace) -> Agent:
    return memory.agent(chosen.agent) if chosen.agent else agent_in(memory, str(Path.cwd()))
