"""Hooks of GitHub Copilot CLI, by the PascalCase names that select a snake_case payload.

What a command hook prints is read at two events that matter here, after a tool
that failed and when a subagent starts, as a flat ``additionalContext``; at all
others, session start and prompt among them, it is not, so nothing is said.
"""

from __future__ import annotations

from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_shaped import EVENTS, Shaped, written

_EVENTS = {
    **{name: event for name, event in EVENTS.items() if event is not HookEvent.AFTER_COMPACT},
    "UserPromptSubmitted": HookEvent.PROMPT,
    "AgentStop": HookEvent.STOP,
}


class Copilot(Shaped):
    """Copilot CLI."""

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the context where it is read; nothing anywhere else."""
        members: dict[str, Any] = self.specific(call, reply)
        return written(members)


HOST = Copilot(
    "copilot",
    _EVENTS,
    context=frozenset({HookEvent.TOOL_FAILED, HookEvent.SUBAGENT_START}),
    told=frozenset(),
)
