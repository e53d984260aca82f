"""The command mcp: serves an agent's memory over standard streams, or says what a client is told of it.

The invariant: while it serves over standard streams, standard output carries the
protocol and nothing else; all that is said to the user goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from firsthand.cli.arguments import Parser
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import default_embedder, default_namespace, default_store
from firsthand.server import bridge
from firsthand.server.hook_client import VERSION, Call

if TYPE_CHECKING:
    from firsthand.server.mcp_server import Door


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _mcp, "Serve an agent's memory to any host that speaks MCP.",
        """
        firsthand mcp                          what a host's settings name; it speaks the protocol on standard output
        firsthand mcp --describe               what a client is told of the tools, and how many tokens that takes
        """,
    )  # fmt: skip
    parser.add_argument("--describe", action="store_true", help="print the tools and their tokens, and serve nothing")
    parser.add_argument("--agent", default="", metavar="NAME", help="whose memory; default that of the folder")
    parser.add_argument("--cwd", metavar="DIR", help="the folder that the agent works in; default this one")
    parser.add_argument("--across", action="store_true", help="other agents' sessions too, whatever the settings say")


def _mcp(chosen: argparse.Namespace, out: Output) -> int:
    """Pass what the host says to the server until it goes away; where no server can live, serve in this process."""
    cwd = str(Path(chosen.cwd or ".").resolve())
    whose = {"agent": chosen.agent, "cwd": cwd, "across": chosen.across}
    call = Call(
        operation="mcp", version=VERSION, store=str(Path(chosen.store or default_store()).expanduser().resolve()),
        namespace=chosen.namespace or default_namespace(), embedder=default_embedder() or "none",
    )  # fmt: skip
    if not chosen.describe and bridge.run(call, whose):
        return DONE
    from firsthand.server.mcp_server import Door, Served

    served = Served(chosen.store, chosen.namespace, None, chosen.agent, cwd, chosen.across)
    if not chosen.describe:
        out.warn("firsthand: no server can be started here, so this process serves MCP by itself")
    with contextlib.closing(Door(served)) as door:
        if chosen.describe:
            _describe(door, out)
        else:
            door.server.run("stdio")
    return DONE


def _describe(door: Door, out: Output) -> None:
    from firsthand.server.mcp_server import described, tokens_of

    tools = described(door)
    if out.as_json:
        out.json({"tools": tools, "tokens": tokens_of(tools)})
        return
    for tool in tools:
        out.line(f"{tool['name']:<10}  {tokens_of([tool]):>4} tokens  {tool['description']}")
    out.line(f"{len(tools)} tools, {tokens_of(tools):,} tokens in all as a client is told of them, schemas included")
