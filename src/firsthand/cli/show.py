"""The command show: what a pointer addresses, byte for byte, or safely on a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice

from firsthand import Event, Kind, Memory, pointer
from firsthand.cli import json_forms
from firsthand.cli.argument_values import number
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, cut, shown, size
from firsthand.cli.exits import DAMAGED, DONE, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import Damaged, to_read, walk
from firsthand.ledger.effect import Effect
from firsthand.notes.check import proofs

JSON_CONTENT_BYTES_MAX = 16 << 20
FACTS_COLUMNS = 160
AROUND_CHARACTERS = 2_000  # of each event beside the one that was asked for


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _show, "Show what a pointer addresses: exact bytes to a pipe or file, safely escaped on a terminal.",
        """
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY@L100-120
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --around 3
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --source > record.json
        """,
    )  # fmt: skip
    parser.add_argument("pointer", metavar="POINTER", help="fh:ID, fh:ID@0-100 (bytes), fh:ID@L1-9 (lines), fh:ID..ID")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--raw", action="store_true", help="exact bytes to a terminal too")
    how.add_argument("--around", type=number(1, 1000), metavar="N", help="also N events before and after it")
    parser.add_argument("--source", action="store_true", help="the source record that it was cut from")


def _show(chosen: argparse.Namespace, out: Output) -> int:
    """Show what a pointer addresses."""
    address = pointer.parse(chosen.pointer)
    named = str(address)
    if chosen.source:
        if address.last or address.unit:
            out.warn("firsthand: --source goes with the pointer of one whole event, such as fh:ID")
            return USAGE
        named = f"fh:{address.first}#source"
    with to_read(chosen) as memory:
        if chosen.around:
            return _show_around(memory, named, chosen.around, out)
        if out.as_json:
            return _show_json(memory, named, out)
        pieces = memory.stream(named)
        if chosen.raw or not out.terminal:
            _write(pieces, out)
        else:
            event = memory.event(named)
            for line in (*_header(event, named), *_marks(memory, event)):
                out.line(out.style(line, "faint"))
            _write_shown(pieces, out)
    return DONE


def _write(pieces: Iterable[bytes], out: Output) -> None:
    binary = out.binary
    for piece in pieces:
        binary.write(piece)
    binary.flush()


def _write_shown(pieces: Iterable[bytes], out: Output) -> None:
    """Write text safely, a line at a time; a line that never ends is written in parts."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > 1 << 16:
            lines, rest = [*lines, rest], b""
        for line in lines:
            out.line(shown(line.decode("utf-8", "backslashreplace"), lines=True))
    if rest:
        out.line(shown(rest.decode("utf-8", "backslashreplace"), lines=True))


def _show_json(memory: Memory, named: str, out: Output) -> int:
    event = memory.event(named)
    content = bytearray()
    for piece in memory.stream(named):
        content += piece
        if len(content) > JSON_CONTENT_BYTES_MAX:
            out.warn(
                f"firsthand: {named} is over {size(JSON_CONTENT_BYTES_MAX)}, too large for one JSON value; "
                f"ask for a part of it, such as {named}@0-1000000, or leave --json away"
            )
            return USAGE
    marks = {"decided": Effect(memory).mark(event).strip() or None, "claims": proofs(memory, event) or None}
    form = json_forms.of_event(event) | marks | {"asked": named, "content": json_forms.of_bytes(bytes(content))}
    out.json(form)
    return DONE


def _show_around(memory: Memory, named: str, events: int, out: Output) -> int:
    middle = memory.event(named)
    before = list(islice(walk(memory, middle.session, before=middle.position, reverse=True), events))
    after = list(islice(walk(memory, middle.session, after=middle.position), events))
    damaged = False
    for event in (*reversed(before), middle, *after):
        if isinstance(event, Damaged):
            damaged = True
            out.warn(event.sentence)
        elif out.as_json:
            out.json(json_forms.of_event(event) | {"preview": event.text, "asked": event.id == middle.id})
        elif event.id == middle.id and not event.erased:
            _block(event, memory.stream(f"fh:{event.id}"), "strong", out)
        else:
            _block(event, [_beginning(event)], "faint", out)
    return DAMAGED if damaged else DONE


def _block(event: Event, pieces: Iterable[bytes], style: str, out: Output) -> None:
    for line in _header(event):
        out.line(out.style(line, style))
    _write_shown(pieces, out)
    out.line()


def _beginning(event: Event) -> bytes:
    text = event.text
    more = f"\n[... {size(event.size_bytes)} in all]" if len(text) > AROUND_CHARACTERS or event.artifact else ""
    return (text[:AROUND_CHARACTERS] + more).encode("utf-8", "surrogatepass")


def _marks(memory: Memory, event: Event) -> Iterator[str]:
    """Yield what the ledger decided on an event, and what was found of a note's claims."""
    if mark := Effect(memory).mark(event).strip():
        yield mark
    if event.kind is Kind.NOTE and (claims := proofs(memory, event)):
        yield f"claims: {claims}"


def _header(event: Event, named: str = "") -> Iterator[str]:
    """Yield the lines that stand above an event's content."""
    who = f" by {shown(event.agent)}" if event.agent else ""
    from_where = f" from {shown(event.origin)}" if event.origin else ""
    yield f"{named or f'fh:{event.id}'}  {event.kind}{who}{from_where}  {clock(event.time)}"
    what = "erased" if event.erased else f"{size(event.size_bytes)} of {shown(event.media)}"
    yield (f"session {shown(event.session)}  turn {event.turn}  position {event.position}  {what}  ({event.trust})")
    facts = "  ".join(f"{shown(str(key))}={shown(str(value))}" for key, value in event.meta.items())
    if facts:
        yield cut(facts, FACTS_COLUMNS)
