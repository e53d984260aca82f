"""Messages of openai-chat and the objects of a framework that they were written from.

The invariant: each object is given at most once, for a message that is sent as it came.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from firsthand.context.tools import TOOLS

OWN = frozenset(tool.name for tool in TOOLS)
"""The names of the memory's tools."""
_T = TypeVar("_T")


def matched(
    sent: Iterable[Mapping[str, Any]], came: Iterable[tuple[Mapping[str, Any], _T]]
) -> Iterator[tuple[Mapping[str, Any], _T | None]]:
    """Give each message that is sent with the object it was written from; None where the window made it."""
    waiting: dict[str, deque[_T]] = {}
    for message, whole in came:
        waiting.setdefault(as_key(message), deque()).append(whole)
    for message in sent:
        objects = waiting.get(as_key(message))
        yield message, objects.popleft() if objects else None


def as_key(message: Mapping[str, Any]) -> str:
    """Write a message so that equal ones are written equal."""
    return json.dumps(message, sort_keys=True, default=repr)


def text_of(message: Mapping[str, Any]) -> str:
    """Give the text of a message, whose content is a text or a list of parts."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else content
    texts = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def newest(messages: Sequence[Mapping[str, Any]]) -> str:
    """Give the text of the newest message of the user's; empty without one."""
    return next((text_of(message) for message in reversed(messages) if message.get("role") == "user"), "")


def reply(
    text: str,
    calls: Iterable[tuple[str, str, str]] = (),
    thoughts: Iterable[str | None] = (),
    blocks: Sequence[Any] = (),
) -> dict[str, Any]:
    """Write what the model said.

    Args:
        calls: the id, name and arguments, as JSON, of each.
        thoughts: the texts of its reasoning.
        blocks: parts that openai-chat does not have, as JSON values.
    """
    written = [
        {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}
        for identifier, name, arguments in calls
    ]
    more = {"tool_calls": written, "reasoning_content": "\n".join(filter(None, thoughts)), "blocks": [*blocks]}
    content = text or (None if written else "")
    return {"role": "assistant", "content": content, **{name: part for name, part in more.items() if part}}


def calls_of(message: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Give the id, name and arguments of each call in a reply."""
    for call in message.get("tool_calls") or ():
        yield call["id"], call["function"]["name"], call["function"]["arguments"]
