"""What can be typed of what an agent is told unasked, and of its files; `firsthand.cli.arguments` adds it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import number


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands preamble, cues, inbox and files."""
    one = command(
        commands, "preamble", "remembering:preamble",
        "Show what a new session of an agent reads first.",
        """
        firsthand preamble
        firsthand preamble --agent web-3f9a1c --tokens 800
        """,
    )  # fmt: skip
    _agent(one)
    one.add_argument("--tokens", type=number(1), default=1_500, metavar="N", help="at most so many, default 1500")
    one = command(
        commands, "cues", "remembering:cues",
        "Show the names that remind an agent of what a message is about.",
        """
        firsthand cues why does the cold start fail again
        """,
    )  # fmt: skip
    one.add_argument("text", nargs="+", metavar="TEXT", help="the message")
    _agent(one)
    one.add_argument("--tokens", type=number(1), default=80, metavar="N", help="at most so many, default 80")
    one = command(
        commands, "inbox", "remembering:inbox",
        "Show the messages of other agents to an agent, send one, or let them count as read.",
        """
        firsthand inbox
        firsthand inbox read
        firsthand inbox send "the schema of orders has changed" --agent web-3f9a1c
        """,
    )  # fmt: skip
    one.add_argument("what", nargs="?", choices=("list", "read", "send"), default="list", help="default: list")
    one.add_argument("text", nargs="*", metavar="TEXT", help="with send: the message")
    _agent(one)
    one.add_argument(
        "--sender", default="", metavar="NAME", help="with send: the agent that sends it; default: of this folder"
    )
    one.add_argument("--about", action="append", default=[], metavar="POINTER", help="with send: what it is about")
    one = command(
        commands, "files", "remembering:files",
        "Follow the files of an agent into the log, or write them anew from there.",
        """
        firsthand files
        firsthand files restore                                what is missing
        firsthand files restore knowledge/retry-policy.md      also when it was deleted
        """,
    )  # fmt: skip
    one.add_argument("what", nargs="?", choices=("follow", "restore"), default="follow", help="default: follow")
    one.add_argument("file", nargs="*", metavar="FILE", help="with restore: only these")
    _agent(one)


def _agent(one: argparse.ArgumentParser) -> None:
    one.add_argument("--agent", default="", metavar="NAME", help="whose; default: the agent of this folder")
