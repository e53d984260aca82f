"""The group note: what was learned, with the events it was learned from."""

from __future__ import annotations

import argparse
import sys

from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write


def add(group: Parser) -> None:
    """Add the commands of the group."""
    command = group.command(
        "add", _add, "Write a note, rule or lesson with its sources.",
        """
        firsthand note add "check the lock table before a restart" --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --rule
        firsthand note add "aspirate first" --rule --situation "swollen knee and fever"
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
    sort = command.add_mutually_exclusive_group()
    sort.add_argument("--rule", dest="sort", action="store_const", const="rule", default="note", help="it is a rule")
    sort.add_argument("--lesson", dest="sort", action="store_const", const="lesson", help="it is a lesson")
    command.add_argument("--session", default="notes", metavar="NAME", help="the session it is written to")
    command.add_argument("--agent", default="", metavar="NAME", help="who learned it")


def _add(chosen: argparse.Namespace, out: Output) -> int:
    """Append a note and print its pointer; say by which situations it is found, and what was left out."""
    text = sys.stdin.buffer.read() if chosen.text == "-" else chosen.text
    with to_write(chosen, create=not chosen.source) as memory:
        noted = memory.note(
            text, sources=chosen.source, situations=chosen.situation or None, session=chosen.session,
            sort=chosen.sort, agent=chosen.agent,
        )  # fmt: skip
    if out.as_json:
        out.json({
            "pointer": noted.pointer, "position": noted.event.position, "session": chosen.session,
            "sort": chosen.sort, "sources": noted.sources, "situations": noted.situations,
            "left_out": noted.left_out,
        })  # fmt: skip
        return DONE
    out.line(noted.pointer)
    for sentence in noted.left_out:
        out.warn(f"firsthand: {shown(sentence)}")
    out.remark(f"found by its text and by {count(len(noted.situations), 'situation')}")
    return DONE
