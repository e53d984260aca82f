"""Items of the OpenAI Responses API, read into blocks and built of runs.

The invariant: every call item has its output behind it and the reverse, of the
matching type; a reasoning item stands before the item that it led to, or is left
out. Nothing is merged: roles need not take turns here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from firsthand.formats.blocks import (
    AGENT,
    CALL,
    FILE,
    NO_OUTPUT,
    OTHER,
    RESULT,
    SYSTEM,
    TEXT,
    THOUGHT,
    TOOL,
    USER,
    Block,
    Run,
    Source,
    fit_name,
    object_text,
    words_of,
)
from firsthand.formats.byte_counts import Ledger, as_it_came
from firsthand.formats.compose_chat import IMAGES, PDF
from firsthand.formats.fields import items, mapping, text
from firsthand.formats.pieces import Piece

CALL_ID = RESULT_ID = "call_id"
STARTS_WITH_USER = MERGES = False
SYSTEM_ANYWHERE = FILES_IN_RESULTS = True
CALL_ID_MAX = 64

_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": AGENT}
_TEXTS = frozenset({"input_text", "output_text"})
_FILES = frozenset({"input_image", "input_file", "input_audio"})
_ANSWERED = frozenset({"function", "custom_tool", "computer", "local_shell", "shell", "apply_patch"})
"""Tools whose calls the caller answers; all others are run by the provider, and their items hold both."""


def read(item: Mapping[str, Any], source: Source) -> list[Block] | None:
    """Read an item into blocks; None when the provider would not take it as it is."""
    kind = text(item.get("type"))
    if "role" in item and kind in ("", "message"):
        return _read_message(item, source)
    if kind == "reasoning":
        is_kept = isinstance(item.get("id"), str) or isinstance(item.get("encrypted_content"), str)
        return [Block(AGENT, THOUGHT, item, source)] if is_kept else None
    tool = kind.removesuffix("_output").removesuffix("_call")
    if tool in _ANSWERED and isinstance(item.get("call_id"), str):
        is_result = kind.endswith("_output")
        return _read_result(item, kind, source) if is_result else _read_call(item, kind, source)
    is_known = kind.endswith("_call") and tool not in _ANSWERED
    is_known = is_known or kind in ("compaction", "mcp_list_tools", "item_reference")
    return [Block(AGENT, OTHER, item, source)] if is_known else None


def _read_message(item: Mapping[str, Any], source: Source) -> list[Block] | None:
    role, content = _ROLES.get(text(item.get("role"))), item.get("content")
    if role is None or not isinstance(content, (str, list)):
        return None
    source.extras = {name: member for name, member in item.items() if name not in ("type", "role", "content")}
    blocks = []
    for part in [content] if isinstance(content, str) else content:
        block = _part(part, role, source)
        if block is None:
            return None
        if block.sort == FILE or words_of(block.value).strip():
            blocks.append(block)
        else:
            source.whole = False
    return blocks or None


def _part(part: object, role: str, source: Source) -> Block | None:
    if isinstance(part, str):
        return Block(role, TEXT, part, source)
    fields = mapping(part)
    kind = fields.get("type")
    if kind == ("output_text" if role == AGENT else "input_text") and isinstance(fields.get("text"), str):
        return Block(role, TEXT, part, source)
    if kind == "refusal" and role == AGENT and isinstance(fields.get("refusal"), str):
        return Block(role, TEXT, part, source)
    return Block(role, FILE, part, source) if kind in _FILES and role == USER else None


def _read_call(item: Mapping[str, Any], kind: str, source: Source) -> list[Block] | None:
    block = Block(AGENT, CALL, item, source, id=item["call_id"], tool=text(item.get("name")) or kind)
    if kind not in ("function_call", "custom_tool_call"):
        return [block]
    name, written = item.get("name"), item.get("arguments" if kind == "function_call" else "input")
    if not isinstance(name, str) or not isinstance(written, str):
        return None
    mended = {"arguments": object_text(written)} if kind == "function_call" else {}
    if fit_name(name) != name or mended.get("arguments", written) != written:
        block.change({**item, "name": fit_name(name), **mended})
    return [block]


def _read_result(item: Mapping[str, Any], kind: str, source: Source) -> list[Block] | None:
    block = Block(TOOL, RESULT, item, source, id=item["call_id"])
    output = item.get("output")
    if kind not in ("function_call_output", "custom_tool_call_output"):
        return [block]
    if not isinstance(output, (str, list)) or not all(
        mapping(part).get("type") in ("input_text", *_FILES) for part in items(output)
    ):
        return None
    full = [part for part in items(output) if part["type"] != "input_text" or text(part.get("text")).strip()]
    if not (output.strip() if isinstance(output, str) else len(full) == len(output) > 0):
        block.change({**item, "output": full or NO_OUTPUT})
    return [block]


def call(identifier: str, name: str, arguments: str) -> dict[str, Any]:
    """Build the item of a call."""
    return {"type": "function_call", "call_id": identifier, "name": name, "arguments": arguments}


def result(identifier: str, words: str, files: Sequence[Any], *, failed: bool) -> dict[str, Any]:
    """Build the item of a result."""
    written = f"[error]\n{words}" if failed else words
    output: Any = [{"type": "input_text", "text": written}, *files] if files else written
    return {"type": "function_call_output", "call_id": identifier, "output": output}


def file(piece: Piece) -> dict[str, Any] | None:
    """Build the block of a file; None when there is none for it."""
    url = text(piece.meta.get("url"))
    if url:
        kind = text(piece.meta.get("block"))
        if "image" in kind:
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        return {"type": "input_file", "file_url": url} if kind in ("document", "file", "input_file") else None
    if not piece.content:
        return None
    data = base64.b64encode(piece.content).decode()
    if piece.media in IMAGES:
        return {"type": "input_image", "image_url": f"data:{piece.media};base64,{data}", "detail": "auto"}
    if piece.media == PDF:
        name = text(piece.meta.get("name")) or "document.pdf"
        return {"type": "input_file", "filename": name, "file_data": f"data:{PDF};base64,{data}"}
    return None


def opened(item: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Give the text of a result, and its files."""
    output = item.get("output")
    if isinstance(output, str):
        return output, []
    parts = items(output)
    words = "\n".join(text(part.get("text")) for part in parts if mapping(part).get("type") == "input_text")
    return words, [part for part in parts if mapping(part).get("type") in _FILES]


