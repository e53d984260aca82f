"""A hook's process from its start to its end, with a daemon and without, beside a bare interpreter.

The store holds ``EVENTS`` real texts. Prompts are words of them, recalled for in all
sessions of the store; each hook records its event as well. Prompts and a session's end
are Claude Code's; tool results are Cursor's, whose hooks record them themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from setting import Setting
from table import Bound, Row, Target
from timing import interleave, percentile, say

EVENTS = 100_000
PROMPTS = 60
LARGE_BYTES = 1 << 20
Times = dict[str, list[float]]
BARE = "a bare `python -I -S -E -c pass`"


def measure(setting: Setting) -> list[Row]:
    count = setting.scaled(EVENTS)
    folder = setting.fresh("hook")
    try:
        return _measured(setting, count, folder)
    finally:
        setting.drop(folder)


def _measured(setting: Setting, count: int, folder: Path) -> list[Row]:
    shutil.copytree(setting.store(count), folder / "store")
    (folder / "store" / "settings.json").write_text('{"across": true}')
    users = {name: _user(folder, name) for name in ("daemon", "alone")}
    users["alone"]["FIRSTHAND_DAEMON"] = "off"
    prompts = [_prompt(text, number) for number, text in enumerate(_sentences(setting))]
    say(f"{len(prompts)} prompts to a store of {count:,} events")
    for user in users.values():  # the first hook enrols the agent and starts the daemon
        _hook(user, prompts[0], "claude-code")
    _wait_for_daemon(users["daemon"])
    bare = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
    large = [_tool_result(number) for number in range(20)]
    small = [_tool_result(number, 200) for number in range(20)]
    try:
        of_prompts = interleave(
            {
                "bare": lambda _: subprocess.run(bare, check=True),
                "daemon": lambda prompt: _hook(users["daemon"], prompt, "claude-code"),
                "alone": lambda prompt: _hook(users["alone"], prompt, "claude-code"),
            },
            prompts[1:],
        )
        of_tools = interleave(
            {"small": lambda k: _hook(users["daemon"], small[k]), "large": lambda k: _hook(users["daemon"], large[k])},
            range(len(small)),
        )
        ends = interleave(
            {"daemon": lambda k: _hook(users["daemon"], _end(k), "claude-code"),
             "alone": lambda k: _hook(users["alone"], _end(k), "claude-code")},
            range(20),
        )  # fmt: skip
        state = json.loads(_firsthand(users["daemon"], "daemon", "--json"))
    finally:
        _firsthand(users["daemon"], "daemon", "--stop")
    return _rows(count, of_prompts, of_tools, ends, state)


def _rows(count: int, of_prompts: Times, of_tools: Times, ends: Times, state: dict[str, Any]) -> list[Row]:
    def p95(seconds: list[float]) -> float:
        return 1000 * percentile(seconds, 0.95)

    bare = p95(of_prompts["bare"])
    at = f"hook at {count:,} events, p95"
    note = (
        "Process start to process end; the prompt is recorded and recalled for. The baseline's p95 is in the same run."
    )
    over = 1000 * (percentile(of_tools["large"], 0.5) - percentile(of_tools["small"], 0.5))
    limit = Bound.OURS_MAX
    return [
        Row(f"{at}, warm daemon", p95(of_prompts["daemon"]), bare, "ms", BARE, True, Target(limit, 40), note),
        Row(f"{at}, no daemon", p95(of_prompts["alone"]), bare, "ms", BARE, True, Target(limit, 80), note),
        Row("hook at a session's end, p95, no daemon", p95(ends["alone"]), bare, "ms", BARE, True, Target(limit, 300)),
        Row("hook at a session's end, p95, warm daemon", p95(ends["daemon"]), bare, "ms", BARE, True),
        Row(
            "a tool result of 1 MB, over one of 200 bytes, p50", max(0.001, over),
            1000 * percentile(of_tools["small"], 0.5), "ms", "the hook of 200 bytes", True, Target(limit, 30),
        ),
        Row(
            "memory of the daemon after these calls", state["memory_bytes"] / 2**20, 150, "MiB", "what was promised",
            True, Target(limit, 150),
        ),
    ]  # fmt: skip


def _user(folder: Path, name: str) -> dict[str, str]:
    """Make a home whose hooks go to the one store."""
    (folder / name / "run").mkdir(parents=True, mode=0o700)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FIRSTHAND")}
    return kept | {
        "HOME": str(folder / name), "XDG_RUNTIME_DIR": str(folder / name / "run"),
        "FIRSTHAND_STORE": str(folder / "store"),
    }  # fmt: skip


def _hook(user: dict[str, str], payload: bytes, host: str = "cursor") -> bytes:
    import firsthand

    client = Path(firsthand.__file__ or "").with_name("doors") / "hook_client.py"
    command = [sys.executable, "-I", "-S", "-E", str(client), host]
    return subprocess.run(command, input=payload, env=user, stdout=subprocess.PIPE, check=True).stdout


def _firsthand(user: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "firsthand", *arguments]
    return subprocess.run(command, env=user, stdout=subprocess.PIPE, text=True, check=False).stdout


def _wait_for_daemon(user: dict[str, str]) -> None:
    by = time.monotonic() + 30
    while not json.loads(_firsthand(user, "daemon", "--json"))["answers"]:
        if time.monotonic() > by:
            raise RuntimeError("expected a daemon within 30 s of the first hook; none answers")


def _sentences(setting: Setting) -> list[str]:
    """Make prompts of eighteen words as they stand in the store's texts."""
    texts = setting.texts_between(200, 2_000, setting.scaled(PROMPTS, at_least=8) + 1)
    return [" ".join(text.split()[3:21]) for text in texts]


def _prompt(text: str, number: int) -> bytes:
    return json.dumps(
        {
            "hook_event_name": "UserPromptSubmit", "session_id": "bench", "prompt_id": f"p{number}", "prompt": text,
            "cwd": "/project", "transcript_path": "",
        }
    ).encode()  # fmt: skip


def _tool_result(number: int, size: int = LARGE_BYTES) -> bytes:
    line = f"line of result {number} of {size} bytes\n"
    return json.dumps(
        {
            "hook_event_name": "afterShellExecution", "conversation_id": "bench", "generation_id": f"t{number}{size}",
            "command": f"make {number}", "output": (line * (size // len(line) + 1))[:size],
            "workspace_roots": ["/project"],
        }
    ).encode()  # fmt: skip


def _end(number: int) -> bytes:
    return json.dumps(
        {"hook_event_name": "SessionEnd", "session_id": f"bench-{number}", "cwd": "/project", "transcript_path": "",
         "reason": "other"}
    ).encode()  # fmt: skip
