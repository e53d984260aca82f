"""pi's sessions: JSON lines, a header and then messages, changes of model and compactions.

Forking copies lines into a new file under a new header; a line is therefore the
same wherever its bytes are the same, and the header says where the fork came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand.event import Draft, Kind, Trust, to_bytes
from firsthand.formats.canonical import decoded, value_in
from firsthand.formats.fields import items, mapping, picked, text, to_name
from firsthand.hosts import lines
from firsthand.hosts.lines import Item
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import Moment, parse
from firsthand.record import Record, make, whole
from firsthand.value import replace

_HEADER = re.compile(rb'\{"type":\s*"session",')
_ID = re.compile(rb'"id":\s*"([^"]{1,200})"')
_ENTRY = re.compile(
    rb'\{"type":\s*"(?:message|model_change|thinking_level_change|compaction)",.{0,200}?"timestamp":', re.DOTALL
)
_HOST = "host:pi"


class Pi:
    """The host of pi's session files."""

    name = "pi"
    places = (Place(".pi/agent", "sessions/**/*.jsonl", "PI_CODING_AGENT_DIR"),)
    resumable = True
    spans_sessions = True

    def recognises(self, path: str, head: bytes) -> bool:
        if not path.endswith(".jsonl"):
            return False
        first = head.split(b"\n", 1)[0].lstrip(b"\xef\xbb\xbf")
        return _HEADER.match(first) is not None or (_ENTRY.match(first) is not None and b'"sessionId"' not in first)

    def session(self, path: str, head: bytes) -> str:
        first = head.split(b"\n", 1)[0].lstrip(b"\xef\xbb\xbf")
        match = _ID.search(first) if _HEADER.match(first) else None
        return to_name(match[1].decode("utf-8", "replace")) if match is not None else to_name(PurePosixPath(path).stem)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return lines.read(pieces, source, self.name, _convert)


def _convert(item: Item, state: dict[str, Any]) -> Record:  # noqa: ARG001 (nothing is carried from line to line)
    entry = mapping(item.value)
    identity = item.raw.strip()
    drafts = _drafts(item.raw, entry, parse(entry.get("timestamp")))
    if not drafts:
        unknown = Draft(Kind.OTHER, b"", "application/json", picked(entry, "type"), agent=Pi.name, origin=_HOST)
        return whole(item.raw, unknown, identity=identity)
    return make(item.raw, drafts, identity=identity)


def _drafts(raw: bytes, entry: Any, time: Moment | None) -> list[Draft]:
    ids = picked(entry, "type", "id=uuid", "parentId=parent")
    match entry.get("type"):
        case "message":
            message = mapping(entry.get("message"))
            return _message(raw, message, time or parse(message.get("timestamp")), ids)
        case "compaction" | "branch_summary":
            meta = ids | picked(entry, "tokensBefore", "firstKeptEntryIndex", "firstKeptEntryId", "fromId")
            return [_host(Kind.SUMMARY, text(entry.get("summary")), meta, time, Trust.AGENT)]
        case "session" | "model_change" | "thinking_level_change" | "session_info" | "label" as word:
            meta = ids | picked(
                entry, "cwd", "provider", "modelId=model", "thinkingLevel", "branchedFrom", "parentSession", "version",
                "name", "label", "targetId",
            )  # fmt: skip
            meta.pop("type", None)
            changes = ", ".join(f"{name} {value}" for name, value in meta.items() if name not in ("uuid", "parent"))
            return [_host(Kind.SESSION, f"{word}: {changes}", meta | {"type": word}, time, Trust.UNTRUSTED)]
        case "custom_message":
            return _blocks(raw, entry.get("content"), Draft(
                Kind.SYSTEM, b"", meta=ids | picked(entry, "customType"), origin=_HOST, time=time
            ))  # fmt: skip
        case _:
            return []


def _message(raw: bytes, message: Any, time: Moment | None, ids: dict[str, Any]) -> list[Draft]:
    meta = ids | picked(message, "role")
    match message.get("role"):
        case "user":
            return _blocks(raw, message.get("content"), Draft(
                Kind.USER_MESSAGE, b"", meta=meta, origin="user", trust=Trust.TRUSTED, time=time
            ))  # fmt: skip
        case "assistant":
            return _assistant(raw, message, time, meta)
        case "toolResult":
            return _tool_result(raw, message, time, meta)
        case "bashExecution":
            return _bash(message, time, meta)
        case "custom" | "hookMessage" | "branchSummary" | "compactionSummary":
            meta |= picked(message, "customType")
            content = message.get("content", message.get("summary"))
            return _blocks(raw, content, Draft(Kind.SYSTEM, b"", meta=meta, origin=_HOST, time=time))
        case _:
            return []


