"""What was said in a session, statement by statement, with the exact values of each.

The invariant: every statement is a substring of its message. It knows who said what, and
not what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from firsthand import InvalidArgument
from firsthand.value import value
from firsthand_evals.probe.values import Value, read

Message = Mapping[str, Any]
"""With ``role`` and ``content``, a text; ``pointer`` where it has one."""
AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
SESSION_CHARACTERS_MAX = 400_000
"""Of a session; what stands behind is not read, and the verdict says so."""
_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+")
_NAME = re.compile(r"\b[A-Z][a-z]+\b")


@value
class Statement:
    """One statement; ``turn`` is the place of its message."""

    text: str
    role: str
    turn: int
    values: tuple[Value, ...]

    @property
    def by_agent(self) -> bool:
        """Whether an agent said it: what it says is a conclusion, and no source."""
        return self.role in AGENT_ROLES

    @property
    def names(self) -> frozenset[str]:
        """Give the capitalised words behind its first word."""
        return frozenset(_NAME.findall(self.text.partition(" ")[2])) | frozenset(_NAME.findall(self.text)[:1])


def content_of(message: Message) -> str:
    """Give the text of a message; empty for one that only calls a tool.

    Raises:
        InvalidArgument: its content is something else.
    """
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise InvalidArgument(f"the content of a message is text; got {type(content).__name__}: give it part by part")
    return content or ""


def statements(messages: Iterable[Message]) -> tuple[Statement, ...]:
    """Cut messages into statements; a system's instructions are none.

    Raises:
        InvalidArgument: a message has no text as its content.
    """
    made: list[Statement] = []
    left = SESSION_CHARACTERS_MAX
    for turn, message in enumerate(messages):
        role, content = str(message.get("role", "")).casefold(), content_of(message)
        if role == "system":
            continue
        pieces = filter(None, (piece.strip().rstrip(";") for piece in _ENDS.split(content[:left])))
        made += (Statement(piece, role, turn, read(piece)) for piece in pieces)
        left = max(0, left - len(content))
    return tuple(made)


def plain(text: str) -> str:
    """Give a text without the differences that a quotation may have: case, spaces, and the sign at its end."""
    return " ".join(text.casefold().split()).rstrip(".;!")
