"""Transcripts of Claude Code: JSON lines that carry Anthropic messages and what the host says about them.

Every line is taken in the order of the file; the tree of ``parentUuid`` is for
views. A resumed or forked session copies lines into a new file: a line is the
same wherever uuid and what it says are the same, and a line written again under
its uuid with other words is a new one. A subagent has a session of its own,
``<session>/agent-<id>``, whether its lines stand in a file of their own or not.

The structured ``toolUseResult`` stays in the envelope: the event is what the model saw.

Newer builds write whole requests beside the messages that they are made of, and in
each session the same lists of tools, skills and agents. All of it is kept; what only
repeats is marked (`event.REPEATS`), so that recall finds the message and not its copies.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from firsthand.event import REPEATS, Draft, Kind, Trust, to_bytes
from firsthand.formats import anthropic
from firsthand.formats.fields import items, mapping, picked, small, text, to_name
from firsthand.formats.parts import remember
from firsthand.hosts import lines
from firsthand.hosts.lines import Item
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import parse
from firsthand.record import Record, make, whole
from firsthand.value import replace

_NAME = "claude-code"
_ORIGIN = f"host:{_NAME}"
_FOLDER = ".claude"
_VARIABLE = "CLAUDE_CONFIG_DIR"

# Lines without uuid that tell of the session, and the field that holds their words.
_FACTS: Mapping[str, str] = {
    "summary": "summary",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "tag": "tag",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "agent-name": "agentName",
    "agent-color": "agentColor",
    "agent-setting": "agentSetting",
    "pr-link": "prUrl",
    "file-history-snapshot": "",
    "queue-operation": "content",
    "content-replacement": "",
    "worktree-state": "",
    "agent_metadata": "",
}
_COPIES = frozenset({
    "api-request", "api-request-blob", "api-request-shape", "atis-latch", "cost-state", "last-prompt",
    "queue-operation", "tools-used",
})  # fmt: skip
"""Lines that hold a prompt or a request once more, or what it cost."""
_COPIED = frozenset({
    "agent_listing_delta", "date", "deferred_tools_delta", "environment", "hook_non_blocking_error", "hook_success",
    "hook_system_message", "model", "prompt_snapshot", "remote_session_change", "session_context", "skill_listing",
})  # fmt: skip
"""Attachments that hold the system prompt, the answer of a hook, or what stands in every session alike."""
_SAID = ("type", "subtype", "message", "content", "attachment", "data", "toolUseResult", "compactMetadata")
_HOST_WORDS = ("<system-reminder>", "<local-command-", "<task-notification>", "<bash-stdout>", "<bash-stderr>")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_FACT_LINE = re.compile(rb'\{"type"\s*:\s*"(?:' + "|".join(map(re.escape, _FACTS)).encode() + rb')"')


class ClaudeCode:
    """The host of ``~/.claude/projects``."""

    name = _NAME
    places = (
        Place(_FOLDER, "projects/*/*.jsonl", _VARIABLE),
        Place(_FOLDER, "projects/*/*/subagents/**/*.jsonl", _VARIABLE),
    )
    resumable = True
    spans_sessions = True

    def recognises(self, path: str, head: bytes) -> bool:
        if not path.endswith(".jsonl"):
            return False
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if first.startswith(b"{") and b'"parentUuid"' in head and b'"sessionId"' in head:
            return True
        facts_line = _FACT_LINE.match(first) is not None
        return facts_line and any(sign in head for sign in (b'"sessionId"', b'"leafUuid"', b'"messageId"'))

    def session(self, path: str, head: bytes) -> str:
        place = PurePosixPath(path)
        match = _SESSION_ID.search(head)
        name = to_name(match[1].decode("utf-8", "replace")) if match is not None else ""
        if "subagents" in place.parts[1:-1]:
            parent = place.parts[place.parts.index("subagents") - 1]
            return to_name(f"{parent}/{place.stem}")
        if place.stem.startswith("agent-") and name:  # an older layout kept subagents beside their sessions
            return to_name(f"{name}/{place.stem}")
        return to_name(place.stem) if _UUID.match(place.stem) or not name else name

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        main = self.session(source.path, source.head)
        return lines.read(pieces, source, self.name, partial(_convert, main))


def _convert(main: str, item: Item, state: dict[str, Any]) -> Record:
    entry = mapping(item.value)
    session = _subagent(main, entry, state)
    drafts = _drafts(item.raw, entry, state)
    time = parse(entry.get("timestamp"))
    within = session or main
    agent = f"{_NAME}/{within.rpartition('/')[2]}" if "/agent-" in within else _NAME
    facts = _facts(entry, main, session) | ({REPEATS: True} if _is_copy(entry) else {})
    if not drafts:
        known = Kind.SESSION if text(entry.get("type")) in {*_FACTS, "system"} else Kind.OTHER
        facts |= picked(entry, "type", "subtype")
        draft = Draft(known, b"", "application/json", facts, agent=agent, origin=_ORIGIN, time=time)
        return whole(item.raw, draft, session=session, identity=_identity(entry))
    further = picked(entry, "uuid") | ({REPEATS: True} if REPEATS in facts else {})
    placed = [
        replace(draft, agent=agent, time=time, meta={**draft.meta, **(facts if number == 0 else further)})
        for number, draft in enumerate(drafts)
    ]
    return make(item.raw, placed, session=session, identity=_identity(entry))


def _is_copy(entry: Mapping[str, Any]) -> bool:
    kind = text(entry.get("type"))
    if kind == "attachment":
        return text(mapping(entry.get("attachment")).get("type")) in _COPIED
    return kind in _COPIES or (kind == "system" and entry.get("subtype") == "stop_hook_summary")


def _drafts(raw: bytes, entry: Mapping[str, Any], state: dict[str, Any]) -> list[Draft]:
    """Draft what a line says; nothing where only the whole line says it."""
    kind = text(entry.get("type"))
    message = entry.get("message")
    if kind in ("user", "assistant") and isinstance(message, Mapping):
        return _message(raw, entry, message, state)
    if kind == "system" and text(entry.get("content")):
        boundary = entry.get("subtype") == "compact_boundary"
        meta = picked(entry, "subtype", "level", "compactMetadata=compact")
        return [_by_host(Kind.SESSION if boundary else Kind.SYSTEM, entry["content"], meta)]
    if kind == "attachment":
        attachment = mapping(entry.get("attachment"))
        return _queued(attachment, entry) or _attachment(attachment)
    words = text(entry.get(_FACTS.get(kind) or ""))
    return [_by_host(Kind.SESSION, words, picked(entry, "type", "leafUuid=leaf", "operation"))] if words else []


def _message(raw: bytes, entry: Mapping[str, Any], message: Mapping[str, Any], state: dict[str, Any]) -> list[Draft]:
    drafts = anthropic.drafts(message, raw, state.setdefault("calls", {}))
    if entry.get("type") == "assistant":
        meta = picked(message, "model", "id=message_id", "stop_reason", "usage")
        return [replace(drafts[0], meta={**drafts[0].meta, **meta}), *drafts[1:]]
    return [_from_user(draft, entry) for draft in drafts]


def _from_user(draft: Draft, entry: Mapping[str, Any]) -> Draft:
    """Say who really spoke: much that stands in the user's place was written by the host, or by another agent."""
    if draft.kind != Kind.USER_MESSAGE:
        return draft
    assert isinstance(draft.content, bytes)
    if entry.get("isCompactSummary") is True:
        return replace(draft, kind=Kind.SUMMARY, origin=_ORIGIN, trust=Trust.AGENT)
    words = draft.content[:64].lstrip()
    if entry.get("isMeta") is True or any(words.startswith(sign.encode()) for sign in _HOST_WORDS):
        return replace(draft, kind=Kind.SYSTEM, origin=_ORIGIN, trust=Trust.UNTRUSTED)
    if entry.get("isSidechain") is True:
        return replace(draft, origin="agent", trust=Trust.AGENT)
    return draft


