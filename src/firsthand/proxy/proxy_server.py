"""The proxy's port: it listens, says where, and answers until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from firsthand.errors import InvalidArgument
from firsthand.proxy.app import Proxy
from firsthand.proxy.conversations import Options
from firsthand.server.connections import configured
from firsthand.server.http_server import at_once

CLOSING_S, CONNECTIONS_MAX = 5, 512


def serve(
    upstream: str,
    *,
    store: str | Path | None,
    namespace: str | None,
    options: Options,
    host: str,
    port: int,
    token: str,
    is_open: bool,
    say: Callable[[str], None],
) -> None:
    """Be the proxy.

    Raises:
        InvalidArgument: the port is taken, or the upstream's address is none.
    """
    listening = listen(host, port)
    try:
        proxy = Proxy(
            upstream, store=store, namespace=namespace, options=options, token=token, is_open=is_open, log=say
        )  # fmt: skip
        where = f"[{host}]" if ":" in host else host
        number = listening.getsockname()[1]
        say(f"firsthand proxy at http://{where}:{number} for {urlsplit(upstream).hostname}; interrupt to stop")
        uvicorn.Server(config(proxy)).run(sockets=[listening])
    finally:
        listening.close()


def config(proxy: Proxy) -> uvicorn.Config:
    """Give the server's settings."""
    made = configured(proxy, connections_max=CONNECTIONS_MAX, closing_s=CLOSING_S)
    made.date_header = False  # the upstream's is passed on
    return made


def listen(host: str, port: int) -> socket.socket:
    """Listen.

    Raises:
        InvalidArgument: the address is taken, or is none of this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        at_once(listening)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        raise InvalidArgument(f"port {port} of {host} cannot be listened at: {error.strerror}") from error
    return listening
