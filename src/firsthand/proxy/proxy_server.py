"""The proxy's port: it listens, says where, and answers until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from firsthand.errors import InvalidArgument
from firsthand.proxy.app import Proxy
from firsthand.server.connections import configured
from firsthand.server.http_server import at_once

CLOSING_S, CONNECTIONS_MAX = 5, 512


def serve(make: Callable[[], Proxy], host: str, port: int, say: Callable[[str], None]) -> None:
    """Be a proxy.

    Args:
        make: makes it once the port is its own.

    Raises:
        InvalidArgument: the port is taken.
    """
    with listen(host, port) as listening:
        proxy = make()
        where = f"[{host}]" if ":" in host else host
        say(f"firsthand proxy at http://{where}:{listening.getsockname()[1]} for {proxy.host}; interrupt to stop")
        uvicorn.Server(config(proxy)).run(sockets=[listening])


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
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise InvalidArgument(f"port {port} of {host} cannot be listened at: {error.strerror}") from error
    at_once(listening)
    return listening
