"""The command proxy: serve a lossless window to any client of a model, by its base URL."""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand.cli.arguments import Parser, number
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument

HOST, PORT = "127.0.0.1", 8322


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _proxy, "Give any client of a model a lossless window, recall and capture, by its base URL.",
        """
        firsthand proxy --upstream https://api.openai.com          then OPENAI_BASE_URL=http://127.0.0.1:8322/v1
        firsthand proxy --upstream https://api.anthropic.com       then ANTHROPIC_BASE_URL=http://127.0.0.1:8322
        firsthand proxy --upstream http://127.0.0.1:11434 --budget 16000
        firsthand proxy --upstream https://api.openai.com --capture-only
        """,
    )  # fmt: skip
    parser.add_argument("--upstream", required=True, metavar="URL", help="the provider's address")
    parser.add_argument("--host", default=HOST, metavar="H", help="to listen at; default: this machine alone")
    parser.add_argument("--port", type=number(0, 65_535), default=PORT, metavar="N", help="default 8322; 0: any")
    parser.add_argument("--budget", action="append", default=[], metavar="N",
                        help="tokens of a request; MODEL=N for models whose names begin so")  # fmt: skip
    parser.add_argument("--agent", default="", metavar="NAME", help="whose words the model's answers are")
    parser.add_argument("--no-recall", action="store_true", help="offer the model no tools")
    parser.add_argument("--capture-only", action="store_true", help="send requests as they come, and record them")
    access = parser.add_mutually_exclusive_group()
    access.add_argument("--token", metavar="FILE", help="holds the token that clients bring in X-Firsthand-Token")
    access.add_argument("--without-token", metavar="REASON", help="why other machines may use it without a token")


def _proxy(chosen: argparse.Namespace, out: Output) -> int:
    """Be the proxy, until interrupted."""
    if chosen.host not in {HOST, "localhost", "::1"} and not (chosen.token or (chosen.without_token or "").strip()):
        raise InvalidArgument(
            f"expected --token FILE beside --host {chosen.host}, or --without-token REASON: whoever reaches the proxy "
            "reads this memory by asking a model"
        )
    try:
        from firsthand.proxy.app import Proxy
        from firsthand.proxy.budgets import Budgets
        from firsthand.proxy.conversations import Options
        from firsthand.proxy.proxy_server import serve
    except ModuleNotFoundError as error:
        raise InvalidArgument(f"the proxy needs the extra proxy ({error.name}): {extra_command('proxy')}") from error
    options = Options(chosen.agent, not chosen.no_recall, not chosen.capture_only, Budgets(chosen.budget))
    token, is_open = _token(chosen.token), bool(chosen.without_token)
    serve(
        lambda: Proxy(chosen.upstream, store=chosen.store, namespace=chosen.namespace, options=options, token=token,
                      is_open=is_open, log=out.remark),
        chosen.host, chosen.port, out.remark,
    )  # fmt: skip
    return DONE


def _token(file: str | None) -> str:
    """Read the token; empty where no file is named."""
    if file is None:
        return ""
    token = Path(file).expanduser().read_text(encoding="utf-8").strip()
    if not token:
        raise InvalidArgument(f"expected a token in {file}; the file is empty")
    return token
