"""The command note: what was learned, with the events it was learned from."""

from __future__ import annotations

import argparse
import sys

from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write


def note(chosen: argparse.Namespace, out: Output) -> int:
    """Append a note and print its pointer; say by which situations it is found, and what was left out."""
    text = sys.stdin.buffer.read() if chosen.text == "-" else chosen.text
    with to_write(chosen, create=not chosen.source) as memory:
        noted = memory.note(
            text,
            sources=chosen.source,
            situations=chosen.situation or None,
            session=chosen.session,
            sort=chosen.sort,
            agent=chosen.agent,
        )
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
