"""Rollouts of Codex: JSON lines that carry Responses items, and events that say many of them again.

The model's history is the ``response_item`` lines; they become the messages,
calls and results. An ``event_msg`` that repeats a message is kept as it is, not
as a second message, and marked (`event.REPEATS`), so that recall finds the message
and not its copy. A ``compacted`` line replaced the history before it.

What Codex puts in the user's place (environment, instructions from files) is the host's, not the user's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from firsthand.event import REPEATS, Draft, Kind, Trust, to_bytes
from firsthand.formats import openai_responses
from firsthand.formats.canonical import value_in
from firsthand.formats.fields import items, mapping, picked, text, to_name
from firsthand.hosts import lines
from firsthand.hosts.lines import Item
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import parse
from firsthand.record import Record, make, whole
from firsthand.value import replace

SAID_MAX = 32  # messages remembered to know an event that repeats one

_NAME = "codex"
_ORIGIN = f"host:{_NAME}"
_LINE = re.compile(
    rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)"'
    rb'[^{}]{0,200}"payload"\s*:'
)
_ROLLOUT = re.compile(r"rollout-.+?-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\Z", re.IGNORECASE)
_SESSION_ID = re.compile(rb'"payload"\s*:\s*\{[^{}]*?"(?:id|session_id)"\s*:\s*"([^"\\]{1,200})"')
_HOST_WORDS = (
    b"<environment_context>", b"<user_instructions>", b"<INSTRUCTIONS>", b"# AGENTS.md instructions",
    b"<turn_aborted>", b"<skill>", b"<subagent_notification>", b"<hook_context>",
)  # fmt: skip
_REPEATS = ("user_message", "agent_message", "agent_reasoning")


class Codex:
    """The host of ``~/.codex/sessions``."""

    name = _NAME
    places = (
        Place(".codex", "sessions/**/rollout-*.jsonl", "CODEX_HOME"),
        Place(".codex", "archived_sessions/**/rollout-*.jsonl", "CODEX_HOME"),
    )
    resumable = True
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".jsonl") and _LINE.search(head[:4096]) is not None

    def session(self, path: str, head: bytes) -> str:
        stem = PurePosixPath(path).stem
        named = _ROLLOUT.match(stem)
        match = _SESSION_ID.search(head) if b'"session_meta"' in head[:4096] else None
        return named[1] if named else to_name(match[1].decode("utf-8", "replace") if match else stem)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return lines.read(pieces, source, self.name, _convert)


def _convert(item: Item, state: dict[str, Any]) -> Record:
    entry = mapping(item.value)
    payload = mapping(entry.get("payload"))
    meta = picked(entry, "type=line", "ordinal") | picked(payload, "type=item")
    drafts = _drafts(item.raw, text(entry.get("type")), payload, state)
    time = parse(entry.get("timestamp"))
    if not drafts:
        meta |= _event_facts(payload, state) if entry.get("type") == "event_msg" else {}
        draft = Draft(Kind.OTHER, b"", "application/json", meta, agent=_NAME, origin=_ORIGIN, time=time)
        return whole(item.raw, draft)
    meta |= picked(payload, "id=item_id", "phase") | picked(state, "cwd", "turn_id")
    if any(draft.trust == Trust.AGENT for draft in drafts):
        meta |= picked(state, "model")
    first = replace(drafts[0], meta={**meta, **drafts[0].meta})
    return make(item.raw, [replace(draft, agent=_NAME, time=time) for draft in (first, *drafts[1:])])


def _drafts(raw: bytes, kind: str, payload: Mapping[str, Any], state: dict[str, Any]) -> list[Draft]:
    """Draft what a line says; nothing where only the whole line says it."""
    match kind:
        case "response_item" if payload:
            drafts = openai_responses.drafts(payload, raw, state.setdefault("calls", {}))
            _remember(drafts, state)
            return [_from_host(draft, payload.get("role")) for draft in drafts]
        case "session_meta" | "turn_context" if payload:
            state |= picked(payload, "cwd", "model", "turn_id")
            meta = picked(
                payload, "id=session", "session_id=session", "forked_from_id=forked_from", "cwd", "originator",
                "cli_version", "source", "model_provider", "git", "model", "effort", "approval_policy", "turn_id",
            )  # fmt: skip
            content = value_in(raw, payload, "payload")
            return [Draft(Kind.SESSION, content, "application/json", meta, origin=_ORIGIN)]
        case "compacted" if text(payload.get("message")):
            meta = picked(payload, "window_number", "window_id", "previous_window_id", "first_window_id")
            meta |= picked({}, replaced_by=len(items(payload.get("replacement_history"))) or None)
            return [Draft(Kind.SUMMARY, to_bytes(payload["message"]), meta=meta, origin=_ORIGIN, trust=Trust.AGENT)]
        case "compacted" if payload:  # compacted by the provider: the history that replaced is all there is
            content = value_in(raw, payload, "payload")
            return [Draft(Kind.SUMMARY, content, "application/json", origin=_ORIGIN, trust=Trust.AGENT)]
        case _:
            return []


def _from_host(draft: Draft, role: object) -> Draft:
    """Say that the host spoke where it did so in the user's or the developer's place."""
    assert isinstance(draft.content, bytes)
    if draft.kind == Kind.USER_MESSAGE and draft.content[:64].lstrip().startswith(_HOST_WORDS):
        return replace(draft, kind=Kind.SYSTEM, origin=_ORIGIN, trust=Trust.UNTRUSTED)
    if draft.kind == Kind.SYSTEM and role == "developer":  # what hooks add comes this way as well
        return replace(draft, origin=_ORIGIN, trust=Trust.UNTRUSTED)
    return draft


def _remember(drafts: Iterable[Draft], state: dict[str, Any]) -> None:
    digests: dict[str, int] = state.setdefault("said", {})
    for draft in drafts:
        if draft.kind in (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.REASONING) and isinstance(draft.content, bytes):
            digests[_digest(draft.content)] = 1
    while len(digests) > SAID_MAX:
        del digests[next(iter(digests))]


def _event_facts(payload: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    facts = picked(payload, "call_id", "turn_id", "reason", "info=usage")
    item = mapping(payload.get("item"))
    facts |= picked(item, "type=completed", "id=item_id")
    words = _words(payload, item)
    if words and _digest(to_bytes(words)) in mapping(state.get("said")):
        facts[REPEATS] = True
    if item.get("type") == "AgentMessage":  # the message itself is written in the next line, under the same id
        facts[REPEATS] = True
    return facts


def _words(payload: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """Give the words of a message that an event says; empty for any other event."""
    if payload.get("type") in _REPEATS:
        return text(payload.get("message") if "message" in payload else payload.get("text"))
    if item.get("type") == "UserMessage":
        return "".join(text(mapping(part).get("text")) for part in items(item.get("content")))
    return ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
