"""What can be typed of agents and their episodes; `firsthand.cli.arguments` puts it among the other commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import LIMIT_MAX, decimal


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands agents, episodes and episode."""
    one = command(
        commands, "agents", "episodes:agents_",
        "List the agents, with their sessions, episodes and folders, or make sessions an agent's own.",
        """
        firsthand agents
        firsthand agents enrol 'claude-code:*'                     what was imported becomes the folder's agent's
        firsthand agents enrol deploy-42 deploy-43 --agent planner
        """,
    )  # fmt: skip
    one.add_argument("what", nargs="?", choices=("list", "enrol"), default="list", help="default: list")
    one.add_argument("sessions", nargs="*", metavar="SESSION", help="with enrol: names; a last * stands for any end")
    one.add_argument("--agent", default="", metavar="NAME", help="with enrol: whose; default: the agent of this folder")
    one = command(
        commands, "episodes", "episodes:episodes",
        "List episodes, the records of sessions, oldest first.",
        """
        firsthand episodes
        firsthand episodes --agent web-3f9a1c --json
        """,
    )  # fmt: skip
    one.add_argument("--agent", default="", metavar="NAME", help="only of this agent")
    one = command(
        commands, "episode", "episodes:episode",
        "Write the episode of a session that has ended, without a model, and look for it by its own topic.",
        """
        firsthand episode close pi:ffae836b-9420-4060-ac13-7745215f90ff
        firsthand episode close deploy --agent web-3f9a1c          the session becomes this agent's
        firsthand episode close --all                              whatever has none yet, or went on after it
        """,
    )  # fmt: skip
    one.add_argument("what", choices=("close",), metavar="close", help="write it")
    one.add_argument("session", nargs="?", default="", metavar="SESSION", help="of one session")
    one.add_argument("--all", action="store_true", help="of all sessions of agents")
    one.add_argument("--agent", default="", metavar="NAME", help="whose it is; default: who has the session")
    one.add_argument(
        "--seconds", type=decimal(0, LIMIT_MAX), default=600.0, metavar="S",
        help="with --all: begin no further one after this, default 600",
    )  # fmt: skip
