"""A server that speaks OpenAI chat completions, made of the standard library, on the loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = "Two and two are four , as ever ."


class ChatServer:
    """Answers like a model, unless `plan` has something else for the next requests.

    Attributes:
        seen: headers and body of every request.
        plan: for the next requests, one each: status, headers and body; or a function that is given the handler.
    """

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.plan: list[tuple[int, dict[str, str], bytes] | Callable[[BaseHTTPRequestHandler], None]] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.seen.append((dict(self.headers), {"path": self.path, **body}))
                planned = served.plan.pop(0) if served.plan else (200, {}, json.dumps(answer(body)).encode())
                if callable(planned):
                    planned(self)
                    return
                status, headers, data = planned
                self.send_response(status)
                for name, text in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Say some words, call the first tool for a user message, or repeat a tool's result."""
    newest = body["messages"][-1]
    words = (newest["content"] if newest["role"] == "tool" else WORDS).split(" ")
    message: dict[str, Any] = {"role": "assistant", "content": " ".join(words[: body["max_tokens"]])}
    finish = "length" if len(words) > body["max_tokens"] else "stop"
    for stop in body.get("stop", ()):
        if stop in message["content"]:
            message["content"], finish = message["content"].partition(stop)[0], "stop"
    if body.get("tools") and newest["role"] == "user":
        function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps(arguments(body["tools"][0]))}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
        finish = "tool_calls"
    usage = {"prompt_tokens": 11, "completion_tokens": min(len(words), body["max_tokens"])}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


def arguments(tool: dict[str, Any]) -> dict[str, Any]:
    """Fill in what a tool must be given."""
    schema = tool["function"]["parameters"]
    values = {"string": "port", "integer": 2}
    return {name: values[schema["properties"][name]["type"]] for name in schema["required"]}
