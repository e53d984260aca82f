"""The commands show and timeline: what a pointer addresses, and events in order of position, one line each."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from firsthand import Event, Kind, Memory, Moment, pointer
from firsthand.cli.arguments import Parser, number, time
from firsthand.cli.display import clock, count, cut, first_line, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output, of_event
from firsthand.cli.stores import Damaged, session_in, to_read, walk
from firsthand.ledger.effect import Effect
from firsthand.notes.check import proofs

JSON_CONTENT_BYTES_MAX = 16 << 20
FACTS_COLUMNS = 160
TEXT_COLUMNS = 160  # of an event's first line, where it is piped


def add_show(parser: Parser) -> None:
    """Add the arguments of show."""
    parser.describe(
        _show, "Show what a pointer addresses; a pipe gets the exact bytes.",
        """
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY@L100-120
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --source > record.json
        """,
    )  # fmt: skip
    parser.add_argument("pointer", metavar="POINTER", help="fh:ID, fh:ID@0-100 (bytes), fh:ID@L1-9 (lines), fh:ID..ID")
    parser.add_argument("--raw", action="store_true", help="exact bytes to a terminal too")
    parser.add_argument("--source", action="store_true", help="the source record that it was cut from")


def add_timeline(parser: Parser) -> None:
    """Add the arguments of timeline."""
    parser.describe(
        _timeline, "List events in order of position, one line each.",
        """
        firsthand timeline --reverse --limit 20
        firsthand timeline --session house-rules --since 2026-01-01
        firsthand timeline --after 1200 --limit 0
        """,
    )  # fmt: skip
    parser.add_argument("--session", metavar="NAME", help="only of this session")
    parser.add_argument("--since", type=time, metavar="TIME", help="only from this time on")
    parser.add_argument("--until", type=time, metavar="TIME", help="only up to this time")
    parser.add_argument("--after", type=number(0), default=0, metavar="POSITION", help="only beyond this position")
    parser.add_argument("--limit", type=number(0), default=100, metavar="N", help="most lines, default 100; 0 for all")
    parser.add_argument("--reverse", action="store_true", help="newest first")


# one event -------------------------------------------------------------------------------------------


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
        if out.as_json:
            return _show_json(memory, named, out)
        pieces = memory.stream(named)
        if chosen.raw or not out.terminal:
            binary = out.binary
            for piece in pieces:
                binary.write(piece)
            binary.flush()
        else:
            event = memory.event(named)
            for line in (*_header(event, named), *_marks(memory, event)):
                out.line(out.style(line, "faint"))
            _write_shown(pieces, out)
    return DONE


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
    out.json(of_event(event) | marks | {"asked": named, "content": bytes(content)})
    return DONE


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
    yield f"{named or event.pointer}  {event.kind}{who}{from_where}  {clock(event.time)}"
    what = "erased" if event.erased else f"{size(event.size_bytes)} of {shown(event.media)}"
    yield f"session {shown(event.session)}  turn {event.turn}  position {event.position}  {what}  ({event.trust})"
    facts = "  ".join(f"{shown(str(key))}={shown(str(value))}" for key, value in event.meta.items())
    if facts:
        yield cut(facts, FACTS_COLUMNS)


# events in order -------------------------------------------------------------------------------------


def _timeline(chosen: argparse.Namespace, out: Output) -> int:
    """List events, one line each."""
    lines, last, damaged, more = 0, 0, False, False
    with to_read(chosen) as memory:
        if chosen.session is not None:
            session_in(memory, chosen.session)
        effect = Effect(memory)
        for event in walk(memory, chosen.session, after=chosen.after, reverse=chosen.reverse):
            if isinstance(event, Damaged):
                damaged = True
                out.warn(event.sentence)
                continue
            if not _is_within(event.time, chosen.since, chosen.until):
                continue
            if chosen.limit and lines == chosen.limit:
                more = True
                break
            out.json(of_event(event)) if out.as_json else out.line(_line(event, effect, out))
            lines, last = lines + 1, event.position
    if more:
        on = "--limit 0" if chosen.reverse else f"--after {last}, or --limit 0 for all"
        out.remark(f"{count(lines, 'event')} shown, to position {last}; go on with: {on}")
    if damaged:
        return DAMAGED
    if not lines:
        out.remark("no events in this range")
    return DONE if lines else NOTHING_FOUND


def _is_within(time: Moment | None, since: Moment | None, until: Moment | None) -> bool:
    if since is None and until is None:
        return True
    return time is not None and (
        (since is None or time.microseconds >= since.microseconds)
        and (until is None or time.microseconds <= until.microseconds)
    )


def _line(event: Event, effect: Effect, out: Output) -> str:
    tool, standing = event.meta.get("tool"), effect.text(event)
    gone = f"[no longer holds: {effect.instead(event)}]" if standing is None and not event.erased else "[erased]"
    first = first_line(standing.text) if standing is not None and not event.erased else gone
    line = (
        f"{event.position:>8}  {clock(event.time):<20}  {event.kind:<13}  "
        f"{cut(shown(event.agent or event.origin), 16):<16}  {event.pointer}  {size(event.size_bytes):>9}  "
    )
    text = f"{shown(str(tool))}: {first}" if tool else first
    return line + cut(text, max(20, out.width - len(line)) if out.terminal else TEXT_COLUMNS)
