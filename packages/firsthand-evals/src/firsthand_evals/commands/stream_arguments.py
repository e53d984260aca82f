"""What can be typed of ``eval stream``; a pack refuses what it does not take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import decimal, number, prices

PACKS = ("ledger", "own-sessions")
"""Names of `firsthand_evals.stream.packs`, which is not imported for every command."""


def add(whats: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command."""
    one = command(
        whats, "stream", "firsthand_evals.commands.stream:stream_",
        "Measure after every update what consolidation does to a memory: no model, no network.",
        """
        firsthand eval stream                                      every memory, 20 streams: about five minutes
        firsthand eval stream --streams 4 --arm "merge all"        one memory beside none and beside all that happened
        firsthand eval stream --schedule blocked --schedule static-all --html curves.html
        firsthand eval stream --pack own-sessions                  what becomes of exact strings of your own sessions
        """,
    )  # fmt: skip
    one.add_argument(
        "--pack", choices=PACKS, default=PACKS[0], metavar="NAME",
        help=f"what comes to the memories: {', '.join(PACKS)}; default {PACKS[0]}",
    )  # fmt: skip
    one.add_argument(
        "--schedule", action="append", default=[], metavar="NAME",
        help="ledger: stream, batch-1, shuffled, blocked, interleaved, "
        "every-8, static-all, static-group, rounds-3, stream-10, static-10, stream-50 or static-50; "
        "may be repeated; default stream, which alone has checks",
    )  # fmt: skip
    one.add_argument(
        "--arm", action="append", default=[], metavar="NAME",
        help="only this memory, beside 'no memory' and 'keep all'; may be repeated; default all",
    )  # fmt: skip
    one.add_argument("--streams", type=number(1, 1000), metavar="N", help="made worlds; default 20")
    one.add_argument("--episodes", type=number(8, 2000), metavar="N", help="of each; ledger: default 320")
    one.add_argument("--seed", type=number(0), metavar="N", help="of the first world, or of the choice, default 0")
    one.add_argument("--updates", type=number(1, 200), metavar="N", help="own-sessions: parts of the past, default 10")
    one.add_argument("--questions", type=number(1, 100), metavar="N", help="own-sessions: of each, default 12")
    one.add_argument("--budget", type=number(1), metavar="N", help="own-sessions: characters a memory, default 4,000")
    _model(one)
    _kept(one)


def _model(one: Any) -> None:
    asked = one.add_argument_group("a model, where a pack asks one")
    asked.add_argument("--model", metavar="MODEL", help="local, local:FILE.gguf, or URL#NAME; default none")
    asked.add_argument("--solver-model", metavar="MODEL", help="ledger: a model that answers, too")
    asked.add_argument("--reply-tokens", type=number(1, 100_000), metavar="N", help="of one reply, default 1,000")
    asked.add_argument("--temperature", type=decimal(0, 2), metavar="X", help="of --model, default 0")
    asked.add_argument("--calls-max", type=number(1), metavar="N", help="stop before more calls, default 2,000")
    asked.add_argument("--tokens-max", type=number(1), metavar="N", help="stop before a run takes more tokens")
    asked.add_argument(
        "--price", type=prices, metavar="PROMPT,REPLY", help="of a million tokens each, for the estimate and the cap"
    )
    asked.add_argument("--cost-max", type=decimal(0, 1_000_000), metavar="X", help="stop before it costs more")
    asked.add_argument("--replay", action="store_true", help="ask no model: answer from what was recorded")


def _kept(one: Any) -> None:
    one.add_argument("--html", metavar="FILE", help="the curves, as a page")
    one.add_argument("--markdown", metavar="FILE", help="the tables")
    one.add_argument("--out", metavar="DIR", help="keep all figures here; else in the store's folder, if any")
