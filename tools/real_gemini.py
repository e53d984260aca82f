"""Run the real Gemini CLI with Firsthand installed against a model that is scripted: is it reminded unasked?

    python tools/real_gemini.py --gemini PATH_OF_GEMINI [--work DIR] [--plain]

The program is in the npm package @google/gemini-cli; it needs Node 20 or later on
PATH. What is looked at stands in real_host.py; ``--plain`` puts no recorder before
the hooks, so that the settings are just as they were installed. A session in an
editor's protocol (``--acp``) is compressed, since its model says that the window is
nearly full.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from typing import Any

import real_host
from real_host import Model, Run

EVENTS = {"SessionStart", "BeforeAgent", "AfterTool", "PreCompress", "AfterAgent", "SessionEnd"}
WINDOW_NEARLY_FULL = 900_000
EDITOR = ("Which colours has the garden's gate?", "Paint it green.", "And the bench beside it?", "Thank the gardener.")
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
WRONG = ("hook(s) failed", "Hook(s) ", "invalid hook", "Hook execution error", "Hook failed", "not valid JSON")


def main() -> int:
    """Run it; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gemini", required=True, help="the program")
    parser.add_argument("--work", help="a new folder to work in; else a temporary one")
    parser.add_argument("--plain", action="store_true", help="no recorder before the hooks")
    chosen = parser.parse_args()
    run = real_host.begin(
        "gemini",
        chosen.gemini,
        chosen.work,
        ".gemini/settings.json",
        lambda url, _: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )
    run.settings.parent.mkdir()
    run.settings.write_text(json.dumps(SETTINGS, indent=4))
    run.install(recorder=not chosen.plain)
    command = [chosen.gemini, "--yolo", "--output-format", "stream-json", "--debug"]
    _say(run, command, "first", real_host.FIRST[0])
    _say(run, [*command, "--resume", "latest"], "second", real_host.FIRST[1])
    run.wait_for_episode()
    Model.tokens = WINDOW_NEARLY_FULL
    _editor(run, chosen.gemini)
    Model.tokens = 10
    real_host.ask_later(run, lambda name, prompt: _say(run, command, name, prompt))
    return real_host.end(run, set() if chosen.plain else EVENTS, summaries=True)


def _say(run: Run, command: list[str], name: str, prompt: str) -> None:
    done = run.program([*command, "--prompt", prompt], name=name)
    for line in (done.stdout + done.stderr).splitlines():
        if any(word in line for word in WRONG):
            run.faults.append(f"gemini said: {line[:300]}")


def _editor(run: Run, gemini: str) -> None:
    """Say a few things in one session as an editor does, so that it is compressed."""
    with (run.work / "editor.err").open("w") as errors, subprocess.Popen(
        [gemini, "--acp", "--yolo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        env=run.environment, cwd=run.project, start_new_session=True,
    ) as process:  # fmt: skip
        _ask(process, 1, "initialize", protocolVersion=1, clientCapabilities={})
        session = _ask(process, 2, "session/new", cwd=str(run.project), mcpServers=[])["sessionId"]
        for number, words in enumerate(EDITOR, 3):
            _ask(process, number, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": words}])
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(real_host.SECONDS_MAX / 10)
        except subprocess.TimeoutExpired:  # with an MCP server it stays when its editor is gone
            os.killpg(process.pid, signal.SIGKILL)


def _ask(process: subprocess.Popen[str], number: int, method: str, **parameters: Any) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("{") and (told := json.loads(line)).get("id") == number and "method" not in told:
            result: dict[str, Any] = told.get("result") or {}
            return result
    raise EOFError(f"gemini ended before it answered {method}")


if __name__ == "__main__":
    sys.exit(main())
