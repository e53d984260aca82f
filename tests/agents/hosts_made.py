"""A Claude Code that is made up: its payloads, and the transcript that it writes meanwhile."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from firsthand import Memory
from firsthand.agents.hook_answer import Answered, answer_hook
from firsthand.moment import Moment

START = Moment(1_795_000_000_000_000)


class Claude:
    """One session: hooks are fired at the memory, lines are written to the transcript."""

    def __init__(self, memory: Memory, folder: Path, number: int = 1) -> None:
        self.memory, self.cwd = memory, folder / "proj"
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.id = str(uuid.UUID(int=number))
        self.session = f"claude-code:{self.id}"
        self.path = folder / "projects" / "proj" / f"{self.id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.ticks = number * 100_000
        self.calls = 0

    def fire(self, event: str, *, nonce: str = "", **fields) -> Answered:
        self.ticks += 60
        payload = {
            "session_id": self.id, "transcript_path": str(self.path), "cwd": str(self.cwd),
            "hook_event_name": event, **fields,
        }  # fmt: skip
        answered = answer_hook(
            "claude-code", json.dumps(payload).encode(), self.memory, nonce=nonce, now=self.now(), deadline_ms=20_000
        )
        self.last = json.loads(answered.output) if answered.output else {}
        return answered

    def now(self) -> Moment:
        return Moment(START.microseconds + self.ticks * 1_000_000)

    def context(self, event: str, **fields) -> str:
        """Fire a hook; give what the model would read."""
        answered = self.fire(event, **fields)
        assert answered.fault == ""
        return self.last.get("hookSpecificOutput", {}).get("additionalContext", "")

    def line(self, kind: str, **fields) -> None:
        self.ticks += 1
        entry = {
            "type": kind, "uuid": str(uuid.UUID(int=self.ticks)), "parentUuid": None, "isSidechain": False,
            "sessionId": self.id, "cwd": str(self.cwd), "version": "2.1.330",
            "timestamp": str(self.now()), **fields,
        }  # fmt: skip
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def prompt(self, text: str) -> str:
        """Send a prompt; its line, and what was injected with it, are in the transcript afterwards."""
        context = self.context("UserPromptSubmit", prompt=text, prompt_id=f"p{self.ticks}")
        self.line("user", message={"role": "user", "content": text})
        if context:
            self.line("attachment", attachment={
                "type": "hook_additional_context", "content": [context], "hookName": "UserPromptSubmit",
                "toolUseID": "x", "hookEvent": "UserPromptSubmit",
            })  # fmt: skip
        return context

    def says(self, text: str) -> None:
        self.line("assistant", message={"id": f"m{self.ticks}", "role": "assistant",
                                        "content": [{"type": "text", "text": text}]})  # fmt: skip

    def runs(self, command: str, output: str, *, failed: bool = False, tool: str = "Bash", **within) -> str:
        """Run a command; give what was said before it."""
        said, call = self.calls_tool(command, tool, **within)
        self.answers(call, output, failed=failed, **within)
        return said

    def calls_tool(self, command: str, tool: str = "Bash", **within) -> tuple[str, str]:
        """Call a tool; give what was said before it, and the call's id."""
        self.calls += 1
        call = f"toolu_{self.id[-2:]}_{self.calls}"
        use = {"type": "tool_use", "id": call, "name": tool, "input": {"command": command}}
        said = self.context("PreToolUse", tool_name=tool, tool_input={"command": command}, tool_use_id=call)
        self.line("assistant", message={"id": f"m{self.ticks}", "role": "assistant", "content": [use]}, **within)
        return said, call

    def answers(self, call: str, output: str, *, failed: bool = False, **within) -> None:
        result = {"type": "tool_result", "content": output, "tool_use_id": call, "is_error": failed}
        self.line("user", message={"role": "user", "content": [result]}, **within)
