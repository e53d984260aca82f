"""The commands that read: show, sessions, timeline, stats."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice

from firsthand import Event, Memory, Moment, pointer
from firsthand.cli import following, json_forms
from firsthand.cli.display import clock, count, cut, first_line, shown, size, table
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import Damaged, to_read, walk
from firsthand.value import asdict

JSON_CONTENT_BYTES_MAX = 16 << 20
TEXT_COLUMNS = 160  # of an event's first line, where it is piped
AROUND_CHARACTERS = 2_000  # of each event beside the one that was asked for


# show ----------------------------------------------------------------------------------------------


def show(chosen: argparse.Namespace, out: Output) -> int:
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
            for line in header(memory.event(named), named):
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
        for line in lines:
            out.line(shown(line.decode("utf-8", "backslashreplace"), lines=True))
        if len(rest) > 1 << 16:
            out.line(shown(rest.decode("utf-8", "backslashreplace"), lines=True))
            rest = b""
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
    form = json_forms.of_event(event) | {"asked": named, "content": json_forms.of_bytes(bytes(content))}
    out.json(form)
    return DONE


def _show_around(memory: Memory, named: str, number: int, out: Output) -> int:
    middle = memory.event(named)
    before = list(islice(walk(memory, middle.session, before=middle.position, reverse=True), number))
    after = list(islice(walk(memory, middle.session, after=middle.position), number))
    damaged = False
    for one in (*reversed(before), middle, *after):
        if isinstance(one, Damaged):
            damaged = True
            out.warn(damage(one))
        elif out.as_json:
            out.json(json_forms.of_event(one) | {"preview": one.text, "asked": one.id == middle.id})
        elif one.id == middle.id and not one.erased:
            _block(one, memory.stream(f"fh:{one.id}"), "strong", out)
        else:
            _block(one, [_beginning(one)], "faint", out)
    return DAMAGED if damaged else DONE


def _block(event: Event, pieces: Iterable[bytes], style: str, out: Output) -> None:
    for line in header(event):
        out.line(out.style(line, style))
    _write_shown(pieces, out)
    out.line()


def _beginning(event: Event) -> bytes:
    text = event.text
    more = f"\n[... {size(event.size_bytes)} in all]" if len(text) > AROUND_CHARACTERS or event.artifact else ""
    return (text[:AROUND_CHARACTERS] + more).encode("utf-8", "surrogatepass")


def header(event: Event, named: str = "") -> Iterator[str]:
    """Yield the lines that stand above an event's content."""
    who = f" by {shown(event.agent)}" if event.agent else ""
    from_where = f" from {shown(event.origin)}" if event.origin else ""
    yield f"{named or f'fh:{event.id}'}  {event.kind}{who}{from_where}  {clock(event.time)}"
    what = "erased" if event.erased else f"{size(event.size_bytes)} of {shown(event.media)}"
    yield (f"session {shown(event.session)}  turn {event.turn}  position {event.position}  {what}  ({event.trust})")
    facts = "  ".join(f"{shown(str(key))}={shown(str(value))}" for key, value in event.meta.items())
    if facts:
        yield cut(facts, TEXT_COLUMNS)


def damage(one: Damaged) -> str:
    """Say that an event is damaged."""
    return f"firsthand: the event at position {one.position} is damaged: {shown(one.why)}"


# sessions --------------------------------------------------------------------------------------------


def sessions(chosen: argparse.Namespace, out: Output) -> int:
    """List the sessions."""
    with to_read(chosen) as memory:
        found = memory.sessions()
        if out.as_json:
            for one in found:
                out.json(json_forms.of_session(one))
            return DONE
        if not found:
            out.remark(f"no sessions in namespace {shown(memory.namespace)!r} of {memory.path}")
            return DONE
    rows = [("events", "turns", "first", "last", "session")]
    rows += [(f"{one.events:,}", f"{one.turns:,}", clock(one.first), clock(one.last), shown(one.name)) for one in found]
    for number, line in enumerate(table(rows, right=frozenset({0, 1}))):
        out.line(out.style(line, "faint") if number == 0 else line)
    out.remark(f"{count(len(found), 'session')}; read one: firsthand timeline --session NAME")
    return DONE


