"""The hosts whose hooks Firsthand answers: their names of the events, what each reads where, and its own ways.

Read against Claude Code 2.1.329, Codex 0.169.0 (whose published schemas forbid every key that they do not name), Gemini
CLI 0.61.0, Copilot CLI 1.0.102, Cursor's agent 1.0.32 and the documentation of VS Code. No host is told anything at
the end of a turn, where it would make the turn go on and cost a call of the model.

Cursor and VS Code run the hooks of Claude Code's settings too. Cursor's payloads name a ``cursor_version`` or a
``generation_id``; those of VS Code tell the time of the event (``timestamp``, the same one to each hook) and no
``permission_mode``. Such a call is read as that host's own, host and key included, so what its own settings tell a hook
as well is known by its key; it is answered in Claude Code's shape, which is what both expect there.

Pure. It knows no store, and not which events a host fires.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_fit import fit, is_utf8, one_line
from firsthand.hosts.hook_shape import EVENTS, Shaped, digest, key, text, written
from firsthand.unasked.volunteer import came_through
from firsthand.value import replace

SMALL_TEXT_CHARACTERS = 1_000
"""A text of a tool's output that stays beside the one that is replaced."""
LEFT_OUT = "[left out by firsthand; the pointer leads to the whole output]"
_TEXT_FIELDS = frozenset({"stdout", "stderr", "content", "text", "result", "output"})
_DEPTH_MAX = 8
_OF_CURSOR = ("cursor_version", "generation_id")
_ADDED = re.compile(r"(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)  # brackets inside are escaped
_IN_TURN = frozenset({HookEvent.SESSION_START, HookEvent.PROMPT, HookEvent.AFTER_TOOL})
_ABOUT_TOOLS = frozenset({HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL, HookEvent.TOOL_FAILED})
_EVERYWHERE = _IN_TURN | _ABOUT_TOOLS | {HookEvent.SUBAGENT_START}


class ClaudeCode(Shaped):
    """Claude Code: ``updatedToolOutput`` takes the place of a tool's output, in the shape of that output itself."""

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; those of Cursor and VS Code are read as theirs."""
        if any(name in payload for name in _OF_CURSOR):
            return HOSTS["cursor"].call_of(payload)
        if "timestamp" in payload and "permission_mode" not in payload:
            return HOSTS["vscode"].call_of(payload)
        return super().call_of(payload)

    def specific(self, call: HookCall, reply: HookReply) -> dict[str, Any]:
        """Give context, and a tool's new output after a tool call."""
        members = super().specific(call, reply)
        if call.event is HookEvent.AFTER_TOOL and reply.tool_output and call.host == self.name:
            new = replaced(call.tool_output, came_through(reply.tool_output))
            if new is not None:
                members["updatedToolOutput"] = new
        return members


class Gemini(Shaped):
    """Gemini CLI: without a terminal it writes what hooks said at the session's start before the user's words, and
    tells hooks both as the prompt; so that is taken off here, or every first message would ask about the preamble.
    """  # noqa: D205

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; of the prompt the user's own words."""
        call = super().call_of(payload)
        added = _ADDED.match(call.prompt)
        return replace(call, prompt=call.prompt[added.end() :]) if added else call


class Copilot(Shaped):
    """Copilot CLI, by the PascalCase names that select a snake_case payload: its context is read flat.

    A hook before a tool that ends with an error forbids the tool, so none of ours is installed there.
    """

    def call_of(self, payload: Mapping[str, Any]) -> HookCall:
        """Make the call of a payload's fields; of a tool's result the text for the model.

        VS Code reads the same folder; its camelCase names, which these events never bring, are read as its own.
        """
        if "hookEventName" in payload:
            return HOSTS["vscode"].call_of(payload)
        result = payload.get("tool_result")
        words = result.get("text_result_for_llm") if isinstance(result, Mapping) else None
        return super().call_of({**payload, "tool_result": words} if isinstance(words, str) else payload)

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the context where it is read; nothing anywhere else."""
        return written(self.specific(call, reply))


class Cursor(Shaped):
    """Cursor, by its own names in camelCase or by Claude Code's; its answers are flat.

    ``afterAgentResponse`` brings what the agent said, which ``stop`` does not; it is read as a stop, with a digest of
    the words in its key.
    """

    def key_of(self, call: HookCall, payload: Mapping[str, Any]) -> str:
        """Give the key of conversation, event, generation, and call or words."""
        generation = text(payload, "generation_id")
        if not generation or not call.session or call.event is HookEvent.OTHER:
            return ""
        stop_digest = digest(call) if call.event is HookEvent.STOP else ""
        return key(call, call.agent_id, generation, call.call_id or stop_digest)

    def render(self, call: HookCall, reply: HookReply) -> bytes:
        """Write the answer flat."""
        context = fit(came_through(reply.context)) if call.event in self.context else ""
        line = one_line(came_through(reply.told)) if call.event in self.notified else ""
        answer = {"additional_context": context, "user_message": line}
        return written({name: value for name, value in answer.items() if value})


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
    new = json.dumps(shape, ensure_ascii=False)
    return shape if is_utf8(new) and len(new) < len(output) else None


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


def _without(*events: HookEvent) -> dict[str, HookEvent]:
    return {name: event for name, event in EVENTS.items() if event not in events}


_CODEX = _without(HookEvent.TOOL_FAILED)  # which comes as PostToolUse
_VSCODE = _without(HookEvent.TOOL_FAILED, HookEvent.AFTER_COMPACT, HookEvent.SESSION_END)
_GEMINI = {
    "SessionStart": HookEvent.SESSION_START,
    "BeforeAgent": HookEvent.PROMPT,
    "BeforeTool": HookEvent.BEFORE_TOOL,
    "AfterTool": HookEvent.AFTER_TOOL,
    "PreCompress": HookEvent.BEFORE_COMPACT,  # before each call of the model, whether it compresses or not
    "AfterAgent": HookEvent.STOP,
    "SessionEnd": HookEvent.SESSION_END,
}
_COPILOT = {
    **_without(HookEvent.AFTER_COMPACT), "UserPromptSubmitted": HookEvent.PROMPT, "AgentStop": HookEvent.STOP,
}  # fmt: skip
_CURSOR = {
    **EVENTS,
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


def _while_running(events: Mapping[str, HookEvent]) -> frozenset[HookEvent]:
    return frozenset(events.values()) - {HookEvent.SESSION_END}


HOSTS: Mapping[str, Shaped] = {
    host.name: host
    for host in (
        ClaudeCode("claude-code", EVENTS, context=_EVERYWHERE, notified=_while_running(EVENTS)),
        Shaped("codex", _CODEX, context=_EVERYWHERE - {HookEvent.TOOL_FAILED}, notified=_while_running(_CODEX)),
        Gemini("gemini", _GEMINI, context=_IN_TURN, notified=_while_running(_GEMINI)),
        Cursor(
            "cursor", _CURSOR, context=_IN_TURN | _ABOUT_TOOLS,
            notified=frozenset({HookEvent.SESSION_START, HookEvent.PROMPT, HookEvent.BEFORE_COMPACT}),
        ),
        Shaped(
            "vscode", _VSCODE,  # a prompt takes no context there
            context=_EVERYWHERE - {HookEvent.PROMPT, HookEvent.TOOL_FAILED}, notified=frozenset(_VSCODE.values()),
        ),
        Copilot("copilot", _COPILOT, context=_EVERYWHERE, notified=frozenset()),
    )
}  # fmt: skip


def named(host: str) -> Shaped:
    """Give a host by its name.

    Raises:
        InvalidArgument: no host has this name.
    """
    if host not in HOSTS:
        raise InvalidArgument(f"expected one of the hosts {', '.join(HOSTS)}; got {host!r:.60}")
    return HOSTS[host]
