"""HTTP/1.1 over uvicorn, where nobody keeps a place by silence: not a head, a body, an answer that is not taken.

    too many connections -> one that was answered before its body came makes room, else the longest silent one
    too many of an address -> the same, among its own

The invariant: what a connection waits for from its client has a time of its own, at every step of every request; only
the application may take as long as it likes. Loopback and a proxy, behind which there are many, are no single address.
"""

from __future__ import annotations

import asyncio
from functools import cache
from math import inf
from typing import Any

import h11
import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from firsthand.server.auth import LOOPBACK

HEAD_S = 5.0
"""From the first moment of a connection, or the first byte of a further request, until its head is whole; and for what
is left of a body when the answer was sent."""
BODY_S, BODY_PIECE_BYTES = 20.0, 64 << 10
"""Each piece of a body, its last one included, comes within this time."""
SEND_S = 60.0
"""A client that takes nothing of an answer for so long is let go."""
IDLE_S = 30
"""Between two requests."""
LOOK_S = 1.0
ADDRESS_MAX = 128
"""Connections of one address."""


def configured(app: Any, *, connections_max: int, closing_s: int, proxy: str = "") -> uvicorn.Config:
    """Give uvicorn's options.

    Args:
        closing_s: for what is being answered when the server stops.
        proxy: whose X-Forwarded-For is believed, apart by commas; empty for nobody's.
    """
    return uvicorn.Config(
        app, http=Connection, ws="none", loop="asyncio", log_level="warning", log_config=None, access_log=False,
        server_header=False, proxy_headers=bool(proxy), forwarded_allow_ips=proxy or "127.0.0.1",
        timeout_graceful_shutdown=closing_s, timeout_keep_alive=IDLE_S, limit_concurrency=connections_max + 1,
    )  # fmt: skip


class Connection(H11Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._bytes, self._step, self._since = 0, ("", 0), self.loop.time()
        self._make_room()
        self._look()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self._bytes += len(data)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._looking.cancel()
        super().connection_lost(exc)

    @property
    def _is_silent(self) -> bool:
        """True between requests, and before the first one."""
        return self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete)

    @property
    def _owes_body(self) -> bool:
        """True when the answer was sent, and the body that it is of did not come whole."""
        return self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete

    def _waits_for(self) -> tuple[str, int, float]:
        """Name what the client is to do next, how far it is with that, and how long it may take to get further."""
        if left := self.transport.get_write_buffer_size():
            return "answer", left, SEND_S
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            if self.cycle.response_complete:
                return "rest", 0, HEAD_S
            return "body", self._bytes // BODY_PIECE_BYTES, BODY_S
        if self._is_silent and (self.cycle is None or self.conn.trailing_data[0]):
            return "head", 0, HEAD_S
        return "", 0, inf

    def _look(self) -> None:
        """Let the client go when its time is over, else look again."""
        what, how_far, seconds = self._waits_for()
        if (step := (f"{what} {id(self.cycle)}", how_far)) != self._step:
            self._step, self._since = step, self.loop.time()
        if self.loop.time() - self._since >= seconds:
            self._end()
        self._looking = self.loop.call_later(min(LOOK_S, seconds), self._look)

    def _make_room(self) -> None:
        """Have a silent connection give its place up where there are too many; where none is, uvicorn answers 503."""
        crowd = [each for each in self.connections if isinstance(each, Connection)]
        of_address = [each for each in crowd if self.client and each.client and each.client[0] == self.client[0]]
        if is_crowded := len(of_address) > ADDRESS_MAX and not self._is_of_many:
            crowd = of_address
        elif self.limit_concurrency is None or len(crowd) < self.limit_concurrency:
            return
        others = [each for each in crowd if each is not self]
        silent = [each for each in others if each._is_silent or each._owes_body]  # noqa: SLF001 - of the same class
        silent.sort(key=lambda each: (not each._owes_body, each.cycle is not None, each._since))  # noqa: SLF001 - as above
        if silent or is_crowded:
            [*silent, self][0]._end()  # noqa: SLF001 - as above

    @property
    def _is_of_many(self) -> bool:
        proxies = _trusted(str(self.config.forwarded_allow_ips))
        return not self.client or self.client[0] in LOOPBACK or self.client[0] in proxies

    def _end(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


@cache
def _trusted(proxies: str) -> Any:
    """Give the addresses and networks whose X-Forwarded-For uvicorn believes."""
    return ProxyHeadersMiddleware(_nothing, proxies).trusted_hosts


async def _nothing(*_: Any) -> None: ...