def is_id(identifier: str) -> bool:
    """Say whether a call may keep the id that it came with."""
    return 0 < len(identifier) <= CALL_ID_MAX


def fits(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> bool:
    """Say whether a result may answer a call: one of its own type; without one, only where text would do."""
    kind = text(call["type"])
    return kind == "function_call" if result is None else text(result["type"]) == f"{kind}_output"


def thought_needs(following: Block) -> bool:
    """Say whether a reasoning item may stand before this block: an item that the provider made with it."""
    return following.source.message is not None


# runs to items -----------------------------------------------------------------------------------


def write(system: Sequence[Block], runs: Sequence[Run], ledger: Ledger) -> list[dict[str, Any]]:
    """Build the items of a prompt."""
    items: list[dict[str, Any]] = []
    for role, blocks in [(SYSTEM, system), *((run.role, run.blocks) for run in runs)]:
        for _, group in groupby(blocks, key=lambda block: id(block.source)):
            items += _items(role, list(group), ledger)
    return items


def _items(role: str, blocks: list[Block], ledger: Ledger) -> list[dict[str, Any]]:
    """Build the items of one source: one of what it says, and one of each call, result or thought."""
    whole = as_it_came(blocks, ledger)
    if whole is not None:
        return [whole]
    made = []
    for is_said, group in groupby(blocks, key=lambda block: block.sort in (TEXT, FILE)):
        together = list(group)
        made += [_message(role, together, ledger)] if is_said else [ledger.add(each.value, [each]) for each in together]
    return made


def _message(role: str, blocks: list[Block], ledger: Ledger) -> dict[str, Any]:
    values = [block.value for block in blocks]
    source = blocks[0].source
    role = text((source.message or {}).get("role")) or role
    if len(values) == 1 and isinstance(values[0], str) and "id" not in source.extras:
        return ledger.add({"role": role, "content": values[0]}, blocks)
    kind = "output_text" if role == AGENT else "input_text"
    content = [{"type": kind, "text": value} if isinstance(value, str) else value for value in values]
    head = {"type": "message"} if source.extras else {}
    return ledger.add({**head, "role": role, "content": content, **source.extras}, blocks)
