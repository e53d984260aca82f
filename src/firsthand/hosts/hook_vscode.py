"""Hooks of the agents in VS Code.

Claude-shaped, with ``sessionId`` and ``hookEventName`` in camelCase. Context is
read at four events; a prompt takes none, only a message for the user. It has eight
events, and no end of a session. It runs the hooks of Claude Code's settings with the
same payloads (`hook_claude` hands them over); newer builds spell the names as Claude
Code does. The time of the event is told to all its hooks alike, and makes the key.
"""

from __future__ import annotations

from firsthand.hosts.hook import HookEvent
from firsthand.hosts.hook_shape import EVENTS, Shaped

_MISSING = {HookEvent.TOOL_FAILED, HookEvent.AFTER_COMPACT, HookEvent.SESSION_END}
_EVENTS = {name: event for name, event in EVENTS.items() if event not in _MISSING}

HOST = Shaped(
    "vscode",
    _EVENTS,
    context=frozenset({HookEvent.SESSION_START, HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL, HookEvent.SUBAGENT_START}),
    notified=frozenset(_EVENTS.values()),
)
