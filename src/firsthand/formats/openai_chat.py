"""Messages of OpenAI chat completions, and of all who speak like it, to records and back.

The invariant: ``message_from(record.drafts[0].envelope, contents)`` equals the
message, whatever fields it has: tool calls and the older function call, refusal,
audio, names, and reasoning as other servers add it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.event import Draft
from firsthand.formats.canonical import message_from
from firsthand.formats.fields import items, mapping
from firsthand.formats.parts import THOUGHT, Calls, Parts, Speaker, reader, speaker

__all__ = ["drafts", "message_from", "to_records"]


def drafts(message: Mapping[str, Any], raw: bytes, calls: Calls) -> list[Draft]:
    """Draft the events of a message that stands in ``raw``; never empty."""
    who = speaker(message.get("role"), message.get("origin"))
    parts = Parts(raw, calls)
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        identifier = message.get("tool_call_id") or message.get("name")
        parts.result(identifier, "" if content is None else content, "content", tool=message.get("name"))
        return parts.done(who)
    for field in ("reasoning_content", "reasoning"):
        if isinstance(message.get(field), str) and message[field]:
            parts.say(THOUGHT, message[field])
    name = message.get("name")
    for block in content if isinstance(content, list) else [content] if content else ():
        _block(parts, who, block, name)
    if message.get("refusal"):
        parts.say(who, message["refusal"], refusal=True)
    _audio(parts, who, mapping(message.get("audio")))
    _calls(parts, message)
    return parts.done(who)


def _block(parts: Parts, who: Speaker, block: object, name: object) -> None:
    fields = mapping(block)
    if isinstance(block, str):
        parts.say(who, block, name=name)
    elif fields.get("type") in ("text", "input_text", "output_text") and isinstance(fields.get("text"), str):
        parts.say(who, fields["text"], name=name)
    elif fields.get("type") == "refusal" and isinstance(fields.get("refusal"), str):
        parts.say(who, fields["refusal"], name=name, refusal=True)
    elif not parts.attach(who, block):
        parts.other(who, block)


def _audio(parts: Parts, who: Speaker, audio: Mapping[str, Any]) -> None:
    """Draft what the model spoke: its transcript as its words, its sound as a file."""
    if isinstance(audio.get("transcript"), str):
        parts.say(who, audio["transcript"], audio_id=audio.get("id"))
    if audio.get("data"):
        parts.attach(who, {"type": "audio", "data": audio["data"]})


def _calls(parts: Parts, message: Mapping[str, Any]) -> None:
    legacy = mapping(message.get("function_call"))
    if legacy:
        parts.call(legacy.get("name"), legacy.get("name"), legacy.get("arguments"), "arguments")
    for call in items(message.get("tool_calls")):
        fields = mapping(call)
        function = mapping(fields.get("function")) or mapping(fields.get("custom"))
        if function:
            arguments = function["input"] if "input" in function else function.get("arguments")
            parts.call(fields.get("id"), function.get("name"), arguments, "arguments", "input")
        else:
            parts.other(speaker("assistant"), call)


to_records = reader(drafts)
