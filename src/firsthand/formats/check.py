"""Says what a provider would refuse in a request's body, in sentences.

Written from the providers' contracts, not from `compose`: each is a check of the
other. The invariant: no fault means that no rule named here is broken, among them
those of strict chat templates (one system message, first a user, roles in turns),
which refuse what OpenAI itself lets pass. It knows nothing of windows or events.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from firsthand import formats
from firsthand.formats.fields import mapping, text

FAULTS_MAX = 100
BREAKPOINTS_MAX = 4
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ANTHROPIC_ID = re.compile(r"[A-Za-z0-9_-]+")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_CHAT_PARTS = {
    "system": ("text",), "developer": ("text",), "tool": ("text",), "assistant": ("text", "refusal"),
    "user": ("text", "image_url", "input_audio", "file"),
}  # fmt: skip
_RESPONSES_PARTS = {
    "system": ("input_text",), "developer": ("input_text",), "assistant": ("output_text", "refusal"),
    "user": ("input_text", "input_image", "input_file", "input_audio"),
}  # fmt: skip
_ANTHROPIC_PARTS = {
    "user": ("text", "image", "document", "search_result", "container_upload", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "compaction"),
}
_BY_THE_CALLER = ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")


def faults(body: Mapping[str, Any], format: str) -> tuple[str, ...]:  # noqa: A002 - the word of the house
    """Name what a provider would refuse; empty when nothing is found, at most `FAULTS_MAX`.

    Raises:
        FormatError: there is no such format.
    """
    formats.named(format)
    rules = {formats.OPENAI_CHAT: _chat, formats.ANTHROPIC: _anthropic, formats.OPENAI_RESPONSES: _responses}[format]
    key = "input" if format == formats.OPENAI_RESPONSES else "messages"
    return tuple(islice(_faults(body, key, rules), FAULTS_MAX))


def _faults(body: Mapping[str, Any], key: str, rules: Any) -> Iterator[str]:
    messages = body.get(key)
    if not isinstance(messages, list) or not messages:
        yield f"{key} is no list with at least one member"
        return
    if not all(isinstance(message, Mapping) for message in messages):
        yield f"a member of {key} is no object"
        return
    written = json.dumps(body, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError as error:
        yield f"a lone surrogate, which has no UTF-8, stands at character {error.start} of the body's JSON"
    if _NUL.search(written):
        yield "a NUL stands in the body"
    names = [text(tool.get("name") or mapping(tool.get("function")).get("name")) for tool in body.get("tools", ())]
    for name, times in Counter(names).items():
        if times > 1 and name:
            yield f"{times} tools have the name {name!r}"
    yield from rules(messages, body)


# openai-chat -------------------------------------------------------------------------------------


def _chat(messages: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG001 - one shape of rules
    expected: deque[object] = deque()
    seen: set[str] = set()
    before = ""
    for number, message in enumerate(messages):
        place, role = f"messages[{number}]", text(message.get("role"))
        if role == "tool":
            wanted = expected.popleft() if expected else None
            if wanted is None or wanted != message.get("tool_call_id"):
                yield f"{place} answers the call {message.get('tool_call_id')!r}; expected {wanted!r}"
        elif expected:
            yield f"{place} stands where the results of {len(expected)} calls are expected, first {expected[0]!r}"
            expected.clear()
        yield from _turn_of(place, role, before)
        yield from _chat_content(place, role, message)
        if message.get("tool_calls") is not None:
            yield from _chat_calls(place, role, message["tool_calls"], seen)
            expected.extend(mapping(call).get("id") for call in message["tool_calls"])
        before = role
    if expected:
        yield f"messages end before the results of {len(expected)} calls, first {expected[0]!r}"
    if before in ("system", "developer"):
        yield "messages hold nothing beside the system's"


def _turn_of(place: str, role: str, before: str) -> Iterator[str]:
    if role not in _CHAT_PARTS:
        yield f"{place} has the role {role!r}; expected one of {', '.join(_CHAT_PARTS)}"
    if role in ("system", "developer") and before:
        yield f"{place} is a system message behind the first place"
    if role == before and role in ("user", "assistant"):
        yield f"{place} is a second message of the {role} in a row"
    if role == "assistant" and before in ("", "system", "developer"):
        yield f"{place} is the agent's, with no user's before it"


def _chat_content(place: str, role: str, message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if content is None and role == "assistant":
        if not (message.get("tool_calls") or message.get("refusal") or message.get("audio")):
            yield f"{place} has neither content nor calls"
        return
    yield from _content(place, content, _CHAT_PARTS.get(role, ()))


def _content(place: str, content: object, allowed: Sequence[str]) -> Iterator[str]:
    """Check a text, or a list of parts, in the shapes of OpenAI."""
    if isinstance(content, str):
        if not content.strip():
            yield f"{place} has an empty text"
    elif not isinstance(content, list) or not content:
        yield f"{place} has no content"
    else:
        for number, part in enumerate(content):
            kind = mapping(part).get("type")
            if kind not in allowed:
                yield f"{place}.content[{number}] has the type {kind!r}; expected one of {', '.join(allowed)}"
            elif kind in ("text", "input_text", "output_text", "refusal"):
                words = part.get("refusal" if kind == "refusal" else "text")
                if not text(words).strip():
                    yield f"{place}.content[{number}] has an empty text"
            elif kind in ("image_url", "input_audio", "file") and not mapping(part.get(kind)):
                yield f"{place}.content[{number}] has no {kind}"


def _chat_calls(place: str, role: str, calls: object, seen: set[str]) -> Iterator[str]:
    if role != "assistant" or not isinstance(calls, list) or not calls:
        yield f"{place}.tool_calls is no list of calls of the agent"
        return
    for number, call in enumerate(calls):
        where = f"{place}.tool_calls[{number}]"
        yield from _new_id(where, mapping(call).get("id"), seen)
        kind = mapping(call).get("type")
        function = mapping(mapping(call).get(text(kind)))
        yield from _name(where, function.get("name"))
        if kind == "function":
            yield from _arguments(where, function.get("arguments"))
        elif kind != "custom" or not isinstance(function.get("input"), str):
            yield f"{where} is neither of a function nor of a custom tool with a text as input"


def _new_id(where: str, identifier: object, seen: set[str]) -> Iterator[str]:
    if not isinstance(identifier, str) or not identifier:
        yield f"{where} has no id"
    elif identifier in seen:
        yield f"{where} has the id {identifier!r} of another call"
    else:
        seen.add(identifier)


def _name(where: str, name: object) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"{where} names a tool {name!r}; expected 1 to 64 letters, digits, _ and -"


def _arguments(where: str, written: object) -> Iterator[str]:
    try:
        is_object = isinstance(written, str) and isinstance(json.loads(written), dict)
    except ValueError:
        is_object = False
    if not is_object:
        yield f"{where} has arguments that are no JSON object in a text"


# anthropic ---------------------------------------------------------------------------------------


def _anthropic(messages: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> Iterator[str]:
    yield from _anthropic_system(body.get("system", "kept apart"))
    count = sum(map(_breakpoints, (body.get("tools"), body.get("system"), messages)))
    if count > BREAKPOINTS_MAX:
        yield f"{count} cache breakpoints; expected at most {BREAKPOINTS_MAX}"
    if messages[0].get("role") != "user":
        yield "messages[0] is not the user's"
    for number, (earlier, other) in enumerate(pairwise(messages)):
        if earlier.get("role") == other.get("role"):
            yield f"messages[{number + 1}] is a second message of the {earlier.get('role')} in a row"
    seen: set[str] = set()
    asked: list[object] = []
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        yield from _answers(place, blocks, asked)
        yield from _anthropic_content(place, message, seen)
        asked = [block.get("id") for block in map(mapping, blocks) if block.get("type") == "tool_use"]
    if asked:
        yield f"messages end before the results of {len(asked)} calls, first {asked[0]!r}"
    yield from _anthropic_end(messages[-1])


def _anthropic_system(system: object) -> Iterator[str]:
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    if not isinstance(blocks, list) or not blocks:
        yield "system is neither a text nor a list with at least one text"
        return
    for number, block in enumerate(blocks):
        if mapping(block).get("type") != "text" or not text(mapping(block).get("text")).strip():
            yield f"system[{number}] is no text, or an empty one"


def _breakpoints(value: object) -> int:
    if isinstance(value, Mapping):
        own = value.get("cache_control") is not None
        return own + sum(_breakpoints(value.get(name)) for name in ("content",))
    return sum(map(_breakpoints, value)) if isinstance(value, (list, tuple)) else 0


def _answers(place: str, blocks: Sequence[Any], asked: Sequence[object]) -> Iterator[str]:
    """Check that a message begins with exactly one result of each call in the one before."""
    results = [mapping(block).get("tool_use_id") for block in blocks if mapping(block).get("type") == "tool_result"]
    front = [mapping(block).get("tool_use_id") for block in blocks[: len(asked)]]
    if sorted(map(str, results)) != sorted(map(str, asked)):
        yield f"{place} has results of {_few(results)}; the message before calls {_few(asked)}"
    elif sorted(map(str, front)) != sorted(map(str, asked)):
        yield f"{place} has other blocks before the results of the calls in the message before"


def _few(ids: Sequence[object]) -> str:
    return f"{len(ids)} calls, first {ids[0]!r}" if ids else "no call"


def _anthropic_content(place: str, message: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    role, content = text(message.get("role")), message.get("content")
    if message.keys() - {"role", "content"}:
        yield f"{place} has fields beside role and content: {sorted(message.keys() - {'role', 'content'})}"
    if role not in _ANTHROPIC_PARTS:
        yield f"{place} has the role {role!r}; expected user or assistant"
        return
    if isinstance(content, str) or not content:
        if not text(content).strip():
            yield f"{place} has no content"
        return
    for number, block in enumerate(content):
        yield from _anthropic_block(f"{place}.content[{number}]", role, mapping(block), seen)
    if mapping(content[-1]).get("type") in ("thinking", "redacted_thinking"):
        yield f"{place} ends with a thought"


def _anthropic_block(where: str, role: str, block: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    kind = text(block.get("type"))
    if kind not in _ANTHROPIC_PARTS[role] and not (role == "assistant" and kind.endswith("_tool_result")):
        yield f"{where} has the type {kind!r}, which the {role} cannot have"
    if kind in ("thinking", "redacted_thinking"):
        if block.get("cache_control") is not None:
            yield f"{where} is a thought with a cache breakpoint"
        if not text(block.get("signature" if kind == "thinking" else "data")):
            yield f"{where} is a thought without its signature"
    elif kind == "text" and not text(block.get("text")).strip():
        yield f"{where} has an empty text"
    elif kind == "tool_use":
        yield from _new_id(where, block.get("id"), seen)
        yield from _name(where, block.get("name"))
        if not _ANTHROPIC_ID.fullmatch(text(block.get("id"))):
            yield f"{where} has the id {block.get('id')!r}; expected letters, digits, _ and -"
        if not isinstance(block.get("input"), Mapping):
            yield f"{where} has an input that is no object"
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for number, inner in enumerate(block["content"]):
            yield from _anthropic_block(f"{where}.content[{number}]", "user", mapping(inner), seen)
    elif kind in ("image", "document"):
        yield from _anthropic_file(where, mapping(block.get("source")))


def _anthropic_file(where: str, source: Mapping[str, Any]) -> Iterator[str]:
    kind = source.get("type")
    if kind not in ("base64", "url", "file", "text", "content"):
        yield f"{where} has no source that the provider knows"
    if kind == "base64":
        try:
            base64.b64decode(text(source.get("data")), validate=True)
        except (binascii.Error, ValueError):
            yield f"{where} has data that is no base64"
        if source.get("media_type") not in (*_IMAGES, "application/pdf"):
            yield f"{where} has the media type {source.get('media_type')!r}"


def _anthropic_end(last: Mapping[str, Any]) -> Iterator[str]:
    if last.get("role") == "assistant":
        content = last.get("content")
        block = mapping(content[-1]) if isinstance(content, list) and content else {"text": content}
        words = text(block.get("text"))
        if words != words.rstrip():
            yield "the last message is the agent's and ends with space"


# openai-responses --------------------------------------------------------------------------------


def _responses(items: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG001 - one shape of rules
    called: dict[object, str] = {}
    seen: set[str] = set()
    for number, item in enumerate(items):
        place, kind = f"input[{number}]", text(item.get("type"))
        tool = kind.removesuffix("_output").removesuffix("_call")
        if "role" in item:
            role = text(item.get("role"))
            if role not in _RESPONSES_PARTS:
                yield f"{place} has the role {role!r}; expected one of {', '.join(_RESPONSES_PARTS)}"
            yield from _content(place, item.get("content"), _RESPONSES_PARTS.get(role, ()))
        elif tool in _BY_THE_CALLER and kind.endswith("_output"):
            yield from _output(place, item, called.pop(item.get("call_id"), ""))
        elif tool in _BY_THE_CALLER:
            yield from _new_id(place, item.get("call_id"), seen)
            called[item.get("call_id")] = kind
            if kind == "function_call":
                yield from _name(place, item.get("name"))
                yield from _arguments(place, item.get("arguments"))
        elif kind == "reasoning":
            following = items[number + 1] if number + 1 < len(items) else {}
            if not _is_of_the_agent(following):
                yield f"{place} is a reasoning item without the item that it led to"
        elif not (kind.endswith("_call") or kind in ("compaction", "mcp_list_tools", "item_reference")):
            yield f"{place} has the type {kind!r}"
    for identifier in called:
        yield f"the call {identifier!r} has no output"


def _output(place: str, item: Mapping[str, Any], call: str) -> Iterator[str]:
    if item.get("type") != f"{call}_output":
        yield f"{place} answers the call {item.get('call_id')!r}; no such call of its type is open before it"
    if item.get("type") in ("function_call_output", "custom_tool_call_output"):
        yield from _content(place, item.get("output"), _RESPONSES_PARTS["user"])


def _is_of_the_agent(item: Mapping[str, Any]) -> bool:
    if "role" in item:
        return text(item["role"]) == "assistant"
    kind = text(item.get("type"))
    return kind == "reasoning" or kind.endswith("_call")
