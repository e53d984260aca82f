"""The one core of all hook hosts: Claude Code's way of speaking to hooks, which the others took over or bent.

A payload is a JSON object with the event's name and snake_case fields (VS Code
spells some of them in camelCase); an answer is a JSON object with
``systemMessage`` for the user and ``hookSpecificOutput.additionalContext`` for
the model. A host is a `Shaped` with its own names of events and its own table of
what it reads where. The invariants: `Shaped.parse` never raises; `Shaped.render`
gives nothing or one line of strictly valid JSON, with no key that the host does
not know at that event, and no decision: a hook of ours allows and forbids nothing.

A call's ``key`` is ``session|event|id|...``: the id of the tool call, else the
host's id of prompt, generation or turn (or its time of the event) with a digest
of what was said, since one id may cover several prompts. Without any of them it
is empty. The host is not in it: the same thing told twice through two hosts'
settings has one key.

Pure. It knows no store, and not which events a host fires.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2s
from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_fit import fit, is_utf8, one_line
from firsthand.unasked.volunteer import came_through
from firsthand.value import replace

PAYLOAD_BYTES_MAX = 64 * 1024 * 1024
SESSION_CHARACTERS_MAX = 200
NAME_CHARACTERS_MAX = 200
PATH_CHARACTERS_MAX = 4_096
KEY_PART_CHARACTERS_MAX = 100
_DIGEST_BYTES = 8

EVENTS: Mapping[str, HookEvent] = {
    "SessionStart": HookEvent.SESSION_START,
    "UserPromptSubmit": HookEvent.PROMPT,
    "PreToolUse": HookEvent.BEFORE_TOOL,
    "PostToolUse": HookEvent.AFTER_TOOL,
    "PostToolUseFailure": HookEvent.TOOL_FAILED,
    "PreCompact": HookEvent.BEFORE_COMPACT,
    "PostCompact": HookEvent.AFTER_COMPACT,
    "SubagentStart": HookEvent.SUBAGENT_START,
    "SubagentStop": HookEvent.SUBAGENT_STOP,
    "Stop": HookEvent.STOP,
    "SessionEnd": HookEvent.SESSION_END,
}
TOOL_EVENTS = frozenset({HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL, HookEvent.TOOL_FAILED})
_MESSAGES: Mapping[HookEvent, tuple[str, ...]] = {
    HookEvent.STOP: ("last_assistant_message", "prompt_response", "text"),
    HookEvent.SUBAGENT_STOP: ("last_assistant_message", "summary"),
    HookEvent.AFTER_COMPACT: ("compact_summary",),
}
_SOURCES: Mapping[HookEvent, tuple[str, ...]] = {
    HookEvent.SESSION_START: ("source",),
    HookEvent.PROMPT: ("source",),
    HookEvent.BEFORE_COMPACT: ("trigger",),
    HookEvent.AFTER_COMPACT: ("trigger",),
    HookEvent.SESSION_END: ("reason",),
    HookEvent.SUBAGENT_START: ("agent_type", "subagent_type"),
    HookEvent.SUBAGENT_STOP: ("agent_type", "subagent_type"),
}
_MOMENTS_OF_A_TURN = ("prompt_id", "generation_id", "turn_id", "timestamp")


class Shaped:
    """One host: its names of the events, and where it reads what.

    Args:
        name: of the host.
        events: what each of the host's own names means.
        context: the events at which it takes ``additionalContext`` to the model.
        told: the events at which it shows ``systemMessage`` to the user.
    """

    def __init__(
        self,
        name: str,
        events: Mapping[str, HookEvent] = EVENTS,
        *,
        context: frozenset[HookEvent],
        notified: frozenset[HookEvent],
    ) -> None:
        self.name, self.events = name, events
        self.context, self.notified = context, notified

    def reads_context(self, event: HookEvent) -> bool:
        """Say whether the host takes what a hook says at such an event to its model."""
        return event in self.context

    def parse(self, payload: bytes) -> HookCall:
        """Read what the host wrote to the hook; what cannot be understood is said in ``fault``."""
        members = read(payload)
        if isinstance(members, str):
            return HookCall(self.name, HookEvent.OTHER, fault=members)
        try:
            return self.call_of(members)
        except RecursionError:
            return HookCall(self.name, HookEvent.OTHER, fault="the payload's JSON is nested too deep to be kept")

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields."""
        name = text(payload, "hook_event_name", "hookEventName")
        event = self.events.get(name, HookEvent.OTHER)
        session = text(payload, "session_id", "sessionId", "conversation_id")
        fault = _fault(name, session)
        if fault:
            return HookCall(self.name, HookEvent.OTHER, name[:NAME_CHARACTERS_MAX], fault=fault)
        in_tool = event in TOOL_EVENTS
        subagent_ended = event is HookEvent.SUBAGENT_STOP
        call = HookCall(
            self.name,
            event,
            name,
            session,
            cwd=_path(payload, "cwd") or _first_path(payload.get("workspace_roots")),
            transcript=(_path(payload, "agent_transcript_path") if subagent_ended else "")
            or _path(payload, "transcript_path", "transcriptPath"),
            source=text(payload, *_SOURCES.get(event, ())),
            prompt=text(payload, "prompt") if event is HookEvent.PROMPT else "",
            tool=_name(payload, "tool_name", "toolName") if in_tool else "",
            tool_input=as_text(payload, "tool_input", "tool_args", "toolArgs") if in_tool else "",
            tool_output=as_text(payload, "tool_response", "tool_output", "tool_result", "toolResult")
            if in_tool
            else "",
            call_id=_name(payload, "tool_use_id", "toolUseId") if in_tool else "",
            error=as_text(payload, "error", "error_message") if event is HookEvent.TOOL_FAILED else "",
            message=text(payload, *_MESSAGES.get(event, ())),
            agent_id=_name(payload, "agent_id"),
            again=payload.get("stop_hook_active") is True,
        )
        return replace(call, key=self.key_of(call, payload))

    def key_of(self, call: HookCall, payload: Mapping[str, Any]) -> str:
        """Give what makes the call the same when it comes twice; empty when nothing told does."""
        if call.call_id:
            return key(call, call.agent_id, call.call_id)
        moment = text(payload, *_MOMENTS_OF_A_TURN)
        if not moment or not call.session or call.event is HookEvent.OTHER:
            return ""
        return key(call, call.agent_id, moment, digest(call))

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the answer as the host reads it: one JSON object in a line, or nothing."""
        answer: dict[str, Any] = {}
        line = one_line(came_through(reply.told)) if call.event in self.notified else ""
        if line:
            answer["systemMessage"] = line
        specific = self.specific(call, reply)
        if specific:
            answer["hookSpecificOutput"] = {"hookEventName": self.name_of(call.event), **specific}
        return written(answer)

    def specific(self, call: HookCall, reply: HookReply) -> dict[str, Any]:
        """Give the members of ``hookSpecificOutput`` beside the event's name."""
        context = fit(came_through(reply.context)) if call.event in self.context else ""
        return {"additionalContext": context} if context else {}

    def name_of(self, event: HookEvent) -> str:
        """Give the host's own name of an event that it has."""
        return next(name for name, own_event in self.events.items() if own_event is event)


