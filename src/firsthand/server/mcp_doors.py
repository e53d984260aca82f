"""MCP over streamable HTTP, in the server: one door an agent, made when it is first asked for.

    /mcp?agent=NAME&cwd=FOLDER&across=1     each may be left out

The invariant: the SDK, a second of processor to import, is imported by the first client and
not before. Nobody is refused for want of a door: those that nobody is at close, the one asked least recently first,
and their agents' sessions begin anew, as MCP has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

from firsthand import FirsthandError
from firsthand.environment import default_namespace, default_store
from firsthand.server.auth import App, Receive, Scope, Send
from firsthand.server.daemon_stores import Stores
from firsthand.value import value

DOORS_MAX = 8
"""That stay open when nobody is at them."""
_KNOWN = {"agent", "cwd", "across", "store", "namespace"}


@value(frozen=False, eq=False)
class _Door:
    """A door that is open, and how many requests are at it."""

    app: App
    closing: asyncio.Event
    task: asyncio.Task[None]
    users: int = 0


class Doors:
    """An ASGI application that hands each request to the door of its agent.

    Args:
        http: options of the SDK's application, such as that it keeps no sessions.
    """

    def __init__(self, stores: Stores, http: dict[str, Any] | None = None) -> None:
        self._stores, self._http = stores, http
        self._doors: dict[tuple[str, ...], _Door] = {}  # the one asked last stands last
        self._making: asyncio.Lock | None = None

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Close every door at the end."""
        self._making = asyncio.Lock()
        yield
        for door in self._doors.values():
            door.closing.set()
        await asyncio.gather(*(door.task for door in self._doors.values()), return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        values = {name: texts[0] for name, texts in parse_qs(scope["query_string"].decode("latin-1")).items()}
        if unknown := sorted(values.keys() - _KNOWN):
            raise HTTPException(400, f"expected of {', '.join(sorted(_KNOWN))}; got {unknown!r:.120}")
        await self.answer(values, scope, receive, send)

    async def answer(self, values: Mapping[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the door that values name."""
        key = tuple(values.get(name, "") for name in sorted(_KNOWN))
        assert self._making is not None
        async with self._making:
            door = self._doors.pop(key, None)
            self._doors[key] = door = door or await self._made(values)
            door.users += 1
        try:
            await door.app({**scope, "path": "/mcp", "root_path": "", "query_string": b""}, receive, send)
        finally:
            door.users -= 1
            self._close_spare()

    def _close_spare(self) -> None:
        idle = [key for key, door in self._doors.items() if not door.users]
        for key in idle[: max(0, len(self._doors) - DOORS_MAX)]:
            self._doors.pop(key).closing.set()

    async def _made(self, values: Mapping[str, str]) -> _Door:
        """Make a door, and keep it open in a task of its own: what it begins must end where it began."""
        from firsthand.server import mcp_sdk
        from firsthand.server.mcp_server import Door, Served

        store, namespace = values.get("store") or str(default_store()), values.get("namespace") or default_namespace()
        try:
            served = Served(
                store, namespace, None, values.get("agent", ""), values.get("cwd", ""), bool(values.get("across"))
            )
            made = await asyncio.to_thread(Door, served, self._stores, http=self._http)
        except FirsthandError as error:
            raise HTTPException(500, str(error)) from error
        app: Any = mcp_sdk.http_app(made.sdk, made.server, made.http)
        ready, closing = asyncio.Event(), asyncio.Event()

        async def stay() -> None:
            async with app.router.lifespan_context(app):
                ready.set()
                await closing.wait()
            made.close()

        task = asyncio.create_task(stay())
        await ready.wait()
        return _Door(app, closing, task)
