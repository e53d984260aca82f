"""The lists that clients sent: which conversation goes on from one, and what of it is known from the last time.

The invariant: entries are the same as those made of the whole list. A conversation is found by
all keys of a list, or, where its head was left out, by the newest two where the model spoke last.
"""

from __future__ import annotations

import hashlib
import json
import operator
import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import takewhile

from firsthand.proxy.conversation import Conversation
from firsthand.proxy.dialect import Asked, Dialect, Entry, Message, digest

MARKS_MAX = 8  # states of a list that it is found by
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
            ((_common(messages, other), entries, other) for other, entries in alike), default=(0, [], ()),
            key=operator.itemgetter(0),
        )  # fmt: skip
        made, count = [], 0
        for entry in known:
            if (count := count + len(entry.messages)) > common:
                break
            made.append(entry)
        if made:  # what follows the newest one may belong to it
            made.pop()
        count = sum(len(entry.messages) for entry in made)
        made += dialect.entries(map(dialect.plain, messages[count:]), (), set())
        with self._lock:
            rest = [each for each in alike if each[0] is not old or common < len(old)]
            self._last[name] = [((*old[:common], *messages[common:]), made), *rest][:ALIKE_MAX]
            self._last.move_to_end(name)
            while len(self._last) > BEGINNINGS_MAX:
                self._last.popitem(last=False)
        return made

    def find(self, dialect: Dialect, agent: str, entries: Sequence[Entry], *, again: bool) -> Conversation | None:
        """Find the conversation that a list goes on from.

        Args:
            again: the client says that it sends a request once more.
        """
        keys = [entry.key for entry in entries]
        every, size = b"".join(keys), len(keys[0]) if keys else 0
        for count in range(len(keys), 0, -1):
            conversation = self._marks.get(_whole(dialect, agent, every[: count * size]))
            if conversation is not None and len(conversation.entries) == count and (
                count < len(keys) or again or not conversation.answers
            ):  # fmt: skip
                return conversation
        for at in range(len(keys) - 1, 1, -1):  # trimmed: it goes on behind the newest two that a session has
            conversation = self._marks.get(_end(dialect, agent, keys[at - 2 : at]))
            if conversation is not None and [entry.key for entry in conversation.entries[-2:]] == keys[at - 2 : at]:
                return conversation
        return None

    def mark(self, conversation: Conversation) -> None:
        """Let a conversation be found as it is now."""
        keys, agent = [entry.key for entry in conversation.entries], conversation.session.agent_name
        new = [_whole(conversation.dialect, agent, b"".join(keys))]
        if len(keys) > 1 and conversation.answers == 0:
            new.append(_end(conversation.dialect, agent, keys[-2:]))
        self._marks |= dict.fromkeys(new, conversation)
        marks = [*(mark for mark in self._of.get(id(conversation), ()) if mark not in new), *new]
        self._forget(conversation, marks[:-MARKS_MAX])
        self._of[id(conversation)] = marks[-MARKS_MAX:]

    def drop(self, conversation: Conversation) -> None:
        """Know a conversation no more."""
        self._forget(conversation, self._of.pop(id(conversation), ()))

    def _forget(self, conversation: Conversation, marks: Sequence[bytes]) -> None:
        for mark in marks:
            if self._marks.get(mark) is conversation:
                del self._marks[mark]


def _common(messages: tuple[Message, ...], other: tuple[Message, ...]) -> int:
    if messages[: len(other)] == other:
        return len(other)
    return sum(takewhile(bool, map(operator.eq, messages, other)))


def _whole(dialect: Dialect, agent: str, keys: bytes) -> bytes:
    return hashlib.sha256(f"{dialect.FORMAT}\0{agent}\0".encode() + keys).digest()


def _end(dialect: Dialect, agent: str, keys: Sequence[bytes]) -> bytes:
    return digest("end", dialect.FORMAT, agent, *keys)
