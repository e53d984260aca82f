"""What in a session the user asked and the agent answered, as far as hosts mark the rest as their own.

Hosts write much in the user's place that nobody asked: commands of their own, what those printed, reminders, marks of
an interruption. The invariant: only marks of hosts count (a tag at the beginning, a flag, a slash command), never what
a sentence says; what has no mark is the user's.

It reads single events and knows no session.
"""

from __future__ import annotations

import re

from firsthand.event import INJECTED, REPEATS, Event, Kind, Trust

_MARKS = (
    "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-input>", "<bash-stdout>",
    "<bash-stderr>", "<system-reminder>", "<task-notification>", "[Request interrupted by user",
    "<environment_context>", "<user_instructions>",
    "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>", "<subagent_notification>",
    "<hook_context>", "<user_shell_command>",
)  # fmt: skip
"""How texts begin that Claude Code and Codex write in the user's place."""
_COMMAND = re.compile(r"/[A-Za-z][\w:.-]{0,80}(?=\s|\Z)")
"""A slash command of a host; a path goes on with another slash."""
_FLAGS = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly", INJECTED, REPEATS)
_BROKEN_OFF = frozenset({"aborted", "error"})
_REFUSED = (
    "The user doesn't want to proceed with this tool use", "The user doesn't want to take this action",
    "[Request interrupted by user", "User aborted the command", "aborted by user",
)  # fmt: skip
"""How results begin of calls that the user did not let run."""


def is_request(event: Event) -> bool:
    """Say whether an event is something that the user asked."""
    if event.kind is not Kind.USER_MESSAGE or event.trust is not Trust.TRUSTED or event.erased or _is_marked(event):
        return False
    return is_asked(event.text[:400])


def is_asked(prompt: str) -> bool:
    """Say whether a prompt is something asked: not empty, no slash command, not a host's own words."""
    text = prompt.lstrip()
    return bool(text) and not text.startswith(_MARKS) and _COMMAND.match(text) is None


def is_answer(event: Event) -> bool:
    """Say whether an event is a message of the agent that it finished."""
    if event.kind is not Kind.AGENT_MESSAGE or event.trust is Trust.UNTRUSTED or event.erased or _is_marked(event):
        return False
    return event.meta.get("stopReason") not in _BROKEN_OFF


def is_refused(result: Event) -> bool:
    """Say whether a result tells that the user did not let the call run, which says nothing of the call."""
    return result.text[:200].lstrip().startswith(_REFUSED)


def _is_marked(event: Event) -> bool:
    return any(event.meta.get(flag) is True for flag in _FLAGS)
