"""A made Claude Code: it writes a transcript as that host does, and runs the hooks that its settings name.

It knows what a host knows: its settings file, its folder, its own transcript. What a
hook injects goes into the context that ``said`` collects, and into the transcript, as
the real one stores it. It knows nothing of Firsthand.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

HOOK_SECONDS_MAX = 60
_COUNT = itertools.count(1)


@dataclass
class Hooked:
    """What one hook did."""

    event: str
    output: dict[str, Any]
    seconds: float
    code: int
    stderr: str


@dataclass
class MadeClaude:
    """One session of the host; ``home`` is its user's, ``project`` the folder it works in."""

    home: Path
    project: Path
    settings: Path
    environment: Mapping[str, str]
    number: int = field(default_factory=lambda: next(_COUNT))
    said: list[str] = field(default_factory=list)  # contexts injected, in order
    hooked: list[Hooked] = field(default_factory=list)
    _parent: str | None = None
    _lines: int = 0
    _prompt_id: str = ""

    @property
    def session(self) -> str:
        return str(UUID(int=0x5B0A6C1E00004000800000000000 << 16 | self.number))

    @property
    def transcript(self) -> Path:
        folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project))
        return self.home / ".claude" / "projects" / folder / f"{self.session}.jsonl"

    # what happens -------------------------------------------------------------------------------------

    def start(self, source: str = "startup") -> str:
        """Begin, resume, or go on after a compaction; give what was injected."""
        return self._hook("SessionStart", source=source)

    def prompt(self, text: str) -> str:
        """Let the user say something; give what was injected."""
        self._prompt_id = self._uuid()
        injected = self._hook("UserPromptSubmit", prompt=text, prompt_id=self._prompt_id)
        self._write("user", message={"role": "user", "content": text}, promptId=self._prompt_id)
        return injected

    def bash(self, command: str, stdout: str, *, failed: bool = False) -> str:
        """Let the agent run a command; give what was injected before it."""
        call = f"toolu_{self.number}_{self._lines}"
        given = {"command": command, "description": "run"}
        told = {"tool_name": "Bash", "tool_input": given, "tool_use_id": call, "prompt_id": self._prompt_id}
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": given}
        self._write("assistant", message={"id": f"msg_{self._lines}", "model": "m", "role": "assistant",
                                          "content": [block]})  # fmt: skip
        injected = self._hook("PreToolUse", **told)
        if failed:
            self._hook("PostToolUseFailure", error=f"Exit code 1\n{stdout}", is_interrupt=False, **told)
        else:
            self._hook("PostToolUse", tool_response={"stdout": stdout, "stderr": "", "interrupted": False}, **told)
        content = f"Exit code 1\n{stdout}" if failed else stdout
        result = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}
        self._write("user", message={"role": "user", "content": [result]}, toolUseResult={"stdout": stdout})
        return injected

    def answer(self, text: str) -> None:
        """Let the agent answer, and stop."""
        block = {"type": "text", "text": text}
        self._write("assistant", message={"id": f"msg_{self._lines}", "model": "m", "role": "assistant",
                                          "content": [block]})  # fmt: skip
        self._hook("Stop", stop_hook_active=False, last_assistant_message=text, prompt_id=self._prompt_id)

    def compact(self, summary: str) -> str:
        """Let the host replace its history by a summary, in the order in which the real one tells of it."""
        self._hook("PreCompact", trigger="auto", custom_instructions=None)
        injected = self.start("compact")
        self._write("system", subtype="compact_boundary", content="Conversation compacted",
                    compactMetadata={"trigger": "auto", "preTokens": 90_000})  # fmt: skip
        self._write("user", isCompactSummary=True, isVisibleInTranscriptOnly=True,
                    message={"role": "user", "content": summary})  # fmt: skip
        self._hook("PostCompact", trigger="auto", compact_summary=summary)
        return injected

    def end(self) -> None:
        """End the session."""
        self._hook("SessionEnd", reason="prompt_input_exit")

    # how a host does it -------------------------------------------------------------------------------

    def _hook(self, name: str, **more: Any) -> str:
        payload = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": str(self.project),
                   "hook_event_name": name, "permission_mode": "default", **more}  # fmt: skip
        matched = str(more.get("tool_name") or more.get("source") or "")
        injected = [self._run(handler, name, payload) for handler in self._handlers(name, matched)]
        text = "\n".join(one for one in injected if one)
        if text:
            self.said.append(text)
        return text

    def _handlers(self, name: str, matched: str) -> Sequence[dict[str, Any]]:
        told = json.loads(self.settings.read_text()) if self.settings.exists() else {}
        groups = told.get("hooks", {}).get(name, [])
        return [
            handler
            for group in groups
            if not group.get("matcher") or group["matcher"] == "*" or matched in group["matcher"].split("|")
            for handler in group["hooks"]
        ]

    def _run(self, handler: dict[str, Any], name: str, payload: dict[str, Any]) -> str:
        command: Any = handler["command"]
        by_shell = "args" not in handler
        began = time.monotonic()
        done = subprocess.run(
            command if by_shell else [command, *handler["args"]],
            shell=by_shell, input=json.dumps(payload).encode(), capture_output=True, check=False,
            cwd=self.project, env={**self.environment}, timeout=HOOK_SECONDS_MAX,
        )  # fmt: skip
        output = json.loads(done.stdout) if done.stdout.strip() else {}
        self.hooked.append(Hooked(name, output, time.monotonic() - began, done.returncode, done.stderr.decode()))
        context = str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))
        if context:
            attachment = {"type": "hook_additional_context", "content": [context], "hookName": name, "hookEvent": name}
            self._write("attachment", attachment=attachment)
        return context

    def _uuid(self) -> str:
        return str(UUID(int=0x7B0A6C1E00004000800000000000 << 16 | self.number << 32 | self._lines))

    def _write(self, kind: str, **fields: Any) -> None:
        self._lines += 1
        uuid = self._uuid()
        line = {
            "parentUuid": self._parent, "isSidechain": False, "type": kind, "uuid": uuid,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "cwd": str(self.project),
            "sessionId": self.session, "version": "2.1.330", "gitBranch": "main", **fields,
        }  # fmt: skip
        self._parent = uuid
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
