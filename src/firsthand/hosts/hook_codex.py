"""Hooks of Codex.

Contract: Codex 0.169.0, whose published schemas forbid every key that they do not
name. A tool that failed comes as PostToolUse; PreCompact, PostCompact, Stop and
SubagentStop take no context; what SessionEnd answers is not read.
"""

from __future__ import annotations

from firsthand.hosts.hook import HookEvent
from firsthand.hosts.hook_shape import EVENTS, Shaped

_EVENTS = {name: event for name, event in EVENTS.items() if event is not HookEvent.TOOL_FAILED}

HOST = Shaped(
    "codex",
    _EVENTS,
    context=frozenset(
        {
            HookEvent.SESSION_START,
            HookEvent.PROMPT,
            HookEvent.BEFORE_TOOL,
            HookEvent.AFTER_TOOL,
            HookEvent.SUBAGENT_START,
        }
    ),
    notified=frozenset(_EVENTS.values()) - {HookEvent.SESSION_END},
)
