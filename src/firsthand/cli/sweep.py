"""The command ledger sweep: a model proposes decisions about what users said, and the log proves them."""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Callable

from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write
from firsthand.errors import ModelRefused, ModelUnavailable
from firsthand.ledger.sweep import CALLS_MAX, Recorded, Swept, offers, sweep
from firsthand.value import asdict

REPLY_SECONDS_MAX = 300
NAME_CHARACTERS_MAX = 60


def add(group: Parser) -> None:
    """Add the command to the group ledger."""
    command = group.command(
        "sweep", _sweep, "Have a model propose decisions on what users said.",
        """
        firsthand ledger sweep                                            how much a model would be asked
        firsthand ledger sweep --model "llm -m small"                     what would be decided
        firsthand ledger sweep --keep                                     decide it, without asking again
        """,
    )  # fmt: skip
    command.add_argument("--model", default="", metavar="COMMAND", help="reads a prompt on its input, writes the reply")
    command.add_argument("--calls", type=number(0), default=CALLS_MAX, metavar="N", help="at most so many, default 32")
    command.add_argument("--after", type=number(0), default=0, metavar="POSITION", help="messages before it were swept")
    command.add_argument("--keep", action="store_true", help="decide what is proven")


def _sweep(chosen: argparse.Namespace, out: Output) -> int:
    model = _command(chosen.model) if chosen.model else None
    with to_write(chosen, create=False) if chosen.keep else to_read(chosen) as memory:
        if model is None and not chosen.keep:
            offered = [*offers(memory, after=chosen.after)]
            pairs = sum(len(offer.earlier) for offer in offered)
            out.line(f"{count(len(offered), 'message')}, {count(pairs, 'pair')} with an earlier one")
            return DONE if offered else NOTHING_FOUND
        asked = Recorded(memory.path, model)
        name = chosen.model[:NAME_CHARACTERS_MAX] or "recorded"
        swept = sweep(memory, asked, name, after=chosen.after, calls_max=chosen.calls, keep=chosen.keep)
    return _tell(swept, out, keeps=chosen.keep)


def _tell(swept: Swept, out: Output, *, keeps: bool) -> int:
    if out.as_json:
        decisions = [{**asdict(stated.decision), "time": ""} for stated in swept.stated]
        out.json({**asdict(swept), "stated": decisions})
    else:
        for stated in swept.stated:
            decision = stated.decision
            new = "decided" if keeps else "would be decided"
            said = " | ".join(map(shown, decision.quotes))
            out.line(f"{new if stated.is_new else 'known'}: {decision.action} {decision.target}  {said}")
        for refused in swept.refused:
            out.line(f"refused: {refused}")
    for fault in swept.faults:
        out.warn(f"firsthand: {fault}")
    out.remark(
        f"{count(swept.offers, 'message')} asked about, with {count(swept.pairs, 'earlier one')}; {swept.left:,} left; "
        f"go on with --after {swept.through}"
    )
    return DONE if swept.stated else NOTHING_FOUND


def _command(line: str) -> Callable[[str], str]:
    """Make a model of a program that reads a prompt on its input and writes the reply."""
    words = shlex.split(line)

    def ask(prompt: str) -> str:
        try:
            done = subprocess.run(
                words, input=prompt.encode("utf-8", "replace"), capture_output=True, timeout=REPLY_SECONDS_MAX,
                check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ModelUnavailable(f"expected a reply of {words[0]!r}; it could not be run: {error}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-200:]
            raise ModelRefused(f"expected a reply of {words[0]!r}; it ended with code {done.returncode}: {said}")
        return done.stdout.decode("utf-8", "replace")

    return ask
