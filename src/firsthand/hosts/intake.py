"""What an import leaves in a log: records with their ids, and how far each source was read.

A cursor only saves work: without any, an import reads everything again and adds nothing,
because ids are derived from the records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from firsthand.hosts.intake_rules import CaptureRules
from firsthand.log.prepare import DraftGroup
from firsthand.log.sqlite.local import LocalLog
from firsthand.record import Record
from firsthand.value import asdict, field, value


@value
class Placed:
    """A record and the session that its events belong to; each draft has its id.

    Attributes:
        line, offset_bytes: where it stood in its source.
    """

    session: str
    record: Record
    line: int = 0
    offset_bytes: int = 0


@value
class Cursor:
    """How far one source was read.

    Attributes:
        host: name of the host that read it.
        size_bytes, modified_ns: of the file as it was then; both equal means unchanged.
        offset_bytes: behind the last record that was taken; what follows is read next.
        digest: of the bytes before the offset (`source.Prefix`), hex; says whether they changed.
        state: the host's, to resume its parser.
        branch: how often the file was rewritten in place.
        torn: True when a torn end was left for the next time.
        events: how many events its records up to the offset have.
        seen: the keys of the records so far (`identify.Seen`), as text; empty when there
            are too many to keep, then a grown file is read whole again.
        ignored: ids of calls that were not recorded, whose results may come later.
    """

    host: str
    size_bytes: int
    modified_ns: int
    offset_bytes: int
    digest: str
    state: Mapping[str, Any] = field(default_factory=dict)
    branch: int = 0
    torn: bool = False
    events: int = 0
    seen: str = ""
    ignored: Sequence[str] = ()

    def to_text(self) -> str:
        """Write it as text to be kept; the inverse of `from_text`."""
        members = asdict(self)
        seen: str = members.pop("seen")
        return json.dumps(members, separators=(",", ":")) + "\n" + seen

    @classmethod
    def from_text(cls, text: str) -> Cursor | None:
        """Read a kept cursor; None for one of another version, which costs a reading and no event."""
        small, _, seen = text.partition("\n")
        try:
            return cls(**json.loads(small), seen=seen)
        except (TypeError, ValueError):
            return None


class LogKeeper:
    """Takes records into one namespace of a log, and keeps how far each source was read.

    Attributes:
        fence_key: what the store fences with (`firsthand.fence`), to tell its own words in a source.
        rules: what is kept out of the log.
    """

    def __init__(self, log: LocalLog, namespace: str, rules: CaptureRules | None = None) -> None:
        self._log, self._namespace = log, namespace
        self.rules = rules or CaptureRules()
        self.fence_key = log.reader.fence_key()

    def append_records(self, placed: Sequence[Placed]) -> Sequence[int]:
        """Append the events of records, in order, all or none; say how many of each record were new.

        The ids are derived: an id that is there already, in whatever session, is the same event and is left as it
        is. One transaction for records of all sessions is what makes many small sources quick.
        """
        groups = [
            DraftGroup(session, tuple(draft for item in run for draft in item.record.drafts))
            for session, run in groupby(placed, lambda item: item.session)
        ]
        appended = iter(self._log.append_group([group for group in groups if group.drafts], namespace=self._namespace))
        return [sum(next(appended).new for _ in item.record.drafts) for item in placed]

    def cursor(self, source_key: str) -> Cursor | None:
        """Give the cursor kept for a source; None when there is none."""
        text = self._log.cursor(self._namespace, source_key)
        return None if text is None else Cursor.from_text(text)

    def save_cursors(self, cursors: Mapping[str, Cursor]) -> None:
        """Keep cursors; their records are on disk already."""
        self._log.save_cursors(self._namespace, {name: cursor.to_text() for name, cursor in cursors.items()})
