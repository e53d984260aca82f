"""What can be typed of the probe; it stands beside the experiments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command probe."""
    one = command(
        commands, "probe", "firsthand_evals.commands.probe:probe",
        "Say whether notes can still be corrected, and what is missing; exit code 1 when one cannot.",
        """
        firsthand eval probe summary.md --session claude-code:5b0a6c1e         by the session that it stands for
        firsthand eval probe summary.md --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --claim "the total before tax"
        firsthand eval probe notes/*.json --json    {"note": ..., "messages": [...], "claim": ...}
        """,
    )  # fmt: skip
    one.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="a note, or JSON: an object, a list of them, or one a line; - for standard input",
    )
    one.add_argument("--session", default="", metavar="NAME", help="what the notes stand on: a session of the store")
    one.add_argument(
        "--source", action="append", default=[], metavar="POINTER", help="what they stand on: an event or span"
    )
    one.add_argument("--claim", metavar="TEXT", help="words for what is asked for: turns that share one count")
