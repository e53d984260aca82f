"""Tools in the shape of each provider: their schemas, the calls a model made, the messages that answer them.

The invariant: every call that stands in a reply is found, and one that cannot be
read says why in ``fault``; it is never left out, since a provider refuses a reply
whose calls are not all answered. This module runs no tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.errors import FormatError
from firsthand.formats.fields import items, mapping, text
from firsthand.value import value

RECALL, EXPAND, TASK, DECIDE = "recall", "expand", "task", "decide"
"""Names of Firsthand's own tools."""
_OWN_CALLS = frozenset({RECALL, EXPAND, DECIDE})
_SERVED = "firsthand"  # in the names that hosts give to the tools of an MCP server: mcp__firsthand__recall
ARGUMENTS_SHOWN_MAX = 120  # characters of malformed arguments in a fault
_NO_OUTPUT = "[no output]"


@value
class Tool:
    """One tool that a model may call.

    Attributes:
        name: letters, digits, ``_`` and ``-``, at most 64, as all providers take it.
        description: when to call it; the model reads it.
        parameters: JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@value
class Call:
    """One call that a model made.

    Attributes:
        id: joins it to its result.
        arguments: None when they are no JSON object; ``fault`` then says what they are.
        fault: empty when the call can be read.
        custom: of a tool with free text as input; its result has another shape in some formats.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None
    fault: str = ""
    custom: bool = False


@value
class Result:
    """The answer to one call."""

    call: Call
    text: str
    is_error: bool = False


def schemas(tools: Sequence[Tool], format: str) -> list[dict[str, Any]]:  # noqa: A002 - the word of the house
    """Write tools as a provider takes them.

    Raises:
        FormatError: there is no such format.
    """
    formats.named(format)
    match format:
        case formats.ANTHROPIC:
            return [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in tools
            ]
        case formats.OPENAI_RESPONSES:
            return [{"type": "function", **_function(tool), "strict": False} for tool in tools]
        case _:
            return [{"type": "function", "function": _function(tool)} for tool in tools]


def calls(message: object, format: str) -> tuple[Call, ...]:  # noqa: A002
    """Find the tool calls in a model's reply, in order.

    Args:
        message: the reply: an object or a list of blocks or items, or a provider's own type of one
            (anything with ``model_dump``); of OpenAI chat the message, of the others also the whole response.
        format: of the reply.

    Raises:
        FormatError: it is no reply of this format.
    """
    members = plain(message)
    formats.named(format)
    match format:
        case formats.ANTHROPIC:
            blocks = members if isinstance(members, list) else items(_reply(members, "content").get("content"))
            return tuple(
                _anthropic(block) for each in blocks if (block := mapping(plain(each))).get("type") == "tool_use"
            )
        case formats.OPENAI_RESPONSES:
            listed = (
                members
                if isinstance(members, list)
                else items(members.get("output"))
                if "output" in members
                else [members]
            )
            return tuple(
                _responses(item)
                for each in listed
                if (item := mapping(plain(each))).get("type") in ("function_call", "custom_tool_call")
            )
        case _:
            if isinstance(members, list):
                raise FormatError("expected one message of OpenAI chat; got a list; pass response.choices[0].message")
            reply = _reply(members, "role")
            return tuple(_chat(mapping(plain(each))) for each in items(reply.get("tool_calls")))


def results(answers: Iterable[Result], format: str) -> list[dict[str, Any]]:  # noqa: A002
    """Write the messages that answer calls: one for all in Anthropic's format, else one each.

    Raises:
        FormatError: there is no such format.
    """
    replies = list(answers)
    formats.named(format)
    match format:
        case formats.ANTHROPIC:
            return [{"role": "user", "content": [_tool_result(answer) for answer in replies]}] if replies else []
        case formats.OPENAI_RESPONSES:
            return [
                {
                    "type": "custom_tool_call_output" if answer.call.custom else "function_call_output",
                    "call_id": answer.call.id,
                    "output": answer.text or _NO_OUTPUT,
                }
                for answer in replies
            ]
        case _:
            return [
                {"role": "tool", "tool_call_id": answer.call.id, "content": answer.text or _NO_OUTPUT}
                for answer in replies
            ]


def plain(reply: object) -> Any:
    """Give a reply as JSON values; a provider's own type as what it holds.

    Raises:
        FormatError: it is neither a list, nor an object, nor has ``model_dump``.
    """
    dump_model = getattr(reply, "model_dump", None)
    if callable(dump_model):
        return dump_model(mode="json", exclude_unset=True)
    if isinstance(reply, (list, tuple)):
        return list(reply)
    if isinstance(reply, Mapping):
        return reply
    raise FormatError(
        f"expected a model's reply as an object, a list or a provider's own type; got {type(reply).__name__}; "
        "convert it to a dict"
    )


def arguments_of(written: object) -> tuple[dict[str, Any] | None, str]:
    """Read a call's arguments: the object, or None and why it is none. None and empty text mean no arguments."""
    if written is None or written == "":
        return {}, ""
    if isinstance(written, Mapping):
        return dict(written), ""
    if not isinstance(written, str):
        return None, f"arguments are a JSON object; got {type(written).__name__}; call again with an object"
    try:
        read = json.loads(written, strict=False)  # models write line ends into strings as they are
    except (ValueError, RecursionError) as error:
        excerpt = written[:ARGUMENTS_SHOWN_MAX]
        return (
            None,
            f"arguments are a JSON object; got {excerpt!r}, which is no JSON ({error}); call again with an object",
        )
    if not isinstance(read, dict):
        return None, f"arguments are a JSON object; got {written[:ARGUMENTS_SHOWN_MAX]!r}; call again with an object"
    return read, ""


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _reply(message: Any, needed: str) -> Mapping[str, Any]:
    reply = mapping(message)
    if needed in reply:
        return reply
    hint = "; pass response.choices[0].message" if "choices" in reply else ""
    raise FormatError(f"expected a model's message with {needed!r}; got an object with {sorted(reply)[:8]}{hint}")


def _call(identifier: object, name: object, written: object) -> Call:
    arguments, fault = arguments_of(written)
    return Call(text(identifier), text(name), arguments, fault)


def _anthropic(block: Mapping[str, Any]) -> Call:
    return _call(block.get("id"), block.get("name"), block.get("input"))


def _responses(item: Mapping[str, Any]) -> Call:
    if item["type"] == "custom_tool_call":
        return _free(item.get("call_id"), item.get("name"), item.get("input"))
    return _call(item.get("call_id"), item.get("name"), item.get("arguments"))


def _chat(call: Mapping[str, Any]) -> Call:
    custom = mapping(call.get("custom"))
    if custom:
        return _free(call.get("id"), custom.get("name"), custom.get("input"))
    function = mapping(call.get("function"))
    return _call(call.get("id"), function.get("name"), function.get("arguments"))


def _free(identifier: object, name: object, written: object) -> Call:
    """Read a call of a custom tool, whose input is free text."""
    return Call(text(identifier), text(name), {"input": text(written)}, custom=True)


def _tool_result(result: Result) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.call.id, "content": result.text or _NO_OUTPUT}
    return {**block, "is_error": True} if result.is_error else block


def is_own(tool: object) -> bool:
    """Say whether a tool is memory's own, by the name that a host calls it: its call only repeats other words."""
    if not isinstance(tool, str):
        return False
    return tool in _OWN_CALLS or (_SERVED in tool and tool.rpartition("_")[2] in _OWN_CALLS)
