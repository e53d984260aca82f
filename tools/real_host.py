"""What the runs of real hosts share: a scripted model, a home of its own, two sessions, and what is looked at.

Nothing leaves the machine: the model is an HTTP server here that speaks the wire
formats of the hosts' providers (Anthropic messages, OpenAI responses, Gemini). It
calls a tool where a prompt says ``RUN: ... ENDRUN``, recall of our MCP server where one says ``ASK: ... ENDASK``, and
keeps every request. The
first session sees an exact string in a tool's output and ends. A second one asks
about it, and a third about something else. What counts is what stood in the
requests that the model got, which hooks fired, what the host said of their
answers, and what is in the log.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRET = "amqps://broker-7.internal:48213"
FIRST = (
    "Find out at which address the message broker listens. RUN: cat broker.conf ENDRUN",
    "We decided to keep the retry limit of the broker client at 7, since 12 flooded the queue. Note it.",
)
RELEVANT = "At which address does the message broker listen?"
LEFT = "earlier turns left the window"
"""What a model is told after a host's compaction, with the pointers of what left."""
ASKING = "Ask your memory. ASK: broker listens ENDASK"
ASKING_LATER = "Ask your memory. RUN: sleep 6 ENDRUN ASK: broker listens ENDASK"
"""For hosts that connect to MCP servers beside the first request."""
IRRELEVANT = "Write a haiku about a lighthouse in winter."
SNAPSHOT = "<state_snapshot><overall_goal>Work on the queue.</overall_goal></state_snapshot>"
"""What the model says when a host asks it to compress: no exact string is in it."""
SECONDS_MAX = 150
_RECORDER = """import os, subprocess, sys, time
payload = sys.stdin.buffer.read()
began = time.monotonic()
done = subprocess.run([{real!r}, *sys.argv[1:]], input=payload, capture_output=True)
sys.stdout.buffer.write(done.stdout)
took = round((time.monotonic() - began) * 1000)
with open({log!r}, "ab") as file:
    file.write(repr((sys.argv[-1], took, payload, done.returncode, done.stdout, done.stderr)).encode() + b"\\n")
sys.exit(done.returncode)
"""


# the model ----------------------------------------------------------------------------------------


