"""The process of a server for teams: the log, this machine's replicas, the port.

The invariant: it keeps nothing that another server over the same log has not; its replicas can be deleted. It speaks
HTTP and no TLS, which is a proxy's task, and believes no header that a proxy writes unless it is told whose.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import uvicorn

from firsthand import InvalidArgument, environment
from firsthand.server.connections import configured
from firsthand.server.http_server import at_once
from firsthand.server.teams.audit import Audit
from firsthand.server.teams.gateway import Gateway, Terms
from firsthand.server.teams.identity import Identity
from firsthand.server.teams.oidc import Issuer
from firsthand.server.teams.spaces import Spaces, TenantReplicas
from firsthand.value import replace

CONNECTIONS_MAX = 512
CLOSING_S = 10


class TeamServer:
    """A server over one log, listening.

    Args:
        audience: of the issuer's tokens; empty is the server's own address.
        proxy: the address of the proxy whose X-Forwarded-For is believed; empty for none.
        replicas: the folder for those of this machine; None is the usual one.

    Attributes:
        url: where it listens.
    """

    def __init__(
        self,
        dsn: str,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        terms: Terms | None = None,
        audience: str = "",
        proxy: str = "",
        replicas: Path | None = None,
        log: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._until = ExitStack()
        with ExitStack() as until:
            self.socket = until.enter_context(_listening(host, port))
            self.url = f"http://{host}:{self.socket.getsockname()[1]}"
            terms = terms or Terms()
            terms = terms if terms.url else replace(terms, url=self.url)
            folder = replicas or environment.replicas_folder()
            issuer = Issuer(terms.issuer, audience or terms.url) if terms.issuer else None
            tenants = TenantReplicas(dsn, folder, folder, environment.replicas_bytes_max())
            until.callback(tenants.close)
            engine = tenants.engine
            spaces = Spaces(tenants, folder, environment.default_embedder() or "none", log)
            until.callback(spaces.close)
            self.gateway = Gateway(spaces, Identity(engine.connections, issuer), Audit(engine), terms, log)
            config = configured(self.gateway, connections_max=CONNECTIONS_MAX, closing_s=CLOSING_S, proxy=proxy)
            self._uvicorn = uvicorn.Server(config)
            self._until = until.pop_all()

    def run(self) -> None:
        """Answer until it is stopped or interrupted."""
        with self._until:
            self._uvicorn.run(sockets=[self.socket])

    def stop(self) -> None:
        """Take nothing more, and end when what is being answered was."""
        self._uvicorn.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise InvalidArgument(f"port {port} of {host} cannot be listened at: {error.strerror}") from error
    at_once(listening)
    return listening
