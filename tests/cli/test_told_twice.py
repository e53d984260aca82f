"""A host that is told of our hooks twice: by a plugin and its settings, or by two files that it both reads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from firsthand import Kind, Memory

PLUGIN = Path(__file__).parents[2] / "plugins" / "claude-code" / "hooks" / "hooks.json"
ASKED = "At which port does the message broker listen?"
TOLD = "We decided that the message broker listens at port 48213."
CLAUDE = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": ASKED, "prompt_id": "p", "cwd": "/tmp/w",
          "permission_mode": "default"}  # fmt: skip
CURSOR = {"conversation_id": "s", "generation_id": "g", "prompt": ASKED, "cwd": "/tmp/w"}
VSCODE = {"session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "prompt": ASKED, "cwd": "/tmp/w"}
CAMEL = {"sessionId": "s", "hookEventName": "UserPromptSubmit", "timestamp": "2026-01-01T00:00:00Z", "prompt": ASKED,
         "cwd": "/tmp/w"}  # fmt: skip


@pytest.mark.parametrize(
    "clients",
    [
        [("claude-code", CLAUDE), ("claude-code", CLAUDE)],  # the plugin's command and that of the settings
        [("cursor", {**CURSOR, "hook_event_name": "beforeSubmitPrompt"}),
         ("claude-code", {**CURSOR, "hook_event_name": "UserPromptSubmit"})],
        [("vscode", {**VSCODE, "hook_event_name": "UserPromptSubmit"}),
         ("claude-code", {**VSCODE, "hook_event_name": "UserPromptSubmit"})],
        [("vscode", CAMEL), ("copilot", CAMEL)],
    ],
    ids=["plugin and settings", "Cursor and Claude Code's settings", "VS Code and Claude Code's settings",
         "VS Code reading Copilot's file"],
)  # fmt: skip
def test_what_two_clients_are_told_at_the_same_moment_is_one_event_and_one_reminder(user, clients):
    """Two hooks of one prompt run at once: it is recorded once, and at most one of them says something."""
    earlier = {**CURSOR, "conversation_id": "earlier", "generation_id": "e", "hook_event_name": "beforeSubmitPrompt"}
    user.hook({**earlier, "prompt": TOLD}, "cursor")
    user.hook({**earlier, "hook_event_name": "sessionEnd"}, "cursor")
    user.command("agent", "jobs", "--run")
    with ThreadPoolExecutor(2) as pool:
        answers = [*pool.map(lambda client: user.hook(client[1], client[0]), clients)]
    assert [answer.code for answer in answers] == [0, 0]
    reminders = sum(b"48213" in answer.out for answer in answers)
    assert reminders == (clients[0][0] != "vscode")  # which reads no context at a prompt
    user.command("agent", "jobs", "--run")
    with Memory(user.store, read_only=True) as memory:
        prompts = [event for event in memory.events(kind=Kind.USER_MESSAGE) if event.text == ASKED]
        assert len(prompts) == 1
        assert len([*memory.events(prompts[0].session, kind=Kind.INJECTION)]) <= 1
        assert memory.verify().ok


def test_the_plugin_and_an_install_run_the_same_handler(user):
    """The plugin's command is the host's name as that of the settings is, so that both give one key."""
    for groups in json.loads(PLUGIN.read_bytes())["hooks"].values():
        for handler in groups[0]["hooks"]:
            assert (handler["command"], handler["args"]) == ("firsthand", ["hook", "claude-code"])
    answer = user.hook(CLAUDE, "claude-code", program=[user.launcher])
    assert answer.code == 0
