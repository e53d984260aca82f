"""The commands that bring events in: import and append."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from firsthand import Draft, ImportReport, Kind, Memory, Progress, SourceReport, Trust, usual_places
from firsthand.cli import following, json_forms
from firsthand.cli.display import count, shown, size, table
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.moment import now

QUARANTINED_SHOWN = 10
REFUSED_SHOWN = 20

_BY_AGENT = {Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL, Kind.NOTE}
_BY_OPERATOR = {Kind.USER_MESSAGE: "user", Kind.SYSTEM: "system", Kind.PERSONA: "system"}


# import ----------------------------------------------------------------------------------------------


def import_(chosen: argparse.Namespace, out: Output) -> int:
    """Import files and folders, or what the hosts keep in their usual places."""
    started = time.monotonic()
    mapping = dict(chosen.map)
    if len(mapping) < len(chosen.map):
        out.warn("firsthand: --map names a field for the same thing twice; give each NAME once")
        return USAGE
    if not chosen.paths and not mapping:
        _say_places(out)
    with to_write(chosen, create=True) as memory:
        report = memory.import_paths(
            [Path(path).expanduser() for path in chosen.paths] or None,
            mapping=mapping or None,
            progress=progress_line(out),
        )
        store, behind = memory.path, following.behind(memory)
    if out.as_json:
        out.json(json_forms.of_import(report))
    else:
        say_report(report, out)
        seconds = time.monotonic() - started
        out.remark(f"into {shown(str(store))}, in {seconds:.1f} s; find things again: firsthand recall WORDS")
    if behind:
        out.remark(f"vectors follow behind ({behind}): firsthand follow")
    if report.refused:
        return REFUSED
    return DONE if report.sources else NOTHING_FOUND


def _say_places(out: Output) -> None:
    """Say where an import without paths looks."""
    folders: dict[Path, tuple[str, bool]] = {
        place.folder: (place.host, place.exists) for place in reversed(usual_places())
    }
    for folder, (host, exists) in reversed(folders.items()):
        out.remark(f"looking in {shown(str(folder))} ({host})" + ("" if exists else ": not there"))


def progress_line(out: Output) -> Callable[[Progress], None]:
    """Make what shows the progress of an import on a terminal."""

    def show(now: Progress) -> None:
        out.progress(
            lambda: (
                f"file {now.files_done:,} of {now.files_total:,}  {size(now.bytes_done)} of "
                f"{size(now.bytes_total)}  {now.events:,} events, {now.events_new:,} new  {shown(now.path)}"
            )
        )

    return show


def say_report(report: ImportReport, out: Output) -> None:
    """Say what became of the sources, for people."""
    if not report.sources:
        out.line("no sources found")
    hosts = Counter(source.host for source in report.sources if source.host)
    rows = [("sources", "unchanged", "sessions", "new", "known", "host")]
    for host, number in sorted(hosts.items()):
        mine = [source for source in report.sources if source.host == host]
        rows.append((
            f"{number:,}", f"{sum(one.unchanged for one in mine):,}", f"{sum(one.sessions_count for one in mine):,}",
            f"{sum(one.events_new for one in mine):,}", f"{sum(one.events_known for one in mine):,}", shown(host),
        ))  # fmt: skip
    if hosts:
        for number, line in enumerate(table(rows, right=frozenset(range(5)))):
            out.line(out.style(line, "faint") if number == 0 else line)
        out.line(f"{count(report.events_new, 'new event')}, {report.events_known:,} known already")
    if report.injected:
        out.line(f"{count(report.injected, 'record')} that Firsthand itself had put there, not stored again")
    for source in report.sources:
        if source.torn_bytes:
            out.line(f"{shown(source.path)}: the last {source.torn_bytes:,} bytes are still being written; next time")
    _say_quarantined(report, out)
    _say_refused(report.refused, out)
    if report.unknown_count:
        names = ", ".join(shown(path) for path in report.unknown[:3])
        out.remark(f"{count(report.unknown_count, 'file')} of no known host passed over: {names} ...")


def _say_quarantined(report: ImportReport, out: Output) -> None:
    if not report.quarantined_count:
        return
    out.line(
        out.style(
            f"{count(report.quarantined_count, 'record')} not understood, kept word for word (quarantined):", "warn"
        )
    )
    found = [one for source in report.sources for one in source.quarantined]
    for one in found[:QUARANTINED_SHOWN]:
        out.line(f"  {shown(one.path)}:{one.line} (byte {one.offset_bytes:,}): {shown(one.reason)}")
    if report.quarantined_count > min(len(found), QUARANTINED_SHOWN):
        out.line("  ... the others: --json")


def _say_refused(refused: tuple[SourceReport, ...], out: Output) -> None:
    if not refused:
        return
    out.warn(out.style(f"{count(len(refused), 'source')} refused:", "bad"))
    for one in refused[:REFUSED_SHOWN]:
        out.warn(f"  {shown(one.refused)}")
    if len(refused) > REFUSED_SHOWN:
        out.warn("  ... the others: --json")


# append ----------------------------------------------------------------------------------------------


def append(chosen: argparse.Namespace, out: Output) -> int:
    """Append one event and print its pointer."""
    with to_write(chosen, create=True) as memory:
        draft = _draft(chosen)
        done = memory.append([draft], session=chosen.session, expected_position=chosen.expect)[0]
        _say_appended(memory, done.indexed, out)
    if out.as_json:
        out.json({
            "pointer": done.pointer, "position": done.position, "session": chosen.session, "new": done.new,
            "indexed": done.indexed,
        })  # fmt: skip
    else:
        out.line(done.pointer)
        if not done.new:
            out.remark("it was there already; nothing was added")
    return DONE


def _say_appended(memory: Memory, indexed: bool, out: Output) -> None:
    if not indexed:
        out.warn(f"firsthand: kept, but the text index of {shown(str(memory.path))} is behind; run 'firsthand rebuild'")


def _draft(chosen: argparse.Namespace) -> Draft:
    """Make the event: whose words it holds follows from its kind."""
    kind: Kind = chosen.kind
    if chosen.text == "-" and sys.stdin.isatty():
        sys.stderr.write("reading from the terminal; end with Ctrl-D\n")
    content = sys.stdin.buffer if chosen.text == "-" else chosen.text.encode("utf-8", "surrogateescape")
    if kind in _BY_OPERATOR:
        origin, trust = _BY_OPERATOR[kind], Trust.TRUSTED
    elif kind in _BY_AGENT:
        origin, trust = "agent", Trust.AGENT
    else:
        origin, trust = f"tool:{chosen.tool}" if chosen.tool else "", Trust.UNTRUSTED
    meta = {"tool": chosen.tool, "call_id": chosen.call_id}
    return Draft(
        kind,
        content,
        meta={key: value for key, value in meta.items() if value},
        agent=chosen.agent,
        origin=origin,
        trust=trust,
        time=chosen.time or (None if chosen.id else now()),
        id=chosen.id,
    )
