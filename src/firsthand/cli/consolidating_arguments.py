"""What can be typed of consolidation; `firsthand.cli.arguments` adds it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli import asking_arguments
from firsthand.cli.argument_values import decimal, number


def add(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands consolidate and quarantine."""
    one = command(
        commands, "consolidate", "consolidating:consolidate",
        "Show rules made of what users said, or propose some: each is tried on its sources before it is kept.",
        """
        firsthand consolidate                        what stands: rules, and the statements that none covers
        firsthand consolidate propose                what would be written, and what the gate says; nothing is kept
        firsthand consolidate keep                   keep what the gate lets in
        firsthand consolidate keep --approve 5GZ8K2N7     let one in that stands on what a tool or the web said
        firsthand consolidate show 5GZ8K2N7          one rule, with the words that it stands on
        firsthand consolidate --as-of 1200
        firsthand consolidate propose --model http://localhost:8080/v1#qwen --replies DIR
        """,
    )  # fmt: skip
    one.add_argument(
        "what", nargs="?", choices=("list", "show", "propose", "keep"), default="list", help="default: list"
    )
    one.add_argument("entry", nargs="?", default="", metavar="ENTRY", help="with show: an id or its end")
    one.add_argument("--agent", default="", metavar="NAME", help="whose sessions; default: all of the namespace")
    one.add_argument("--as-of", type=number(0), metavar="POSITION", help="with list: as it was then")
    one.add_argument(
        "--theta", type=decimal(0, 1), default=0.6, metavar="SHARE", help="of its cases a rule must give, default 0.6"
    )
    one.add_argument("--approve", action="append", default=[], metavar="ENTRY", help="id of a proposed entry")
    one.add_argument("--model", metavar="MODEL", help="who writes: local, local:FILE.gguf, or URL#NAME; default rules")
    one.add_argument(
        "--solver-model", metavar="MODEL",
        help="who answers what is tried, one call a case: entries in words need one; default a reader by rule",
    )  # fmt: skip
    asking_arguments.add(one)
    one = command(
        commands, "quarantine", "consolidating:quarantine",
        "Take an entry or a source out, with all that came of it; nothing leaves the log, and it can be undone.",
        """
        firsthand quarantine 5GZ8K2N7 --reason "the tariff changed"
        firsthand quarantine 5GZ8K2N7 --release
        firsthand quarantine fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY    what a poisoned event led to: facts, notes, entries
        """,
    )  # fmt: skip
    one.add_argument("entry", metavar="ENTRY", help="an entry's id or its end, or the pointer of any event")
    one.add_argument("--agent", default="", metavar="NAME", help="whose sessions; default: all of the namespace")
    one.add_argument("--reason", default="", metavar="TEXT", help="why; it is kept")
    one.add_argument("--release", action="store_true", help="let it in again")
