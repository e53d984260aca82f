"""The command hook: answer one hook of an agent's host.

Hosts are told to call the hooks' own program, which starts faster; settings that an
older version wrote name this command.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from types import ModuleType

from firsthand import environment
from firsthand.cli.arguments import Parser
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.server import hook_protocol


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _hook, "Answer one hook of an agent's host: JSON on standard input, the answer on output.",
        "firsthand hook claude-code < payload.json",
    )  # fmt: skip
    parser.add_argument(
        "host", metavar="HOST", help="whose hook it is: claude-code, codex, cursor, vscode, gemini, copilot"
    )


def _hook(chosen: argparse.Namespace, out: Output) -> int:
    out.flush()
    options = [word for name in ("store", "namespace") if (text := getattr(chosen, name))
               for word in (f"--{name}", text)]  # fmt: skip
    hook_protocol.run(_load, [chosen.host, *options])
    return DONE


def _load(name: str) -> ModuleType:
    return environment if name == "environment" else import_module(f"firsthand.server.{name}")
