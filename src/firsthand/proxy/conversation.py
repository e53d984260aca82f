"""A session, or one of its lists, as its client knows it: entries, what of it was sent, and the window it is kept in.

It knows neither requests nor how a list is matched to a session.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from itertools import takewhile

from firsthand import Session
from firsthand.context.request import Request
from firsthand.context.session_log import listed, message_of
from firsthand.context.session_window import SessionWindow, counter_of
from firsthand.context.tools import NAMES
from firsthand.event import BEHIND, Event, Kind
from firsthand.proxy.dialect import Dialect, Entry, Message
from firsthand.value import replace

WITHHELD = "withheld"
"""The member of an event's meta which says how many messages before it were withheld with an answer without an end."""


class Conversation:
    """A session, or one of its lists, as its client knows it.

    Args:
        owner: among whose conversations it is looked for.
        lock: of the session, whose lists are written one after the other.

    Attributes:
        entries: what a client's list has that goes on from here.
        calls: ids of calls of our tools.
        answers: that are on their way.
        kept_for: tokens of the window, and whether its tools are offered.
        is_whole: nothing has left the window, as far as is known.
        sent: what the window made after its last compaction, and what came since; None while nothing has left.
        frame: system prompt and tools of the last request.
        tokens: that the next request has at most, but for what is new in it. recorded_tokens: of the newest one.
        appended: messages, since the log was looked at; None where it is not known how many.
        read_through: the position of the log that is known.
        responses: by the id that the client knows: the upstream's own, and what is to be sent behind it.
    """

    def __init__(self, session: Session, dialect: Dialect, owner: str, lock: threading.Lock) -> None:
        self.session, self.dialect, self.owner, self.lock = session, dialect, owner, lock
        self.calls: set[str] = set()
        self.entries: list[Entry] = []
        self.appended: int | None = 0
        self.read_through = 0
        self._is_cut = False  # nothing that follows belongs to the newest entry
        self.answers = self.tokens = self.recorded_tokens = 0
        self.window: SessionWindow | None = None
        self.kept_for, self.is_whole = (0, False), False
        self.sent: list[Message] | None = None
        self.frame: tuple[str, tuple[Message, ...]] | None = None
        self.responses: OrderedDict[str, tuple[str, tuple[Message, ...]]] = OrderedDict()
        self._read()

    def follow(self) -> bool:
        """Read the log anew where another process appended messages, and say so; only while no answer is on its way."""
        since = self.read_through
        self.read_through = self.session.space.position
        if self.read_through == since:
            return False
        self.forget_erased(since)
        is_behind, self.appended = self.is_behind(since), 0
        if is_behind:
            self.window = None  # the next one is made of the log
            self._read()
            return True
        return False

    def is_behind(self, since: int) -> bool:
        """Say whether another process has appended messages since a position; while one answer is on its way."""
        return self.appended not in {None, sum(map(self._is_message, listed(self.session, after=since)))}

    def others(self) -> list[Message]:
        """Give the messages that another process has appended; while one answer is on its way and nothing recorded."""
        new = reversed([*listed(self.session, after=self.read_through)])
        return [message_of(self.session, event) for event in new if self._is_message(event)]

    def took(self, messages: Sequence[Message], own: frozenset[str], size: int | None = None) -> None:
        """Know messages that follow in the log; their size, where it was estimated before."""
        self._grow(messages, own)
        if self.appended is not None:
            self.appended += len(messages)
        self.tokens += self.size_of(messages) if size is None else size
        if self.sent is not None:
            self.sent += messages

    def cut(self, count: int) -> None:
        """Know that the newest messages, as many as this, were withheld with the answer that they were for.

        They belong to the newest entry before them: the client asks again with what it knows.
        """
        self._is_cut |= count > 0
        folded: tuple[Message, ...] = ()
        while len(self.entries) > 1 and 0 < len(self.entries[-1].messages) <= count:
            messages = self.entries.pop().messages
            folded, count = (*messages, *folded), count - len(messages)
        self._fold(folded)

    def _fold(self, messages: Sequence[Message]) -> None:
        """Let the newest entry have messages that the client has none for."""
        if messages and self.entries:
            last = self.entries[-1]
            self.entries[-1] = replace(last, messages=(*last.messages, *messages), hidden=True)

    def _grow(self, messages: Sequence[Message], own: Collection[str]) -> None:
        """Make entries of messages that follow; the first of them may belong to the newest entry."""
        again = [] if self._is_cut else self.entries[-1:]
        before = [message for entry in again for message in entry.messages]
        made = self.dialect.entries([*before, *messages], own, self.calls)
        if made:
            self.entries[len(self.entries) - len(again) :], self._is_cut = made, False
        else:
            self._fold(messages)

    def _read(self) -> None:
        """Make the entries of the log, as they were made while its messages passed."""
        self.calls, self.entries, self._is_cut = set(), [], False
        self.read_through, self.appended = self.session.space.position, 0
        messages: list[Message] = []
        for event in reversed([*listed(self.session)]):
            if self._is_message(event):
                messages.append(message_of(self.session, event))
            if event.meta.get(WITHHELD):
                self._grow(messages, NAMES)
                self.cut(int(event.meta[WITHHELD]))
                messages = []
        self._grow(messages, NAMES)

    def _is_message(self, event: Event) -> bool:
        return event.part == 0 and event.meta.get("format") == self.dialect.FORMAT

    def composed(self, request: Request, window: SessionWindow) -> None:
        """Know what the window made; what was sent goes on growing until something more leaves."""
        state = window.state
        self.is_whole = state.cycle == 0 and not any(item.shortened for item in state.items)
        self.tokens = self.recorded_tokens = request.tokens
        if self.is_whole:
            self.sent = None
        elif self.sent is None or request.receipt is not None:
            self.sent = [*request.messages]

    def size_of(self, messages: Sequence[Message | str]) -> int:
        """Estimate the tokens of messages, not under what the window counts."""
        return counter_of(self.dialect.FORMAT)(json.dumps(messages, ensure_ascii=False))

    def goes_on(self, entries: Sequence[Entry]) -> bool:
        """Say whether a list begins with all that is known."""
        return [entry.key for entry in entries[: len(self.entries)]] == [entry.key for entry in self.entries]

    def common(self, entries: Sequence[Entry]) -> int:
        """Count the entries that a list begins with as this one does."""
        pairs = zip(entries, [*self.entries], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0].key == pair[1].key, pairs))

    def place(self, count: int) -> str:
        """Name the event that so many entries end with; empty where the log does not have it yet."""
        last, *behind = [entry.messages for entry in self.entries[count - 1 :]]
        most = sum(map(len, behind))  # messages that stand behind it, those included that are not recorded yet
        read: list[Event] = []
        place: Event | None = None
        for event in listed(self.session):
            read.append(event)
            if self._is_message(event) and BEHIND not in event.meta:
                place = event if message_of(self.session, event) == last[-1] else place
                if not most:
                    break
                most -= 1
        return "" if place is None else next(each.id for each in read if each.position - each.part == place.position)

    def forget_erased(self, since: int) -> None:
        """Send nothing again that was erased since a position, withheld or composed."""
        if self.sent is None and not any(entry.hidden for entry in self.entries):
            return  # all that is sent is the client's own
        if any(self.session.space.events(self.session.name, kind=Kind.ERASURE, after=since, limit=1)):
            self.sent = None
            self.entries = [replace(entry, hidden=False) for entry in self.entries]
