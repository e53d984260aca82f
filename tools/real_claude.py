"""Run the real Claude Code with Firsthand installed, twice, against a model that is scripted: is it reminded unasked?

    python tools/real_claude.py --claude PATH_OF_CLAUDE [--work DIR]

The program is in the wheel of claude-agent-sdk (``claude_agent_sdk/_bundled/claude``)
or installed as its makers say. Nothing leaves the machine: its model is an HTTP
server here, which calls a tool where a prompt says ``RUN: ... ENDRUN`` and keeps
every request. The first session sees an exact string in a tool's output, is
compacted, and ends. A second one asks about it, and about something else. What
counts is what stood in the requests that the model got.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRET = "amqps://broker-7.internal:48213"
FIRST = [
    "Find out at which address the message broker listens. RUN: cat broker.conf ENDRUN",
    "We decided to keep the retry limit of the broker client at 7, since 12 flooded the queue. Note it.",
    "/compact",
]
RELEVANT = "At which address does the message broker listen?"
IRRELEVANT = "Write a haiku about a lighthouse in winter."
SECONDS_MAX = 120


class Model(BaseHTTPRequestHandler):
    """The scripted model."""

    protocol_version = "HTTP/1.1"
    requests: list[dict[str, Any]] = []  # noqa: RUF012 - the one server of this program

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "/messages" not in self.path or "count_tokens" in self.path:
            self._send(b'{"input_tokens":100}', "application/json")
            return
        self.requests.append(body)
        message = _message(body)
        if body.get("stream"):
            self._send(_events(message), "text/event-stream")
        else:
            self._send(json.dumps(message).encode(), "application/json")

    def _send(self, data: bytes, media: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(body: dict[str, Any]) -> dict[str, Any]:
    """Answer: run the command of the newest prompt once, else say that it is done."""
    messages = body.get("messages", [])
    newest = _newest_prompt(messages)
    tools = [tool.get("name") for tool in body.get("tools", [])]
    ran = any("tool_result" in json.dumps(one["content"]) for one in messages[-2:])
    if "RUN:" in newest and "Bash" in tools and not ran:
        command = newest.split("RUN:")[1].split("ENDRUN")[0].strip()
        call = {"type": "tool_use", "id": f"toolu_{len(messages)}", "name": "Bash",
                "input": {"command": command, "description": "as asked"}}  # fmt: skip
        content, stop = [call], "tool_use"
    else:
        content, stop = [{"type": "text", "text": "Done."}], "end_turn"
    return {"id": f"msg_{len(messages)}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": content, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5}}  # fmt: skip


def _newest_prompt(messages: list[dict[str, Any]]) -> str:
    for one in reversed(messages):
        if one["role"] == "user":
            parts = one["content"] if isinstance(one["content"], list) else [{"text": one["content"]}]
            texts = [str(part.get("text", "")) for part in parts if "<system-reminder>" not in str(part.get("text"))]
            if any(texts):
                return texts[-1]
    return ""


def _events(message: dict[str, Any]) -> bytes:
    """Write a message as server-sent events."""
    told: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": {**message, "content": []}})]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        told.append(("content_block_start", {"index": index, "content_block": start}))
        told.append(("content_block_delta", {"index": index, "delta": delta}))
        told.append(("content_block_stop", {"index": index}))
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    told.append(("message_delta", {"delta": stop, "usage": {"output_tokens": 5}}))
    told.append(("message_stop", {}))
    return "".join(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in told).encode()


def main() -> int:
    """Run it; 0 when the second session was reminded when, and only when, it mattered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claude", required=True, help="the program")
    parser.add_argument("--work", help="a new folder to work in; else a temporary one")
    chosen = parser.parse_args()
    work = Path(chosen.work or tempfile.mkdtemp(prefix="firsthand-claude-")).absolute()
    home, project = work / "home", work / "project"
    for folder in (home, project / ".git"):
        folder.mkdir(parents=True)
    (project / "broker.conf").write_text(f"# message broker\nlisten = {SECRET}\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "XDG_RUNTIME_DIR": str(work / "run"),
    }  # fmt: skip
    (work / "run").mkdir(mode=0o700)
    firsthand = [sys.executable, "-m", "firsthand"]
    subprocess.run([*firsthand, "install", "claude-code", "--user"], env=environment, cwd=project, check=True)
    _session(chosen.claude, FIRST, project, environment)
    began = time.monotonic()
    while time.monotonic() - began < SECONDS_MAX and not _episodes(firsthand, environment, project):
        time.sleep(0.5)
    print(f"episode written {time.monotonic() - began:.1f} s after the session's end")
    faults = []
    for prompt, wanted in ((RELEVANT, True), (IRRELEVANT, False)):
        Model.requests.clear()
        _session(chosen.claude, [prompt], project, environment)
        seen = any(SECRET in json.dumps(one) for one in Model.requests)
        print(f"{'reminded' if seen else 'not reminded'}: {prompt}")
        if seen is not wanted:
            faults.append(prompt)
        if wanted:
            for one in Model.requests[:1]:
                print("\n".join(_injected(one)))
    subprocess.run([*firsthand, "doctor"], env=environment, cwd=project, check=False)
    subprocess.run([*firsthand, "daemon", "--stop"], env=environment, cwd=project, check=False)
    server.shutdown()
    print("as it should be" if not faults else f"NOT as it should be: {faults}")
    return 1 if faults else 0


def _session(claude: str, prompts: list[str], project: Path, environment: dict[str, str]) -> None:
    lines = [json.dumps({"type": "user", "message": {"role": "user", "content": one}}) for one in prompts]
    command = [claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
               "--allowedTools", "Bash(*)"]  # fmt: skip
    began = time.monotonic()
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", env=environment, cwd=project, text=True, capture_output=True,
        timeout=SECONDS_MAX, check=False,
    )  # fmt: skip
    print(f"session of {len(prompts)} prompts: exit {done.returncode}, {time.monotonic() - began:.1f} s")
    if done.returncode:
        print(done.stdout[-2_000:], done.stderr[-2_000:])


def _episodes(firsthand: list[str], environment: dict[str, str], project: Path) -> bool:
    told = subprocess.run(
        [*firsthand, "episodes", "--json"], env=environment, cwd=project, text=True, capture_output=True, check=False
    )
    return '"name"' in told.stdout


def _injected(request: dict[str, Any]) -> list[str]:
    """Give the fenced texts of a request."""
    text = "\n".join(
        part if isinstance(part, str) else str(part.get("text", ""))
        for one in request["messages"]
        for part in (one["content"] if isinstance(one["content"], list) else [one["content"]])
    )
    blocks = [block.partition("<<end")[0] for block in text.split("<<firsthand")[1:]]
    return [f"    | {line}" for block in blocks for line in f"<<firsthand{block}".splitlines()][:60]


if __name__ == "__main__":
    sys.exit(main())
