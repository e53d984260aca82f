"""Gemini CLI's chats: JSON lines now, one JSON file in older versions.

A message may be written again under its id, when a tool has answered; only what
a further writing adds becomes an event of its kind (``rewrites`` in its meta), so
nothing is found twice and nothing is lost. ``$set`` and ``$rewindTo`` are kept as
session facts: the log does not take back what was said. A ``$set`` of the messages
writes all of them again, when a session is resumed or compressed; the snapshot that
then stands in for the older ones becomes a summary.

What hooks added stands in the user's message as ``<hook_context>``; it is the host's
word, not the user's, and stands apart.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand.event import REPEATS, Draft, Kind, Trust, to_bytes
from firsthand.formats.canonical import decoded, value_in
from firsthand.formats.fields import items, mapping, picked, text, to_name
from firsthand.hosts import json_file, lines
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.lines import Item
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import Moment, parse
from firsthand.record import Record, make, whole
from firsthand.value import replace

REWRITES_MAX = 200  # messages whose parts are remembered; an older one written again is whole events again
PARTS_KEPT_MAX = 24  # parts of one message that are remembered
ANSWERED_MAX = 200  # tool calls whose result is remembered, to know its copy
SNAPSHOTS_MAX = 16  # compressions that are remembered, to know one that is written again
_NAME = re.compile(r"session-[^/]*\Z")
_HEADER = re.compile(rb'\s*\{\s*"sessionId"\s*:\s*"([^"]{1,200})"')
_JSON = "application/json"
_HOST = "host:gemini"
_ADDED = re.compile(
    r"<hook_context>(.*?)</hook_context>\s*", re.DOTALL
)  # what hooks say comes with its brackets escaped
_SNAPSHOT, _OPENING = "<state_snapshot>", "<session_context>"


class Gemini:
    """The host of Gemini CLI's chats as JSON lines."""

    name = "gemini"
    places = (
        Place(".gemini", "tmp/*/chats/session-*.jsonl"),
        Place(".gemini", "tmp/*/chats/*/*.jsonl"),
    )
    resumable = True
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".jsonl") and _HEADER.match(head) is not None and b'"projectHash"' in head

    def session(self, path: str, head: bytes) -> str:
        return _session(path, head)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return lines.read(pieces, source, self.name, _convert)


class GeminiFile:
    """The host of Gemini CLI's older chats, one JSON file a session; the same events as from the lines."""

    name = "gemini"
    places = (Place(".gemini", "tmp/*/chats/session-*.json"),)
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        known = b'"projectHash"' in head and b'"messages"' in head
        return path.endswith(".json") and known and _HEADER.match(head) is not None

    def session(self, path: str, head: bytes) -> str:
        return _session(path, head)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _cuts)


def _session(path: str, head: bytes) -> str:
    match = _HEADER.match(head)
    bare = to_name(match[1].decode("utf-8", "replace")) if match is not None else PurePosixPath(path).stem
    parent = PurePosixPath(path).parent
    inside = parent.name != "chats" and parent.parent.name == "chats" and _NAME.match(PurePosixPath(path).name) is None
    return to_name(f"{parent.name}/{bare}") if inside and parent.name != bare else bare


