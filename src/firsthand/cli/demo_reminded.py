"""The demo's two sessions of a coding agent: the second is reminded of the first without being asked.

What a host's hooks would be told is made here and goes through the same function that
the hook command calls; nothing is recalled by hand. It holds against itself that the
exact string comes when it matters, and stays away when it does not.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from firsthand import Memory, answer_hook, run_due
from firsthand.cli.demo_telling import Telling
from firsthand.cli.display import shown

HOST = "claude-code"  # here without a transcript, so that all it tells is in its payloads
LINES_SHOWN = 14
ADDRESS = "amqps://broker-7.internal:48213"
ASKED = "At which address does the message broker of the staging cluster listen?"
OTHER = "Write a haiku about a lighthouse in winter."
LATER_MS = 600_000  # the episode is written once the session has been quiet


class _Host:
    """One session of a host."""

    def __init__(self, memory: Memory, session: str, project: Path) -> None:
        self._memory, self._session, self._project = memory, session, project
        self._calls = 0

    def tell(self, event: str, **more: Any) -> str:
        """Call a hook; give what it injects."""
        payload = {"hook_event_name": event, "session_id": self._session, "cwd": str(self._project), **more}
        output = answer_hook(HOST, json.dumps(payload).encode(), self._memory).output
        told: dict[str, Any] = json.loads(output) if output else {}
        return str(told.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def run(self, command: str, output: str) -> None:
        """Tell of a command that ran."""
        self._calls += 1
        self.tell(
            "PostToolUse", tool_name="Bash", tool_input={"command": command},
            tool_response={"stdout": output, "stderr": "", "interrupted": False},
            tool_use_id=f"{self._session}-{self._calls}",
        )  # fmt: skip


def reminded(memory: Memory, project: Path, tell: Telling) -> None:
    """Run both sessions, show what stood before the agent in the second, and hold it against what should."""
    tell.head("8. Two sessions of a coding agent; nobody asks for anything")
    first = _Host(memory, "demo-first", project)
    first.tell("SessionStart", source="startup")
    first.tell("UserPromptSubmit", prompt="Find out where the message broker of the staging cluster listens.")
    first.run("kubectl get service broker -o yaml", f"kind: Service\nname: broker\naddress: {ADDRESS}\n")
    first.tell("Stop", stop_hook_active=False, last_assistant_message=f"The broker listens at {ADDRESS}.")
    first.tell("SessionEnd", reason="other")
    failed = [one.why for one in run_due(memory, now_ms=time.time_ns() // 1_000_000 + LATER_MS) if one.why]
    tell.hold(not failed, f"a job after the session failed: {failed}")
    tell.line(f"   session one said that it is {ADDRESS}, as a command had shown, and ended")

    second = _Host(memory, "demo-second", project)
    began = second.tell("SessionStart", source="startup")
    tell.hold("broker" in began, "the second session was not told of the first")
    tell.line("   session two begins, and reads:")
    _show(began, tell)
    away = second.tell("UserPromptSubmit", prompt=OTHER)
    word = tell.hold(ADDRESS not in away, "the address was shown where it does not matter")
    tell.line(f'   "{OTHER}": the address stays away: {word}')
    started = time.perf_counter()
    there = second.tell("UserPromptSubmit", prompt=ASKED)
    milliseconds = (time.perf_counter() - started) * 1000
    word = tell.hold(ADDRESS in there, "the address was not shown where it matters")
    tell.line(f'   "{ASKED}": the address stands before the agent: {word} ({milliseconds:.0f} ms)')
    _show(there, tell)
    tell.line("   firsthand install claude-code (or codex, gemini, cursor, vscode) makes your own agent do this")
    tell.facts |= {"reminded": ADDRESS in there, "distracted": ADDRESS in away, "reminder_ms": milliseconds}


def _show(text: str, tell: Telling) -> None:
    lines = text.splitlines()
    for line in lines[:LINES_SHOWN]:
        tell.line(f"   | {shown(line)}")
    if len(lines) > LINES_SHOWN:
        tell.line(f"   | ... {len(lines) - LINES_SHOWN} more lines")
