"""What a new context is told after a host's own compaction: where what left is, and exact strings of it.

The invariant: a marker opens every event that left since the compaction before; each
exact string stands character for character in the event that is named beside it, and
not in the host's summary as far as the log has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.agents import validity
from firsthand.context.marker_hints import terms
from firsthand.context.receipt_topics import questions
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind, Trust
from firsthand.moment import clock
from firsthand.notes import coverage
from firsthand.space import Space
from firsthand.unasked.volunteer import Funnel, Piece

EVENTS_READ_MAX = 4_000
STRINGS_MAX = 16
TOPICS_MAX = 8
COMPACTIONS_MAX = 6
_SAID = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)


def left(space: Space, session: str) -> tuple[Piece, ...]:
    """Say what a session's window lost: a line a span, then exact strings of the newest one."""
    summaries = list(space.events(session, kind=Kind.SUMMARY, newest_first=True, limit=COMPACTIONS_MAX))
    newest = list(space.events(session, newest_first=True, limit=EVENTS_READ_MAX))
    if not newest:
        return ()
    funnel = validity.funnel(space)
    bounds = [summary.position for summary in summaries]
    summary, lacks = "", ""
    if bounds and newest[0].position - bounds[0] <= 3:  # the summary of this very compaction is in the log already
        summary, end = summaries[0].text, bounds.pop(0)
        lacks = _lacks(space, summaries[0])
    else:
        end = newest[0].position + 1
    pieces = [Piece("This session's earlier turns left the window; nothing is lost. recall(query) or expand(pointer):")]
    gone: list[Event] = []
    pieces += [Piece(lacks)] if lacks else []
    for number, start in enumerate([*bounds, 0]):
        span = list(space.events(session, after=start, before=end, limit=EVENTS_READ_MAX, newest_first=True))[::-1]
        span = [event for event in span if event.kind in _SAID and event.is_searchable and not event.erased]
        if span:
            pieces.append(Piece(_marker(span, funnel)))
            gone = gone or span
        end = start
        if number == COMPACTIONS_MAX:
            break
    if not gone:
        return ()
    theirs = [event for event in gone if event.trust is not Trust.UNTRUSTED]
    strings = [
        question
        for question in questions(((event.id, event.text) for event in theirs), STRINGS_MAX * 2)
        if question.string not in summary
    ][:STRINGS_MAX]
    pieces += [Piece("Exact strings of what left:")] if strings else []
    pieces += [Piece(question.string, (f"fh:{question.id}",), head="  ") for question in strings]
    return tuple(pieces)


def _lacks(space: Space, summary: Event) -> str:
    """Say how many values of what it stands for the host's summary holds: numbers, dates, exact strings, names."""
    try:
        counted = coverage.of_summary(space, summary.pointer)
    except InvalidArgument:  # it stands for nothing
        return ""
    held = counted.of - len(counted.missing)
    return (
        f"The summary holds {held:,} of {counted.of:,} values of it; the rest: {counted.pointer}" if counted.of else ""
    )


def lines(pieces: Sequence[Piece]) -> str:
    """Lay out what left: the dates stand in the markers of the spans."""
    return "\n".join("  ".join(filter(None, (f"{piece.head}{piece.words}", *piece.pointers))) for piece in pieces)


def _marker(span: list[Event], funnel: Funnel) -> str:
    """Write where a span is and what it was about: terms of what may be passed, chosen when that is without secrets."""
    first, last = span[0], span[-1]
    turns = f"turns {first.turn}-{last.turn}" if first.turn != last.turn else f"turn {first.turn}"
    topics: dict[str, None] = {}
    step = max(1, len(span) // TOPICS_MAX)
    for piece in funnel.passed(Piece(event.text, (f"fh:{event.id}",)) for event in span[::step]):
        topics |= dict.fromkeys(terms(piece.words)[:1])
    about = f", about {', '.join(list(topics)[:TOPICS_MAX])}" if topics else ""
    address = f"fh:{first.id}..{last.id}" if first.id != last.id else f"fh:{first.id}"
    return f"  {turns}, {clock(first.time)} to {clock(last.time)}, {len(span):,} events{about}: {address}"
