"""The words of the commands hook and daemon; `arguments` has those of the others."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Command = Callable[[Any, str, str, str, str], argparse.ArgumentParser]
"""Adds a command: subparsers, its name, where it is done, a sentence, examples."""


def add(commands: Any, command: Command) -> None:
    """Add both commands."""
    _hook(commands, command)
    _daemon(commands, command)


def _hook(commands: Any, command: Command) -> None:
    one = command(
        commands, "hook", "hooking:hook",
        "Answer one hook of an agent's host: its JSON on standard input, the answer on standard output.",
        """
        firsthand hook claude-code < payload.json
        """,
    )  # fmt: skip
    one.add_argument(
        "host", metavar="HOST", help="whose hook it is: claude-code, codex, cursor, vscode, gemini, copilot"
    )


def _daemon(commands: Any, command: Command) -> None:
    one = command(
        commands, "daemon", "hooking:daemon",
        "Show or stop the process that answers hooks from open stores; hooks start it by themselves.",
        """
        firsthand daemon                what it is at; 1 when none runs
        firsthand daemon --stop
        firsthand daemon --foreground   be it, until interrupted
        """,
    )  # fmt: skip
    how = one.add_mutually_exclusive_group()
    how.add_argument("--status", action="store_true", help="show what it is at (the default)")
    how.add_argument("--stop", action="store_true", help="stop it; the next hook starts another")
    how.add_argument("--foreground", action="store_true", help="be it, until interrupted")
