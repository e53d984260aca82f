"""What can be typed of the review of recalls; `firsthand.doors.arguments` adds it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.doors.argument_values import number, time


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command tuning."""
    one = command(
        commands, "tuning", "tuning:tuning",
        "Review what became of recalls, and show or undo the values of recall that were tuned by it.",
        """
        firsthand tuning                         the values in force, and every decision on them
        firsthand tuning review                  what became of recalls, and what would be changed; nothing is kept
        firsthand tuning review --keep           keep what a benchmark of this store's own questions bears out
        firsthand tuning review --since 2026-01-31 --agent shop-1a2b3c
        firsthand tuning show 5GZ8K2N7           one decision, with what was measured
        firsthand tuning undo 5GZ8K2N7           as if it had never been, with what was built on it
        firsthand tuning --as-of 1200
        """,
    )  # fmt: skip
    one.add_argument(
        "what", nargs="?", choices=("list", "show", "undo", "review"), default="list", help="default: list"
    )
    one.add_argument("decision", nargs="?", default="", metavar="DECISION", help="with show and undo: an id or its end")
    one.add_argument("--as-of", type=number(0), metavar="POSITION", help="with list: as it was then")
    one.add_argument("--agent", default="", metavar="NAME", help="with review: whose sessions; default: all")
    one.add_argument("--since", type=time, metavar="TIME", help="with review: count recalls from then on")
    one.add_argument("--until", type=time, metavar="TIME", help="with review: count recalls before that")
    one.add_argument(
        "--seconds", type=number(1, 3_600), default=120, metavar="N", help="with review: at most so long, default 120"
    )
    one.add_argument("--keep", action="store_true", help="with review: put what is decided in force")
    one.add_argument("--reason", default="", metavar="TEXT", help="with undo: why; it is kept")
