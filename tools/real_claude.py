"""Run the real Claude Code with Firsthand installed against a model that is scripted: is it reminded unasked?

    python tools/real_claude.py --claude PATH_OF_CLAUDE [--work DIR] [--plain]

The program is in the wheel of claude-agent-sdk (``claude_agent_sdk/_bundled/claude``)
or installed as its makers say. What is looked at stands in real_host.py; ``--plain``
puts no recorder before the hooks, so that the settings are just as they were
installed. The first session is compacted before it ends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

import real_host
from real_host import Model, Run

EVENTS = {
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop", "SessionEnd",
}  # fmt: skip
AFTER = "Go on with the work on the queue's client."


def main() -> int:
    """Run it; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claude", required=True, help="the program")
    parser.add_argument("--work", help="a new folder to work in; else a temporary one")
    parser.add_argument("--plain", action="store_true", help="no recorder before the hooks")
    chosen = parser.parse_args()
    run = real_host.begin("claude-code", chosen.claude, chosen.work, ".claude/settings.json", lambda url, _: {
        "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    })  # fmt: skip
    run.install(recorder=not chosen.plain)
    _say(run, chosen.claude, "first", *real_host.FIRST, "/compact", AFTER)
    if not any(real_host.LEFT in json.dumps(one) for one in Model.requests if AFTER in json.dumps(one)):
        run.faults.append("no pointer of what left stood in the context after the compaction")
    run.wait_for_episode()
    real_host.ask_later(run, lambda name, prompt: _say(run, chosen.claude, name, prompt), asking=real_host.ASKING_LATER)
    return real_host.end(run, set() if chosen.plain else EVENTS, summaries=True)


def _say(run: Run, claude: str, name: str, *prompts: str) -> None:
    """Say each prompt when the turn before it is over."""
    command = [claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
               "--include-hook-events", "--allowedTools", "Bash(*)"]  # fmt: skip
    told: list[dict[str, Any]] = []
    with (run.work / f"{name}.err").open("w") as errors, subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=run.environment,
        cwd=run.project,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for prompt in prompts:
            process.stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                told.append(json.loads(line))
                if told[-1]["type"] == "result":
                    break
        process.stdin.close()
        told += map(json.loads, process.stdout)
    print(f"{name}: exit {process.returncode}, {len(told)} lines")
    for one in told:  # the hooks that run aside are cancelled when a session without a terminal ends
        if one.get("subtype") == "hook_response" and one.get("outcome") not in ("success", "cancelled"):
            run.faults.append(f"claude on a hook: {json.dumps(one)[:300]}")


if __name__ == "__main__":
    sys.exit(main())
