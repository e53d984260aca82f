"""Messages of OpenAI chat completions, read into blocks and built of runs.

The invariant: what is built is taken by strict templates as well: one system
message first, user and agent in turns, each tool message behind its call, no
empty content. Notes of ours that follow tool messages stand in the last of them,
since several servers refuse a user's message there.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from firsthand.event import Kind
from firsthand.formats.blocks import (
    AGENT,
    CALL,
    FILE,
    NO_OUTPUT,
    RESULT,
    SYSTEM,
    TEXT,
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
from firsthand.formats.fields import mapping, text
from firsthand.formats.pieces import Piece

CALL_ID, RESULT_ID = "id", "tool_call_id"
STARTS_WITH_USER = MERGES = True
SYSTEM_ANYWHERE = FILES_IN_RESULTS = False
CALL_ID_MAX = 512

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
PDF = "application/pdf"
_ROLES = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": AGENT, "tool": TOOL}
_FILES = frozenset({"image_url", "input_audio", "file"})
_BLANK_LINE = "\n\n"


def read(message: Mapping[str, Any], source: Source) -> list[Block] | None:
    """Read a message into blocks; None when no server would take it as it is."""
    role = _ROLES.get(text(message.get("role")))
    content = message.get("content")
    if role is None or message.get("function_call") or not isinstance(content, (str, list, type(None))):
        return None
    if role == TOOL:
        return _read_result(message, source)
    if isinstance(content, str) and len(message) == 2 and content.strip():  # most messages
        return [Block(role, TEXT, content, source)]
    source.extras = {name: member for name, member in message.items() if name not in ("role", "content", "tool_calls")}
    blocks: list[Block] = []
    for part in [content] if isinstance(content, str) else content or ():
        block = _part(part, role, source)
        if block is None:
            return None
        if block.sort == FILE or words_of(block.value).strip():
            blocks.append(block)
        else:
            source.whole = False
    refusal = source.extras.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        del source.extras["refusal"]
        blocks.append(Block(role, TEXT, {"type": "refusal", "refusal": refusal}, source))
    calls = message.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and role == AGENT):
        return None
    if calls == []:  # refused by some, and the same without it
        source.whole = False
    for call in calls or ():
        block = _read_call(call, source)
        if block is None:
            return None
        blocks.append(block)
    return blocks or None


def _part(part: object, role: str, source: Source) -> Block | None:
    if isinstance(part, str):
        return Block(role, TEXT, part, source)
    fields = mapping(part)
    kind = fields.get("type")
    if kind == "text" and isinstance(fields.get("text"), str):
        return Block(role, TEXT, part, source)
    if kind == "refusal" and isinstance(fields.get("refusal"), str) and role == AGENT:
        return Block(role, TEXT, part, source)
    return Block(role, FILE, part, source) if kind in _FILES and role == USER and mapping(fields.get(kind)) else None


def _read_call(call: object, source: Source) -> Block | None:
    fields = mapping(call)
    kind = "custom" if fields.get("custom") else "function"
    function = mapping(fields.get(kind))
    name, written = function.get("name"), function.get("arguments" if kind == "function" else "input")
    if not (isinstance(name, str) and isinstance(written, str) and isinstance(fields.get("id"), str)):
        return None
    block = Block(AGENT, CALL, call, source, id=fields["id"], tool=name)
    if fields.get("type") != kind or fit_name(name) != name or (kind == "function" and object_text(written) != written):
        mended = {"arguments": object_text(written)} if kind == "function" else {}
        block.change({**fields, "type": kind, kind: {**function, "name": fit_name(name), **mended}})
    return block


def _read_result(message: Mapping[str, Any], source: Source) -> list[Block] | None:
    content, identifier = message.get("content"), message.get("tool_call_id")
    if not isinstance(identifier, str) or message.get("tool_calls"):
        return None
    parts = [content] if isinstance(content, str) else content or []
    if not all(isinstance(part, str) or mapping(part).get("type") == "text" for part in parts):
        return None
    block = Block(TOOL, RESULT, message, source, id=identifier, tool=text(message.get("name")))
    full = [part for part in parts if words_of(part).strip()]
    if len(full) < len(parts) or not full:
        block.change({**message, "content": full if len(full) > 0 else NO_OUTPUT})
    return [block]


def call(identifier: str, name: str, arguments: str) -> dict[str, Any]:
    """Build a call."""
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(identifier: str, words: str, files: Sequence[Any], *, failed: bool) -> dict[str, Any]:
    """Build the message of a result."""
    assert not files, "no file stands in a tool message of OpenAI chat"
    return {"role": "tool", "tool_call_id": identifier, "content": f"[error]\n{words}" if failed else words}


def file(piece: Piece) -> dict[str, Any] | None:
    """Build the block of a file; None when there is none for it."""
    url = text(piece.meta.get("url"))
    if url:
        is_image = text(piece.meta.get("block")) in ("image", "image_url", "input_image")
        return {"type": "image_url", "image_url": {"url": url}} if is_image else None
    if not piece.content:
        return None
    data = base64.b64encode(piece.content).decode()
    if piece.media in IMAGES:
        return {"type": "image_url", "image_url": {"url": f"data:{piece.media};base64,{data}"}}
    if piece.media in SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": data, "format": SOUNDS[piece.media]}}
    if piece.media == PDF:
        name = text(piece.meta.get("name")) or "document.pdf"
        return {"type": "file", "file": {"filename": name, "file_data": f"data:{PDF};base64,{data}"}}
    return None


def opened(message: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Give the text of a result, and its files."""
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(words_of(part) for part in content or ()), []