def _queued(attachment: Mapping[str, Any], entry: Mapping[str, Any]) -> list[Draft]:
    """Draft what the user said while the agent was at work: it stands in no user line. Seen with 2.1.330."""
    prompt = attachment.get("prompt")
    words = [prompt] if isinstance(prompt, str) else [mapping(part).get("text") for part in items(prompt)]
    if attachment.get("type") != "queued_command" or attachment.get("commandMode") != "prompt":
        return []
    message = Draft(Kind.USER_MESSAGE, b"", meta={"attachment": "queued_command"}, origin="user", trust=Trust.TRUSTED)
    return [
        _from_user(replace(message, content=to_bytes(prompt)), entry)
        for prompt in words
        if isinstance(prompt, str) and prompt
    ]


def _attachment(attachment: Mapping[str, Any]) -> list[Draft]:
    """Draft the texts that the host put before the model: of hooks, files, reminders."""
    meta = picked(
        attachment, "type=attachment", "hookName=hook", "hookEvent=hook_event", "toolUseID=call_id", "filename"
    )
    content = attachment.get("content")
    words = [content] if isinstance(content, str) else items(content)
    if not words or not all(isinstance(word, str) for word in words):
        return []
    return [_by_host(Kind.SYSTEM, word, meta) for word in words]


def _by_host(kind: Kind, words: str, meta: Mapping[str, Any]) -> Draft:
    return Draft(kind, to_bytes(words), meta=meta, origin=_ORIGIN, trust=Trust.UNTRUSTED)


def _facts(entry: Mapping[str, Any], main: str, session: str) -> dict[str, Any]:
    facts = picked(
        entry, "uuid", "parentUuid=parent", "logicalParentUuid=logical_parent", "cwd", "gitBranch=git_branch",
        "version", "requestId=request_id", "promptId=prompt_id", "agentId=agent_id", "forkedFrom=forked_from",
        "sourceToolAssistantUUID=call_uuid",
    )  # fmt: skip
    flags = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
    facts |= {name: True for name in flags if entry.get(name) is True}
    parent = main if session else main.rpartition("/agent-")[0]
    return facts | picked({}, parent_session=parent)


def _subagent(main: str, entry: Mapping[str, Any], state: dict[str, Any]) -> str:
    """Give the session of a subagent whose lines stand in its parent's file; empty for the file's own.

    Where the host wrote no agent id, the lines of one subagent are known by the
    uuid of their first, handed on from parent to child.
    """
    if entry.get("isSidechain") is not True or "/agent-" in main:
        return ""
    agent = small(entry.get("agentId"))
    if not isinstance(agent, str):
        chains: dict[str, str] = state.setdefault("chains", {})
        uuid = text(entry.get("uuid"))[:64]
        agent = chains.get(text(entry.get("parentUuid"))[:64]) or uuid[:8] or "unknown"
        remember(chains, uuid, agent)
    return to_name(f"{main}/agent-{agent}")


def _identity(entry: Mapping[str, Any]) -> bytes:
    uuid = text(entry.get("uuid"))
    if not uuid:
        return b""
    serialized = json.dumps({name: entry[name] for name in _SAID if name in entry}, sort_keys=True)
    return to_bytes(uuid) + b"\0" + hashlib.sha256(serialized.encode()).digest()
