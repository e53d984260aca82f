"""The command inspect: a link to the pages of the memory, in the server that runs or is started now."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote

from firsthand import Memory, environment
from firsthand.cli.arguments import Parser
from firsthand.cli.exits import DONE, REFUSED
from firsthand.cli.output import Output
from firsthand.cli.serve import ask_server, start_server
from firsthand.cli.stores import store_of
from firsthand.server.daemon_stores import identity_of
from firsthand.server.hook_client import VERSION, Call


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _inspect, "Look at the memory in a browser: prints a link that holds once.",
        """
        firsthand inspect                      the newest session
        firsthand inspect deploy               this session
        firsthand inspect --page health --no-open
        """,
    )  # fmt: skip
    parser.add_argument("session", nargs="?", default="", metavar="SESSION", help="default: the newest one")
    parser.add_argument("--page", default="", metavar="NAME", help="another page: sessions, recall, health ...")
    parser.add_argument("--no-open", action="store_true", help="print the link and open no browser")


def _inspect(chosen: argparse.Namespace, out: Output) -> int:
    store = store_of(chosen)
    namespace = chosen.namespace or environment.default_namespace()
    url = link(store, namespace, _page(store, namespace, chosen), out)
    if not url.startswith("http"):
        out.warn(f"firsthand: {url}")
        return REFUSED
    if out.as_json:
        out.json({"url": url})
        return DONE
    out.line(url)
    out.remark("it holds once, for ten minutes, on this machine")
    if not chosen.no_open and sys.stdout.isatty() and environment.has_display():
        webbrowser.open(url)
    return DONE


def link(store: Path, namespace: str, page: str, out: Output) -> str:
    """Give a link to a page of a store's, from the server that runs or is started now; without one, why and what to do.

    Args:
        page: its address below that of the namespace.
    """
    if not start_server(out):
        return "the server does not answer; see: firsthand serve --status"
    call = Call(
        operation="link", version=VERSION, store=str(store.absolute()), namespace=namespace,
        embedder=environment.default_embedder() or "none",
    )  # fmt: skip
    answer = ask_server(call, page.encode())
    if answer is None and start_server(out):  # it began anew meanwhile
        answer = ask_server(call, page.encode())
    if answer is None:
        return "the server that runs gives no link, as an older version; then: firsthand serve --stop"
    about: dict[str, str] = json.loads(answer)
    return about.get("url") or about["missing"]


def _page(store: Path, namespace: str, chosen: argparse.Namespace) -> str:
    """Give the address of the page, below that of the namespace."""
    if chosen.page:
        return quote(chosen.page, safe="")
    name = chosen.session
    if not name and identity_of(str(store)) != (0, 0):
        with Memory(store, namespace=namespace, read_only=True, create=False) as memory:
            said = (info for info in memory.sessions() if info.turns)
            newest = max(said, key=lambda info: info.last_position, default=None)
            name = newest.name if newest is not None else ""
    return f"session?name={quote(name, safe='')}" if name else "sessions"