def is_id(identifier: str) -> bool:
    """Say whether a call may keep the id that it came with."""
    return 0 < len(identifier) <= CALL_ID_MAX


def fits(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> bool:  # noqa: ARG001 - all results are alike here
    """Say whether a result may answer a call."""
    return True


def thought_needs(following: Block) -> bool:  # noqa: ARG001 - thoughts are a field of their message here
    """Say whether a thought may stand before this block."""
    return True


# runs to messages --------------------------------------------------------------------------------


def write(system: list[Block], runs: list[Run], ledger: Ledger) -> list[dict[str, Any]]:
    """Build the messages of a prompt."""
    messages = [_message("system", system, ledger)] if system else []
    notes: list[Block] = []
    for number, run in enumerate(runs):
        blocks, notes = run.blocks[len(notes) :], []
        if run.role == TOOL:
            following = runs[number + 1] if number + 1 < len(runs) else None
            if following is not None and following.role == USER:  # whatever the user says behind them
                notes = [*takewhile(_is_note, following.blocks)]
            messages += [_tool(block, [], ledger) for block in blocks[:-1]]
            messages.append(_tool(blocks[-1], notes, ledger))
        elif blocks:
            messages.append(_message(run.role, blocks, ledger))
    return messages


def _is_note(block: Block) -> bool:
    return block.sort == TEXT and isinstance(block.value, str) and block.source.pieces[0].kind is Kind.NOTE


def _tool(block: Block, notes: Sequence[Block], ledger: Ledger) -> dict[str, Any]:
    if not notes:
        whole = as_it_came([block], ledger)
        return ledger.add(dict(block.value), [block]) if whole is None else whole
    content = block.value.get("content")
    added = [note.value for note in notes]
    if isinstance(content, str):
        message = {**block.value, "content": _BLANK_LINE.join([content, *added])}
    else:
        message = {**block.value, "content": [*content, *({"type": "text", "text": words} for words in added)]}
    return ledger.add(message, [block, *notes], joined=isinstance(content, str))


def _message(role: str, blocks: list[Block], ledger: Ledger) -> dict[str, Any]:
    """Build one message of all blocks of a run; calls stand behind its content."""
    whole = as_it_came(blocks, ledger)
    if whole is not None:
        return whole
    if any(block.source is not blocks[0].source for block in blocks):
        _name_speakers(blocks)
    words = [block for block in blocks if block.sort != CALL]
    calls = [block for block in blocks if block.sort == CALL]
    joined = all(isinstance(block.value, str) for block in words)
    parts = [block.value for block in words]
    content = _BLANK_LINE.join(parts) if joined else [_as_part(part) for part in parts]
    if role == SYSTEM and any((block.source.message or {}).get("role") == "developer" for block in blocks):
        role = "developer"  # as the caller chose
    message: dict[str, Any] = {"role": role, "content": content or None, **_extras(blocks)}
    if calls:
        message["tool_calls"] = [block.value for block in calls]
    return ledger.add(message, blocks, joined=joined)


def _name_speakers(blocks: list[Block]) -> None:
    """Put the speaker's name before the words: the message that several are merged to can have one name only."""
    for block in blocks:
        name = text(block.source.extras.pop("name", None))
        if name and block.sort == TEXT:
            words = f"{name}: {words_of(block.value)}"
            block.change(words if isinstance(block.value, str) else {**block.value, "text": words})


def _as_part(part: Any) -> Any:
    return {"type": "text", "text": part} if isinstance(part, str) else part


def _extras(blocks: list[Block]) -> dict[str, Any]:
    """Merge the fields beside role and content: texts are joined, else the newest stays."""
    merged: dict[str, Any] = {}
    sources = {id(block.source): block.source for block in blocks}
    for source in sources.values():
        for name, member in source.extras.items():
            before = merged.get(name)
            if name.startswith("reasoning") and isinstance(before, str) and isinstance(member, str):
                merged[name] = f"{before}{_BLANK_LINE}{member}"
            elif member is not None or name not in merged:
                merged[name] = member
    return merged