# reading -------------------------------------------------------------------------------------------


def read(payload: bytes) -> Mapping[str, Any] | str:
    """Read a payload's JSON object; a sentence when it is none."""
    if len(payload) > PAYLOAD_BYTES_MAX:
        return f"expected at most {PAYLOAD_BYTES_MAX:,} bytes of JSON from the host; got {len(payload):,}"
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError) as error:  # no Unicode, no JSON, nested too deep
        return f"expected a JSON object from the host; got {len(payload):,} bytes that are none: {error!s:.120}"
    if not isinstance(fields, dict):
        return f"expected a JSON object from the host; got {type(fields).__name__}"
    return fields


def text(payload: Mapping[str, Any], *names: str) -> str:
    """Give the first of the named fields that is a text with something in it; empty without one."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def as_text(payload: Mapping[str, Any], *names: str) -> str:
    """Give the first of the named fields that is there: a text as it is, all else as JSON; empty without one."""
    for name in names:
        value = payload.get(name)
        if value is None:
            continue
        if isinstance(value, str):
            return value
        plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        # a lone surrogate inside has no UTF-8, but an escape
        return plain if is_utf8(plain) else json.dumps(value, separators=(",", ":"))
    return ""


def _name(payload: Mapping[str, Any], *names: str) -> str:
    """Give a name that a log can hold in a header; one that it cannot is told by its digest."""
    name = text(payload, *names)
    if len(name) <= NAME_CHARACTERS_MAX and name.isprintable():
        return name
    return _digest(name)


def _path(payload: Mapping[str, Any], *names: str) -> str:
    """Give a path; empty for what no path can be."""
    path = text(payload, *names)
    return path if len(path) <= PATH_CHARACTERS_MAX and path.isprintable() else ""


def _first_path(roots: object) -> str:
    return _path({"root": roots[0]}, "root") if isinstance(roots, list) and roots else ""


def _fault(name: str, session: str) -> str:
    if not name:
        return "expected the event's name in hook_event_name; got none"
    if len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        return f"expected a printable name of an event; got {len(name):,} characters: {name!r:.60}"
    if len(session) > SESSION_CHARACTERS_MAX or not session.isprintable():
        return (
            f"expected a session id of at most {SESSION_CHARACTERS_MAX} printable characters; "
            f"got {len(session):,}: {session!r:.60}"
        )
    return ""


# keys ----------------------------------------------------------------------------------------------


def key(call: HookCall, *parts: str) -> str:
    """Make a call's key of its session, its event and what else tells it apart; empty parts are left out."""
    named = (call.session, call.event.value, *(part for part in parts if part))
    return "|".join(part if len(part) <= KEY_PART_CHARACTERS_MAX else _digest(part) for part in named)


def digest(call: HookCall) -> str:
    """Tell apart what was said in calls of one event in one turn; empty when nothing was."""
    parts = (call.source, call.prompt, call.message, call.error, call.tool, call.tool_input)
    joined = "\0".join(parts)
    return _digest(joined) if joined.strip("\0") else ""


def _digest(joined: str) -> str:
    return blake2s(joined.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


# writing -------------------------------------------------------------------------------------------


def written(answer: Mapping[str, Any]) -> bytes:
    """Write an answer as one line of JSON; nothing for an empty one."""
    if not answer:
        return b""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
