"""The import: sources in, records with ids out to the store, and a report of what became of each.

The invariant: importing the same bytes again adds nothing; a grown file adds what
is new; a file rewritten in place loses nothing that was there before. One bad
source never stops the others. At most one batch is held in memory.

It knows hosts by their port, and decides nothing about them; the clock is read once, to tell a file that
is still written from one that is not.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from firsthand.errors import SourceRejected
from firsthand.event import Kind
from firsthand.formats.fields import to_name
from firsthand.hosts import registry
from firsthand.hosts.batch import Batch, Tally
from firsthand.hosts.identity import Seen, identified
from firsthand.hosts.import_report import UNKNOWN_SHOWN_MAX, ImportReport, Progress, Quarantined, SourceReport
from firsthand.hosts.intake import Cursor, LogKeeper, Placed
from firsthand.hosts.own_words import unfenced
from firsthand.hosts.source import OpenSource, Prefix, Standing, shown, standing
from firsthand.hosts.source_files import Found, in_paths, in_usual_places
from firsthand.hosts.transcript import Host, Reading
from firsthand.hosts.transcript import Source as HostSource

__all__ = ["ImportReport", "Progress", "Quarantined", "SourceReport", "import_found", "import_paths"]

SETTLED_NS = 86_400 * 1_000_000_000  # a file untouched for a day is finished: its torn end is taken as it is
BAD_RUN_MAX = 100  # records in a row that are not understood; then the source is no transcript
BAD_RUN_BYTES_MAX = 128 << 20
UNNAMED = "unnamed"  # the bare id of a session whose name has no sign that can be shown


def import_paths(
    keeper: LogKeeper,
    paths: Iterable[str | os.PathLike[str]] | None,
    *,
    home: Path,
    folders: Mapping[str, Path] | None = None,
    host: Host | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ImportReport:
    """Import files and folders, or what the hosts keep in their usual places.

    Args:
        paths: None for the usual places.
        home: the user's home folder.
        folders: folders that stand in for a host's usual one, by the variable that names them.
        host: reads all of them, whatever they look like (`hosts.jsonl.Jsonl` with a mapping).

    Raises:
        SourceRejected: the one file that was asked for cannot be imported, or a host is given and no path.
    """
    if host is not None and paths is None:
        raise SourceRejected(
            "expected the files to read with this mapping; got none, and what the known hosts keep in their usual "
            "places is not read with one. Name files or folders."
        )
    sources = in_usual_places(registry.HOSTS, home, folders or {}) if paths is None else in_paths(paths)
    report = import_found(keeper, sources, host=host, progress=progress)
    if len(sources) == 1 and sources[0].asked and report.refused and not report.records:
        raise SourceRejected(report.sources[0].refused)
    return report


def import_found(
    keeper: LogKeeper,
    sources: Sequence[Found],
    *,
    host: Host | None = None,
    progress: Callable[[Progress], None] | None = None,
    now_ns: int | None = None,
) -> ImportReport:
    """Import sources that were found; never raises for one of them.

    Args:
        now_ns: of the clock, to say which files are still written.
    """
    run = _Run(keeper, sources, host, progress, time.time_ns() if now_ns is None else now_ns)
    for source in sources:
        run.take(source)
    return run.finish()


class _Run:
    """One import of many sources."""

    def __init__(
        self,
        keeper: LogKeeper,
        sources: Sequence[Found],
        host: Host | None,
        progress: Callable[[Progress], None] | None,
        now_ns: int,
    ) -> None:
        self._keeper = keeper
        self._host = host
        self._progress = progress
        self._now_ns = now_ns
        self._batch = Batch(keeper)
        self._tallies: list[Tally] = []
        self._unknown: list[str] = []
        self._unknown_count = 0
        self._files_done, self._files_total = 0, len(sources)
        self._bytes_done, self._bytes_total = 0, sum(source.size_bytes for source in sources)

    def take(self, source: Found) -> None:
        """Read one source, or note why not."""
        is_ignored = self._keeper.rules.leaves_out(str(source.path))
        ignored = "left out: the user's settings ignore its path" if is_ignored else ""
        tally = Tally(shown(source.path), refused=source.refused or ignored)
        try:
            known = bool(tally.refused) or self._is_unchanged(source.path, tally) or self._read(source, tally)
        except SourceRejected as error:
            known, tally.refused = True, str(error)
        if known:
            self._tallies.append(tally)
        else:
            self._unknown_count += 1
            self._unknown += [tally.path][: UNKNOWN_SHOWN_MAX - len(self._unknown)]
        self._files_done += 1
        self._bytes_done += source.size_bytes
        self._tell(tally.path, 0)

    def finish(self) -> ImportReport:
        """Append what is left and give the report."""
        self._batch.flush()
        sources = tuple(tally.report() for tally in self._tallies)
        return ImportReport(sources, tuple(self._unknown), self._unknown_count)

    def _is_unchanged(self, path: Path, tally: Tally) -> bool:
        """Pass over a file that is as it was; its session is told all the same, since its importer may claim it."""
        cursor = self._keeper.cursor(tally.path)
        if cursor is None or (self._host is not None and self._host.name != cursor.host):
            return False
        now = standing(path)
        if (now.size_bytes, now.modified_ns) != (cursor.size_bytes, cursor.modified_ns):
            return False
        if cursor.torn and self._is_settled(now):
            return False
        tally.host, tally.unchanged, tally.branch = cursor.host, True, cursor.branch
        tally.events_known = cursor.events
        host = next((host for host in registry.HOSTS if host.name == cursor.host), self._host)
        if host is not None and cursor.events:
            with OpenSource(path) as source:
                tally.visit(_session(self._keeper, host, host.session(tally.path, source.head())))
        return True

    def _is_settled(self, now: Standing) -> bool:
        return self._now_ns - now.modified_ns > SETTLED_NS

    def _read(self, file: Found, tally: Tally) -> bool:
        """Read a source into the batch; False when no host knows it and nobody asked for it."""
        with OpenSource(file.path) as source:
            head = source.head()
            if not head.strip():
                return True
            host = self._host or registry.recognise(tally.path, head)
            if host is None:
                if file.asked:
                    raise SourceRejected(
                        f"no host knows the format of {tally.path}; see `firsthand import --help` for those that are "
                        "known, or name the fields of its JSON lines with a mapping"
                    )
                return False
            reader = _Reader(host, source, tally, head, self._keeper)
            reader.read(self, final=self._is_settled(source.standing))
        return True

    def place(self, placed: Placed, tally: Tally, offset: int) -> None:
        """Take one record of a source; called by its reader."""
        if self._batch.add(placed, tally):
            self._tell(tally.path, offset)

    def remember(self, path: str, cursor: Cursor) -> None:
        """Keep a cursor once the records before it are appended."""
        self._batch.remember(path, cursor)

    def _tell(self, path: str, offset: int) -> None:
        if self._progress is not None:
            self._progress(
                Progress(
                    path, self._files_done, self._files_total, self._bytes_done + offset, self._bytes_total,
                    self._batch.events, self._batch.events_new,
                )
            )  # fmt: skip


class _Reader:
    """The reading of one source, from where the last one stopped."""

    def __init__(self, host: Host, source: OpenSource, tally: Tally, head: bytes, keeper: LogKeeper) -> None:
        self._host, self._source, self._tally, self._head = host, source, tally, head
        self._keeper, self._fence_key, self._rules = keeper, keeper.fence_key, keeper.rules
        cursor = keeper.cursor(tally.path)
        self._main = host.session(tally.path, head)
        self._prefix = Prefix()
        self._seen = Seen()
        self._state: Mapping[str, object] = {}
        self._events = 0
        self._branch = 0
        self._bad: list[Reading] = []
        tally.host = host.name
        if cursor is not None and cursor.host == host.name and host.resumable:
            self._rules.await_results(cursor.ignored)
            self._resume(cursor)
        tally.branch = self._branch

    def _resume(self, cursor: Cursor) -> None:
        """Go on at the cursor when what stands before it is as it was; else begin a new branch."""
        self._branch = cursor.branch
        is_longer = cursor.offset_bytes <= self._source.standing.size_bytes
        prefix = self._source.prefix(cursor.offset_bytes) if is_longer else None
        if prefix is None or prefix.digest() != cursor.digest:
            self._branch += 1
        elif cursor.seen:
            self._prefix, self._seen = prefix, Seen(cursor.seen)
            self._state, self._events = cursor.state, cursor.events
            self._tally.events_known += cursor.events

    def read(self, run: _Run, *, final: bool) -> None:
        """Hand all records on to the run, up to a torn end or to what is no transcript."""
        offset = self._prefix.offset
        source = HostSource(self._tally.path, self._head, offset, self._state, final)
        for reading in self._host.read(self._source.pieces(offset), source):
            if reading.torn:
                self._tally.torn_bytes = len(reading.record.raw)
                break
            if _is_bad(reading):
                self._bad.append(reading)
                if self._is_no_transcript():
                    break
                continue
            self._place_bad(run)
            self._place(reading, run)
        if not self._tally.refused:  # without a cursor it is refused again at the next import, not passed over
            self._place_bad(run)
            run.remember(self._tally.path, self._cursor())

    def _is_no_transcript(self) -> bool:
        """Give up where records in a row make no sense; what was good before them stays."""
        if len(self._bad) < BAD_RUN_MAX and sum(len(bad.record.raw) for bad in self._bad[-2:]) < BAD_RUN_BYTES_MAX:
            return False
        first = self._bad[0]
        self._tally.refused = (
            f"{self._tally.path}: from line {first.line:,} (byte {first.offset_bytes:,}) on, {len(self._bad)} records "
            f"in a row are none of {self._host.name}, so the rest is not read; the first: {first.record.fault}"
        )
        return True

    def _place_bad(self, run: _Run) -> None:
        for bad in self._bad:
            self._place(bad, run)
        self._bad.clear()

    def _place(self, reading: Reading, run: _Run) -> None:
        record, tally = unfenced(reading.record, self._fence_key), self._tally
        self._prefix.add(record.raw)
        self._state = reading.state
        if record.fault:
            tally.quarantine(reading.line, reading.offset_bytes, record.fault)
        session = _session(self._keeper, self._host, record.session or self._main)
        record = self._rules.kept(record, session)
        tally.injected += record.injected
        tally.records += bool(record.drafts) or record.injected
        if not record.drafts:
            return
        tally.visit(session)
        self._events += len(record.drafts)
        record = identified(self._host, record, session, self._seen, self._branch)
        run.place(Placed(session, record, reading.line, reading.offset_bytes), tally, self._prefix.offset)

    def _cursor(self) -> Cursor:
        now, state = self._source.standing, self._rules.value(self._state, Counter())  # it may hold names of tools
        return Cursor(
            self._host.name, now.size_bytes, now.modified_ns, self._prefix.offset, self._prefix.digest(), state,
            self._branch, bool(self._tally.torn_bytes), self._events,
            self._seen.to_text() if self._host.resumable else "", self._rules.awaited,
        )  # fmt: skip


def _session(keeper: LogKeeper, host: Host, bare: str) -> str:
    """Give a session's name in the log."""
    return keeper.rules.session(f"{host.name}:{to_name(bare) or UNNAMED}")


def _is_bad(reading: Reading) -> bool:
    drafts = reading.record.drafts
    return bool(reading.record.fault) and all(draft.kind is Kind.OTHER for draft in drafts)
