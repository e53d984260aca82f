"""Hooks of Gemini CLI.

Contract: Gemini CLI 0.61.0. Its events have names of their own; a prompt's context
goes into ``<hook_context>`` with its angle brackets escaped, through which
`firsthand.fence` sees. A tool call has no id: the time of the event stands in the
key instead. A tool that failed says so in its own response.

Tried with 0.61.0: without a terminal (``-p``) it writes what hooks said at the
session's start before the user's words, and tells hooks both as the prompt; so that
is taken off here, or every first message would ask about the preamble.
``PreCompress`` comes before each call of the model, whether it compresses or not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.hosts.hook_shape import Shaped
from firsthand.value import replace

_ADDED = re.compile(r"(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)  # brackets inside are escaped

_EVENTS = {
    "SessionStart": HookEvent.SESSION_START,
    "BeforeAgent": HookEvent.PROMPT,
    "BeforeTool": HookEvent.BEFORE_TOOL,
    "AfterTool": HookEvent.AFTER_TOOL,
    "PreCompress": HookEvent.BEFORE_COMPACT,
    "AfterAgent": HookEvent.STOP,
    "SessionEnd": HookEvent.SESSION_END,
}


class Gemini(Shaped):
    """Gemini CLI."""

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; of the prompt the user's own words."""
        call = super().call_of(payload)
        added = _ADDED.match(call.prompt)
        return replace(call, prompt=call.prompt[added.end() :]) if added else call


HOST = Gemini(
    "gemini",
    _EVENTS,
    context=frozenset({HookEvent.SESSION_START, HookEvent.PROMPT, HookEvent.AFTER_TOOL}),
    notified=frozenset(_EVENTS.values()) - {HookEvent.SESSION_END},
)
