"""What can be typed of sleep; `firsthand.cli.arguments` adds it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import decimal


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command sleep."""
    one = command(
        commands, "sleep", "sleeping:sleep_",
        "Go over what came since the last sleep: write summaries, renew the digest.",
        """
        firsthand sleep                            the agent of this folder, now
        firsthand sleep --all --seconds 120        every agent; no step is begun after two minutes
        firsthand sleep --show                     the page of the last sleep
        firsthand switch sleep on                  every day, when the daemon is idle; "sleep_at" says from when on
        firsthand sleep --timer 03:30              a line for a crontab, where there is no daemon
        """,
    )  # fmt: skip
    whose = one.add_mutually_exclusive_group()
    whose.add_argument("--agent", default="", metavar="NAME", help="whose memory; default: the agent of this folder")
    whose.add_argument("--all", action="store_true", help="every agent of the namespace, one after the other")
    one.add_argument("--project", default="", metavar="DIR", help="whose settings count; default: this folder")
    one.add_argument(
        "--seconds", type=decimal(0.001, 86_400), default=600.0, metavar="N",
        help="after so long nothing more is begun, default 600",
    )  # fmt: skip
    one.add_argument(
        "--ended", action="store_true", help="take every session as ended; else those quiet for 15 minutes"
    )
    one.add_argument("--consolidate", action="store_true", help="also keep rules that pass the gate, this once")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="only show the page of the last sleep")
    what.add_argument(
        "--timer", default="", metavar="HH:MM", help="only print a line for a crontab that sleeps at this time"
    )
