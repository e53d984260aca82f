"""Messages of a framework as openai-chat has them, and back: each is a role and the parts that it is made of.

    written    a message of a framework's as the log has it, with the parts that it was written from
    restored   what is to be sent as parts: those that came, and what the window made

The invariant: what came is given at most once, for a message that is sent as it came.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from firsthand.context.tools import TOOLS
from firsthand.value import value

OWN = frozenset(tool.name for tool in TOOLS)
"""The names of the memory's tools."""
_T = TypeVar("_T")


@value(eq=False)
class Part:
    """A part of a framework's message.

    Attributes:
        whole: as it came.
        text, thought: what is said in it, or thought.
        call: its id, name and arguments, as JSON.
        result: the message of openai-chat that it is.
        plain: what it is as a JSON value, where it is no text, call or result.
    """

    whole: Any
    text: str | None = None
    thought: str | None = None
    call: tuple[str, str, str] | None = None
    result: Mapping[str, Any] | None = None
    plain: Any = None

    @property
    def item(self) -> dict[str, Any]:
        """The part as a piece of a user's message."""
        return {"type": "file", "file": self.plain} if self.text is None else {"type": "text", "text": self.text}


Written = list[tuple[dict[str, Any], list[Part]]]


def written(role: str, parts: Sequence[Part]) -> Written:
    """Write a message as the log has it: a reply whole, each result by itself, and then what else there is."""
    if role == "assistant":
        message = reply(
            "".join(part.text or "" for part in parts),
            [part.call for part in parts if part.call],
            [part.thought for part in parts],
            [part.plain for part in parts if part.plain is not None],
        )
        return [(message, [*parts])] if parts else []
    results: Written = [({**part.result}, [part]) for part in parts if part.result]
    if not (others := [part for part in parts if not part.result]):
        return results
    is_text = len(others) == 1 and others[0].text is not None
    return [
        *results,
        ({"role": role, "content": others[0].text if is_text else [part.item for part in others]}, others),
    ]


def result(identifier: str, content: str, files: Sequence[Any] = ()) -> dict[str, Any]:
    """Write the result of a call; files are JSON values."""
    written = {"role": "tool", "tool_call_id": identifier, "content": content}
    return written | ({"blocks": [*files]} if files else {})


class Restored:
    """A message to send.

    Attributes:
        role: of openai-chat.
        parts: the framework's own.
        made: how many of them, at the end, the window made.
    """

    def __init__(self, role: str, parts: list[Any], made: int) -> None:
        self.role, self.parts, self.made = role, parts, made


def restored(
    sent: Sequence[Mapping[str, Any]],
    came: Written,
    of_text: Callable[[str], Any],
    of_result: Callable[[Any, str], Any],
    *,
    joined: frozenset[str] = frozenset({"tool"}),
) -> list[Restored]:
    """Give the messages to send, without those of the system.

    Args:
        of_text: makes a part of a text.
        of_result: makes the result that came with another text.
        joined: roles whose messages become one where they follow each other.
    """
    known = {name: part.whole for message, parts in came for part in parts for name in _names(message, part)}
    messages: list[Restored] = []
    for message, parts in matched((message for message in sent if message["role"] != "system"), came):
        own = [part.whole for part in parts] if parts else _made(message, known, of_text, of_result)
        made = 0 if parts else len(own)
        if messages and {messages[-1].role, message["role"]} <= joined:
            messages[-1].parts += own
            messages[-1].made = messages[-1].made + made if made else 0
        else:
            messages.append(Restored(message["role"], own, made))
    return messages


def _names(message: Mapping[str, Any], part: Part) -> Iterator[str]:
    """Name a part that a message which the window made may show again."""
    if part.call:
        yield f"call {part.call[0]}"
    elif part.result:
        yield f"result {part.result['tool_call_id']}"
    elif message["role"] != "assistant":
        yield as_key(part.item)


def _made(message: Mapping[str, Any], known: Mapping[str, Any], of_text: Callable[[str], Any],
          of_result: Callable[[Any, str], Any]) -> list[Any]:  # fmt: skip
    """Write a message that the window made as parts, with those that came."""
    content = message.get("content") or ""
    if message["role"] == "tool":
        return [of_result(known[f"result {message['tool_call_id']}"], content)]
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [known.get(as_key(piece)) or of_text(piece.get("text", "")) for piece in pieces if content]
    return [*texts, *(known[f"call {name}"] for name, _, _ in calls_of(message))]


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
    """Give the text of the newest message of the user's own; empty without one."""
    own = (message for message in reversed(messages) if message.get("role") == "user" and "origin" not in message)
    return next(map(text_of, own), "")


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
