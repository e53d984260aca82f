"""What can be typed of the ledger and the digest; `firsthand.cli.arguments` adds it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import number


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands ledger and digest."""
    one = command(
        commands, "ledger", "ledgering:ledger",
        "Show which events are out and what took their place; decide, and undo it.",
        """
        firsthand ledger                                    the decisions, the newest last
        firsthand ledger supersede fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY fh:01J9AA4T9M6V3K2N7P5R8S1WXY    the second holds
        firsthand ledger tombstone fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY         this holds no longer
        firsthand ledger restore fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY           this holds again, and not what took its place
        firsthand ledger show 5GZ8K2N7                      one decision, with the words of both events
        firsthand ledger undo 5GZ8K2N7 --following          as if it had never been, and all that followed from it
        firsthand ledger waiting                            rules that stand on what a tool or the web said
        firsthand ledger approve fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY           let one of these in; undo takes it back
        firsthand ledger diff 1200 1950                     what is decided otherwise at the second position
        firsthand ledger --as-of 1200
        """,
    )  # fmt: skip
    one.add_argument(
        "what", nargs="?", default="list", help="default: list",
        choices=("list", "show", "supersede", "tombstone", "restore", "undo", "waiting", "approve", "diff"),
    )  # fmt: skip
    one.add_argument("at", nargs="*", metavar="WHAT", help="an id or its end; a pointer; with diff: two positions")
    one.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    one.add_argument("--following", action="store_true", help="with undo: also what followed from it")
    one.add_argument("--reason", default="", metavar="TEXT", help="with a decision or undo: why")
    one = command(
        commands, "digest", "ledgering:digest",
        "Show the notes that stand and the sessions, or write them into the agent's folder.",
        """
        firsthand digest
        firsthand digest --as-of 1200 --lines 40
        firsthand digest --write
        """,
    )  # fmt: skip
    one.add_argument("--agent", default="", metavar="NAME", help="whose; default: the agent of this folder")
    one.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    one.add_argument("--lines", type=number(1), default=120, metavar="N", help="at most so many, default 120")
    one.add_argument("--write", action="store_true", help="into digest.md; what a person changed there stays")
