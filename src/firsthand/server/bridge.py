"""MCP over standard streams, as hosts start it: a bridge to the one server, which has the stores open.

    host <-> standard streams <-> this process <-> the hooks' socket <-> the server's MCP

The invariant: it opens no store and imports no SDK. A server that is not there is started; one that ends is
started again, told how the session began, and asked again for what it had not answered. Where none can live,
`run` gives False before it has read anything, and the caller serves by itself.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from typing import Any

from firsthand.server import hook_client
from firsthand.server.hook_client import ANSWERED, Call

START_S = 10.0
"""For a server that is started to take the session."""
TRIES_MAX = 2
"""A request that was sent so often to servers that ended is given up: it may be what ends them."""
_CHUNK_BYTES = 1 << 20
_ENDED = -32_603  # JSON-RPC: an internal error


def run(call: Call, whose: dict[str, Any]) -> bool:
    """Pass messages until the host goes away; False where no server can live.

    Args:
        call: its store, namespace and embedder.
        whose: the memory that is asked for: ``agent``, ``cwd`` and ``across``.
    """
    bridge = _Bridge(call, json.dumps(whose).encode())
    if not bridge.connect():
        return False
    bridge.pass_on()
    return True


class _Bridge:
    """One session of a host."""

    def __init__(self, call: Call, whose: bytes) -> None:
        self._call, self._whose, self._folder = call, whose, hook_client.runtime_folder()
        self._connection: Any = None
        self._from_server = b""
        self._opening: list[bytes] = []  # the messages that began the session, to be told to another server
        self._open: dict[str, bytes] = {}  # requests without an answer, by id
        self._tries: dict[str, int] = {}
        self._swallowed: set[str] = set()  # ids whose answer the host has

    def connect(self) -> bool:
        """Reach the server, or start one; say whether one takes the session."""
        by = time.monotonic() + START_S
        while hook_client.server_wanted() and self._folder and time.monotonic() < by:
            try:
                connection = hook_client.connect(self._folder)
                status, fault = hook_client.exchange(connection, self._call, self._whose, by, by)
                if status == ANSWERED:
                    if fault:  # of its installation, which another one would have too
                        return False
                    connection.settimeout(None)
                    self._connection, self._from_server = connection, b""
                    return True
                connection.close()
            except (OSError, ValueError):  # nobody listens, or who did is about to end
                pass
            if not hook_client.start_server(self._call, self._folder):
                return False
            time.sleep(hook_client.LOOK_S)
        return False

    def pass_on(self) -> None:
        """Pass lines both ways until the host closes its side and all is answered."""
        from_host, ends = b"", False
        while not ends or self._open:
            ready, _, _ = select.select([*([] if ends else [0]), *filter(None, [self._connection])], [], [])
            if self._connection in ready:
                self._hear()
            if 0 in ready:
                data = os.read(0, _CHUNK_BYTES)
                ends = not data
                *lines, from_host = (from_host + data).split(b"\n")
                for line in [*lines, *([from_host] if ends and from_host else [])]:
                    self._ask(line + b"\n")
        if self._connection is not None:
            self._connection.close()

    def _ask(self, line: bytes) -> None:
        """Send a message of the host."""
        message, key = _parsed(line), _key(line)
        method = message.get("method")
        if method in {"initialize", "notifications/initialized"}:
            self._opening = [*(self._opening if method != "initialize" else []), line]
        if method == "notifications/cancelled":
            params = message.get("params")
            self._open.pop(json.dumps(params.get("requestId") if isinstance(params, dict) else None), None)
        elif method and type(message.get("id")) in (str, int):  # any other id is answered as none
            self._open[key], self._tries[key] = line, 0
        if self._connection is None:
            self._again()
        else:
            self._send(line)

    def _send(self, line: bytes) -> None:
        try:
            self._connection.sendall(line)
        except OSError:
            self._again()

    def _hear(self) -> None:
        """Hand on what the server says."""
        try:
            data = self._connection.recv(_CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            self._connection.close()
            self._connection = None
            if self._open:
                self._again()
            return
        *lines, self._from_server = (self._from_server + data).split(b"\n")
        for line in lines:
            message, key = _parsed(line), _key(line)
            if "id" in message and "method" not in message:
                self._open.pop(key, None)
                if key in self._swallowed:
                    self._swallowed.discard(key)
                    continue
            _write(line + b"\n")

    def _again(self) -> None:
        """Have a server that was started now take the session up where the last one left it."""
        for key in [key for key in self._open if self._tries[key] >= TRIES_MAX]:
            self._give_up(key, "the server ended twice while it answered this")
        if not self.connect():
            for key in [*self._open]:
                self._give_up(key, "no server can be started; firsthand serve --foreground says why")
            return
        asked = [line for line in self._open.values() if line not in self._opening]
        self._swallowed |= {_key(line) for line in self._opening if "id" in _parsed(line)} - self._open.keys()
        for key in self._open:
            self._tries[key] += 1
        try:
            for line in [*self._opening, *asked]:
                self._connection.sendall(line)
        except OSError:  # it has ended as well
            self._again()

    def _give_up(self, key: str, why: str) -> None:
        del self._open[key]
        error = {"code": _ENDED, "message": f"firsthand: {why}"}
        _write(json.dumps({"jsonrpc": "2.0", "id": json.loads(key), "error": error}).encode() + b"\n")


def _parsed(line: bytes) -> dict[str, Any]:
    """Read a message; empty for what is none, which the server answers."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _key(line: bytes) -> str:
    return json.dumps(_parsed(line).get("id"))


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
