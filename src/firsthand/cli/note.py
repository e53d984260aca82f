"""The group note: what was learned, with the words of the log that it rests on, and a check of them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write
from firsthand.errors import InvalidArgument
from firsthand.notes.check import Checked
from firsthand.notes.claim import Proof


def add(group: Parser) -> None:
    """Add the commands of the group."""
    command = group.command(
        "add", _add, "Write a note, rule or lesson with its sources; check its claims.",
        """
        firsthand note add "check the lock table before a restart" --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --rule
        firsthand note add "aspirate first" --rule --situation "swollen knee and fever"
        firsthand note add "3 of 215 tests fail" --quotes-from ci --claim @claim.json
        firsthand note add - --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --lesson < lesson.md
        """,
    )  # fmt: skip
    command.add_argument("text", metavar="TEXT", help="what was learned; - for standard input")
    command.add_argument(
        "--source", action="append", default=[], metavar="POINTER",
        help="an event it rests on; erasing that erases the note too",
    )  # fmt: skip
    command.add_argument(
        "--situation", action="append", default=[], metavar="TEXT",
        help="find it by this; default: what the user said beside its sources",
    )  # fmt: skip
    _claims(command)
    sort = command.add_mutually_exclusive_group()
    sort.add_argument("--rule", dest="sort", action="store_const", const="rule", default="note", help="it is a rule")
    sort.add_argument("--lesson", dest="sort", action="store_const", const="lesson", help="it is a lesson")
    command.add_argument("--session", default="notes", metavar="NAME", help="the session it is written to")
    command.add_argument("--agent", default="", metavar="NAME", help="who learned it")
    command = group.command(
        "check", _check, "Check claims against the log, or those of a note again; exit 1 when one is contradicted.",
        """
        firsthand note check fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY
        firsthand note check --quotes-from ci --claim @claims.json
        """,
    )  # fmt: skip
    command.add_argument("note", nargs="?", metavar="POINTER", help="a note whose claims are checked again")
    _claims(command)


def _claims(command: Parser | argparse.ArgumentParser) -> None:
    command.add_argument(
        "--claim", action="append", default=[], metavar="JSON",
        help='a claim, {"says": ..., "quotes": [...], "work": ..., "at": [...]}, or a list; @FILE reads them',
    )  # fmt: skip
    command.add_argument(
        "--quotes-from", action="append", default=[], metavar="SESSION",
        help="where quotes without a pointer are looked for, newest first",
    )  # fmt: skip


def _read_claims(given: list[str]) -> list[Any]:
    """Read claims as they are typed."""
    claims: list[Any] = []
    for text in given:
        try:
            raw = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidArgument(
                f'--claim takes JSON such as {{"says": "...", "quotes": ["..."]}}, or @FILE; got {text!r:.60} ({error})'
            ) from error
        claims += raw if isinstance(raw, list) else [raw]
    return claims


def _add(chosen: argparse.Namespace, out: Output) -> int:
    """Append a note and print its pointer; say by which situations it is found, and what was left out."""
    text = sys.stdin.buffer.read() if chosen.text == "-" else chosen.text
    claims = _read_claims(chosen.claim)
    with to_write(chosen, create=not chosen.source) as memory:
        noted = memory.note(
            text, sources=chosen.source, situations=chosen.situation or None, session=chosen.session,
            sort=chosen.sort, agent=chosen.agent, claims=claims, within=chosen.quotes_from,
        )  # fmt: skip
    if out.as_json:
        out.json({
            "pointer": noted.pointer, "position": noted.event.position, "session": chosen.session,
            "sort": chosen.sort, "sources": noted.sources, "situations": noted.situations,
            "left_out": noted.left_out, "claims": [_as_json(claim) for claim in noted.checked],
        })  # fmt: skip
        return DONE
    out.line(noted.pointer)
    for sentence in noted.left_out:
        out.warn(f"firsthand: {shown(sentence)}")
    for claim in noted.checked:
        out.remark(shown(claim.sentence))
    out.remark(f"found by its text and by {count(len(noted.situations), 'situation')}")
    return DONE


def _check(chosen: argparse.Namespace, out: Output) -> int:
    """Print what a check says of each claim, with the whole lines that are quoted."""
    claims = _read_claims(chosen.claim)
    if bool(chosen.note) == bool(claims):
        raise InvalidArgument("note check takes the pointer of a note, or claims by --claim; give one of them")
    with to_read(chosen) as memory:
        checked = memory.check(chosen.note or claims, within=chosen.quotes_from)
    if out.as_json:
        out.json([_as_json(claim) for claim in checked])
    for claim in () if out.as_json else checked:
        _say(claim, out)
    if not checked:
        out.warn(f"firsthand: {chosen.note} has no claims; a note gets them by note add --claim")
    return NOTHING_FOUND if any(claim.proof is Proof.CONTRADICTED for claim in checked) else DONE


def _say(claim: Checked, out: Output) -> None:
    out.line(shown(claim.sentence))
    for piece in claim.quoted:
        if piece.pointer:
            out.line(f"  {piece.pointer} {piece.by}: {shown(piece.line)}")


def _as_json(claim: Checked) -> dict[str, Any]:
    return {
        "says": claim.claim.says, "proof": claim.proof, "source": claim.source, "reasons": claim.reasons,
        "quoted": [
            {"quote": piece.quote, "pointer": piece.pointer, "events": piece.events, "line": piece.line, "by": piece.by}
            for piece in claim.quoted
        ],
    }  # fmt: skip
