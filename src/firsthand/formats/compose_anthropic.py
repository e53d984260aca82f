"""Messages of the Anthropic API, read into blocks and built of runs.

The invariant: user and agent in turns, beginning with the user; the results of
calls first in the user's message right behind them; no empty text; thoughts with
their signature in front, unchanged. The system texts stand apart.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firsthand.event import to_text
from firsthand.formats.blocks import (
    AGENT,
    CALL,
    FILE,
    OTHER,
    RESULT,
    TEXT,
    THOUGHT,
    TOOL,
    USER,
    Block,
    Notes,
    Run,
    Source,
    fit_name,
    fit_text,
    fit_value,
    words_of,
)
from firsthand.formats.byte_counts import Ledger, as_it_came
from firsthand.formats.compose_chat import IMAGES, PDF
from firsthand.formats.fields import items, mapping, text
from firsthand.formats.pieces import Piece

CALL_ID, RESULT_ID = "id", "tool_use_id"
STARTS_WITH_USER = MERGES = FILES_IN_RESULTS = True
SYSTEM_ANYWHERE = False
BREAKPOINTS_MAX = 4
BREAKPOINT = {"type": "ephemeral"}

_FILES = frozenset({"image", "document", "search_result", "container_upload"})
_IN_RESULT = frozenset({"text", "image", "document", "search_result", "tool_reference"})


def read(message: Mapping[str, Any], source: Source) -> list[Block] | None:
    """Read a message into blocks; None when the provider would not take it as it is."""
    role, content = message.get("role"), message.get("content")
    if role not in (USER, AGENT) or not isinstance(content, (str, list)):
        return None
    if isinstance(content, str) and len(message) == 2 and content.strip():  # most messages
        return [Block(str(role), TEXT, content, source)]
    source.whole &= message.keys() == {"role", "content"}
    blocks: list[Block] = []
    for part in [content] if isinstance(content, str) else content:
        block = _part(part, str(role), source)
        if block is None:
            return None
        if block.sort == TEXT and not words_of(block.value).strip():
            source.whole = False
        elif block.sort == THOUGHT and not (block.value.get("signature") or block.value.get("data")):
            block.source.drop_thought()
        else:
            blocks.append(block)
    return blocks if blocks and _servers_answered(blocks) else None


def _part(part: object, role: str, source: Source) -> Block | None:
    if isinstance(part, str):
        return Block(role, TEXT, part, source)
    fields = mapping(part)
    kind = text(fields.get("type"))
    if kind == "text" and isinstance(fields.get("text"), str):
        return Block(role, TEXT, part, source)
    if role == USER:
        if kind == "tool_result":
            return _read_result(fields, source)
        return Block(role, FILE, part, source) if kind in _FILES else None
    if kind in ("thinking", "redacted_thinking"):
        return Block(role, THOUGHT, part, source)
    if kind == "tool_use":
        return _read_call(fields, source)
    is_known = kind in ("server_tool_use", "compaction", "mcp_tool_use") or kind.endswith("_tool_result")
    return Block(role, OTHER, part, source) if is_known else None


def _read_call(fields: Mapping[str, Any], source: Source) -> Block | None:
    identifier, name = fields.get("id"), fields.get("name")
    if not isinstance(identifier, str) or not isinstance(name, str):
        return None
    block = Block(AGENT, CALL, fields, source, id=identifier, tool=name)
    arguments = fields.get("input")
    if not isinstance(arguments, Mapping) or fit_name(name) != name:
        block.change(
            {
                **fields,
                "name": fit_name(name),
                "input": arguments if isinstance(arguments, Mapping) else {"arguments": arguments},
            }
        )
    return block


def _read_result(fields: Mapping[str, Any], source: Source) -> Block | None:
    identifier, content = fields.get("tool_use_id"), fields.get("content", "")
    if not isinstance(identifier, str) or not isinstance(content, (str, list)):
        return None
    block = Block(TOOL, RESULT, fields, source, id=identifier)
    if isinstance(content, list):
        if not all(mapping(part).get("type") in _IN_RESULT for part in content):
            return None
        full = [part for part in content if part.get("type") != "text" or text(part.get("text")).strip()]
        if len(full) < len(content):
            block.change({**fields, "content": full})
    return block


def _servers_answered(blocks: Sequence[Block]) -> bool:
    """Say whether calls that the provider ran stand with their results."""
    values = [block.value for block in blocks if block.sort == OTHER]
    asked = {value.get("id") for value in values if text(value.get("type")).endswith("tool_use")}
    answered = {value.get("tool_use_id") for value in values if text(value.get("type")).endswith("_tool_result")}
    return asked == answered


def call(identifier: str, name: str, arguments: str) -> dict[str, Any]:
    """Build a call."""
    return {"type": "tool_use", "id": identifier, "name": name, "input": fit_value(json.loads(arguments))}


def result(identifier: str, words: str, files: Sequence[Any], *, failed: bool) -> dict[str, Any]:
    """Build the block of a result."""
    content: Any = [{"type": "text", "text": words}, *files] if files else words
    block = {"type": "tool_result", "tool_use_id": identifier, "content": content}
    return {**block, "is_error": True} if failed else block


def file(piece: Piece) -> dict[str, Any] | None:
    """Build the block of a file; None when there is none for it."""
    url = text(piece.meta.get("url"))
    if url:
        kind = text(piece.meta.get("block"))
        shape = "image" if "image" in kind else "document" if kind in ("document", "file", "input_file") else ""
        return {"type": shape, "source": {"type": "url", "url": url}} if shape else None
    if not piece.content:
        return None
    name = text(piece.meta.get("name"))
    title = {"title": fit_text(name)} if name else {}
    if piece.media in IMAGES or piece.media == PDF:
        source = {"type": "base64", "media_type": piece.media, "data": base64.b64encode(piece.content).decode()}
        return (
            {"type": "document", "source": source, **title}
            if piece.media == PDF
            else {"type": "image", "source": source}
        )
    if piece.media.startswith("text/") and "file_id" not in piece.meta and to_text(piece.content).strip():
        words = fit_text(to_text(piece.content))
        return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": words}, **title}
    return None


def opened(block: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Give the text of a result, and its files."""
    content = block.get("content", "")
    parts = [content] if isinstance(content, str) else items(content)
    words = "\n".join(words_of(part) for part in parts if isinstance(part, str) or part.get("type") == "text")
    return words, [part for part in parts if mapping(part).get("type") in ("image", "document", "search_result")]


