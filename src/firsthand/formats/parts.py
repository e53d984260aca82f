"""The drafts of one message, gathered block by block; shared by all formats.

The invariant: each block of a message becomes at least one draft, or stays in
the envelope of one; what is not understood becomes an OTHER draft of its JSON.
A draft's content is the block's exact text, its decoded bytes, or its JSON as it
is written in the record.

This module knows no provider: it knows speakers, texts, calls, results and files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from firsthand.event import Draft, Kind, Trust, to_bytes
from firsthand.formats.canonical import decoded, dump, load, value_in
from firsthand.formats.fields import mapping, picked, small, text, to_name
from firsthand.record import Record, make

OPEN_CALLS_MAX = 256  # remembered to name the tool of a result, which says only the id
CALL_ID_MAX = 128
JSON_MEDIA = "application/json"
OPAQUE_MEDIA = "application/octet-stream"
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*);base64,", re.ASCII)

Calls = dict[str, str]
"""The tool's name for the id of each call that was seen lately."""


class ToRecords(Protocol):
    """Makes records of the messages of one conversation."""

    def __call__(self, messages: Sequence[Mapping[str, Any]], calls: Calls | None = None) -> list[Record]: ...


def reader(drafts: Callable[[Mapping[str, Any], bytes, Calls], list[Draft]]) -> ToRecords:
    """Make a format's ``to_records`` of its ``drafts``."""

    def to_records(messages: Sequence[Mapping[str, Any]], calls: Calls | None = None) -> list[Record]:
        """Make one record of each message; all are written before any is drafted, so that a bad one refuses them all.

        Args:
            messages: of one conversation, in order.
            calls: tools of calls made in earlier messages; added to.

        Raises:
            FormatError: a message is no JSON object.
        """
        known: Calls = {} if calls is None else calls
        return [make(raw, drafts(load(raw), raw, known)) for raw in [dump(message) for message in messages]]

    return to_records


class Speaker(NamedTuple):
    """Whose words they are, and how far they may be believed."""

    kind: Kind
    origin: str
    trust: Trust


USER = Speaker(Kind.USER_MESSAGE, "user", Trust.TRUSTED)
AGENT = Speaker(Kind.AGENT_MESSAGE, "agent", Trust.AGENT)
SYSTEM = Speaker(Kind.SYSTEM, "system", Trust.TRUSTED)
THOUGHT = Speaker(Kind.REASONING, "agent", Trust.AGENT)
DIGEST = Speaker(Kind.SUMMARY, "agent", Trust.AGENT)
_ROLES = {"user": USER, "assistant": AGENT, "system": SYSTEM, "developer": SYSTEM}


def speaker(role: object, origin: object = None) -> Speaker:
    """Say who speaks in a role; an unknown one is believed nothing, nor are words that come from another ``origin``."""
    known = None if origin else _ROLES.get(text(role))
    return known or Speaker(Kind.OTHER, to_name(origin) or to_name(role) or "unknown", Trust.UNTRUSTED)


class Parts:
    """Gathers the drafts of one record.

    Attributes:
        raw: the record's bytes, in which JSON contents are looked up.
        calls: open calls, shared by the messages of one conversation.
        drafts: what was gathered, in order.
    """

    def __init__(self, raw: bytes, calls: Calls) -> None:
        self.raw = raw
        self.calls = calls
        self.drafts: list[Draft] = []

    def say(self, who: Speaker, words: object, **meta: object) -> None:
        """Add a text; what is no text is added as what it is in JSON."""
        if isinstance(words, str):
            self._add(who, to_bytes(words), "text/plain", meta)
        else:
            self._add(who, value_in(self.raw, words), JSON_MEDIA, meta)

    def seal(self, who: Speaker, data: object, **meta: object) -> None:
        """Add what only the provider can read, exactly."""
        self._add(who, to_bytes(text(data)), OPAQUE_MEDIA, meta)

    def call(self, identifier: object, tool: object, arguments: object, *keys: str, **meta: object) -> None:
        """Add a tool call: its arguments as the text they came as, or the JSON found under ``keys``."""
        name = to_name(tool)
        if isinstance(identifier, str) and len(identifier) <= CALL_ID_MAX:
            remember(self.calls, identifier, name[:CALL_ID_MAX])
        content = to_bytes(arguments) if isinstance(arguments, str) else value_in(self.raw, arguments, *keys)
        facts = {"call_id": identifier, "tool": name, **meta}
        self._add(Speaker(Kind.TOOL_CALL, "agent", Trust.AGENT), content, JSON_MEDIA, facts)

    def result(self, identifier: object, output: object, *keys: str, tool: object = None, **meta: object) -> None:
        """Add a tool result: its text when it is one, else its JSON; files in it become attachments."""
        name = to_name(tool) or self.calls.get(text(identifier), "")
        who = Speaker(Kind.TOOL_RESULT, f"tool:{name}" if name else "tool", Trust.UNTRUSTED)
        place = len(self.drafts)
        left = self._without_files(output, who)
        facts = {"call_id": identifier, "tool": name, "attachments": len(self.drafts) - place or None, **meta}
        if isinstance(left, str):
            content, media = to_bytes(left), "text/plain"
        elif left is output:
            content, media = value_in(self.raw, output, *keys), JSON_MEDIA
        else:
            content, media = to_bytes(json.dumps(left, ensure_ascii=False, separators=(",", ":"))), JSON_MEDIA
        self._add(who, content, media, facts, place)

    def attach(self, who: Speaker, block: object) -> bool:
        """Add the file of an image, document or audio block; False when the block holds none."""
        file = file_of(block)
        if file is None:
            return False
        carrier = Speaker(Kind.ATTACHMENT, who.origin, Trust.UNTRUSTED)
        self._add(carrier, file.content, file.media, {"block": mapping(block).get("type"), **file.meta})
        return True

    def other(self, who: Speaker, block: object) -> None:
        """Add a block that is not understood, as its JSON."""
        speaker = Speaker(Kind.OTHER, who.origin, who.trust)
        self._add(speaker, value_in(self.raw, block), JSON_MEDIA, {"block": mapping(block).get("type")})

    def done(self, who: Speaker) -> list[Draft]:
        """Give the drafts; a message without any block gives one that is empty.

        The log counts a turn where a record begins with a user message: so one
        that a file stands before is put first, unless the record answers calls.
        """
        if not self.drafts:
            self._add(who, b"", "text/plain", {})
        kinds = [draft.kind for draft in self.drafts]
        if Kind.USER_MESSAGE in kinds and Kind.TOOL_RESULT not in kinds:
            self.drafts.insert(0, self.drafts.pop(kinds.index(Kind.USER_MESSAGE)))
        return self.drafts

    def _without_files(self, output: object, who: Speaker) -> object:
        """Attach the files of an output; give its one text, or else what is left of it."""
        if not isinstance(output, list):
            return output
        left = [named_instead(block) if self.attach(who, block) else block for block in output]
        rest = [mapping(block) for before, block in zip(output, left, strict=True) if before is block]
        if len(rest) == 1 and text(rest[0].get("type")).endswith("text") and isinstance(rest[0].get("text"), str):
            return rest[0]["text"]
        return output if len(rest) == len(output) else left

    def _add(
        self, who: Speaker, content: bytes, media: str, meta: Mapping[str, object], place: int | None = None
    ) -> None:
        facts = {name: fact for name, value in meta.items() if (fact := small(value)) not in (None, "")}
        draft = Draft(who.kind, content, media, facts, origin=who.origin, trust=who.trust)
        self.drafts.insert(len(self.drafts) if place is None else place, draft)


