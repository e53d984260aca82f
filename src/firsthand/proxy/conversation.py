"""A session as its client knows it: entries, what of it was sent, and the window that it is kept in.

It knows neither requests nor how a list is matched to a session.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence

from firsthand import Session
from firsthand.context.request import Request
from firsthand.context.session_window import SessionWindow, counter_of
from firsthand.context.tools import NAMES
from firsthand.event import Kind
from firsthand.proxy.dialect import Dialect, Entry, Message
from firsthand.value import replace


class Conversation:
    """A session, as its client knows it.

    Attributes:
        entries: what a client's list has that goes on from here.
        calls: ids of calls of our tools.
        answers: that are on their way.
        kept_for: tokens of the window, and whether its tools are offered.
        is_whole: nothing has left the window, as far as is known.
        sent: what the window made after its last compaction, and what came since; None while nothing has left.
        frame: system prompt and tools of the last request.
        tokens: that the next request has at most, but for what is new in it. recorded_tokens: of the newest one.
        responses: by the id that the client knows: the upstream's own, and what is to be sent behind it.
    """

    def __init__(self, session: Session, dialect: Dialect) -> None:
        self.session, self.dialect = session, dialect
        self.lock = threading.Lock()
        self.calls: set[str] = set()
        self.entries = dialect.entries(session.messages(dialect.FORMAT), NAMES, self.calls)
        self.answers = self.tokens = self.recorded_tokens = 0
        self.window: SessionWindow | None = None
        self.kept_for, self.is_whole = (0, False), False
        self.sent: list[Message] | None = None
        self.frame: tuple[str, tuple[Message, ...]] | None = None
        self.responses: OrderedDict[str, tuple[str, tuple[Message, ...]]] = OrderedDict()
        self._through = session.space.position

    def took(self, messages: Sequence[Message], own: frozenset[str]) -> None:
        """Know messages that follow in the log."""
        again = [message for entry in self.entries[-1:] for message in entry.messages]
        self.entries[-1:] = self.dialect.entries([*again, *messages], own, self.calls)
        self.tokens += self.size_of(messages)
        if self.sent is not None:
            self.sent += messages

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

    def forget_erased(self) -> None:
        """Send nothing again that was erased since the last request, withheld or composed."""
        if self.sent is None and not any(entry.hidden for entry in self.entries):
            return  # all that is sent is the client's own
        space, through = self.session.space, self._through
        self._through = space.position
        if any(space.events(self.session.name, kind=Kind.ERASURE, after=through, limit=1)):
            self.sent = None
            self.entries = [replace(entry, hidden=False) for entry in self.entries]
