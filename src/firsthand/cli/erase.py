"""The command store erase: shows what will go, asks, destroys it, and proves that it is gone.

Whole source records go, since what stands around one content may hold words of
the others. Proof: strings drawn from the content beforehand are recalled
afterwards and lead to no erased event, the pointers expand to nothing, a full
scan for the text asked for finds nothing, and the chain still verifies.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from firsthand import Erasure, Event, Kind, Memory, pointer
from firsthand.agents.side_files import files_holding, record_waiting
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, count, cut, first_line, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.serve import end_server
from firsthand.cli.stores import Damaged, to_write, walk
from firsthand.event import spellings
from firsthand.health.proof import Proof, drawn, proof_of, whole_records
from firsthand.json_codec import to_json
from firsthand.server import spool
from firsthand.server.hook_answers import answered

TAKE_IN_S = 60.0
SHOWN_MAX = 50


def add(group: Parser) -> None:
    """Add the command to the group store."""
    command = group.command(
        "erase", _erase, "Destroy the content of events for good, and prove it.",
        """
        firsthand store erase fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --reason "asked by the person"
        firsthand store erase --containing "jane@example.org" --yes
        """,
    )  # fmt: skip
    command.add_argument("pointers", nargs="*", metavar="POINTER", help="events, or spans fh:ID..ID; whole records go")
    command.add_argument("--containing", metavar="TEXT", help="every event that holds this text, by a full scan")
    command.add_argument("--reason", default="", metavar="R", help="kept in the log; do not repeat what is erased")
    command.add_argument("--yes", action="store_true", help="do not ask")


def _erase(chosen: argparse.Namespace, out: Output) -> int:
    """Erase events."""
    if not chosen.pointers and not chosen.containing:
        out.warn("firsthand: say what to erase: POINTER..., or --containing TEXT")
        return USAGE
    with to_write(chosen, create=False) as memory:
        # 1) What will go.
        calls = _take_in(memory, chosen.containing, out) if chosen.containing else ()
        events = _wanted(memory, chosen, out)
        if not events and not calls:
            out.warn("firsthand: nothing to erase: no event holds it, or it was erased before")
            return NOTHING_FOUND
        _say_wanted(events, calls, out)
        # 2) Ask.
        if not chosen.yes and not _agrees(events, calls, out):
            return USAGE
        # 3) Erase, and look for what must not be there any more.
        strings = drawn(memory, events)
        addresses = [f"fh:{event.id}" for event in events]
        done = memory.erase(addresses, reason=chosen.reason, containing=chosen.containing or "")
        end_server()  # its memory holds what it read; the next hook starts another
        proof = _prove(memory, done, strings, chosen.containing or "", out)
    _say_done(done, proof, out)
    return DONE if proof.ok else DAMAGED


# what will go ----------------------------------------------------------------------------------------


def _take_in(memory: Memory, text: str, out: Output) -> tuple[Path, ...]:
    """Record what waits and may hold the text; name the files that hold it and could not be recorded."""
    spool.record(memory, out.warn, time.monotonic() + TAKE_IN_S, answered)
    for why in record_waiting(memory, text):
        out.warn(f"not looked through, since it could not be recorded: {shown(why)}")
    return files_holding(memory.path, text)


def _wanted(memory: Memory, chosen: argparse.Namespace, out: Output) -> list[Event]:
    """Give the events that will go, whole records, those erased before left out."""
    named: dict[int, Event] = {}
    for text in chosen.pointers:
        address = pointer.parse(text)
        first = memory.event(address)
        if address.last is None:
            named[first.position] = first
            continue
        last = memory.event(f"fh:{address.last}")
        for event in memory.events(first.session, after=first.position - 1, before=last.position + 1):
            named[event.position] = event
    if chosen.containing:
        for event in holding(memory, chosen.containing, out):
            named[event.position] = event
    return whole_records(memory, named.values())


def holding(memory: Memory, text: str, out: Output) -> list[Event]:
    """Find every event whose bytes hold a text: content, what stood around it, and what is said about it."""
    needles = spellings(text)
    events: list[Event] = []
    for number, event in enumerate(walk(memory), 1):
        out.progress(lambda done=number: f"scanned {done:,} events")  # type: ignore[misc]
        if isinstance(event, Damaged):
            out.warn(event.sentence)
        elif event.kind is not Kind.ERASURE and not event.erased and _holds(memory, event, needles):
            events.append(event)
    return events


def _holds(memory: Memory, event: Event, needles: Sequence[bytes]) -> bool:
    meta = json.dumps(dict(event.meta), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if any(needle in part for needle in needles for part in (event.envelope, meta)):
        return True
    return _streams(memory.stream(f"fh:{event.id}"), needles)


def _streams(pieces: Iterable[bytes], needles: Sequence[bytes]) -> bool:
    """Look for any of the needles in a stream, across its pieces."""
    overlap = max(len(needle) for needle in needles) - 1
    rest = b""
    for piece in pieces:
        window = rest + piece
        if any(needle in window for needle in needles):
            return True
        rest = window[-overlap:] if overlap else b""
    return False


def _say_wanted(events: Sequence[Event], calls: Sequence[Path], out: Output) -> None:
    if out.as_json:
        return
    for event in events[:SHOWN_MAX]:
        line = f"{event.kind:<13}  {size(event.size_bytes):>9}  {shown(event.session)}: {first_line(event.text)}"
        out.line(cut(f"fh:{event.id}  {clock(event.time):<20}  {line}", out.width or 160))
    if len(events) > SHOWN_MAX:
        out.line(f"... and {len(events) - SHOWN_MAX:,} more")
    for path in calls[:SHOWN_MAX]:
        out.line(f"a call of a hook that is not recorded: {shown(str(path))}")


def _agrees(events: Sequence[Event], calls: Sequence[Path], out: Output) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        out.warn("firsthand: nothing was erased: without a terminal to ask on, say --yes")
        return False
    out.flush()
    what = count(len(events), "event") + (f" and {count(len(calls), 'call')} of hooks" if calls else "")
    sys.stderr.write(f"destroy the content of {what} for good? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    out.warn("firsthand: nothing was erased")
    return False


# proof -----------------------------------------------------------------------------------------------


def _prove(memory: Memory, done: Erasure, strings: Sequence[str], containing: str, out: Output) -> Proof:
    return proof_of(
        memory, done.erased, strings,
        scanned=tuple(f"fh:{event.id}" for event in holding(memory, containing, out)) if containing else (),
        calls=tuple(map(str, files_holding(memory.path, containing))) if containing else (),
        progress=lambda at, total: out.progress(lambda: f"verified {at:,} of {total:,} events"),
    )  # fmt: skip


def _say_done(done: Erasure, proof: Proof, out: Output) -> None:
    if out.as_json:
        pointers = {
            "erased": [f"fh:{name}" for name in done.erased],
            "already": [f"fh:{name}" for name in done.already],
        }
        out.json(to_json(done) | pointers | {"recorded": done.pointers, "proof": to_json(proof) | {"ok": proof.ok}})
        return
    out.line(f"erased {count(len(done.erased), 'event')} and {count(done.artifacts_removed, 'artifact')}")
    strings = count(proof.strings, "string")
    elsewhere, some = count(len(proof.elsewhere), "event"), [*proof.elsewhere][:5]
    lines = [
        (done.calls, f"taken out of {count(len(done.calls), 'file')} of calls that hooks kept"),
        (done.artifacts_kept, f"{count(done.artifacts_kept, 'artifact')} kept, since other events hold the same bytes"),
        *((address, f"recorded as {address}") for address in done.pointers),
        *((path, f"still in a file that is yours: {shown(path)}") for path in done.files[:SHOWN_MAX]),
        (done.files[SHOWN_MAX:], f"... and in {len(done.files) - SHOWN_MAX:,} further ones: --json"),
        (done.retained, done.retained),
        (True, f"looked for {strings} drawn from it: {len(proof.leads)} lead to an erased event"),
        (proof.expands, f"still to be read: {', '.join(proof.expands)}"),
        (proof.scanned, f"the text asked for is still in: {', '.join(proof.scanned)}"),
        (proof.calls, f"the text asked for is still in: {', '.join(map(shown, proof.calls))}"),
        (proof.elsewhere, f"the same strings also stand in {elsewhere} that were not erased: {', '.join(some)}"),
        (proof.chain, "the chain verifies"),
        (not proof.chain, out.style("the store does not verify: firsthand store verify", "bad")),
    ]  # fmt: skip
    for is_so, line in lines:
        if is_so:
            out.line(line)
    if not done.retained:
        out.remark("backups and exports made earlier still hold it")
