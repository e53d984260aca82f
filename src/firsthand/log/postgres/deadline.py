"""A connection to PostgreSQL that no one waits on without end.

The invariant: a server from which nothing comes for a time limit is taken for gone, and the connection is closed; what
it was asked may have been done, or be done yet. An owner's own connection has no such limit: a migration is silent for
as long as it works, and would be cut off at each try. A machine that is gone is noticed by keepalives.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

TIMEOUT_S, LONG_S, QUIET_S = 30.0, 900.0, 5.0
"""So long nothing may come from a server: for most verbs; for what reads, writes or locks much; for a question."""
UNLIMITED = (
    "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')"
)
"""Lifts what a role or a provider allows one statement, which would end an erasure that waits or a long proof."""
_NETWORK = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


class ServerSilent(psycopg.OperationalError):
    """Nothing came from a server for as long as it was waited for."""


class Connection(psycopg.Connection):
    """A connection that is closed when nothing comes from its server for `silence_s`."""

    silence_s = math.inf

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """Wait for the server, as psycopg does for every exchange with it."""
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass on what is waited for, and what is ready: psycopg says now and then that nothing is."""
        until, ready = time.monotonic() + self.silence_s, None
        while True:
            try:
                wanted = gen.send(ready)
            except StopIteration as end:
                return end.value
            ready = yield wanted
            if ready:
                until = time.monotonic() + self.silence_s
            elif time.monotonic() > until:
                self.pgconn.finish()
                raise ServerSilent(f"the server sent nothing for {self.silence_s:g} s, and its connection was closed")


def connect(dsn: str, **options: Any) -> Connection:
    """Connect to a server, once; what the address says of the network holds before what is usual here."""
    return Connection.connect(bounded(dsn), **options)


def bounded(dsn: str) -> str:
    """Give an address with limits on what the network may swallow, where it names none itself; its text is UTF-8."""
    usual = {**_NETWORK, "tcp_user_timeout": int(TIMEOUT_S * 1_000)}
    named = conninfo_to_dict(dsn)
    limits = {name: limit for name, limit in usual.items() if name not in named}
    return make_conninfo(dsn, **limits, client_encoding="utf8")
