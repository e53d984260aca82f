"""What an agent's host tells a hook, and what a hook may answer: one shape for all hosts.

A host calls a hook with JSON on its standard input. `HookCall` is that, normalised;
`HookReply` is what Firsthand wants to say, and each host's own module writes it as
that host reads it. The invariant: a call that cannot be understood is a value too
(`HookEvent.OTHER`, with ``fault``), since no hook may fail.

Pure. It knows no store and decides nothing.
"""

from __future__ import annotations

from enum import StrEnum

from firsthand.unasked.volunteer import NOTHING, Unasked
from firsthand.value import value

CONTEXT_CHARACTERS_MAX = 9_000
"""Of all that one hook injects: below the 10,000 at which Claude Code and Cursor cut or drop it."""
CONTEXT_TOKENS_MAX = 2_400
"""Below the 2,500 at which Codex writes it to a file instead."""
CONTEXT_BYTES_MAX = 9_600
"""The same in Codex's own measure, a token for every four bytes."""


class HookEvent(StrEnum):
    """What happened, in one word for all hosts."""

    SESSION_START = "session start"
    PROMPT = "prompt"
    BEFORE_TOOL = "before tool"
    AFTER_TOOL = "after tool"
    TOOL_FAILED = "tool failed"
    BEFORE_COMPACT = "before compact"
    AFTER_COMPACT = "after compact"
    SUBAGENT_START = "subagent start"
    SUBAGENT_STOP = "subagent stop"
    STOP = "stop"
    SESSION_END = "session end"
    OTHER = "other"


@value
class HookCall:
    """One call of a hook.

    Attributes:
        host: name of the host: ``claude-code``, ``codex``, ``cursor``, ``vscode``, ``gemini``, ``copilot``.
        event: what happened.
        name: the host's own name of the event, to be given back in the answer.
        session: the host's id of the session; empty when it told none.
        key: what makes this call the same when it comes twice; empty when the host tells nothing to know it by.
        cwd: the folder that the agent works in; empty if unknown.
        transcript: path of the session's transcript; empty when the host keeps none, or tells none.
        source: why a session starts (``startup``, ``resume``, ``clear``, ``compact``, ``fork``), ends, or is
            compacted (``manual``, ``auto``); of a prompt who wrote it (``user``, ``sdk``, ``system`` ...).
        prompt: the user's message, whole.
        tool, tool_input, tool_output, call_id: of a tool call; input and output as JSON or text, as they came.
        error: of a tool that failed.
        message: the agent's last message (stop), or the host's summary (after compact).
        agent_id: of a subagent; empty for the main agent.
        again: true when the host says that a stop hook is already running.
        fault: why the call could not be understood; empty when it could.
    """

    host: str
    event: HookEvent
    name: str = ""
    session: str = ""
    key: str = ""
    cwd: str = ""
    transcript: str = ""
    source: str = ""
    prompt: str = ""
    tool: str = ""
    tool_input: str = ""
    tool_output: str = ""
    call_id: str = ""
    error: str = ""
    message: str = ""
    agent_id: str = ""
    again: bool = False
    fault: str = ""

    @property
    def log_session(self) -> str:
        """The session's name in the log, the one that an import of its transcript gives it; empty if unknown."""
        if not self.session:
            return ""
        subagent = f"/agent-{self.agent_id}" if self.agent_id else ""
        return f"{self.host}:{self.session}{subagent}"


@value
class HookReply:
    """What a hook answers; all empty says nothing. Nobody asked for any of it: it came through the funnel.

    Attributes:
        context: what the model is to read, fenced already.
        told: one line for the user.
        tool_output: what stands in the place of a tool's output, where the host allows it.
    """

    context: Unasked = NOTHING
    told: Unasked = NOTHING
    tool_output: Unasked = NOTHING

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to say."""
        return not (self.context or self.told or self.tool_output)
