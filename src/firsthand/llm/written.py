"""Tool calls as text, for a model that was not taught to call tools.

`told` rewrites messages so that any chat template takes them: the tools stand in
the system text, calls and results in the words of messages. `grammar` admits a call
of one of the tools and nothing else, from their own JSON schemas. The invariant:
what the grammar admits, `read` reads back. It knows no model and no tool by name;
what a good call looks like is shown by the caller's own examples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.llm.port import ToolCall
from firsthand.value import value

OPEN, CLOSE = "<tool_call>", "</tool_call>"
ARGUMENT_CHARACTERS_MAX = 200  # of a text whose schema has no limit: a small model may not find its end
DESCRIPTION_CHARACTERS_MAX = 160

_HOW = f"""To call a tool, reply with nothing but a call, such as
{OPEN}{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}{CLOSE}
Tools:
"""
_SPELLING = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@value
class CallExample:
    """A user message and the call that answers it well: what a small model imitates better than a description."""

    message: str
    tool: str
    arguments: Mapping[str, Any]


def told(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    examples: Sequence[CallExample] = (),
) -> list[dict[str, str]]:
    """Write messages of OpenAI chat shape as system, user and assistant texts.

    Calls are written where tools are offered; where there are none to call, a small model would repeat
    them, and only their results stand there.

    Args:
        examples: shown before the newest user message, as far as their tools are there: what stands last is
            imitated most.

    Raises:
        InvalidArgument: a message holds what is no text, such as an image.
    """
    plain: list[dict[str, str]] = []
    names: dict[str, str] = {}
    for message in messages:
        role, text = str(message["role"]), _text(message.get("content"))
        calls = [call for call in message.get("tool_calls") or () if call.get("function")]
        names |= {str(call.get("id")): str(call["function"].get("name")) for call in calls}
        if calls and tools:
            text = "\n".join([*([text] if text else []), *map(_call, calls)])
        elif calls and not text:
            continue
        if role in {"tool", "function"}:
            name = names.get(str(message.get("tool_call_id")), str(message.get("name") or "the tool"))
            role, text = "user", f"Result of {name}:\n{text}"
        role = {"developer": "system"}.get(role, role)
        if plain and plain[-1]["role"] == role:  # templates want the roles to alternate
            plain[-1]["content"] += f"\n\n{text}"
        else:
            plain.append({"role": role, "content": text})
    if tools:
        names_offered = {tool["function"]["name"] for tool in tools}
        listed = _HOW + "\n".join(_signature(tool["function"]) for tool in tools)
        if plain[0]["role"] == "system":
            plain[0]["content"] += f"\n\n{listed}"
        else:
            plain.insert(0, {"role": "system", "content": listed})
        newest = max((at for at, turn in enumerate(plain) if turn["role"] == "user"), default=len(plain))
        plain[newest:newest] = [turn for one in examples if one.tool in names_offered for turn in _example(one)]
    return [{**message, "content": _sayable(message["content"])} for message in plain]


def grammar(tools: Sequence[Mapping[str, Any]]) -> str:
    """Write the grammar (of llguidance) of one call of one of the tools, with the arguments that it must have.

    Those that it may have are left out: a small model fills in all that it can.
    """
    shapes = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["function"]["name"]}, "arguments": _bounded(_needed(tool))},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    body = json.dumps({"x-guidance": _SPELLING, "anyOf": shapes})
    return f'%llguidance {{}}\nstart: "{OPEN}" call "{CLOSE}"\ncall: %json {body}\n'


def read(text: str, identifier: str) -> tuple[ToolCall, ...]:
    """Read the call that a reply is; empty when the reply is no whole call, and so to be taken as words.

    Args:
        identifier: of the call.
    """
    inner = text.strip()
    if not (inner.startswith(OPEN) and inner.endswith(CLOSE)):
        return ()
    try:
        held = json.loads(inner.removeprefix(OPEN).removesuffix(CLOSE))
    except (ValueError, RecursionError):  # words in the clothes of a call
        return ()
    if not isinstance(held, dict) or not isinstance(held.get("name"), str):
        return ()
    return (ToolCall(identifier, held["name"], json.dumps(held.get("arguments", {}), ensure_ascii=False)),)


def is_begun(text: str) -> bool:
    """Say whether a text is a call, or one that was cut, as far as its beginning shows."""
    return text[: len(OPEN)] == OPEN[: len(text)] != ""


def is_answered(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether a tool result stands behind the newest user message."""
    roles = [message["role"] for message in messages]
    return "tool" in roles[len(roles) - roles[::-1].index("user") :] if "user" in roles else "tool" in roles


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise InvalidArgument(f"this model reads text only; got {part!r:.80}; leave it out or describe it")
    return "\n".join(part["text"] for part in parts)


def _call(call: Mapping[str, Any]) -> str:
    function = call["function"]
    return (
        f'{OPEN}{{"name": {json.dumps(function.get("name"))}, "arguments": {function.get("arguments") or "{}"}}}{CLOSE}'
    )


def _example(example: CallExample) -> tuple[dict[str, str], ...]:
    call = {"function": {"name": example.tool, "arguments": json.dumps(dict(example.arguments), ensure_ascii=False)}}
    return {"role": "user", "content": example.message}, {"role": "assistant", "content": _call(call)}


def _signature(function: Mapping[str, Any]) -> str:
    """Write a tool in one line: a small model follows this better than its JSON schema, in a fifth of the tokens."""
    schema = function.get("parameters") or {}
    needed = set(schema.get("required") or ())
    arguments = ", ".join(
        f"{name}{'' if name in needed else '?'}: {held.get('type', 'any')}"
        for name, held in (schema.get("properties") or {}).items()
    )
    description = " ".join(str(function.get("description") or "").split())
    short = description[:DESCRIPTION_CHARACTERS_MAX]
    return f"{function['name']}({arguments}){f' - {short}' if short else ''}"


def _needed(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Give the schema of a tool's arguments without those that it may do without."""
    schema = dict(tool["function"].get("parameters") or {})
    needed = schema.get("required") or []
    held = schema.get("properties") or {}
    return schema | {
        "type": "object",
        "properties": {name: held.get(name, {}) for name in needed},
        "required": needed,
        "additionalProperties": False,
    }


def _bounded(schema: Any) -> Any:
    """Give every text of a schema a greatest length."""
    if isinstance(schema, list):
        return [_bounded(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    limit = {"maxLength": ARGUMENT_CHARACTERS_MAX} if schema.get("type") == "string" and "enum" not in schema else {}
    return limit | {name: _bounded(one) for name, one in schema.items()}


def _sayable(text: str) -> str:
    """Write U+FFFD for what the tokenizer cannot take: NUL, which would end the prompt, and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
