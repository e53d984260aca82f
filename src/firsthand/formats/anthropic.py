"""Messages of the Anthropic API, to records and back.

The invariant: ``message_from(record.drafts[0].envelope, contents)`` equals the
message, whatever blocks it has: thinking with its signature, redacted thinking,
server tools, compaction and blocks not known yet go back as they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.event import Draft
from firsthand.formats.canonical import message_from
from firsthand.formats.fields import mapping
from firsthand.formats.parts import DIGEST, THOUGHT, Calls, Parts, Speaker, reader, speaker

__all__ = ["drafts", "message_from", "to_records"]


def drafts(message: Mapping[str, Any], raw: bytes, calls: Calls) -> list[Draft]:
    """Draft the events of a message that stands in ``raw``; never empty."""
    who = speaker(message.get("role"), message.get("origin"))
    parts = Parts(raw, calls)
    content = message.get("content")
    for block in content if isinstance(content, list) else [content] if content else ():
        _block(parts, who, block)
    return parts.done(who)


def _block(parts: Parts, who: Speaker, block: object) -> None:
    if isinstance(block, str):
        return parts.say(who, block)
    fields = mapping(block)
    kind = fields.get("type")
    match kind:
        case "text" if isinstance(fields.get("text"), str):
            return parts.say(who, fields["text"])
        case "thinking" if isinstance(fields.get("thinking"), str):
            return parts.say(THOUGHT, fields["thinking"])
        case "redacted_thinking" if isinstance(fields.get("data"), str):
            return parts.seal(THOUGHT, fields["data"], redacted=True)
        case "compaction" if isinstance(fields.get("content"), str):
            return parts.say(DIGEST, fields["content"])
        case str() if kind.endswith("tool_use") and "input" in fields:
            facts = {"server": fields.get("server_name"), "block": kind if kind != "tool_use" else None}
            return parts.call(fields.get("id"), fields.get("name"), fields["input"], "input", **facts)
        case str() if kind.endswith("tool_result"):
            facts = {"is_error": fields.get("is_error"), "block": kind if kind != "tool_result" else None}
            return parts.result(fields.get("tool_use_id"), fields.get("content", ""), "content", **facts)
        case _:
            return None if parts.attach(who, block) else parts.other(who, block)


to_records = reader(drafts)
