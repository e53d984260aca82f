"""What stands between a client and a server in tests: it changes what passes, or cuts connections at a byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx

Change = Callable[[str, Any], Any]


class Changing:
    """Hands requests and answers on as JSON, each changed by a function of its path.

    Attributes:
        paths: of the requests that came.
    """

    def __init__(self, target: str, asked: Change = lambda _, fields: fields, answered: Change | None = None) -> None:
        between, self.paths = self, list[str]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                between.paths.append(self.path)
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name: text for name, text in self.headers.items() if name.lower() not in _OWN}
                content = json.dumps(asked(self.path, json.loads(body))).encode()
                answer = httpx.post(f"{target}{self.path}", content=content, headers=headers, timeout=60)
                out = answer.content
                if answered is not None and answer.status_code == 200:
                    out = json.dumps(answered(self.path, answer.json())).encode()
                self.send_response(answer.status_code)
                self.send_header("content-type", answer.headers["content-type"])
                self.send_header("content-length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Let it go."""
        self._server.shutdown()
        self._server.server_close()


_OWN = {"host", "content-length", "connection", "accept-encoding"}


class Cutting:
    """Hands bytes on, both ways; after so many of them the connection is cut, and from then on none is taken."""

    def __init__(self, target: str, bytes_max: int, at: str = "http://127.0.0.1:0") -> None:
        self._target, self._left = urlsplit(target), bytes_max
        self._listening = socket.create_server(("127.0.0.1", int(at.rpartition(":")[2])))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._left <= 0:
                    near.close()
                    continue
                far = socket.create_connection((self._target.hostname, self._target.port))
                self._open += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._hand_on, args=pair, daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                data, self._left = data[: max(self._left, 0)], self._left - len(data)
                target.sendall(data)
                if self._left <= 0:
                    self._cut()
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _cut(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let it go."""
        self._left = 0
        self._cut()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # which wakes whoever accepts
        self._listening.close()
        for end in self._open:
            end.close()
