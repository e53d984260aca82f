"""The group eval, which comes with another distribution: firsthand-evals.

The invariant: nothing of that distribution, nor the list of what is installed, is read
before ``eval`` is typed. Without it the command says what to install.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from firsthand.cli.arguments import Parser
from firsthand.cli.output import Output
from firsthand.errors import InvalidArgument

GROUP = "firsthand.commands"
"""Of entry points: each names a function that takes the commands, and a function that makes a command."""
INSTALL = "pip install firsthand-evals, or in a clone: pip install -e packages/firsthand-evals"


def add(parser: Parser) -> None:
    """Take whatever is typed, and refuse it."""
    parser.describe(_refuse, "Run the papers' evaluations, on any memory.", "firsthand eval list")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def installed() -> Callable[..., None] | None:
    """Load what adds the commands; None when the distribution is not installed."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name="eval"):
        add_commands: Callable[..., None] = point.load()
        return add_commands
    return None


def _refuse(chosen: argparse.Namespace, out: Output) -> int:  # noqa: ARG001 - the shape of a command
    raise InvalidArgument(f"'firsthand eval' is in the distribution firsthand-evals; run: {INSTALL}")
