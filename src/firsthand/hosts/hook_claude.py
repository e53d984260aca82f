"""Hooks of Claude Code, and what Cursor and VS Code make of them.

Contract: Claude Code 2.1.329. Context is read at six events; at Stop and
SubagentStop it would make the turn go on and cost a call of the model, so nothing
is said there. ``updatedToolOutput`` takes the place of a tool's output, in the
shape of the output itself: `replaced` puts the text where the output's own largest
text stood.

Cursor and VS Code run the hooks of Claude Code's settings too. Cursor's payloads
name a ``cursor_version`` or a ``generation_id``; those of VS Code tell the time of
the event (``timestamp``, the same one to each hook) and no ``permission_mode``.
Such a call is read as that host's own module reads it,
host and key included, so what its own settings tell a hook as well is known by its
key; it is answered in Claude Code's shape, which is what both expect here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_cursor import HOST as CURSOR
from firsthand.hosts.hook_shape import EVENTS, Shaped, is_utf8
from firsthand.hosts.hook_vscode import HOST as VSCODE
from firsthand.unasked.volunteer import came_through

SMALL_TEXT_CHARACTERS = 1_000
"""A text of a tool's output that stays beside the one that is replaced."""
LEFT_OUT = "[left out by firsthand; the pointer leads to the whole output]"
_TEXT_FIELDS = frozenset({"stdout", "stderr", "content", "text", "result", "output"})
_DEPTH_MAX = 8
_OF_CURSOR = ("cursor_version", "generation_id")


class ClaudeCode(Shaped):
    """Claude Code."""

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; those of Cursor and VS Code are read as theirs."""
        if any(name in payload for name in _OF_CURSOR):
            return CURSOR.call_of(payload)
        if "timestamp" in payload and "permission_mode" not in payload:
            return VSCODE.call_of(payload)
        return super().call_of(payload)

    def specific(self, call: HookCall, reply: HookReply) -> dict[str, Any]:
        """Give context, and a tool's new output after a tool call."""
        members = super().specific(call, reply)
        if call.event is HookEvent.AFTER_TOOL and reply.tool_output and call.host == self.name:
            new = replaced(call.tool_output, came_through(reply.tool_output))
            if new is not None:
                members["updatedToolOutput"] = new
        return members


def replaced(output: str, stub: str) -> Any:
    """Put a short text where a tool's large output stood, in the output's own shape.

    A tool that answers with text gets the text. In one that answers with an object or
    a list, the largest text under a field that holds text (``stdout``, ``stderr``,
    ``content``, ``text``, ``result``, ``output``) becomes the new one, other large ones
    a line that says so, and all else stays: sizes, names, images.

    Returns:
        None when that would not make it smaller; then the output is to stay as it is.
    """
    if not is_utf8(stub) or len(stub) >= len(output):
        return None
    try:
        shape = json.loads(output)
    except (ValueError, RecursionError):  # it is text
        return stub
    if not isinstance(shape, (dict, list)):
        return stub
    texts = sorted(_texts(shape, 0), key=lambda place: -len(place[0][place[1]]))
    if not texts or len(texts[0][0][texts[0][1]]) <= len(stub):
        return None
    for number, (holder, place) in enumerate(texts):
        if number == 0:
            holder[place] = stub
        elif len(holder[place]) > SMALL_TEXT_CHARACTERS:
            holder[place] = LEFT_OUT
    written = json.dumps(shape, ensure_ascii=False)
    return shape if is_utf8(written) and len(written) < len(output) else None


def _texts(shape: Any, depth: int) -> list[tuple[Any, Any]]:
    """List where the texts of an output stand, each as what holds it and its place there."""
    if depth > _DEPTH_MAX:
        return []
    if isinstance(shape, list):
        return [place for inner in shape for place in _texts(inner, depth + 1)]
    if not isinstance(shape, dict):
        return []
    own = [(shape, name) for name, inner in shape.items() if name in _TEXT_FIELDS and isinstance(inner, str)]
    return own + [place for inner in shape.values() for place in _texts(inner, depth + 1)]


HOST = ClaudeCode(
    "claude-code",
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
    notified=frozenset(EVENTS.values()) - {HookEvent.SESSION_END},
)
