"""Items of the OpenAI Responses API, input and output alike, to records and back.

The invariant: ``message_from(record.drafts[0].envelope, contents)`` equals the
item, whatever type it has: encrypted reasoning, compaction items, calls of tools
that OpenAI runs itself, and items not known yet go back as they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.event import Draft
from firsthand.formats.canonical import message_from
from firsthand.formats.fields import items, mapping, text
from firsthand.formats.parts import AGENT, DIGEST, THOUGHT, Calls, Parts, Speaker, reader, speaker

__all__ = ["drafts", "message_from", "to_records"]

_ARGUMENTS = ("arguments", "input", "code", "action", "operation", "queries")
_OUTPUTS = ("output", "outputs", "results", "error", "tools")


def drafts(item: Mapping[str, Any], raw: bytes, calls: Calls) -> list[Draft]:
    """Draft the events of an item that stands in ``raw``; never empty."""
    parts = Parts(raw, calls)
    kind = text(item.get("type"))
    who = speaker(item["role"], item.get("origin")) if "role" in item else AGENT
    if "role" in item and kind in ("", "message"):
        _message(parts, who, item.get("content"))
    elif kind == "reasoning":
        _reasoning(parts, item)
    elif kind.startswith("compaction") and isinstance(item.get("encrypted_content"), str):
        parts.seal(DIGEST, item["encrypted_content"], encrypted=True)
    elif kind.endswith("_output"):
        parts.result(item.get("call_id"), item.get("output", ""), "output", is_error=item.get("error"))
    elif kind.endswith("_call"):
        _call(parts, item, kind)
    else:
        parts.other(who, item)
    return parts.done(who)


def _message(parts: Parts, who: Speaker, content: object) -> None:
    for block in content if isinstance(content, list) else [content] if content else ():
        fields = mapping(block)
        if isinstance(block, str):
            parts.say(who, block)
        elif isinstance(fields.get("text"), str):
            parts.say(who, fields["text"])
        elif isinstance(fields.get("refusal"), str):
            parts.say(who, fields["refusal"], refusal=True)
        elif not parts.attach(who, block):
            parts.other(who, block)


def _reasoning(parts: Parts, item: Mapping[str, Any]) -> None:
    """Draft each readable thought; an item with none is drafted sealed."""
    for field in ("summary", "content"):
        for block in items(item.get(field)):
            words = mapping(block).get("text")
            if isinstance(words, str):
                parts.say(THOUGHT, words, summary=field == "summary" or None)
            else:
                parts.other(THOUGHT, block)
    if not parts.drafts:
        sealed = item.get("encrypted_content")
        parts.seal(THOUGHT, sealed, encrypted=True) if sealed else parts.other(THOUGHT, item)


def _call(parts: Parts, item: Mapping[str, Any], kind: str) -> None:
    """Draft a call; one of a tool that the provider ran carries its result with it."""
    identifier = item.get("call_id") or item.get("id")
    name = item.get("name") or kind.removesuffix("_call")
    field = next((field for field in _ARGUMENTS if item.get(field) is not None), "")
    arguments = item[field] if field else {}
    parts.call(identifier, name, arguments, field, status=item.get("status"), server=item.get("server_label"))
    for output in _OUTPUTS:
        if item.get(output):
            parts.result(identifier, item[output], output, is_error=True if output == "error" else None)
    if kind == "image_generation_call" and item.get("result"):
        image = {
            "type": "image",
            "data": item["result"],
            "mimeType": f"image/{text(item.get('output_format')) or 'png'}",
        }
        parts.attach(AGENT, image)


to_records = reader(drafts)
