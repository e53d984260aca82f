"""The server's HTTP side: one port on loopback for the inspector and MCP, in the process that answers hooks.

    the port is open at once -> the first request -> the extra is imported -> uvicorn takes the port over, in a thread

The invariant: a user who never opens a page pays a socket for it, and no hook waits for an
import. Where the extra is not installed there is no port, and `missing` says what to type.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from firsthand import InvalidArgument, environment
from firsthand.environment import extra_command
from firsthand.server.auth import HOST, Keys, Token, token_of
from firsthand.server.daemon_stores import Stores

PORT = 8321
"""Where nobody names another one; taken, any free one is."""
EXTRA = ("starlette", "uvicorn", "jinja2")
CLOSING_S = 2
CONNECTIONS_MAX = 64
MISSING = "pages and MCP over HTTP need the extra agents, and {} is not installed: {}"


class HttpServer:
    """The port, and what answers there.

    Attributes:
        missing: what of the extra is not there and what to type; empty when nothing is.
        asked: when a request came last, of the monotonic clock.
        working: how many requests are being answered.
    """

    def __init__(
        self,
        stores: Stores,
        log: Callable[[str], None],
        *,
        port: int | None = None,
        listening: socket.socket | None = None,
    ) -> None:
        """Listen.

        Args:
            port: None takes the usual one, or any free one where another program has it.
            listening: a socket that listens already; then there is no port to take.

        Raises:
            InvalidArgument: the port that was named is taken, or the extra is not installed.
            StoreFailed: the token cannot be kept.
        """
        self._stores, self._log = stores, log
        absent = next((name for name in EXTRA if find_spec(name) is None), "")
        self.missing = MISSING.format(absent, extra_command("agents")) if absent else ""
        if absent and port is not None:
            raise InvalidArgument(self.missing)
        self.asked, self.working = 0.0, 0
        self._uvicorn: Any = None
        self._thread: threading.Thread | None = None
        self.socket: socket.socket | None = None
        state = environment.state_folder()
        if absent or state is None:
            return
        self.token: Token = token_of(state)
        self.keys = Keys(self.token.text)
        self.socket = listening or listen(port)

    @property
    def url(self) -> str:
        """The address; empty when there is none."""
        return "" if self.socket is None else f"http://{HOST}:{self.socket.getsockname()[1]}"

    @property
    def waiting(self) -> socket.socket | None:
        """The port, while nothing answers there yet."""
        return self.socket if self._thread is None else None

    def start(self) -> None:
        """Begin to answer."""
        self.asked = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more, and wait a moment for what is being answered."""
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(CLOSING_S)
        elif self.socket is not None:
            self.socket.close()

    def count(self, change: int) -> None:
        """Count a request that begins or ends."""
        self.asked = time.monotonic()
        self.working += change

    def _run(self) -> None:
        """Import what the extra brings and answer: the outermost frame of this thread."""
        try:
            import uvicorn

            from firsthand.server.app import application
            from firsthand.server.connections import configured

            app = application(self._stores, self.keys, self._log, self.count)
            config = configured(app, connections_max=CONNECTIONS_MAX, closing_s=CLOSING_S)
            self._uvicorn = uvicorn.Server(config)
            self._uvicorn.run(sockets=[self.socket])
        except BaseException as error:  # noqa: BLE001 - hooks are answered on; pages are not, which the log says
            self._log(f"the HTTP side ended by a fault: {type(error).__name__}: {error}")


def listen(port: int | None) -> socket.socket:
    """Listen on loopback alone; 0 is any free port.

    Raises:
        InvalidArgument: the port that was named is taken.
    """
    wanted = (PORT, 0) if port is None else (port,)
    for number in wanted:
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        at_once(listening)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, number))
            listening.listen()  # who connects at once waits, and is not refused
        except OSError as error:
            listening.close()
            if number == wanted[-1]:
                raise InvalidArgument(f"port {number} of {HOST} cannot be listened at: {error.strerror}") from error
        else:
            return listening
    raise AssertionError("the last of the ports was bound, or raised")


def at_once(listening: socket.socket) -> None:
    """Have the connections of a socket send at once, as asyncio does for sockets that it made itself.

    Else a body waits for the client's acknowledgement of its headers: 40 ms a request.
    """
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