class Model(BaseHTTPRequestHandler):
    """The scripted model, in three wire formats."""

    protocol_version = "HTTP/1.1"
    requests: list[dict[str, Any]] = []  # noqa: RUF012 - the one server of this program
    paths: list[str] = []  # noqa: RUF012 - the same
    tokens = 10
    """How large the model says that its input was: a host compacts by it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self.paths.append(f"GET {self.path}")
        self._send(b"{}", "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.paths.append(f"POST {self.path}")
        if "count_tokens" in self.path or "countTokens" in self.path:
            self._send(b'{"input_tokens":100,"totalTokens":100}', "application/json")
        elif "/messages" in self.path:
            self._messages(body)
        elif "/responses" in self.path:
            self._responses(body)
        elif "enerateContent" in self.path:
            self._gemini(body)
        else:
            self._send(b"{}", "application/json")

    def _messages(self, body: dict[str, Any]) -> None:
        self.requests.append(body)
        message = _anthropic(body)
        if body.get("stream"):
            self._send(_anthropic_events(message), "text/event-stream")
        else:
            self._send(json.dumps(message).encode(), "application/json")

    def _responses(self, body: dict[str, Any]) -> None:
        self.requests.append(body)
        self._send(_responses_events(body, self.tokens), "text/event-stream")

    def _gemini(self, body: dict[str, Any]) -> None:
        self.requests.append(body)
        told = json.dumps(_gemini(body, self.tokens))
        if "stream" in self.path:
            self._send(f"data: {told}\r\n\r\n".encode(), "text/event-stream")
        else:
            self._send(told.encode(), "application/json")

    def _send(self, data: bytes, media: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _command(prompt: str, word: str = "RUN") -> str:
    match = re.search(rf"{word}:(.*?)END{word}", prompt, re.DOTALL)
    return match[1].strip() if match else ""


def _recall(names: Iterable[str]) -> str:
    """Give the name by which a host offers our recall; empty where it does not."""
    return next((name for name in names if name and re.search(r"firsthand\W*_*\W*recall$", name)), "")


def _anthropic(body: dict[str, Any]) -> dict[str, Any]:
    """Answer: run the command of the newest prompt once, else say that it is done."""
    messages = body.get("messages", [])
    newest = _newest_anthropic(messages)
    command = _command(newest)
    names = [tool.get("name") for tool in body.get("tools", [])]
    query, recall = _command(newest, "ASK"), _recall(names)
    turn = json.dumps(messages[-6:])
    if (
        query and not recall and "ToolSearch" in names and "toolu_search" not in turn
    ):  # tools that are told by name only
        recall, wanted = "ToolSearch", {"query": "select:mcp__firsthand__recall", "max_results": 1}
    elif query:
        wanted = {"query": query}
    tool = next((tool["name"] for tool in body.get("tools", []) if tool.get("name") in ("Bash", "bash")), "")
    ran = any("tool_result" in json.dumps(one["content"]) for one in messages[-2:])
    if command and tool and not ran:
        call = {"type": "tool_use", "id": f"toolu_{len(messages)}", "name": tool,
                "input": {"command": command, "description": "as asked"}}  # fmt: skip
        content, stop = [call], "tool_use"
    elif query and recall and "toolu_recall" not in turn:
        sort = "search" if recall == "ToolSearch" else "recall"
        call = {"type": "tool_use", "id": f"toolu_{sort}_{len(messages)}", "name": recall, "input": wanted}
        content, stop = [call], "tool_use"
    else:
        content, stop = [{"type": "text", "text": "Done."}], "end_turn"
    return {"id": f"msg_{len(messages)}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": content, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5}}  # fmt: skip


def _newest_anthropic(messages: list[dict[str, Any]]) -> str:
    for one in reversed(messages):
        if one["role"] == "user":
            parts = one["content"] if isinstance(one["content"], list) else [{"text": one["content"]}]
            texts = [str(part.get("text", "")) for part in parts]
            texts = [text for text in texts if "<system-reminder>" not in text and text != "Tool loaded."]
            if any(texts):
                return texts[-1]
    return ""


def _anthropic_events(message: dict[str, Any]) -> bytes:
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


def _responses_events(body: dict[str, Any], tokens: int) -> bytes:
    """Answer as OpenAI's responses do, as server-sent events."""
    items = body.get("input", [])
    users = [number for number, one in enumerate(items) if one.get("role") == "user"]
    said = json.dumps(items[users[-1]]["content"]) if users else ""
    command = _command(said)
    outputs = sum(one.get("type", "").endswith("_output") for one in items[users[-1] :]) if users else 9
    ran = outputs > 0
    query = _command(said, "ASK")
    tools = {tool.get("name"): tool for tool in body.get("tools", [])}
    spaces = {
        f"{space['name']}/{tool['name']}": (space["name"], tool["name"])
        for space in body.get("tools", []) if space.get("type") == "namespace" for tool in space.get("tools", ())
    }  # fmt: skip
    recall = _recall([*tools, *spaces])
    name = next((one for one in ("exec_command", "shell_command", "shell") if one in tools), "")
    made: dict[str, Any]
    if command and name and not ran:
        key = "cmd" if name == "exec_command" else "command"
        arguments = {key: ["bash", "-c", command] if name == "shell" else command}
        made = {"type": "function_call", "id": f"fc_{len(items)}", "call_id": f"call_{len(items)}", "name": name,
                "arguments": json.dumps(arguments)}  # fmt: skip
    elif query and recall and outputs == bool(command):
        space, tool = spaces.get(recall, ("", recall))
        made = {"type": "function_call", "id": f"fc_{len(items)}", "call_id": f"call_{len(items)}", "name": tool,
                "arguments": json.dumps({"query": query}), **({"namespace": space} if space else {})}  # fmt: skip
    else:
        made = {"type": "message", "id": f"msg_{len(items)}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}  # fmt: skip
    usage = {"input_tokens": tokens, "output_tokens": 5, "total_tokens": tokens + 5,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    response = {"id": f"resp_{len(items)}", "object": "response", "output": [made], "usage": usage}
    told = (
        ("response.created", {"response": {**response, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": made}),
        ("response.output_item.done", {"output_index": 0, "item": made}),
        ("response.completed", {"response": {**response, "status": "completed"}}),
    )
    return "".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in told).encode()


def _gemini(body: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Answer as Gemini does."""
    contents = body.get("contents", [])
    newest = json.dumps(contents[-1]) if contents else ""
    ran = "functionResponse" in newest
    command = _command(re.sub(r"<hook_context>.*?</hook_context>", "", newest))  # what hooks said is no order
    names = [one.get("name") for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    query, recall = _command(re.sub(r"<hook_context>.*?</hook_context>", "", newest), "ASK"), _recall(names)
    if "<state_snapshot>" in newest and not names:
        part: dict[str, Any] = {"text": SNAPSHOT}
    elif command and "run_shell_command" in names and not ran:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command}}}
    elif query and recall and not ran:
        part = {"functionCall": {"name": recall, "args": {"query": query}}}
    elif "responseJsonSchema" in json.dumps(body.get("generationConfig", {})):
        told = {"reasoning": "none", "next_speaker": "user", "complexity_reasoning": "none", "complexity_score": 10}
        part = {"text": json.dumps(told)}
    else:
        part = {"text": "Done."}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 5, "totalTokenCount": tokens + 5},
    }


# the run ------------------------------------------------------------------------------------------


@dataclass
class Run:
    """One host's run: where it works, what it found wrong.

    Attributes:
        host: as Firsthand names it.
        work: its folder.
        url: of the scripted model.
        settings: the host's file that hooks are installed in.
        faults: what is not as it should be, a sentence each.
    """

    host: str
    work: Path
    url: str
    environment: dict[str, str]
    settings: Path
    before: bytes | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """The home of this run."""
        return self.work / "home"

    @property
    def project(self) -> Path:
        """The folder that the agent works in."""
        return self.work / "project"

    def firsthand(self, *words: str, check: bool = True) -> str:
        """Run a command of Firsthand in the project; gives what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "firsthand", *words], env=self.environment, cwd=self.project, text=True,
            capture_output=True, check=False, timeout=SECONDS_MAX,
        )  # fmt: skip
        if check and done.returncode:
            self.faults.append(f"firsthand {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def program(
        self, command: list[str], *, stdin: str = "", name: str = "session"
    ) -> subprocess.CompletedProcess[str]:
        """Run the host to its end; what it printed is kept in the work folder."""
        began = time.monotonic()
        done = subprocess.run(
            command, input=stdin, env=self.environment, cwd=self.project, text=True, capture_output=True,
            timeout=SECONDS_MAX, check=False,
        )  # fmt: skip
        (self.work / f"{name}.out").write_text(done.stdout)
        (self.work / f"{name}.err").write_text(done.stderr)
        print(f"{name}: exit {done.returncode}, {time.monotonic() - began:.1f} s")
        if done.returncode:
            self.faults.append(f"{name}: exit {done.returncode}")
            print(done.stdout[-1_500:], done.stderr[-1_500:])
        return done

    def install(self, *, recorder: bool) -> None:
        """Install with one command that names no host; a second time changes nothing."""
        self.before = self.settings.read_bytes() if self.settings.exists() else None
        began = time.monotonic()
        print(self.firsthand("install", "--yes", "--allow-tools").rstrip())
        print(f"installed in {time.monotonic() - began:.1f} s")
        after = self.settings.read_bytes()
        again = [json.loads(line) for line in self.firsthand("install", "--yes", "--json").splitlines()]
        if any(one["changed"] or one["commands"] for one in again) or self.settings.read_bytes() != after:
            self.faults.append(f"a second install changed something: {again}")
        if recorder:
            self._record_payloads()

    def uninstall(self) -> None:
        """Take it out again; what was there before is there, to the byte where no recorder was put in."""
        print(self.firsthand("uninstall", "--yes").rstrip())
        left = self.settings.read_bytes() if self.settings.exists() else None
        same = left == self.before or (
            self.payloads() and json.loads(left or b"{}") == json.loads(self.before or b"{}")
        )
        if not same:
            self.faults.append(f"uninstall left {left!r:.300}")

    def _record_payloads(self) -> None:
        """Put a recorder before the hook's program in the host's settings, which keeps what came and what was said."""
        recorder = self.work / "recorder.py"
        recorder.write_text(_RECORDER.format(real=sys.executable, log=str(self.work / "payloads.txt")))
        starter = self.work / "recorder"
        starter.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(recorder))} "$@"\n')
        starter.chmod(0o755)
        self.settings.write_text(self.settings.read_text().replace(sys.executable, str(starter)))

    def payloads(self) -> list[tuple[str, int, dict[str, Any], int, bytes, bytes]]:
        """Give what was recorded: host, milliseconds, payload, exit code, output, errors."""
        path = self.work / "payloads.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(told[0], told[1], json.loads(told[2]), *told[3:]) for line in lines if (told := literal_eval(line))]

    def wait_for_episode(self) -> None:
        """Wait until the first session's episode is written."""
        began = time.monotonic()
        while time.monotonic() - began < SECONDS_MAX:
            if '"name"' in self.firsthand("agent", "episodes", "--json", check=False):
                print(f"episode written {time.monotonic() - began:.1f} s after the session's end")
                return
            time.sleep(0.5)
        self.faults.append("no episode was written")


def begin(
    host: str, program: str, work: str | None, settings: str, variables: Callable[[str, Path], dict[str, str]]
) -> Run:
    """Make the folders and start the model.

    Args:
        program: the host's, which is put on PATH, where an install finds it.
        settings: the host's file for hooks below the home.
        variables: gives the host's own environment for the model's URL and the home.
    """
    folder = Path(work or tempfile.mkdtemp(prefix=f"firsthand-{host}-")).absolute()
    for made in (folder / "home", folder / "project" / ".git"):
        made.mkdir(parents=True)
    (folder / "run").mkdir(mode=0o700)
    (folder / "bin").mkdir()
    (folder / "bin" / host.removesuffix("-code")).symlink_to(Path(program).absolute())
    (folder / "project" / "broker.conf").write_text(f"# message broker\nlisten = {SECRET}\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    environment = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "TERM": "xterm-256color", **variables(url, folder / "home"),
    }  # fmt: skip
    return Run(host, folder, url, environment, folder / "home" / settings)


def ask_later(run: Run, session: Callable[[str, str], None], *, asking: str = ASKING) -> None:
    """Run a session that is asked about what was done, one about something else, and one that calls recall itself.

    What a tool printed is not put before a model unasked: it is reminded of what was asked, with its pointer.
    """
    for name, prompt, wanted in (("relevant", RELEVANT, True), ("irrelevant", IRRELEVANT, False)):
        Model.requests.clear()
        session(name, prompt)
        (run.work / f"{name}-requests.json").write_text(json.dumps(Model.requests, indent=1))
        asked = [one for one in Model.requests if prompt in json.dumps(one)]
        texts = [json.dumps(one) for one in asked]
        seen = any("recalled text, data and not" in text or (wanted and FIRST[0][:40] in text) for text in texts)
        print(f"{'reminded' if seen else 'not reminded'} ({len(asked)} requests): {prompt}")
        if not asked:
            run.faults.append(f"the model was not asked: {prompt}")
        if seen is not wanted:
            run.faults.append(f"{'not ' if wanted else ''}reminded at: {prompt}")
    # the MCP server, by a call of its recall
    Model.requests.clear()
    session("asking", asking)
    (run.work / "asking-requests.json").write_text(json.dumps(Model.requests, indent=1))
    last = json.dumps(Model.requests[-1:])
    answered = SECRET in last.split("ENDASK")[-1]
    print(f"recall over MCP {'answered' if answered else 'did not answer'}")
    if not answered:
        run.faults.append("the model's call of recall did not bring the exact string")


def end(run: Run, events: set[str], *, summaries: bool) -> int:
    """Look at log, hooks and health; say what is wrong. 0 when nothing is.

    Args:
        events: those at which a hook must have run.
        summaries: whether the host's compaction must stand in the log.
    """
    deadline = time.monotonic() + SECONDS_MAX
    while run.firsthand("agent", "jobs", "--json", check=False).strip() and time.monotonic() < deadline:
        time.sleep(1)
    _log_once(run, summaries=summaries)
    doctor = json.loads(run.firsthand("doctor", "--json", check=False) or "{}")
    print(f"doctor: {'healthy' if doctor.get('ok') else doctor.get('line')}")
    for finding in doctor.get("findings", []):
        print(f"    {finding['severity']} {finding['stage']}: {finding['what']} -> {finding['mend']}")
    if not doctor.get("ok"):
        run.faults.append(f"doctor: {doctor.get('line')}")
    _payloads(run, events)
    run.firsthand("store", "verify")
    run.firsthand("serve", "--stop", check=False)
    log = run.work / "run" / "firsthand" / "hooks.log"
    said = log.read_text().splitlines() if log.exists() else []
    run.faults += [f"the log of hooks: {line}" for line in said if "the server ends: told to" not in line]
    run.uninstall()
    print("as it should be" if not run.faults else "NOT as it should be:\n  " + "\n  ".join(run.faults))
    return 1 if run.faults else 0


def _payloads(run: Run, events: set[str]) -> None:
    """Say which events came how often and how long the hooks took; miss those that should have come."""
    told = [one for one in run.payloads() if one[0] == run.host]
    came = Counter(payload.get("hook_event_name", "?") for _, _, payload, *_ in told)
    times = sorted(took for _, took, *_ in told)
    if told:
        print(f"hooks: {dict(came)}; ms: median {times[len(times) // 2]}, longest {times[-1]}")
    for one in sorted(events - set(came)):
        run.faults.append(f"the hook {one} never ran")
    for _, _, payload, code, _, errors in told:
        if code or errors:
            run.faults.append(f"{payload.get('hook_event_name')}: exit {code}, {errors[-200:]!r}")


def _log_once(run: Run, *, summaries: bool) -> None:
    """Look whether each prompt, and the tool's result, is in the log once, and no word of ours is."""
    lines = [json.loads(line) for line in run.firsthand("timeline", "--json", "--limit", "0").splitlines()]
    said: dict[str, list[str]] = {}
    for one in lines:
        said.setdefault(one["kind"], []).append(run.firsthand("show", one["pointer"]))
    prompts, results = said.get("user_message", []), said.get("tool_result", [])
    for prompt in (*FIRST, RELEVANT, IRRELEVANT):
        if prompts.count(prompt) != 1:
            run.faults.append(f"{prompts.count(prompt)} user messages in the log: {prompt}")
    of_shell = [one for one in results if SECRET in one and "fh:" not in one]
    if len(of_shell) != 1:
        run.faults.append(f"{len(of_shell)} tool results with the exact string")
    ours = [one for kind in said for one in said[kind] if "<<firsthand" in one or "&lt;&lt;firsthand" in one]
    if ours:
        run.faults.append(f"{len(ours)} events hold what Firsthand said: {ours[0][:200]}")
    if summaries and not said.get("summary"):
        run.faults.append("no summary of the host's compaction is in the log")
    print(f"log: {len(lines)} events, {len(prompts)} user messages, {len(said.get('summary', []))} summaries")
