"""MCP over streamable HTTP, in the server: one door an agent, made when it is first asked for.

    /mcp?agent=NAME&cwd=FOLDER&across=1     each may be left out

The invariant: the SDK, a second of processor to import, is imported by the first client and
not before; a door closes with the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

from firsthand import FirsthandError
from firsthand.environment import default_namespace, default_store
from firsthand.server.auth import App, Receive, Scope, Send
from firsthand.server.daemon_stores import Stores

DOORS_MAX = 8
_KNOWN = {"agent", "cwd", "across", "store", "namespace"}


class Doors:
    """An ASGI application that hands each request to the door of its agent."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._apps: dict[tuple[str, ...], App] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: asyncio.Event | None = None
        self._making: asyncio.Lock | None = None

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Close every door at the end."""
        self._closing, self._making = asyncio.Event(), asyncio.Lock()
        yield
        self._closing.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        values = {name: texts[0] for name, texts in parse_qs(scope["query_string"].decode("latin-1")).items()}
        if unknown := sorted(values.keys() - _KNOWN):
            raise HTTPException(400, f"expected of {', '.join(sorted(_KNOWN))}; got {unknown!r:.120}")
        app = await self._door(values)
        await app({**scope, "path": "/mcp", "root_path": "", "query_string": b""}, receive, send)

    async def _door(self, values: dict[str, str]) -> App:
        key = tuple(values.get(name, "") for name in sorted(_KNOWN))
        assert self._making is not None
        async with self._making:
            if key not in self._apps:
                if len(self._apps) >= DOORS_MAX:
                    raise HTTPException(503, f"{DOORS_MAX} agents have a door here already; firsthand serve --stop")
                self._apps[key] = await self._made(values)
            return self._apps[key]

    async def _made(self, values: dict[str, str]) -> App:
        """Make a door, and keep it open in a task of its own: what it begins must end where it began."""
        from firsthand.server import mcp_sdk
        from firsthand.server.mcp_server import Door, Served

        store, namespace = values.get("store") or str(default_store()), values.get("namespace") or default_namespace()
        try:
            served = Served(
                store, namespace, None, values.get("agent", ""), values.get("cwd", ""), bool(values.get("across"))
            )
            door = await asyncio.to_thread(Door, served, self._stores)
        except FirsthandError as error:
            raise HTTPException(500, str(error)) from error
        app: Any = mcp_sdk.http_app(door.sdk, door.server, door.http)
        ready = asyncio.Event()

        async def stay() -> None:
            assert self._closing is not None
            async with app.router.lifespan_context(app):
                ready.set()
                await self._closing.wait()
            door.close()

        self._tasks.append(asyncio.create_task(stay()))
        await ready.wait()
        made: App = app
        return made
