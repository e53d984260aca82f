"""The command hook: answer one hook of an agent's host.

The plugin for Claude Code names it; it does what the launcher that `firsthand install` writes does, and starts slower.
"""

from __future__ import annotations

import argparse

from firsthand.cli.arguments import Parser
from firsthand.cli.output import Output
from firsthand.server import hook_client


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _hook, "Answer one hook of an agent's host, as JSON.",
        "firsthand hook claude-code < payload.json",
    )  # fmt: skip
    parser.add_argument(
        "host", metavar="HOST", help="whose hook it is: claude-code, codex, cursor, vscode, gemini, copilot"
    )


def _hook(chosen: argparse.Namespace, out: Output) -> int:
    out.flush()
    options = [word for name in ("store", "namespace") if (text := getattr(chosen, name))
               for word in (f"--{name}", text)]  # fmt: skip
    return hook_client.main([chosen.host, *options])
