"""The commands ledger entries, propose and quarantine: rules made of what users said, and taking one out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from firsthand import InvalidArgument, Memory
from firsthand.cli.arguments import Parser, decimal, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import position, to_read, to_write, words_of
from firsthand.ledger.consolidation import Consolidated, consolidate_in, consolidated_view, entry_named
from firsthand.ledger.entries import Entry, Written
from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.lineage import lineage_of
from firsthand.value import asdict

SHORT = 10
"""Characters of an id that are shown: its end."""


def add(group: Parser) -> None:
    """Add the commands to the group ledger."""
    command = group.command(
        "entries", _entries, "List rules made of what users said, or show one.",
        """
        firsthand ledger entries                     rules, and the statements that none covers
        firsthand ledger entries 5GZ8K2N7            one rule, with the words that it rests on
        firsthand ledger entries --as-of 1200
        """,
    )  # fmt: skip
    command.add_argument("entry", nargs="?", default="", metavar="ENTRY", help="one entry: its id or its end")
    command.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    command = group.command(
        "propose", _propose, "Try rules on the statements that they are made of.",
        """
        firsthand ledger entries --json                    statements with their pointers, for whoever writes rules
        firsthand ledger propose rules.json                what would be kept; nothing is written
        firsthand ledger propose - --keep --by model:small < rules.json
        """,
    )  # fmt: skip
    command.add_argument(
        "rules", metavar="FILE", help='a list of {"text": ..., "sources": [pointers]}; - for standard input'
    )
    command.add_argument("--by", default="user", metavar="NAME", help="who wrote them, default user")
    command.add_argument("--keep", action="store_true", help="keep what passes")
    command.add_argument(
        "--theta", type=decimal(0, 1), default=0.6, metavar="SHARE", help="of its cases a rule must give, default 0.6"
    )
    command = group.command(
        "quarantine", _quarantine, "Take an entry or source out, with all that came of it.",
        """
        firsthand ledger quarantine 5GZ8K2N7 --reason "the tariff changed"
        firsthand ledger quarantine 5GZ8K2N7 --release
        firsthand ledger quarantine fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY    what a poisoned event led to
        """,
    )  # fmt: skip
    command.add_argument("entry", metavar="ENTRY", help="an entry's id or its end, or the pointer of any event")
    command.add_argument("--reason", default="", metavar="TEXT", help="why; it is kept")
    command.add_argument("--release", action="store_true", help="let it in again")


def _entries(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.entry and chosen.as_of is not None:
        raise InvalidArgument("--as-of goes with the list of entries; one entry is shown as it is")
    with to_read(chosen) as memory:
        if chosen.entry:
            return _show(memory, entry_named(memory, chosen.entry), out)
        return _list(memory, chosen, out)


def _propose(chosen: argparse.Namespace, out: Output) -> int:
    rules, settings = _read(chosen.rules), GateSettings(theta=chosen.theta)
    with to_write(chosen, create=False) if chosen.keep else to_read(chosen) as memory:
        done = consolidate_in(memory, lambda _: rules, chosen.by, settings=settings, keep=chosen.keep)
    _tell(done, out, keeps=chosen.keep)
    return DONE if done.report.judged or done.quarantined else NOTHING_FOUND


def _read(name: str) -> list[Written]:
    """Read rules as somebody wrote them."""
    try:
        raw = json.loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8"))
        return [Written(str(rule["text"]), tuple(map(str, [*rule["sources"]]))) for rule in [*raw]]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        form = '[{"text": "birch level N => 3 * N + 2", "sources": ["fh:..."]}]'
        raise InvalidArgument(f"expected a list such as {form} in {name!r:.80}; got {error!r:.80}") from error


def _quarantine(chosen: argparse.Namespace, out: Output) -> int:
    """Take an entry out, or any event with what was made of it, or let it in again."""
    with to_write(chosen, create=False) as memory:
        log = lineage_of(memory)
        name = chosen.entry
        address = name if name.startswith("fh:") else f"fh:{entry_named(memory, name).id}"
        made = (log.release if chosen.release else log.quarantine)(address, reason=chosen.reason)
    for decision in made:
        if out.as_json:
            out.json({**asdict(decision), "time": str(decision.time or "")})
        else:
            out.line(f"{decision.id}  {decision.action}  {decision.target}")
    if not made:
        out.remark(f"{address} is not taken out" if chosen.release else f"{address} is taken out already, with all "
                   "that was made of it")  # fmt: skip
    elif chosen.release:
        out.remark("what was made of it stays out; each is let in again by its own name, or by firsthand ledger undo")
    return DONE if made else NOTHING_FOUND


def _list(memory: Memory, chosen: argparse.Namespace, out: Output) -> int:
    view = consolidated_view(memory, as_of=position(memory, chosen.as_of))
    if out.as_json:
        for entry in view.entries:
            out.json(entry)
        for case in view.raw:
            out.json(case)
    else:
        for entry in view.entries:
            out.line(f"{entry.id[-SHORT:]}  {shown(entry.line)}  ({count(len(entry.sources), 'source')})")
        for case in view.raw:
            out.line(f"{'':{SHORT}}  {shown(case.line)}  ({case.pointer})")
        out.remark(f"{count(len(view.entries), 'entry')}, {count(len(view.raw), 'raw statement')} shown, "
                   f"{len(view.demoted):,} covered")  # fmt: skip
    return DONE if view.entries or view.raw else NOTHING_FOUND


def _show(memory: Memory, entry: Entry, out: Output) -> int:
    words = {name: words_of(memory, name) for name in entry.sources}
    if out.as_json:
        out.json({**asdict(entry), "words": words})
        return DONE
    out.line(f"{entry.id}  version {entry.version}  {shown(entry.line)}")
    out.line(
        f"by {shown(entry.created_by)}, about {shown(entry.scope) or 'nothing named'}, gate report {entry.report[:16]}"
    )
    for name, text in words.items():
        out.line(f"{name}  {shown(text)}")
    return DONE


def _tell(done: Consolidated, out: Output, *, keeps: bool) -> None:
    report = done.report
    if out.as_json:
        for judgement in report.judged:
            out.json({**asdict(judgement), "accepted": judgement.accepted, "reason": judgement.reason})
    else:
        for judgement in report.judged:
            verdict = ("kept" if keeps else "would be kept") if judgement.accepted else f"refused: {judgement.reason}"
            out.line(f"{judgement.proposed[-SHORT:]}  {shown(judgement.entry.line)}  {verdict}")
            if not judgement.accepted:
                out.line(f"{'':{SHORT}}  {shown(judgement.checks[-1].fault)}")
    for decision in done.quarantined:
        out.line(f"{decision.id}  {decision.action}  {decision.target}")
    accepted = sum(judgement.accepted for judgement in report.judged)
    out.remark(
        f"{count(len(report.judged), 'entry')} proposed, {accepted} let in; "
        f"{report.canaries:,} questions asked again, {report.lost} lost"
    )
