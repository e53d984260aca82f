"""The command import: take in what agents, mails and message files hold."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from firsthand import ImportReport, environment
from firsthand.agents.transcripts import enrol_imported
from firsthand.cli.arguments import Parser, pair
from firsthand.cli.display import count, shown, size
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write, vectors_left
from firsthand.hosts.import_report import Progress, SourceReport
from firsthand.hosts.places import usual_places
from firsthand.json_codec import to_json

QUARANTINED_SHOWN = 10
REFUSED_SHOWN = 20


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        take_in, "Import transcripts, mails and message files; what is there already adds nothing.",
        """
        firsthand import                                    the usual places of the agents you use
        firsthand import ~/.claude/projects                 a folder, with all that is below it
        firsthand import session.jsonl mail.mbox --json     files; the report as JSON
        firsthand import --map content=text --map kind=from.role --map time=ts chat.jsonl
        """,
    )  # fmt: skip
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; none: the hosts' usual places")
    parser.add_argument(
        "--map", action="append", default=[], type=pair, metavar="NAME=FIELD",
        help="of JSON lines: which field is content, kind, time, session ...",
    )  # fmt: skip


def take_in(chosen: argparse.Namespace, out: Output) -> int:
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
            progress=_progress(out),
        )
        if not mapping:
            enrol_imported(memory, report, chosen.paths)
        store, behind = environment.store_name(memory.path), vectors_left(memory)
    if out.as_json:
        sums = {name: getattr(report, name) for name in ("records", "events_new", "events_known", "injected")}
        out.json(to_json(report) | sums | {"refused": report.refused, "quarantined_count": report.quarantined_count})
    else:
        _say(report, out)
        seconds = time.monotonic() - started
        out.remark(f"into {shown(store)}, in {seconds:.1f} s; find things again: firsthand recall WORDS")
    if behind:
        out.remark(f"vectors follow behind ({behind}): firsthand store follow")
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


def _progress(out: Output) -> Callable[[Progress], None]:
    """Make what shows the progress of an import on a terminal."""

    def show(now: Progress) -> None:
        out.progress(
            lambda: (
                f"file {now.files_done:,} of {now.files_total:,}  {size(now.bytes_done)} of "
                f"{size(now.bytes_total)}  {now.events:,} events, {now.events_new:,} new  {shown(now.path)}"
            )
        )

    return show


def _say(report: ImportReport, out: Output) -> None:
    """Say what became of the sources, for people."""
    if not report.sources:
        out.line("no sources found")
    hosts = Counter(source.host for source in report.sources if source.host)
    rows = [("sources", "unchanged", "sessions", "new", "known", "host")]
    for host, number in sorted(hosts.items()):
        mine = [source for source in report.sources if source.host == host]
        rows.append((
            f"{number:,}",
            f"{sum(source.unchanged for source in mine):,}", f"{sum(source.sessions_count for source in mine):,}",
            f"{sum(source.events_new for source in mine):,}", f"{sum(source.events_known for source in mine):,}",
            shown(host),
        ))  # fmt: skip
    if hosts:
        out.table(rows, range(5))
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
    quarantined = [record for source in report.sources for record in source.quarantined]
    for record in quarantined[:QUARANTINED_SHOWN]:
        out.line(f"  {shown(record.path)}:{record.line} (byte {record.offset_bytes:,}): {shown(record.reason)}")
    if report.quarantined_count > min(len(quarantined), QUARANTINED_SHOWN):
        out.line("  ... the others: --json")


def _say_refused(refused: tuple[SourceReport, ...], out: Output) -> None:
    if not refused:
        return
    out.warn(out.style(f"{count(len(refused), 'source')} refused:", "bad"))
    for source in refused[:REFUSED_SHOWN]:
        out.warn(f"  {shown(source.refused)}")
    if len(refused) > REFUSED_SHOWN:
        out.warn("  ... the others: --json")
