"""The lists that clients sent: which conversation goes on from one, and what of it is known from the last time.

The invariant: entries are the same as those made of the whole list. A conversation is found where it
stands: by all its keys, or, where the list's head was left out, by the newest two. While no answer is on
its way it also stands behind its newest answer, since a client may replace what nobody answered.
"""

from __future__ import annotations

import json
import operator
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate, takewhile

from firsthand.proxy.conversation import Conversation
from firsthand.proxy.dialect import Asked, Dialect, Entry, Message, digest

BEGINNINGS_MAX, ALIKE_MAX = 64, 4  # lists that are remembered: by their first message, and of those that share it


class Lists:
    """All lists of one namespace; `find`, `mark` and `drop` are for one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: OrderedDict[bytes, list[tuple[tuple[Message, ...], list[Entry]]]] = OrderedDict()
        self._marks: dict[bytes, Conversation] = {}
        self._of: dict[int, list[bytes]] = {}  # the marks of a conversation

    def entries(self, asked: Asked, dialect: Dialect) -> list[Entry]:
        """Make the entries of a request's list; what it has of the last one is not read again."""
        messages = asked.messages
        name = digest(dialect.FORMAT, json.dumps(messages[:1]))
        with self._lock:
            alike = [*self._last.get(name, ())]
        common, known, old = max(
            ((sum(takewhile(bool, map(operator.eq, messages, other))), entries, other) for other, entries in alike),
            default=(0, [], ()), key=operator.itemgetter(0),
        )  # fmt: skip
        ends = [*accumulate(len(entry.messages) for entry in known)]
        # what follows the newest one may belong to it
        made: list[Entry] = known[: max(0, bisect_right(ends, common) - 1)]
        made += dialect.entries(map(dialect.plain, messages[ends[len(made) - 1] if made else 0 :]), (), set())
        with self._lock:
            rest = [each for each in alike if each[0] is not old or common < len(old)]
            self._last[name] = [((*old[:common], *messages[common:]), made), *rest][:ALIKE_MAX]
            self._last.move_to_end(name)
            while len(self._last) > BEGINNINGS_MAX:
                self._last.popitem(last=False)
        return made

    def find(self, dialect: Dialect, owner: str, entries: Sequence[Entry], *, again: bool) -> Conversation | None:
        """Find the conversation that a list goes on from, whole.

        Args:
            owner: the session that a header names, or whose words the answers are.
            again: the client says that it sends a request once more.
        """
        keys = [entry.key for entry in entries]
        for count in range(len(keys), 0, -1):
            conversation = self._marks.get(_state("whole", dialect, owner, keys[:count]))
            if conversation is not None and (count < len(keys) or again or not conversation.answers):
                return conversation
        return None

    def find_trimmed(self, dialect: Dialect, owner: str, entries: Sequence[Entry]) -> Conversation | None:
        """Find the conversation that a list without its head goes on from: behind the newest two that it has."""
        keys = [entry.key for entry in entries]
        ends = (keys[at - 2 : at] for at in range(len(keys) - 1, 1, -1))
        found = (self._marks.get(_state("end", dialect, owner, end)) for end in ends)
        return next(filter(None, found), None)

    def mark(self, conversation: Conversation) -> None:
        """Let a conversation be found as it is now."""
        self.drop(conversation)
        dialect, owner = conversation.dialect, conversation.owner
        keys = [entry.key for entry in conversation.entries]
        answered = max((count for count, entry in enumerate(conversation.entries, 1) if entry.is_answer), default=0)
        counts = {len(keys)} if conversation.answers else {len(keys), answered} - {0}
        marks = [_state("whole", dialect, owner, keys[:count]) for count in counts]
        if not conversation.answers:
            marks += [_state("end", dialect, owner, keys[count - 2 : count]) for count in counts if count > 1]
        self._marks |= dict.fromkeys(marks, conversation)
        self._of[id(conversation)] = marks

    def drop(self, conversation: Conversation) -> None:
        """Know a conversation no more."""
        for mark in self._of.pop(id(conversation), ()):
            if self._marks.get(mark) is conversation:
                del self._marks[mark]


def _state(which: str, dialect: Dialect, owner: str, keys: Sequence[bytes]) -> bytes:
    return digest(which, dialect.FORMAT, owner, b"".join(keys))
