"""Firsthand itself under the seam, as a stranger would use it: a note with pointers within the budget, and recall.

The session goes into a store; what is carried is a source-first note of it, whose rest
is reachable; a question with a pointer in it is answered with the bytes, any other one by
recall. The invariant: what the memory carried or answered itself is not stored again, and
the store holds nothing but what was said.

`NoteAlone` is the same note without a store behind it: what does not fit is lost, and
the note says so.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import Any

from firsthand import Kind, Memory, Pointer, Unresolvable, distill, pointer
from firsthand_evals.reclaim.readers import MEMORY_HEAD, RECALL, RECALLED
from firsthand_evals.reclaim.seam import Messages, Subject

HITS_MAX = 8
SESSION = "said"
"""All sessions of one problem are one here: its events stand in order, and one pointer reaches any run of them."""


class PointerMemory:
    """Keep every session in a store, and carry a note that points at what does not fit."""

    def __init__(self) -> None:
        self._open = ExitStack()
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="firsthand-reclaim-"))
        self._store = self._open.enter_context(Memory(folder))
        self._session = self._store.session(SESSION)

    def write(self, messages: Messages, budget: int) -> str:
        """Store the session, and write a note of all that is stored."""
        self._session.append_messages(said(messages), "openai-chat")
        told = [
            {"role": str(_role(event.kind)), "content": event.text, "pointer": f"fh:{event.id}"}
            for event in self._session.events()
        ]
        return distill(told, budget).text

    def recall(self, query: str) -> str:
        """Expand the pointers of a question; a question without any is answered by recall."""
        if not (addresses := pointer.find(query)):
            return self._store.fenced(self._store.recall(query, hits_max=HITS_MAX))
        return "\n".join(self._expanded(pointer.parse(address)) for address in addresses)

    def verify(self) -> bool:
        """Say whether the store is whole."""
        return self._store.verify().ok

    def close(self) -> None:
        """Close the store and delete it."""
        self._open.close()

    def _expanded(self, address: Pointer) -> str:
        """Give what a pointer leads to, with who said it; a part as its bytes."""
        try:
            if address.unit or address.source:
                return self._store.expand(address).decode()
            return "\n".join(
                f"{_role(below.event.kind)}: {below.event.text}" for below in self._store.open_span(address)
            )
        except Unresolvable as error:
            return f"nothing stands there: {error}"


class NoteAlone:
    """Carry a note of the session, with nothing behind it."""

    def write(self, messages: Messages, budget: int) -> str:
        """Write a note of what was carried here and of the session."""
        carried = [
            message["content"].partition(MEMORY_HEAD)[2].strip() for message in messages if message["role"] == "system"
        ]
        before = [{"role": "user", "content": one} for one in carried if one]
        return distill([*before, *said(messages)], budget).text


def pointers() -> Subject:
    """Give Firsthand with its store as a subject."""
    return Subject("firsthand", PointerMemory)


def note_alone() -> Subject:
    """Give Firsthand's note without a store as a subject."""
    return Subject("firsthand_note", NoteAlone)


def said(messages: Messages) -> list[dict[str, Any]]:
    """Give what user and assistant said, without what the memory carried, was asked and answered."""
    return [
        {"role": message["role"], "content": message["content"]}
        for message in messages
        if message["role"] != "system" and not message["content"].startswith((RECALL, RECALLED))
    ]


def _role(kind: Kind) -> str:
    return "user" if kind is Kind.USER_MESSAGE else "assistant"