class File(NamedTuple):
    """A file that a block carries, or names."""

    content: bytes
    media: str
    meta: dict[str, Any]


def file_of(block: object) -> File | None:
    """Find the file in a block of any provider: inline bytes, an address, or a file's id."""
    if not isinstance(block, Mapping):
        return None
    match block.get("type"):
        case "image" | "document":
            return _from_source(block)
        case "image_url" | "input_image":
            image = block.get("image_url")
            address = image if isinstance(image, str) else mapping(image).get("url")
            return _from_address(address) or _from_id(block)
        case "input_audio" | "audio":
            sound = mapping(block.get("input_audio")) or block
            return _inline(sound.get("data"), f"audio/{to_name(sound.get('format')) or 'wav'}", {})
        case "file" | "input_file" | "container_upload":
            file = mapping(block.get("file")) or block
            meta = picked(file, "filename=name")
            data = file.get("file_data")
            inline = _from_address(data) if text(data).startswith("data:") else _inline(data, OPAQUE_MEDIA, {})
            where = inline or _from_address(file.get("file_url")) or _from_id(file)
            return where and where._replace(meta=where.meta | meta)
        case _:
            return None


def named_instead(block: Mapping[str, Any]) -> dict[str, Any]:
    """Write a file's block without the file."""
    return {"type": block.get("type"), "attached": True}


def remember(calls: Calls, identifier: str, tool: str) -> None:
    """Keep a call's tool for its result, and forget the oldest of too many."""
    calls.pop(identifier, None)
    calls[identifier] = tool
    while len(calls) > OPEN_CALLS_MAX:
        del calls[next(iter(calls))]


def _from_source(block: Mapping[str, Any]) -> File | None:
    source = mapping(block.get("source"))
    meta = picked(block, "title=name", "context")
    media = to_name(source.get("media_type"))
    match source.get("type"):
        case "base64":
            return _inline(source.get("data"), media or OPAQUE_MEDIA, meta)
        case "text" if isinstance(source.get("data"), str):
            return File(to_bytes(source["data"]), media or "text/plain", meta)
        case "url":
            address = _from_address(source.get("url"))
        case "file":
            address = _from_id(source)
        case _:  # MCP and pi write the bytes beside the type
            address = _inline(block.get("data"), to_name(block.get("mimeType")) or OPAQUE_MEDIA, {})
    return address and address._replace(meta=address.meta | meta)


def _from_address(address: object) -> File | None:
    if not isinstance(address, str) or not address:
        return None
    prefix = _DATA_URI.match(address)
    if prefix is None:
        return File(to_bytes(address), "text/uri-list", picked({"url": address}, "url"))
    return _inline(address[prefix.end() :], to_name(prefix[1]) or OPAQUE_MEDIA, {})


def _from_id(holder: Mapping[str, Any]) -> File | None:
    identifier = text(holder.get("file_id"))
    return File(to_bytes(identifier), "text/plain", picked(holder, "file_id")) if identifier else None


def _inline(data: object, media: str, meta: dict[str, Any]) -> File | None:
    content = decoded(data)
    return None if content is None else File(content, media, meta)
