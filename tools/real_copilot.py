"""Run the real Copilot CLI with Firsthand installed against a model that is scripted: what is recorded, what shown?

    python tools/real_copilot.py --copilot PATH_OF_COPILOT [--work DIR] [--plain]

The program is in the npm package @github/copilot; it needs no login with a provider
of one's own. What is looked at stands in real_host.py; ``--plain`` puts no recorder
before the hooks, so that the settings are just as they were installed.
"""

from __future__ import annotations

import argparse
import sys

import real_host
from real_host import Run

EVENTS = {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"}


def main() -> int:
    """Run it; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copilot", required=True, help="the program")
    parser.add_argument("--work", help="a new folder to work in; else a temporary one")
    parser.add_argument("--plain", action="store_true", help="no recorder before the hooks")
    chosen = parser.parse_args()
    run = real_host.begin("copilot", chosen.copilot, chosen.work, ".copilot/hooks/firsthand.json", _variables)
    run.install(recorder=not chosen.plain)
    command = [chosen.copilot, "--allow-all-tools", "--no-auto-update", "--log-level", "all",
               "--log-dir", str(run.work / "logs")]  # fmt: skip
    _say(run, command, "first", real_host.FIRST[0])
    _say(run, [*command, "--continue"], "second", real_host.FIRST[1])
    run.wait_for_episode()
    real_host.ask_later(run, lambda name, prompt: _say(run, command, name, prompt))
    return real_host.end(run, set() if chosen.plain else EVENTS, summaries=False)


def _variables(url: str, _: object) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url, "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "claude-sonnet-4",
    }  # fmt: skip


def _say(run: Run, command: list[str], name: str, prompt: str) -> None:
    run.program([*command, "--prompt", prompt], name=name)


if __name__ == "__main__":
    sys.exit(main())
