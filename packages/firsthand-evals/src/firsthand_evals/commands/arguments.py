"""What can be typed of experiments, out of ``arguments.toml``; the entry point of Firsthand's command line."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from firsthand.cli.arguments import decimal, number

Command = Callable[..., argparse.ArgumentParser]


def add(commands: Any, command: Command) -> None:
    """Add the command eval with what can be run by it."""
    evaluate = command(
        commands, "eval", "firsthand_evals.commands.experiments:list_",
        "Run experiments: can a memory that went wrong be corrected, does what is pushed unasked help?",
        """
        firsthand eval list                               every experiment, what it needs, its last result
        firsthand eval reclaim --memory ./mine.py:write   is my memory correctable: no model, no network
        firsthand eval reclaim --help                     what else can be asked of it
        firsthand eval run gate --data DATA               any experiment by its name
        """,
    )  # fmt: skip
    experiments = evaluate.add_subparsers(title="experiments", metavar="WHAT", required=True)
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, table in tables.items():
        parser = command(
            experiments, name, f"firsthand_evals.commands.{table['run']}", table["about"], table["examples"]
        )
        for option in table.get("options", ()):
            _add(parser, option)
        for title, options in table.get("groups", {}).items():
            group = parser.add_argument_group(title)
            for option in options:
                _add(group, option)


def _add(group: Any, option: Mapping[str, Any]) -> None:
    """Add an option by its row."""
    same = {
        name: option[name] for name in ("metavar", "help", "choices", "default", "required", "nargs") if name in option
    }
    if option.get("switch"):
        group.add_argument(option["flag"], action="store_true", **same)
        return
    if option.get("many"):
        same = {"action": "append", "default": []} | same
    for kind, reads in (("number", number), ("decimal", decimal)):
        if kind in option:
            same["type"] = reads(*option[kind])
    if "type" in option:
        same["type"] = {"prices": _prices}[option["type"]]
    group.add_argument(option["flag"], **same)


def _prices(text: str) -> tuple[str, float, float]:
    read = decimal(0, 1_000_000)
    model, _, amounts = text.rpartition("=")
    prompt, comma, reply = amounts.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"expected PROMPT,REPLY or MODEL=PROMPT,REPLY such as 0.15,0.6; got {text!r}")
    return model, read(prompt), read(reply)
