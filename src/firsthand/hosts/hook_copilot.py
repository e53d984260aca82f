"""Hooks of GitHub Copilot CLI, by the PascalCase names that select a snake_case payload.

Contract: Copilot CLI 1.0.102, tried. What a command hook prints is read as a flat
``additionalContext`` at session start, prompt, before and after a tool, and by its
documentation after a tool that failed and when a subagent starts; nested as Claude
Code has it, before a tool alone. A hook before a tool that ends with an error
forbids the tool, so none of ours is installed there: Python may have moved.

A tool's result comes with the text for the model beside its sort; the text is the
output. What the agent said is told to no hook.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_shape import EVENTS, Shaped, written

_EVENTS = {
    **{name: event for name, event in EVENTS.items() if event is not HookEvent.AFTER_COMPACT},
    "UserPromptSubmitted": HookEvent.PROMPT,
    "AgentStop": HookEvent.STOP,
}


class Copilot(Shaped):
    """Copilot CLI."""

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; of a tool's result the text."""
        result = payload.get("tool_result")
        words = result.get("text_result_for_llm") if isinstance(result, Mapping) else None
        return super().call_of({**payload, "tool_result": words} if isinstance(words, str) else payload)

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the context where it is read; nothing anywhere else."""
        members: dict[str, Any] = self.specific(call, reply)
        return written(members)


HOST = Copilot(
    "copilot",
    _EVENTS,
    context=frozenset(
        {
            HookEvent.SESSION_START,
            HookEvent.PROMPT,
            HookEvent.BEFORE_TOOL,
            HookEvent.AFTER_TOOL,
            HookEvent.TOOL_FAILED,
            HookEvent.SUBAGENT_START,
        }
    ),
    notified=frozenset(),
)
