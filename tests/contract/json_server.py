"""A server of JSON over HTTP, made of the standard library, on the loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonServer:
    """Answers each request by a function of its body, unless `plan` has something else for the next ones.

    Attributes:
        seen: headers and body of every request.
        plan: for the next requests, one each: status, headers and body; or a function that is given the handler.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
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
