"""The command timeline: events in order of position, one line each."""

from __future__ import annotations

import argparse

from firsthand import Event, Moment
from firsthand.cli import json_forms
from firsthand.cli.argument_values import number, time
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, count, cut, first_line, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import Damaged, session_in, to_read, walk
from firsthand.ledger.effect import Effect

TEXT_COLUMNS = 160  # of an event's first line, where it is piped


def add(parser: Parser) -> None:
    """Add the arguments."""
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
            out.json(json_forms.of_event(event)) if out.as_json else out.line(_line(event, effect, out))
            lines, last = lines + 1, event.position
    if more and chosen.reverse:
        out.remark(f"{count(lines, 'event')} shown, down to position {last}; more: --limit 0")
    elif more:
        out.remark(f"{count(lines, 'event')} shown; go on with: --after {last}, or --limit 0 for all")
    if damaged:
        return DAMAGED
    if not lines:
        out.remark("no events in this range")
    return DONE if lines else NOTHING_FOUND


def _is_within(time: Moment | None, since: Moment | None, until: Moment | None) -> bool:
    if since is None and until is None:
        return True
    if time is None:
        return False
    return (since is None or time.microseconds >= since.microseconds) and (
        until is None or time.microseconds <= until.microseconds
    )


def _line(event: Event, effect: Effect, out: Output) -> str:
    who = event.agent or event.origin
    tool = event.meta.get("tool")
    standing = effect.text(event)
    first = "[erased]" if event.erased else first_line(standing.text) if standing is not None else _gone(event, effect)
    line = (
        f"{event.position:>8}  {clock(event.time):<20}  {event.kind:<13}  {cut(shown(who), 16):<16}  "
        f"fh:{event.id}  {size(event.size_bytes):>9}  "
    )
    text = f"{shown(str(tool))}: {first}" if tool else first
    return line + cut(text, max(20, out.width - len(line)) if out.terminal else TEXT_COLUMNS)


def _gone(event: Event, effect: Effect) -> str:
    return f"[no longer holds: {effect.instead(event)}]"
