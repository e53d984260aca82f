"""MCP in lines over the hooks' socket, as bridges bring it: one thread, a door a session, the server's open stores.

The invariant: the SDK, a second of processor to import, is imported by the first session and not before, in this
thread; hooks are answered meanwhile. A session ends when its bridge goes away, and leaves nothing.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from importlib.util import find_spec

from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_client import Call
from firsthand.server.mcp_sdk import missing, serve_lines

LINE_BYTES_MAX = 64 << 20


class McpLines:
    """The sessions that bridges brought.

    Attributes:
        missing: what of the extra is not there and what to type; empty when nothing is.
        asked: when a message came last, of the monotonic clock.
    """

    def __init__(self, stores: Stores, log: Callable[[str], None]) -> None:
        self._stores, self._log = stores, log
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()
        self.asked = 0.0

    @property
    def missing(self) -> str:
        return "" if find_spec("mcp") else missing()

    def take(self, connection: socket.socket, call: Call, whose: bytes) -> None:
        """Serve a session over a connection until its other end closes."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._serve(connection, call, whose), self._loop).add_done_callback(self._end)

    async def _serve(self, connection: socket.socket, call: Call, whose: bytes) -> None:
        from firsthand.server.mcp_server import Door, Served

        connection.settimeout(None)
        reader, writer = await asyncio.open_connection(sock=connection, limit=LINE_BYTES_MAX)
        try:
            served = Served(store=call.store, namespace=call.namespace, embedder=call.embedder, **json.loads(whose))
            door = await asyncio.to_thread(Door, served, self._stores)
            await serve_lines(door.sdk, door.server, _Lines(reader, self), _Out(writer))
        finally:
            writer.close()

    def _end(self, session: Future[None]) -> None:
        if (error := session.exception()) is not None:
            self._log(f"a session of MCP ended by a fault: {type(error).__name__}: {error}")


class _Lines:
    """What comes, as the SDK reads a file."""

    def __init__(self, reader: asyncio.StreamReader, sessions: McpLines) -> None:
        self._reader, self._sessions = reader, sessions

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            self._sessions.asked = time.monotonic()
            yield line.decode("utf-8", "replace")


class _Out:
    """What goes, as the SDK writes a file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await self._writer.drain()
