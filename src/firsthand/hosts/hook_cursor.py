"""Hooks of Cursor.

Contract: Cursor's agent 1.0.32. Its own names are in camelCase, its answers flat:
``additional_context`` for the model at five events, ``user_message`` for the user.
It also runs the hooks of Claude Code's settings, under Claude Code's names; both
are read here to the same call (`hook_claude` hands its own over), with the key
``conversation|event|generation[|call]``, so that what comes twice is told by it.
``afterAgentResponse`` brings what the agent said, which ``stop`` does not; it is
read as a stop, with a digest of the words in its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_fit import fit, one_line
from firsthand.hosts.hook_shape import EVENTS, Shaped, digest, key, text, written
from firsthand.unasked.volunteer import came_through

_OWN = {
    "sessionStart": HookEvent.SESSION_START,
    "beforeSubmitPrompt": HookEvent.PROMPT,
    "preToolUse": HookEvent.BEFORE_TOOL,
    "postToolUse": HookEvent.AFTER_TOOL,
    "postToolUseFailure": HookEvent.TOOL_FAILED,
    "preCompact": HookEvent.BEFORE_COMPACT,
    "subagentStart": HookEvent.SUBAGENT_START,
    "subagentStop": HookEvent.SUBAGENT_STOP,
    "afterAgentResponse": HookEvent.STOP,
    "stop": HookEvent.STOP,
    "sessionEnd": HookEvent.SESSION_END,
}
_CONTEXT = frozenset(
    {
        HookEvent.SESSION_START,
        HookEvent.PROMPT,
        HookEvent.BEFORE_TOOL,
        HookEvent.AFTER_TOOL,
        HookEvent.TOOL_FAILED,
    }
)
_TOLD = frozenset({HookEvent.SESSION_START, HookEvent.PROMPT, HookEvent.BEFORE_COMPACT})


class Cursor(Shaped):
    """Cursor."""

    def key_of(self, call: HookCall, payload: Mapping[str, Any]) -> str:
        """Give the key of conversation, event, generation, and call or words."""
        generation = text(payload, "generation_id")
        if not generation or not call.session or call.event is HookEvent.OTHER:
            return ""
        stop_digest = digest(call) if call.event is HookEvent.STOP else ""
        return key(call, call.agent_id, generation, call.call_id or stop_digest)

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the answer flat, as Cursor reads it."""
        context = fit(came_through(reply.context)) if call.event in _CONTEXT else ""
        line = one_line(came_through(reply.told)) if call.event in _TOLD else ""
        answer = {"additional_context": context, "user_message": line}
        return written({name: value for name, value in answer.items() if value})


HOST = Cursor("cursor", {**EVENTS, **_OWN}, context=_CONTEXT, notified=_TOLD)
