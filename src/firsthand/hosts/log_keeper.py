"""The store as the intake sees it: one namespace of a log behind `intake.port.Keeper`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from firsthand.hosts.intake import Cursor, Placed
from firsthand.hosts.intake_rules import CaptureRules
from firsthand.log.prepare import DraftGroup
from firsthand.log.sqlite.local import LocalLog


class LogKeeper:
    """Takes records into one namespace of a log, and keeps how far each source was read."""

    def __init__(self, log: LocalLog, namespace: str, rules: CaptureRules | None = None) -> None:
        self._log, self._namespace = log, namespace
        self.rules = rules or CaptureRules()
        self.fence_key = log.reader.fence_key()

    def append_records(self, placed: Sequence[Placed]) -> Sequence[int]:
        """Append the events of records in one transaction; say how many of each record were new."""
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