def is_id(identifier: str) -> bool:
    """Say whether a call may keep the id that it came with."""
    return (
        0 < len(identifier) <= 256 and identifier.isascii() and identifier.replace("_", "a").replace("-", "a").isalnum()
    )


def fits(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> bool:  # noqa: ARG001 - all results are alike here
    """Say whether a result may answer a call."""
    return True


def thought_needs(following: Block) -> bool:  # noqa: ARG001 - its own signature is all that a thought needs
    """Say whether a thought may stand before this block of the agent's."""
    return True


# runs to messages --------------------------------------------------------------------------------


def write(runs: list[Run], ledger: Ledger) -> list[dict[str, Any]]:
    """Build the messages of a prompt."""
    _without_space_at_the_end(runs)
    messages = []
    results: list[Block] = []
    for number, run in enumerate(runs):
        if run.role == TOOL and number + 1 < len(runs) and runs[number + 1].role == USER:
            results = run.blocks
            continue
        role = AGENT if run.role == AGENT else USER
        messages.append(_message(role, [*results, *run.blocks], ledger))
        results = []
    return messages


def write_system(blocks: Sequence[Block], ledger: Ledger) -> list[dict[str, Any]]:
    """Build the texts of the system prompt."""
    return [ledger.add(_as_block(block.value), [block]) for block in blocks]


def _message(role: str, blocks: list[Block], ledger: Ledger) -> dict[str, Any]:
    whole = as_it_came(blocks, ledger)
    if whole is not None:
        return whole
    return ledger.add({"role": role, "content": [_as_block(block.value) for block in blocks]}, blocks)


def _as_block(value: Any) -> Any:
    return {"type": "text", "text": value} if isinstance(value, str) else value


def _without_space_at_the_end(runs: list[Run]) -> None:
    """Cut the space behind the agent's last text: as the beginning of an answer the provider refuses it."""
    last = runs[-1].blocks[-1]
    if runs[-1].role == AGENT and last.sort == TEXT:
        words = words_of(last.value)
        if words.rstrip() != words:
            last.change(words.rstrip() if isinstance(last.value, str) else {**last.value, "text": words.rstrip()})


# cache breakpoints -------------------------------------------------------------------------------


def place_breakpoints(
    tools: list[dict[str, Any]], system: list[Block], runs: list[Run], notes: Notes, *, ours: bool
) -> None:
    """Mark where the provider may cache: behind all that stays, behind the system texts, behind the tools.

    At most four are allowed. Ours behind all that stays comes first, since it covers
    the others; then those that the caller set, the newest first; then our other two.
    """
    blocks = [block for run in runs for block in run.blocks]
    end = _last_that_stays(blocks) if ours else None
    left = BREAKPOINTS_MAX - (end is not None)
    in_tools = [number for number, tool in enumerate(tools) if "cache_control" in tool]
    for number in in_tools[:-left]:
        tools[number] = _without(tools[number])
    left -= len(in_tools[-left:])
    for block in reversed(blocks):
        carrier = _held(block.value)
        if carrier and block is not end:
            if carrier > left:
                block.change(_without(block.value))
                notes.add("cache breakpoints over the four that are allowed are left out", block.source)
            else:
                left -= carrier
    if end is not None:
        end.change({**_as_block(_without(end.value)), "cache_control": BREAKPOINT})
    if ours and left > 0 and system:
        system[-1].change({**_as_block(system[-1].value), "cache_control": BREAKPOINT})
        left -= 1
    if ours and left > 0 and tools and not in_tools:
        tools[-1] = {**tools[-1], "cache_control": BREAKPOINT}


def _last_that_stays(blocks: Sequence[Block]) -> Block | None:
    """Give the last block that can carry a breakpoint in front of the tail, or of all."""
    end = next((number for number, block in enumerate(blocks) if block.source.volatile), len(blocks))
    return next((block for block in reversed(blocks[:end]) if block.sort not in (THOUGHT, OTHER)), None)


def _held(value: Any) -> int:
    """Count the breakpoints in a block and in the content of a result."""
    if not isinstance(value, Mapping):
        return 0
    inner: Iterable[Any] = items(value.get("content"))
    return int(value.get("cache_control") is not None) + sum("cache_control" in mapping(part) for part in inner)


def _without(value: Any) -> Any:
    if not _held(value):
        return value
    members = {name: member for name, member in value.items() if name != "cache_control"}
    if isinstance(members.get("content"), list):
        members["content"] = [_without(part) for part in members["content"]]
    return members