# timeline --------------------------------------------------------------------------------------------


def timeline(chosen: argparse.Namespace, out: Output) -> int:
    """List events, one line each."""
    said, last, damaged, more = 0, 0, False, False
    with to_read(chosen) as memory:
        if chosen.session is not None and all(one.name != chosen.session for one in memory.sessions()):
            out.warn(f"firsthand: no session {shown(chosen.session)!r} here; see them all: firsthand sessions")
            return NOTHING_FOUND
        for one in walk(memory, chosen.session, after=chosen.after, reverse=chosen.reverse):
            if isinstance(one, Damaged):
                damaged = True
                out.warn(damage(one))
                continue
            if not _is_within(one.time, chosen.since, chosen.until):
                continue
            if chosen.limit and said == chosen.limit:
                more = True
                break
            out.json(json_forms.of_event(one)) if out.as_json else out.line(_timeline_line(one, out))
            said, last = said + 1, one.position
    if more and chosen.reverse:
        out.remark(f"{count(said, 'event')} shown, down to position {last}; more: --limit 0")
    elif more:
        out.remark(f"{count(said, 'event')} shown; go on with: --after {last}, or --limit 0 for all")
    if damaged:
        return DAMAGED
    if not said:
        out.remark("no events in this range")
    return DONE if said else NOTHING_FOUND


def _is_within(time: Moment | None, since: Moment | None, until: Moment | None) -> bool:
    if since is None and until is None:
        return True
    if time is None:
        return False
    return (since is None or time.microseconds >= since.microseconds) and (
        until is None or time.microseconds <= until.microseconds
    )


def _timeline_line(event: Event, out: Output) -> str:
    who = event.agent or event.origin
    tool = event.meta.get("tool")
    first = "[erased]" if event.erased else first_line(event.text)
    line = (
        f"{event.position:>8}  {clock(event.time):<20}  {event.kind:<13}  {cut(shown(who), 16):<16}  "
        f"fh:{event.id}  {size(event.size_bytes):>9}  "
    )
    text = f"{shown(str(tool))}: {first}" if tool else first
    return line + cut(text, max(20, out.width - len(line)) if out.terminal else TEXT_COLUMNS)


# stats -----------------------------------------------------------------------------------------------


def stats(chosen: argparse.Namespace, out: Output) -> int:
    """Count and measure."""
    with to_read(chosen) as memory:
        found = memory.stats()
    if out.as_json:
        out.json(asdict(found))
        return DONE
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(found.kinds.items(), key=lambda one: -one[1]))
    rows = [
        ("store", shown(found.path)),
        ("namespace", shown(found.namespace)),
        ("events", f"{found.events:,}" + (f" ({kinds})" if kinds else "")),
        ("sessions", f"{found.sessions:,}"),
        ("erased", f"{found.erased:,}"),
        ("artifacts", f"{found.artifacts:,} files, {size(found.artifact_bytes)}"),
        (
            "database",
            f"{size(found.database_bytes)}, of it {size(found.content_bytes)} content; WAL {size(found.wal_bytes)}",
        ),
        ("index", "; ".join(f"{name}: {why}" for name, why in found.index_faults.items()) or "reaches the last event"),
        *(("vectors", shown(line)) for line in following.lines(found.vectors, int(found.head.partition(":")[0]))),
        *([("vectors", f"do not follow: {shown(found.vector_fault)}")] if found.vector_fault else []),
        ("head", found.head),
    ]
    for line in table(rows):
        out.line(line)
    out.remark("keep the head elsewhere: firsthand verify --head HEAD later proves that nothing before it was changed")
    return DONE
