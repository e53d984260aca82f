"""What an import did, as values: for people, for scripts, for the exit code."""

from __future__ import annotations

from firsthand.value import value

QUARANTINED_SHOWN_MAX = 100  # of one source; all are counted, and all are in the log
UNKNOWN_SHOWN_MAX = 20
SESSIONS_SHOWN_MAX = 100


@value
class Quarantined:
    """Bytes of a source that were not understood; kept verbatim, with the reason in their meta.

    Attributes:
        line: number of the line or item, from 1.
        offset_bytes: where it begins in the source.
    """

    path: str
    line: int
    offset_bytes: int
    reason: str


@value
class SourceReport:
    """What became of one source.

    Attributes:
        host: name of the host that read it; empty when none did.
        sessions: names of its sessions, the first `SESSIONS_SHOWN_MAX`.
        records: read this time, blank lines not counted.
        events_new, events_known: added now, and there already; an unchanged source counts as known.
        injected: records that Firsthand itself had put there, not stored again.
        quarantined: the first `QUARANTINED_SHOWN_MAX` of them.
        torn_bytes: of an end that is still being written, left for the next time.
        unchanged: True when the file was as at the last import, and was not read.
        branch: how often the file was rewritten in place since it is known.
        refused: why it was not read, or not read on; empty when it was.
    """

    path: str
    host: str = ""
    sessions: tuple[str, ...] = ()
    sessions_count: int = 0
    records: int = 0
    events_new: int = 0
    events_known: int = 0
    injected: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    quarantined_count: int = 0
    torn_bytes: int = 0
    unchanged: bool = False
    branch: int = 0
    refused: str = ""


@value
class ImportReport:
    """What became of all sources.

    Attributes:
        sources: read or refused, in the order they were found.
        unknown: paths of files in folders that no host knows, the first `UNKNOWN_SHOWN_MAX`.
    """

    sources: tuple[SourceReport, ...]
    unknown: tuple[str, ...] = ()
    unknown_count: int = 0

    @property
    def records(self) -> int:
        return sum(source.records for source in self.sources)

    @property
    def events_new(self) -> int:
        return sum(source.events_new for source in self.sources)

    @property
    def events_known(self) -> int:
        return sum(source.events_known for source in self.sources)

    @property
    def injected(self) -> int:
        return sum(source.injected for source in self.sources)

    @property
    def quarantined_count(self) -> int:
        return sum(source.quarantined_count for source in self.sources)

    @property
    def refused(self) -> tuple[SourceReport, ...]:
        """The sources that were not read, or not to their end."""
        return tuple(source for source in self.sources if source.refused)

    @property
    def ok(self) -> bool:
        """True when nothing was refused and nothing quarantined."""
        return not self.refused and not self.quarantined_count


@value
class Progress:
    """How far an import is.

    Attributes:
        path: of the source that is being read.
        events: read so far; ``events_new`` of them were added.
    """

    path: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    events: int
    events_new: int
