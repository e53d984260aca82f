"""The command store sync: exchange a store's sessions with a server's, and say of each what became of it."""

from __future__ import annotations

import argparse
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from firsthand import InvalidArgument
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown, table
from firsthand.cli.exits import DAMAGED, DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.value import asdict

if TYPE_CHECKING:  # other commands of the group do not pay for the client
    from firsthand.sync.exchange import Synced

ROWS_MAX = 50


def add(group: Parser) -> None:
    """Add the command to the group store."""
    command = group.command(
        "sync", _sync, "Push and pull sessions between this store and a server's.",
        """
        firsthand store sync https://memory.example.org --namespace team --token ~/.config/firsthand-token
        firsthand store sync http://127.0.0.1:8321 --fork "deploy, as on the desk"
        """,
    )  # fmt: skip
    command.add_argument("url", metavar="URL", help="the server's address")
    command.add_argument("--token", metavar="T", help="the server's token or API key, or a file with it")
    command.add_argument("--fork", default="", metavar="NAME", help="bring the server's side of a fork as this session")
    command.add_argument("--push-lost", action="store_true", help="push again what the server had and lost")


def _sync(chosen: argparse.Namespace, out: Output) -> int:
    """Sync once."""
    from firsthand.sync.exchange import sync

    started = time.monotonic()
    with to_write(chosen, create=True) as memory:
        synced = sync(
            memory, chosen.url, token=_token(chosen.token), fork=chosen.fork, push_lost=chosen.push_lost,
            progress=lambda pushed, pulled: out.progress(lambda: f"pushed {pushed:,}, pulled {pulled:,} events"),
        )  # fmt: skip
    if out.as_json:
        out.json(asdict(synced) | {"ok": synced.ok, "outcomes": [asdict(outcome) for outcome in synced.outcomes]})
    else:
        _say(synced, time.monotonic() - started, out)
    return DONE if synced.ok else DAMAGED


def _token(text: str | None) -> str | None:
    """Read a token as it was typed: itself, or a file that holds it. It is in no message: it may be the secret."""
    if text is None:
        return None
    file = None
    with suppress(OSError, RuntimeError):  # too long for a path; no folder of such a user
        file = path if (path := Path(text).expanduser()).is_file() else None
    if file is not None:
        return file.read_text(encoding="utf-8").strip()
    if text.startswith(("/", "~", ".")):
        raise InvalidArgument(
            "expected the server's token, or a file that holds it; what came begins as a path does (/, ~ or .), and no "
            "file can be read there. Put a token that begins so into a file, and name that. A key is made by the "
            "server's owner: firsthand store key NAME --postgres ADDRESS"
        )
    return text


def _say(synced: Synced, seconds: float, out: Output) -> None:
    if synced.replaced:
        out.line(f"{out.style('another store', 'bad')}: {synced.server} answers where {synced.replaced} did before")
    rows = [outcome for outcome in synced.outcomes if outcome.what != "had"]
    cells = [
        (shown(row.session), row.what if row.sequence is None else f"{row.what} at {row.sequence}", f"{row.events:,}")
        for row in rows[:ROWS_MAX]
    ]
    for line in table(cells, right=frozenset({2})):
        out.line(line)
    if len(rows) > ROWS_MAX:
        out.line(f"... and {count(len(rows) - ROWS_MAX, 'session')} more: --json")
    for row in rows:
        if row.why:
            out.line(f"{out.style(f'{row.what} at {row.sequence}', 'bad')}  {shown(row.session)}: {shown(row.why)}")
    ways = {way: sum(row.events for row in rows if row.what == way) for way in ("pushed", "pulled")}
    done = ", ".join(f"{way} {count(number, 'event')}" for way, number in ways.items() if number) or "nothing new"
    erased = f", erased {count(synced.erased, 'event')}" if synced.erased else ""
    open_ = sum(not outcome.is_well for outcome in synced.outcomes)
    left = f"; {count(open_, 'session')} to look at" if open_ else ""
    out.line(f"{done}{erased}, had {count(synced.had, 'session')} ({seconds:.1f} s){left}")
