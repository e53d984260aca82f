"""What can be typed of experiments; the command line of Firsthand finds `add` by its entry point."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from firsthand.cli.argument_values import decimal, number, prices
from firsthand_evals.commands import probe_arguments, stream_arguments

READERS = ("recomputing", "careless", "cautious", "believing", "yielding", "guessing")
"""Deterministic readers of the reclaim evaluation, by the name that is typed."""
CORRECTIONS = ("generic", "directed", "false_locus", "confident_wrong", "sustained", "fabricated_source",
               "handed_value", "are_you_sure")  # fmt: skip
PLACES = ("first", "middle", "late", "scattered")
HOPS_MAX = 78
"""Sessions of the longest chain: so many things are there to be bought."""

Command = Callable[..., argparse.ArgumentParser]


def add(commands: Any, command: Command) -> None:
    """Add the command eval with what can be run by it."""
    one = command(
        commands, "eval", "firsthand_evals.commands.experiments:list_",
        "Run experiments: can a memory that went wrong be corrected, does what is pushed unasked help?",
        """
        firsthand eval list                               every experiment, what it needs, its last result
        firsthand eval reclaim --memory ./mine.py:write   is my memory correctable: no model, no network
        firsthand eval reclaim --help                     what else can be asked of it
        firsthand eval run gate --data DATA               any experiment by its name
        """,
    )  # fmt: skip
    whats = one.add_subparsers(title="experiments", metavar="WHAT", required=True)
    _list(whats, command)
    _run(whats, command)
    _recall_ab(whats, command)
    _reclaim(whats, command)
    _prevalence(whats, command)
    stream_arguments.add(whats, command)
    probe_arguments.add(whats, command)


def _list(whats: Any, command: Command) -> None:
    one = command(
        whats, "list", "firsthand_evals.commands.experiments:list_",
        "List every experiment by paper and table, with what it needs and its last result.",
        """
        firsthand eval list
        firsthand eval list --json
        """,
    )  # fmt: skip
    _out(one, "where results were kept; else the store's folder")


def _run(whats: Any, command: Command) -> None:
    one = command(
        whats, "run", "firsthand_evals.commands.experiments:run",
        "Run an experiment by its name; scripts run from the checkout that is installed.",
        """
        firsthand eval run recall-ab --worlds 2
        firsthand eval run gate --data DATA --out DIR
        """,
    )  # fmt: skip
    _out(one, "keep the result here; else in the store's folder, if any")
    one.add_argument("name", metavar="NAME", help="an experiment of the list")
    one.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="what the experiment takes")


def _recall_ab(whats: Any, command: Command) -> None:
    one = command(
        whats, "recall-ab", "firsthand_evals.commands.recall_ab:recall_ab_",
        "Ask the same prompts with and without what is pushed unasked, in stores of its own.",
        """
        firsthand eval recall-ab                                  a scripted reader: no model, no network
        firsthand eval recall-ab --model local --cases 12 --json  SmolLM2 in this process: firsthand[local]
        firsthand eval recall-ab --model http://localhost:8080/v1#name --calls-max 500 --out DIR
        """,
    )  # fmt: skip
    one.add_argument(
        "--model", metavar="URL#NAME", help="who answers: an endpoint and its model, or local; else a scripted reader"
    )
    one.add_argument(
        "--condition", action="append", default=[], metavar="NAME", help="only this one beside none, such as cues"
    )
    one.add_argument("--worlds", type=number(1, 200), default=8, metavar="N", help="pasts, of 12 cases each; default 8")
    one.add_argument("--cases", type=number(1, 10_000), metavar="N", help="most cases of each sort; default all")
    one.add_argument("--repetitions", type=number(1, 100), default=3, metavar="K", help="of each case, default 3")
    one.add_argument("--seed", type=number(0), default=1, metavar="N", help="of the first past, default 1")
    _calls_max(one)
    _out(one, "keep items and table here; else in the store's folder, if any")


def _reclaim(whats: Any, command: Command) -> None:
    one = command(
        whats, "reclaim", "firsthand_evals.commands.reclaim:reclaim",
        "Ask whether a memory can be corrected: sessions that went wrong, what it carries of them, a correction.",
        """
        firsthand eval reclaim --memory ./mine.py:write                     function write(messages, budget) -> str
        firsthand eval reclaim --memory ./mine.py:Notes --experiment size --html report.html
        firsthand eval reclaim --memory ./mine.py:Notes --fail-under 0.95 --junit reclaim.xml    in CI
        firsthand eval reclaim --experiment wall                            the paper's own notes, nothing of yours
        firsthand eval reclaim --memory ./mine.py:write --model http://localhost:8080/v1#qwen --problems 8 --out DIR
        """,
    )  # fmt: skip
    asked = one.add_argument_group("what is asked")
    asked.add_argument(
        "--memory", action="append", default=[], metavar="FILE:NAME",
        help="a memory, class or function write: ./FILE.py:NAME, or MODULE:NAME installed; or firsthand, "
        "firsthand_note; may be repeated; default firsthand",
    )  # fmt: skip
    asked.add_argument("--recall", metavar="FILE:NAME", help="a function recall(query) -> str beside a write")
    asked.add_argument("--no-recall", action="store_true", help="ask the memory nothing: what it carries must do")
    asked.add_argument(
        "--experiment", action="append", default=[], metavar="NAME",
        help="only this one of firsthand eval list, without reclaim-; may be repeated; default all that ask a memory",
    )  # fmt: skip
    asked.add_argument("--problems", type=number(1, 10_000), default=24, metavar="N", help="of each cell, default 24")
    asked.add_argument("--seed", type=number(0), default=0, metavar="N", help="that problems are made from, default 0")
    asked.add_argument("--repetitions", type=number(1, 1000), default=1, metavar="K", help="of each case, default 1")
    asked.add_argument("--wording", type=number(0, 1), default=0, metavar="N", help="of the sessions, 0 or 1")
    asked.add_argument("--budget", type=number(0, 1_000_000), metavar="N", help="characters, in place of the paper's")
    asked.add_argument(
        "--source-at", action="append", default=[], choices=PLACES, metavar="PLACE",
        help="where the source stands: first, middle, late, scattered; may be repeated",
    )  # fmt: skip
    asked.add_argument(
        "--corrections", action="append", default=[], choices=CORRECTIONS, metavar="KIND",
        help=f"in place of the paper's: {', '.join(CORRECTIONS)}; may be repeated",
    )  # fmt: skip
    asked.add_argument(
        "--hops", type=number(1, HOPS_MAX), action="append", default=[], metavar="N",
        help=f"sessions of a chain of the experiment cascade, at most {HOPS_MAX}; may be repeated; default 1, 2, 4, 8",
    )  # fmt: skip
    asked.add_argument("--data", metavar="FILE", help="dialogues of MultiWOZ 2.1, for the experiment dialogues")
    _answers(one)
    _kept(one)


def _answers(one: argparse.ArgumentParser) -> None:
    answers = one.add_argument_group("who answers")
    answers.add_argument(
        "--reader", choices=READERS, metavar="NAME",
        help=f"a deterministic one: {', '.join(READERS)}; default recomputing",
    )  # fmt: skip
    answers.add_argument(
        "--model", metavar="MODEL",
        help="a model: local, local:FILE.gguf, or URL#NAME",
    )  # fmt: skip
    answers.add_argument("--writer", metavar="MODEL", help="a model that writes notes, asked as one memory more")
    answers.add_argument("--temperature", type=decimal(0, 2), default=0.0, metavar="X", help="of --model, default 0")
    _calls_max(answers)
    answers.add_argument("--tokens-max", type=number(1), metavar="N", help="stop before a run takes more tokens")
    answers.add_argument(
        "--price", type=prices, metavar="PROMPT,REPLY", help="of a million tokens each, for the estimate and the cap"
    )
    answers.add_argument("--cost-max", type=decimal(0, 1_000_000), metavar="X", help="stop before it costs more")
    answers.add_argument("--replay", action="store_true", help="ask no model: answer from what was recorded")


def _kept(one: argparse.ArgumentParser) -> None:
    kept = one.add_argument_group("what is kept")
    _out(kept, "keep items, tables and report here; else in the store's folder, if any")
    kept.add_argument("--resume", action="store_true", help="ask only what was not asked before")
    kept.add_argument("--html", metavar="FILE", help="a report of one page, with figures")
    kept.add_argument("--junit", metavar="FILE", help="a test case for each requirement, for CI")
    kept.add_argument(
        "--fail-under", type=decimal(0, 1), metavar="X",
        help="exit with 1 when a memory of --memory brings fewer of all items back, 0 to 1",
    )  # fmt: skip


def _prevalence(whats: Any, command: Command) -> None:
    one = command(
        whats, "prevalence", "firsthand_evals.commands.prevalence:prevalence_",
        "Label how many conversations of a corpus have values that they determine themselves, by rule.",
        """
        firsthand eval prevalence --data chats=chats.jsonl --data tools=folder
        """,
    )  # fmt: skip
    one.add_argument(
        "--data", type=_corpus, action="append", required=True, metavar="NAME=PATH",
        help="a corpus: JSON, JSON lines, a zip or a folder of them; may be repeated",
    )  # fmt: skip
    one.add_argument("--conversations", type=number(1), default=100, metavar="N", help="drawn of each, default 100")
    one.add_argument("--seed", type=number(0), default=0, metavar="N", help="of the draw, default 0")
    _out(one, "keep the result here; else in the store's folder, if any")


def _corpus(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"expected NAME=PATH such as chats=chats.jsonl; got {text!r}")
    return name, path


def _calls_max(one: Any) -> None:
    one.add_argument(
        "--calls-max", type=number(1), default=2000, metavar="N",
        help="a run that would ask a model more often is refused",
    )  # fmt: skip


def _out(one: Any, told: str) -> None:
    one.add_argument("--out", metavar="DIR", help=told)
