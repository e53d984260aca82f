"""Run the real Codex with Firsthand installed against a model that is scripted: is it reminded unasked?

    python tools/real_codex.py --codex PATH_OF_CODEX [--work DIR] [--plain]

The program is in the npm package @openai/codex. It is driven as its editor
extensions drive it, by JSON lines to ``codex app-server``, since that says what
Codex made of every hook's answer and can compact; the later sessions run with
``codex exec``. What is looked at stands in real_host.py; ``--plain`` puts no
recorder before the hooks, so that the settings are just as they were installed.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
import time
from typing import Any

import real_host
from real_host import Run

EVENTS = {
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "PostCompact", "Stop", "SessionEnd",
}  # fmt: skip


ROUTINE = ("Model metadata for", "could not create PATH aliases")
"""What Codex says of a model that it does not know, and of a home below the temporary folder."""


class Server:
    """``codex app-server``, by JSON lines."""

    def __init__(self, codex: str, run: Run) -> None:
        self.told: list[dict[str, Any]] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self._number = 0
        self._run = run
        self._errors = (run.work / "server.err").open("w")
        self._process = subprocess.Popen(
            [codex, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=run.environment, cwd=run.project,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", clientInfo={"name": "firsthand", "title": None, "version": "1"},
                 capabilities={"experimentalApi": True})  # fmt: skip
        self._write({"method": "initialized"})

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something; gives the result."""
        self._number += 1
        self._write({"id": self._number, "method": method, "params": parameters})
        told = self.until(lambda one: one.get("id") == self._number and "method" not in one)
        if "error" in told:
            self._run.faults.append(f"codex {method}: {told['error']}")
        result: dict[str, Any] = told.get("result", {})
        return result

    def until(self, wanted: Any) -> dict[str, Any]:
        """Read until a message is the wanted one."""
        by = time.monotonic() + real_host.SECONDS_MAX
        while time.monotonic() < by:
            one: dict[str, Any] = json.loads(self._lines.get(timeout=real_host.SECONDS_MAX))
            self.told.append(one)
            if "id" in one and "method" in one:  # the server asks for an approval
                self._write({"id": one["id"], "result": {"decision": "accept"}})
            if wanted(one):
                return one
        raise TimeoutError("codex app-server did not say what was waited for")

    def turn(self, thread: str, text: str) -> None:
        """Say something in a thread and wait for the end of the turn."""
        self.ask("turn/start", threadId=thread, input=[{"type": "text", "text": text, "text_elements": []}])
        self.until(lambda one: one.get("method") == "turn/completed")

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._run.faults.append("codex app-server did not end by itself")
        self._errors.close()
        (self._run.work / "server.jsonl").write_text("\n".join(map(json.dumps, self.told)))

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)


def main() -> int:
    """Run it; 0 when all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codex", required=True, help="the program")
    parser.add_argument("--work", help="a new folder to work in; else a temporary one")
    parser.add_argument("--plain", action="store_true", help="no recorder before the hooks")
    chosen = parser.parse_args()
    run = real_host.begin(
        "codex",
        chosen.codex,
        chosen.work,
        ".codex/hooks.json",
        lambda _, home: {"CODEX_HOME": str(home / ".codex"), "KEY": "none"},
    )
    run.settings.parent.mkdir()
    (run.settings.parent / "config.toml").write_text(_configuration(run))
    run.install(recorder=not chosen.plain)
    _untrusted(run)
    server = Server(chosen.codex, run)
    _trust(server, run)
    if "holds back" in run.firsthand("doctor", "--json", check=False):
        run.faults.append("what was trusted is told as held back")
    thread = server.ask("thread/start", cwd=str(run.project))["thread"]["id"]
    for prompt in real_host.FIRST:
        server.turn(thread, prompt)
    server.ask("thread/compact/start", threadId=thread)
    server.until(lambda one: one.get("method") == "turn/completed")
    server.turn(thread, "Go on with the work on the queue's client.")
    server.close()
    _answers(server, run)
    run.wait_for_episode()
    command = [chosen.codex, "exec", "--skip-git-repo-check", "--json"]
    real_host.ask_later(run, lambda name, prompt: _exec(run, command, name, prompt), asking=real_host.ASKING_LATER)
    return real_host.end(run, set() if chosen.plain else EVENTS, summaries=True)


def _configuration(run: Run) -> str:
    return (
        'model = "scripted"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n'
        f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{run.url}/v1"\nwire_api = "responses"\n'
        'env_key = "KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n'
        f'[projects."{run.project}"]\ntrust_level = "trusted"\n'
    )


def _exec(run: Run, command: list[str], name: str, prompt: str) -> None:
    done = run.program([*command, prompt], name=name)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if '"type":"mcp_tool_call"' not in line]
    for line in lines:
        if any(word in line.lower() for word in ("warn", "hook", "error")) and not any(one in line for one in ROUTINE):
            run.faults.append(f"codex said: {line[:300]}")


def _untrusted(run: Run) -> None:
    """Look at what doctor says before the hooks are trusted."""
    doctor = json.loads(run.firsthand("doctor", "--json", check=False))
    said = [one["what"] for one in doctor["findings"] if "never trusted" in one["what"]]
    print(f"doctor before the trust: {said}")
    if not said:
        run.faults.append("doctor does not say that Codex' hooks wait for trust")


def _trust(server: Server, run: Run) -> None:
    """Trust the hooks as /hooks in Codex does: its own hash of each goes into config.toml."""
    listed = server.ask("hooks/list", cwds=[str(run.project)])["data"][0]
    (run.work / "hooks-list.json").write_text(json.dumps(listed, indent=1))
    hooks = listed["hooks"]
    print(f"codex lists {len(hooks)} hooks, { ({one['trustStatus'] for one in hooks}) }, warnings {listed['warnings']}")
    if listed["warnings"] or listed["errors"]:
        run.faults.append(f"codex on the settings: {listed['warnings']} {listed['errors']}")
    state = {one["key"]: {"trusted_hash": one["currentHash"]} for one in hooks}
    edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
    server.ask("config/batchWrite", edits=[edit], reloadUserConfig=True)
    listed = server.ask("hooks/list", cwds=[str(run.project)])["data"][0]
    if {one["trustStatus"] for one in listed["hooks"]} != {"trusted"}:
        run.faults.append(f"not trusted: {listed['hooks'][:1]}")


def _answers(server: Server, run: Run) -> None:
    """Look at what Codex said of every hook's answer."""
    done = [one["params"]["run"] for one in server.told if one.get("method") == "hook/completed"]
    for one in done:
        kinds = [entry["kind"] for entry in one["entries"]]
        print(f"    {one['eventName']}: {one['status']} in {one['durationMs']} ms {kinds}")
        wrong = [entry for entry in one["entries"] if entry["kind"] == "error"]
        if one["status"] != "completed" or wrong:
            run.faults.append(f"codex on the answer of {one['eventName']}: {one['status']} {wrong}")
    for one in server.told:
        if one.get("method") in ("warning", "error", "configWarning") and "Model metadata" not in json.dumps(one):
            run.faults.append(f"codex: {one['method']}: {json.dumps(one['params'])[:300]}")
    compacted = [one for one in done if "context" in (entry["kind"] for entry in one["entries"])]
    if not any(real_host.LEFT in entry["text"] for one in compacted for entry in one["entries"]):
        run.faults.append("no pointer of what left stood in the context after the compaction")


if __name__ == "__main__":
    sys.exit(main())