def _assistant(raw: bytes, message: Any, time: Moment | None, meta: dict[str, Any]) -> list[Draft]:
    usage = mapping(message.get("usage"))
    once = picked(message, "api", "provider", "model", "stopReason", "errorMessage", usage=dict(usage) or None)
    base = Draft(Kind.AGENT_MESSAGE, b"", meta=meta, agent=Pi.name, origin="agent", trust=Trust.AGENT, time=time)
    drafts = _blocks(raw, message.get("content"), base)
    drafts[:1] = [replace(first, meta={**first.meta, **once}) for first in drafts[:1]]
    if not drafts and text(message.get("errorMessage")):
        return [_host(Kind.SESSION, message["errorMessage"], meta | once, time, Trust.UNTRUSTED)]
    return drafts


def _tool_result(raw: bytes, message: Any, time: Moment | None, meta: dict[str, Any]) -> list[Draft]:
    tool = to_name(message.get("toolName")) or "unknown"
    meta |= picked(message, "toolCallId=call_id", "toolName=tool", "isError=is_error")
    base = Draft(Kind.TOOL_RESULT, b"", meta=meta, origin=f"tool:{tool}", time=time)
    blocks = items(message.get("content"))
    texts = [block for block in blocks if mapping(block).get("type") == "text"]
    if len(texts) > 1:  # one result stays one event: the blocks as they are written
        images = [block for block in blocks if mapping(block).get("type") != "text"]
        joined = replace(base, content=value_in(raw, blocks, "content"), media="application/json")
        return [joined, *_blocks(raw, images, base)]
    drafts = _blocks(raw, message.get("content"), base)
    return drafts if any(d.kind is Kind.TOOL_RESULT for d in drafts) else [base, *drafts]


def _bash(message: Any, time: Moment | None, meta: dict[str, Any]) -> list[Draft]:
    """Give a command that the user ran by hand, and what it printed."""
    meta |= {"tool": "bash"}
    ran = meta | picked(message, "exitCode", "cancelled", "truncated", "fullOutputPath", "excludeFromContext")
    command, output = to_bytes(text(message.get("command"))), to_bytes(text(message.get("output")))
    return [
        Draft(Kind.TOOL_CALL, command, meta=meta, origin="user", trust=Trust.TRUSTED, time=time),
        Draft(Kind.TOOL_RESULT, output, meta=ran, origin="tool:bash", time=time),
    ]


def _blocks(raw: bytes, content: Any, base: Draft) -> list[Draft]:
    """Make one event of each block of a message; ``base`` says who spoke."""
    if isinstance(content, str):
        return [replace(base, content=to_bytes(content))]
    return [_block(raw, mapping(block), base) for block in items(content)]


def _block(raw: bytes, block: Any, base: Draft) -> Draft:
    match block.get("type"):
        case "text":
            return replace(base, content=to_bytes(text(block.get("text"))))
        case "thinking":
            return replace(base, kind=Kind.REASONING, content=to_bytes(text(block.get("thinking"))))
        case "toolCall":
            meta = {**base.meta, **picked(block, "id=call_id", "name=tool")}
            written = value_in(raw, block.get("arguments"), "arguments")
            return replace(base, kind=Kind.TOOL_CALL, content=written, media="application/json", meta=meta)
        case "image":
            data = decoded(block.get("data"))
            if data is not None:
                media = to_name(block.get("mimeType")) or "application/octet-stream"
                return replace(base, kind=Kind.ATTACHMENT, content=data, media=media)
    return replace(base, kind=Kind.OTHER, content=value_in(raw, dict(block)), media="application/json")


def _host(kind: Kind, words: str, meta: dict[str, Any], time: Moment | None, trust: Trust) -> Draft:
    return Draft(kind, to_bytes(words), meta=meta, agent=Pi.name, origin=_HOST, trust=trust, time=time)
