"""Records and windows of a made-up session, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firsthand.context.anatomy import Anatomy, make
from firsthand.event import Kind, id_text
from firsthand.window import Budget, Item, Marker, Share, Window


def identifier(number: int) -> str:
    """Give the id of a made-up event."""
    return id_text(number.to_bytes(16, "big"))


def item(number: int, tokens: int, kind: Kind = Kind.TOOL_RESULT, **fields: Any) -> Item:
    return Item(identifier(number), number, fields.pop("turn", 1), kind, tokens, **fields)


def marker(first: int, last: int, **fields: Any) -> Marker:
    ends = identifier(first), identifier(last)
    return Marker(*ends, first, last, 1, 1, None, None, last - first + 1, 100, **fields)


def record(shares: dict[str, tuple[int, int]], window: Window = Window(), **fields: Any) -> Anatomy:  # noqa: B008 - a value
    """Make a record of a body of as many bytes as the shares have: (bytes, tokens) by name."""
    parts = [Share(name, *numbers) for name, numbers in shares.items()]
    known: dict[str, Any] = {
        "session": "deploy", "call": 1, "turn": 1, "turn_id": identifier(1), "format": "openai-chat",
        "counter": "estimate",
    }  # fmt: skip
    sent = b"x" * sum(part.bytes for part in parts)
    return make(sent, parts, window, Budget(fields.pop("budget", 10_000)), **(known | fields))


def window(items: Sequence[Item], markers: Sequence[Marker] = (), cycle: int = 0) -> Window:
    return Window(tuple(items), tuple(markers), cycle, through=max((one.position for one in items), default=0))