def _cuts(file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG001 (the parser's shape)
    places = dict(file.members(file.root()))
    messages = places.get("messages")
    if messages is None:
        return
    header = {name: file.value(at) for name, at in places.items() if name != "messages"}
    yield Cut(messages, (_facts(header),), b"header " + to_bytes(text(header.get("sessionId"))))
    for at in file.items(messages):
        message = mapping(file.value(at))
        drafts = _message(file.slice(at), message) or [Draft(Kind.OTHER, file.slice(at), _JSON, origin=_HOST)]
        yield Cut(file.end(at), tuple(drafts), _identity(message))


def _convert(item: Item, state: dict[str, Any]) -> Record:
    entry = mapping(item.value)
    if "$set" in entry or "$rewindTo" in entry or "sessionId" in entry:
        return make(item.raw, _session_facts(entry, state))
    drafts = _copies_marked(_message(item.raw, entry), state)
    if not drafts:
        unknown = Draft(Kind.OTHER, b"", _JSON, picked(entry, "type", "id=uuid"), agent=Gemini.name, origin=_HOST)
        return whole(item.raw, unknown)
    return make(item.raw, _added(item.raw, entry, drafts, state), identity=_identity(entry))


def _session_facts(entry: Any, state: dict[str, Any]) -> list[Draft]:
    """Make the events of what Gemini says about the session; the first snapshot of a compression is its summary."""
    facts = _facts(entry)
    listed = items(mapping(entry.get("$set")).get("messages"))
    known: list[str] = state.setdefault("snapshots", [])
    drafts = []
    for message in map(mapping, listed):
        name = text(message.get("id"))[:64]
        snapshot = "".join(text(mapping(part).get("text")) for part in items(message.get("content")))
        if snapshot.startswith(_SNAPSHOT) and name not in known:
            known.append(name)
            meta = picked(message, "id=uuid") | {"replaced_by": len(listed)}
            time = parse(message.get("timestamp"))
            drafts.append(
                Draft(Kind.SUMMARY, to_bytes(snapshot), meta=meta, origin=_HOST, agent=Gemini.name, trust=Trust.AGENT,
                      time=time)
            )  # fmt: skip
    del known[:-SNAPSHOTS_MAX]
    if listed and (drafts or state.get("written")):
        facts = replace(facts, meta={**facts.meta, REPEATS: True})
    return [facts, *drafts]


def _copies_marked(drafts: list[Draft], state: dict[str, Any]) -> list[Draft]:
    """Mark the results that a user's message hands on, which stand at their calls already."""
    answered: dict[str, int] = state.setdefault("answered", {})
    answered |= {str(d.meta["call_id"]): 1 for d in drafts if d.kind is Kind.TOOL_RESULT and "call_id" in d.meta}
    while len(answered) > ANSWERED_MAX:
        del answered[next(iter(answered))]
    return [
        replace(d, meta={**d.meta, REPEATS: True}) if d.kind is Kind.OTHER and d.meta.get("call_id") in answered else d
        for d in drafts
    ]


def _identity(message: Any) -> bytes:
    """Give what makes a message the same in either form of file: its id and all it says."""
    serialized = json.dumps(message, sort_keys=True, ensure_ascii=True)
    return to_bytes(text(message.get("id"))) + b" " + hashlib.sha256(serialized.encode()).digest()


def _added(raw: bytes, entry: Any, drafts: list[Draft], state: dict[str, Any]) -> list[Draft]:
    """Leave out what an earlier writing of the same message has said already."""
    name = text(entry.get("id"))[:64]
    written: dict[str, str] = state.setdefault("written", {})
    before = written.pop(name, None)
    marks = [hashlib.sha256(bytes((d.kind.number,)) + _bytes(d)).hexdigest()[:8] for d in drafts]
    known = set() if before is None else {before[k : k + 8] for k in range(0, len(before), 8)}
    written[name] = "".join(sorted(known | set(marks))[:PARTS_KEPT_MAX])
    while len(written) > REWRITES_MAX:
        del written[next(iter(written))]
    if before is None:
        return drafts
    fresh = [d for d, mark in zip(drafts, marks, strict=True) if mark not in known]
    if not fresh:
        facts = picked(entry, "model", tokens=entry.get("tokens"))
        fresh = [Draft(Kind.SESSION, value_in(raw, facts), _JSON, agent=Gemini.name, origin=_HOST)]
    return [replace(d, meta={**d.meta, "rewrites": name}) for d in fresh]


def _message(raw: bytes, message: Any) -> list[Draft]:
    time = parse(message.get("timestamp"))
    meta = picked(message, "id=uuid", "type")
    match message.get("type"):
        case "user":
            shape = Draft(Kind.USER_MESSAGE, b"", meta=meta, origin="user", trust=Trust.TRUSTED, time=time)
            return [apart for draft in _parts(raw, message.get("content"), shape) for apart in _apart(draft)]
        case "gemini":
            return _answer(raw, message, time, meta)
        case "info" | "error" | "warning":
            shape = Draft(Kind.SESSION, b"", meta=meta, agent=Gemini.name, origin=_HOST, time=time)
            return _parts(raw, message.get("content"), shape)
        case _:
            return []


def _apart(draft: Draft) -> list[Draft]:
    """Set apart from the user's words what the host wrote in their place or hooks added before or behind them."""
    words = _bytes(draft).decode("utf-8", "surrogatepass") if draft.kind is Kind.USER_MESSAGE else ""
    host = replace(draft, kind=Kind.SYSTEM, origin=_HOST, trust=Trust.UNTRUSTED)
    if words.startswith(_OPENING):
        return [host]
    added = []
    while match := _ADDED.match(words):
        added.append(replace(host, content=to_bytes(match[1])))
        words = words[match.end() :]
    if not added:
        return [draft]
    return [*added, replace(draft, content=to_bytes(words))] if words else added


def _answer(raw: bytes, message: Any, time: Moment | None, meta: dict[str, Any]) -> list[Draft]:
    tokens = mapping(message.get("tokens"))
    once = picked(message, "model", tokens=dict(tokens) or None)
    base = Draft(Kind.AGENT_MESSAGE, b"", meta=meta, agent=Gemini.name, origin="agent", trust=Trust.AGENT, time=time)
    drafts: list[Draft] = []
    for thought in items(message.get("thoughts")):
        words = mapping(thought)
        about = {**meta, **picked(words, "subject")}
        label = text(words.get("description")) or text(words.get("subject"))
        when = parse(words.get("timestamp")) or time
        drafts.append(replace(base, kind=Kind.REASONING, content=to_bytes(label), meta=about, time=when))
    drafts += [d for d in _parts(raw, message.get("content"), base) if d.content]
    for call in items(message.get("toolCalls")):
        drafts += _call(raw, mapping(call), base)
    drafts[:1] = [replace(first, meta={**first.meta, **once}) for first in drafts[:1]]
    return drafts


def _call(raw: bytes, call: Any, base: Draft) -> list[Draft]:
    tool = to_name(call.get("name")) or "unknown"
    meta = {**base.meta, **picked(call, "id=call_id", "name=tool", "agentId=subagent")}
    time = parse(call.get("timestamp")) or base.time
    made = replace(
        base, kind=Kind.TOOL_CALL, content=value_in(raw, call.get("args"), "args"), media=_JSON, meta=meta, time=time
    )
    if call.get("result") is None:
        return [made]
    answer = Draft(Kind.TOOL_RESULT, b"", meta=meta | picked(call, "status"), origin=f"tool:{tool}", time=time)
    return [made, *_result(raw, call["result"], answer)]


def _result(raw: bytes, result: Any, answer: Draft) -> list[Draft]:
    """Give one event for a result: its text where it is one text, else its parts as written."""
    parts = result if isinstance(result, list) else [result]
    response = mapping(mapping(mapping(parts[0]).get("functionResponse")).get("response")) if parts else {}
    if len(parts) == 1 and isinstance(response.get("output"), str):
        return [replace(answer, content=to_bytes(response["output"]))]
    if len(parts) == 1 and (isinstance(parts[0], str) or isinstance(mapping(parts[0]).get("text"), str)):
        return _parts(raw, result, answer)
    files = [d for d in _parts(raw, parts, answer) if d.kind is Kind.ATTACHMENT]
    return [replace(answer, content=value_in(raw, result, "result"), media=_JSON), *files]


def _parts(raw: bytes, content: Any, base: Draft) -> list[Draft]:
    """Make one event of each part of a ``PartListUnion``; ``base`` says who spoke."""
    if isinstance(content, (str, dict)):
        content = [content]
    return [_part(raw, part, base) for part in items(content)]


def _part(raw: bytes, part: Any, base: Draft) -> Draft:
    if isinstance(part, str):
        return replace(base, content=to_bytes(part))
    block = mapping(part)
    if isinstance(block.get("text"), str):
        kind = Kind.REASONING if block.get("thought") is True else base.kind
        return replace(base, kind=kind, content=to_bytes(block["text"]))
    inline = mapping(block.get("inlineData"))
    data = decoded(inline.get("data"))
    if data is not None:
        media = to_name(inline.get("mimeType")) or "application/octet-stream"
        return replace(base, kind=Kind.ATTACHMENT, content=data, media=media)
    kind = Kind.ATTACHMENT if "fileData" in block else Kind.OTHER
    meta = {**base.meta, **picked(block.get("functionResponse"), "id=call_id", "name=tool")}
    return replace(base, kind=kind, content=value_in(raw, part), media=_JSON, meta=meta)


def _facts(entry: Any) -> Draft:
    """Make the event of what Gemini says about the session itself."""
    meta = picked(entry, "sessionId", "projectHash", "kind", "startTime", "lastUpdated", "$rewindTo=rewind_to")
    meta |= {"set": sorted(mapping(entry.get("$set")))[:16]} if "$set" in entry else {}
    facts = json.dumps({name: value for name, value in entry.items() if name != "messages"}, ensure_ascii=False)
    time = parse(entry.get("startTime"))
    return Draft(Kind.SESSION, to_bytes(facts), _JSON, meta, agent=Gemini.name, origin=_HOST, time=time)


def _bytes(draft: Draft) -> bytes:
    assert isinstance(draft.content, bytes)
    return draft.content
