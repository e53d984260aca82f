"""Records on their way to the store: batches of a bounded size, and the count of what became of them."""

from __future__ import annotations

from firsthand.errors import AppendError
from firsthand.hosts.import_report import QUARANTINED_SHOWN_MAX, SESSIONS_SHOWN_MAX, Quarantined, SourceReport
from firsthand.hosts.intake import Cursor, LogKeeper, Placed
from firsthand.hosts.lines import kept
from firsthand.value import field, replace, value

BATCH_EVENTS = 2_000
BATCH_BYTES = 4 << 20
BATCH_CURSORS = 500  # sources that add nothing fill no batch


@value(frozen=False)
class Tally:
    """The counts of one source while it is read; becomes a `SourceReport`."""

    path: str
    host: str = ""
    sessions: dict[str, None] = field(default_factory=dict)
    sessions_count: int = 0
    records: int = 0
    events_new: int = 0
    events_known: int = 0
    injected: int = 0
    quarantined: list[Quarantined] = field(default_factory=list)
    quarantined_count: int = 0
    torn_bytes: int = 0
    unchanged: bool = False
    branch: int = 0
    refused: str = ""
    last_session: str = ""

    def visit(self, session: str) -> None:
        """Note the session of a record; sessions of one source come one after the other."""
        if session == self.last_session:
            return
        self.last_session = session
        if session not in self.sessions:
            self.sessions_count += 1
            if len(self.sessions) < SESSIONS_SHOWN_MAX:
                self.sessions[session] = None

    def quarantine(self, line: int, offset_bytes: int, reason: str) -> None:
        """Note a record that was not understood."""
        self.quarantined_count += 1
        if len(self.quarantined) < QUARANTINED_SHOWN_MAX:
            self.quarantined.append(Quarantined(self.path, line, offset_bytes, reason))

    def report(self) -> SourceReport:
        """Give the counts as a value."""
        return SourceReport(
            self.path, self.host, tuple(self.sessions), self.sessions_count, self.records, self.events_new,
            self.events_known, self.injected, tuple(self.quarantined), self.quarantined_count, self.torn_bytes,
            self.unchanged, self.branch, self.refused,
        )  # fmt: skip


class Batch:
    """Gathers records, over sources, until there are enough of them for one append.

    Attributes:
        events: appended so far; ``events_new`` of them were new.
    """

    def __init__(self, keeper: LogKeeper) -> None:
        self._keeper = keeper
        self._held: list[tuple[Placed, Tally]] = []
        self._cursors: dict[str, Cursor] = {}
        self._size_events = self._size_bytes = 0
        self.events = self.events_new = 0

    def add(self, placed: Placed, tally: Tally) -> bool:
        """Take a record; True when the batch was full and went to the store."""
        self._held.append((placed, tally))
        self._size_events += len(placed.record.drafts)
        self._size_bytes += len(placed.record.raw)
        if self._size_events < BATCH_EVENTS and self._size_bytes < BATCH_BYTES:
            return False
        self.flush()
        return True

    def remember(self, path: str, cursor: Cursor) -> None:
        """Keep a cursor with the batch that has the last record before it."""
        self._cursors[path] = cursor
        if len(self._cursors) >= BATCH_CURSORS:
            self.flush()

    def flush(self) -> None:
        """Append what is held, then keep the cursors: in this order a crash loses no record."""
        waiting, self._held = self._held, []
        self._size_events = self._size_bytes = 0
        if waiting:
            self._count(waiting, self._append([placed for placed, _ in waiting], waiting))
        cursors, self._cursors = self._cursors, {}
        if cursors:
            self._keeper.save_cursors(cursors)

    def _append(self, placed: list[Placed], waiting: list[tuple[Placed, Tally]]) -> list[int]:
        try:
            return list(self._keeper.append_records(placed))
        except AppendError as error:
            if len(waiting) > 1:  # one record is refused: find it, so that it does not take the others with it
                return [count for pair in waiting for count in self._append([pair[0]], [pair])]
            return [self._append_verbatim(*waiting[0], error)]

    def _append_verbatim(self, placed: Placed, tally: Tally, error: AppendError) -> int:
        """Keep a record that the log refuses as its bytes alone, and say so; what is refused even then is raised."""
        first = placed.record.drafts[0]
        record = kept(placed.record.raw, tally.host, f"refused by the log: {error}")
        record = replace(record, drafts=(replace(record.drafts[0], id=first.id, time=first.time),))
        count = self._keeper.append_records([Placed(placed.session, record)])[0]
        tally.quarantine(placed.line, placed.offset_bytes, record.fault)
        return count

    def _count(self, waiting: list[tuple[Placed, Tally]], counts: list[int]) -> None:
        for (placed, tally), new in zip(waiting, counts, strict=True):
            tally.events_new += new
            tally.events_known += len(placed.record.drafts) - new
            self.events += len(placed.record.drafts)
            self.events_new += new
