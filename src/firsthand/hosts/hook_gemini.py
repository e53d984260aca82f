"""Hooks of Gemini CLI.

Contract: Gemini CLI 0.61.0. Its events have names of their own; a prompt's context
goes into ``<hook_context>`` with its angle brackets escaped, through which
`firsthand.fence` sees. A tool call has no id: the time of the event stands in the
key instead. A tool that failed says so in its own response.
"""

from __future__ import annotations

from firsthand.hosts.hook import HookEvent
from firsthand.hosts.hook_shaped import Shaped

_EVENTS = {
    "SessionStart": HookEvent.SESSION_START,
    "BeforeAgent": HookEvent.PROMPT,
    "BeforeTool": HookEvent.BEFORE_TOOL,
    "AfterTool": HookEvent.AFTER_TOOL,
    "PreCompress": HookEvent.BEFORE_COMPACT,
    "AfterAgent": HookEvent.STOP,
    "SessionEnd": HookEvent.SESSION_END,
}

HOST = Shaped(
    "gemini",
    _EVENTS,
    context=frozenset({HookEvent.SESSION_START, HookEvent.PROMPT, HookEvent.AFTER_TOOL}),
    told=frozenset(_EVENTS.values()) - {HookEvent.SESSION_END},
)
