"""The command mcp: serves an agent's memory over standard streams or HTTP, or says what a client is told of it.

The invariant: while it serves over standard streams, standard output carries the
protocol and nothing else; all that is said to the user goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
from pathlib import Path

from firsthand import FirsthandError, InvalidArgument, Memory
from firsthand.cli.argument_values import number
from firsthand.cli.arguments import Parser
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import default_store
from firsthand.server import mcp_http, mcp_sdk
from firsthand.server.mcp_server import Door, Served, described, tokens_of


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _mcp, "Serve an agent's memory to any host that speaks MCP.",
        """
        firsthand mcp                          what a host's settings name; it speaks the protocol on standard output
        firsthand mcp --http 8321              on 127.0.0.1, with a token that it prints
        firsthand mcp --describe               what a client is told of the tools, and how many tokens that takes
        """,
    )  # fmt: skip
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--http", type=number(0, 65_535), metavar="PORT", help="over HTTP on loopback; 0: any free port")
    how.add_argument("--describe", action="store_true", help="print the tools and their tokens, and serve nothing")
    parser.add_argument("--agent", default="", metavar="NAME", help="whose memory; default that of the folder")
    parser.add_argument("--cwd", metavar="DIR", help="the folder that the agent works in; default this one")
    parser.add_argument("--across", action="store_true", help="other agents' sessions too, whatever the settings say")


def _mcp(chosen: argparse.Namespace, out: Output) -> int:
    """Serve until the client goes away, or interrupted."""
    served = Served(chosen.store, chosen.namespace, chosen.agent, str(Path(chosen.cwd or ".").resolve()), chosen.across)
    with contextlib.closing(Door(served, port=chosen.http or 0)) as door:
        if chosen.describe:
            _describe(door, out)
        elif chosen.http is not None:
            _serve_http(door, chosen.http, out)
        else:
            door.server.run("stdio")
    return DONE


def _describe(door: Door, out: Output) -> None:
    tools = described(door)
    if out.as_json:
        out.json({"tools": tools, "tokens": tokens_of(tools)})
        return
    for tool in tools:
        out.line(f"{tool['name']:<10}  {tokens_of([tool]):>4} tokens  {tool['description']}")
    out.line(f"{len(tools)} tools, {tokens_of(tools):,} tokens in all as a client is told of them, schemas included")


def _serve_http(door: Door, port: int, out: Output) -> None:
    """Serve on loopback; a port of 0 takes a free one."""
    import uvicorn

    listening = _listen(port)
    token = _token(door.opening.served, out)
    app = mcp_http.Guard(mcp_sdk.http_app(door.sdk, door.server, door.http), token.text)
    out.warn(f"firsthand: MCP at http://{mcp_http.HOST}:{listening.getsockname()[1]}/mcp")
    out.warn(f"firsthand: send the header 'Authorization: Bearer {token.text}'")
    if token.kept is not None:
        out.warn(f"firsthand: the token is kept in {token.kept}, for you alone to read")
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """Listen on loopback alone.

    Raises:
        InvalidArgument: the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((mcp_http.HOST, port))
        listening.listen()  # before the address is told: who connects at once waits, and is not refused
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"port {port} of {mcp_http.HOST} cannot be listened at: {error.strerror}") from error
    return listening


def _token(served: Served, out: Output) -> mcp_http.Token:
    """Give the store's token; one for this run where the store cannot be written, which is said."""
    try:
        with Memory(served.store, namespace=served.namespace) as memory:
            return mcp_http.token_of(memory.path)
    except FirsthandError as error:  # told to each client too, at each call
        out.warn(f"firsthand: {error}")
        out.warn("firsthand: so the token below holds for this run only")
        return mcp_http.token_of(Path(served.store) if served.store else default_store(), keep=False)
