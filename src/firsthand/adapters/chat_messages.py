"""Messages of a framework as openai-chat has them, and back: each is a role and the parts that it is made of.

    written    a message of a framework's as the log has it, with the parts that it was written from
    restored   what is to be sent as parts: those that came, and what the window made

The invariant: what came is given at most once, for a message that is sent as it came.
"""

from __future__ import annotations

import json
from collections import Counter, deque
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
    of_result: Callable[[Any, str, str, str], Any],
    renamed: Callable[[Any, str], Any],
    *,
    joined: frozenset[str] = frozenset({"tool"}),
) -> list[Restored]:
    """Give the messages to send, without those of the system.

    Args:
        of_text: makes a part of a text.
        of_result: makes a result of the one that came, None where none did, its call's id and tool, and a text.
        renamed: makes a call or a result that came with another id.
        joined: roles whose messages become one where they follow each other.
    """
    known = {name: part.whole for message, parts in came for part in parts for name in _names(message, part)}
    counts = Counter(part.result["tool_call_id"] for _, parts in came for part in parts if part.result)
    known |= {f"result {name}": None for name, count in counts.items() if count > 1}  # which of them nobody can say
    tools = {identifier: name for message in sent for identifier, name, _ in calls_of(message)}
    messages: list[Restored] = []
    for message, parts in _matched([message for message in sent if message["role"] != "system"], came):
        if parts:
            own = _under_ids(message, parts, renamed)
        elif message["role"] == "tool":
            name = message["tool_call_id"]
            own = [of_result(known.get(f"result {name}"), name, tools[name], message["content"])]
        else:
            own = _made(message, known, of_text, renamed)
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
        yield f"call {as_key({'call': part.call[1:]})}"
        yield f"call {as_key({'call': part.call})}"
    elif part.result:
        yield f"result {part.result['tool_call_id']}"
    elif message["role"] != "assistant":
        yield as_key(part.item)


def _matched(sent: Sequence[Mapping[str, Any]], came: Written) -> Iterator[tuple[Mapping[str, Any], list[Part] | None]]:
    """Do what `matched` does; what was given another id alone is matched, too, behind all that was not."""
    exact = [*matched(sent, came)]
    there = {id(parts) for _, parts in exact}
    others = [(_without_ids(message), parts) for message, parts in came if id(parts) not in there]
    rest = matched((_without_ids(message) for message, parts in exact if parts is None), others)
    for message, parts in exact:
        yield message, next(rest)[1] if parts is None else parts


def _without_ids(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [call[1:] for call in calls_of(message)]
    return {**message, "tool_call_id": None, "tool_calls": calls}


def _under_ids(message: Mapping[str, Any], parts: Sequence[Part], renamed: Callable[[Any, str], Any]) -> list[Any]:
    """Give the parts that came under the ids that a message has."""
    ids = iter([call[0] for call in calls_of(message)] or [message.get("tool_call_id", "")])
    own: list[Any] = []
    for part in parts:
        before = part.call[0] if part.call else part.result["tool_call_id"] if part.result else ""
        after = next(ids) if part.call or part.result else before
        own.append(part.whole if after == before else renamed(part.whole, after))
    return own


def _made(message: Mapping[str, Any], known: Mapping[str, Any], of_text: Callable[[str], Any],
          renamed: Callable[[Any, str], Any]) -> list[Any]:  # fmt: skip
    """Write a message that the window made, which is no result, as parts, with those that came."""
    content = message.get("content") or ""
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [known.get(as_key(piece)) or of_text(piece.get("text", "")) for piece in pieces if content]
    return [*texts, *(_call(call, known, renamed) for call in calls_of(message))]


def _call(call: tuple[str, str, str], known: Mapping[str, Any], renamed: Callable[[Any, str], Any]) -> Any:
    if whole := known.get(f"call {as_key({'call': call})}"):
        return whole
    whole = known.get(f"call {as_key({'call': call[1:]})}")
    return renamed(known[f"call {call[0]}"] if whole is None else whole, call[0])


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
    """Write a message so that equal ones are written equal, whoever said them."""
    return json.dumps({name: part for name, part in message.items() if name != "origin"}, sort_keys=True, default=repr)


def text_of(message: Mapping[str, Any]) -> str:
    """Give the text of a message, whose content is a text or a list of parts."""
    content = message.get("content") or "" if isinstance(message, Mapping) else ""
    parts = [content] if isinstance(content, str) else content
    texts = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def newest(messages: Sequence[Mapping[str, Any]]) -> str:
    """Give the text of the user's newest message, or of the newest one in the user's role where none is the user's."""
    asked = [message for message in messages if isinstance(message, Mapping) and message.get("role") == "user"]
    own = [message for message in asked if "origin" not in message]
    return text_of((own or asked or [{}])[-1])


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
