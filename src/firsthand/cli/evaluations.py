"""The command ``eval``, which comes with another distribution: firsthand-evals.

The invariant: nothing of that distribution, nor the list of what is installed, is read
before ``eval`` is typed. Without it the command says what to install.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from firsthand.cli.output import Output
from firsthand.errors import InvalidArgument

NAME = "eval"
GROUP = "firsthand.commands"
"""Of entry points: each names a function that takes the commands, and a function that makes a command."""
INSTALL = "pip install firsthand-evals"

Command = Callable[..., argparse.ArgumentParser]


def add(commands: Any, command: Command, words: Sequence[str]) -> None:
    """Add the command with its subcommands if it is among the words and installed, else a line that names it."""
    installed = _installed() if NAME in words else None
    if installed is not None:
        installed(commands, command)
        return
    one = command(
        commands, NAME, "evaluations:refuse",
        f"Run the papers' evaluations, on any memory ({INSTALL}).",
        """
        firsthand eval list
        """,
    )  # fmt: skip
    one.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def refuse(chosen: argparse.Namespace, out: Output) -> int:  # noqa: ARG001 - the shape of a command
    """Say what to install.

    Raises:
        InvalidArgument: always.
    """
    raise InvalidArgument(f"'firsthand {NAME}' is in the distribution firsthand-evals; run: {INSTALL}")


def _installed() -> Callable[[Any, Command], None] | None:
    """Load what adds the command; None when the distribution is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=NAME):
        add_: Callable[[Any, Command], None] = point.load()
        return add_
    return None
