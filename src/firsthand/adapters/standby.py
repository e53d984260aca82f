"""What stands in for a log that fails: what this process read or wrote lately, and what waits to be written.

The invariant: what waits is appended when the log takes it again, in order, behind the last event of its session that
was seen before; where somebody else has written to the session since, no order can be proven, and what is missing is
named. Nothing raises but `Unread`, to whoever asks for what is neither in the log's reach nor in this process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial

from firsthand import Draft, Event, Memory
from firsthand.adapters.guard import Guard
from firsthand.errors import InvalidArgument, InvalidDraft, QueryError, StaleExpectation, StoreError
from firsthand.event import IdMaker
from firsthand.log.prepare import DraftGroup
from firsthand.value import replace

RECENT_BYTES_MAX = 32 << 20
WAITING_MAX = 10_000  # drafts; more than a session takes at once
"""Of contents that are kept in this process, and of drafts that wait."""


class Unread(StoreError):
    """What was asked for stands in the log, which cannot be read now, and not in this process."""


class Standby(Guard):
    """A part of the log that a framework reads and writes, while the log fails too."""

    theirs = (InvalidDraft, InvalidArgument, QueryError, Unread)

    def __init__(self, memory: Memory, name: str) -> None:
        super().__init__()
        self.store, self.namespace, self.name = memory, memory.namespace, name
        self._memory = memory
        self._new_id = IdMaker()
        self._ends: dict[str, int] = {}  # the last position of each session that was seen
        self._waiting: dict[str, dict[int, Draft]] = {}  # of each session, by positions below zero
        self._recent: OrderedDict[int, Draft] = OrderedDict()
        self._recent_bytes = 0
        self._waited = 0

    def _write(self, groups: Sequence[DraftGroup], *, is_read: bool = True) -> dict[int, tuple[str, Draft]]:
        """Append to sessions, all or none, or let it wait (call `_catch_up` before); gives the drafts by position.

        What waits has positions below zero.

        Args:
            is_read: what stands in the sessions could be read; otherwise it rests on nothing, and waits.
        """
        named = [
            DraftGroup(group.session, tuple(replace(draft, id=self._new_id()) for draft in group.drafts))
            for group in groups
        ]
        pairs = [(group.session, draft) for group in named for draft in group.drafts]
        if not self._waiting and is_read:
            appended = self._safely("write", lambda: self._appended(named), list[int]())
            for (session, draft), position in zip(pairs, appended, strict=False):
                self._ends[session] = position
                self._remember(position, draft)
            if appended:
                return dict(zip(appended, pairs, strict=True))
        if self._waited + len(pairs) > WAITING_MAX:
            self._tell("write", f"of more than {WAITING_MAX:,} events that wait for the store, the newest are missing")
            return {}
        late = {-self._waited - place: pair for place, pair in enumerate(pairs, 1)}
        for position, (session, draft) in late.items():
            self._waiting.setdefault(session, {})[position] = draft
        self._waited += len(pairs)
        return late

    def _appended(self, groups: Sequence[DraftGroup]) -> list[int]:
        appended = self._memory.log.append_group(groups, namespace=self.namespace)
        self._memory.wake()
        return [event.position for event in appended]

    def _catch_up(self) -> None:
        """Append what waits, if the log takes it."""
        before = len(self._waiting)
        for session in [*self._waiting]:
            if not self._safely("write", partial(self._is_settled, session), False):
                break
        if len(self._waiting) < before:
            self._waited = max((-position for drafts in self._waiting.values() for position in drafts), default=0)
            self._renew()

    def _is_settled(self, session: str) -> bool:
        drafts = [*self._waiting[session].values()]
        try:
            appended = self._memory.append(drafts, session=session, expected_position=self._ends.get(session, 0))
        except StaleExpectation:
            self._tell("write", f"{self._named(drafts)} of session {session} are missing: somebody else wrote to it")
        else:
            self._ends[session] = appended[-1].position
        del self._waiting[session]
        return True

    def _renew(self) -> None:
        """Read anew: what waited has another position now, or is missing."""

    def _named(self, drafts: Sequence[Draft]) -> str:
        """Name what is missing, for people."""
        return f"{len(drafts)} events"

    def _saw(self, session: str, position: int) -> None:
        """Note where a session ends; while something waits for it, what others appended does not count."""
        if session not in self._waiting:
            self._ends[session] = position

    def _read(self, positions: Sequence[int], *, partly: bool = False) -> Mapping[int, Draft]:
        """Give what stands at positions, in their order, without what was erased.

        Raises:
            Unread: the log cannot be read, and this process does not have it all; not where a part will do.
        """
        known = {position: draft for drafts in self._waiting.values() for position, draft in drafts.items()}
        asked = [position for position in positions if position > 0]
        if asked and (read := self._safely("read", lambda: self._from_log(asked), None)) is not None:
            known |= read
        elif not partly and any(position not in self._recent for position in asked):
            raise Unread("what was asked for cannot be read now; run firsthand doctor")
        else:
            known |= {position: self._recent[position] for position in asked if position in self._recent}
        return {position: known[position] for position in positions if position in known}

    def _from_log(self, positions: Sequence[int]) -> dict[int, Draft] | None:
        reader, drafts = self._memory.log.reader, dict[int, Draft]()
        for event in reader.events_at(self.namespace, positions):
            if event.erased:
                self._forget(event.position)
                continue
            drafts[event.position] = _draft_of(event, reader.content(event))
            self._remember(event.position, drafts[event.position])
        return drafts

    def _remember(self, position: int, draft: Draft) -> None:
        self._forget(position)
        self._recent[position] = draft
        self._recent_bytes += len(_bytes(draft))
        while self._recent_bytes > RECENT_BYTES_MAX:
            self._forget(next(iter(self._recent)))

    def _forget(self, position: int) -> None:
        gone = self._recent.pop(position, None)
        self._recent_bytes -= len(_bytes(gone)) if gone is not None else 0


def _draft_of(event: Event, content: bytes) -> Draft:
    return Draft(event.kind, content, event.media, event.meta, origin=event.origin, trust=event.trust, time=event.time)


def _bytes(draft: Draft) -> bytes:
    assert isinstance(draft.content, bytes), "nothing here is streamed"
    return draft.content
