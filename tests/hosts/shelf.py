"""A store in memory: what an import needs of the log, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firsthand.errors import InvalidDraft
from firsthand.event import META_BYTES_MAX, Draft
from firsthand.formats.canonical import dump
from firsthand.hosts.intake import Cursor, Placed
from firsthand.hosts.intake_rules import CaptureRules


class Shelf:
    """Keeps events by id, in order, and cursors as text; refuses what the log would refuse."""

    fence_key = b"key of the shelf"
    rules = CaptureRules()

    def __init__(self) -> None:
        self.events: dict[str, tuple[str, Draft]] = {}
        self.cursors: dict[str, str] = {}
        self.appends = 0

    def append_records(self, placed: Sequence[Placed]) -> list[int]:
        before = dict(self.events)
        counts = []
        for one in placed:
            new = 0
            for draft in one.record.drafts:
                if len(dump(draft.meta)) > META_BYTES_MAX:
                    self.events = before
                    raise InvalidDraft("meta is over its limit")
                assert draft.id is not None
                if draft.id not in self.events:
                    self.events[draft.id] = (one.session, draft)
                    new += 1
            counts.append(new)
        self.appends += 1
        return counts

    def cursor(self, source_key: str) -> Cursor | None:
        text = self.cursors.get(source_key)
        return None if text is None else Cursor.from_text(text)

    def save_cursors(self, cursors: Mapping[str, Cursor]) -> None:
        self.cursors |= {key: cursor.to_text() for key, cursor in cursors.items()}

    # for the tests' eyes

    def drafts(self, session: str | None = None) -> list[Draft]:
        return [draft for name, draft in self.events.values() if session in (None, name)]

    def contents(self, session: str | None = None) -> list[bytes]:
        return [bytes(draft.content) for draft in self.drafts(session)]

    @property
    def sessions(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.events.values()))
