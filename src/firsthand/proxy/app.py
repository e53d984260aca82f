"""The application behind the proxy's port: which requests get a window, and which pass through.

    who asks -> path -> namespace, agent, session -> exchange

The invariant: a stranger's page in a browser is refused, and so is whoever lacks the token
where one is needed; all else reaches the upstream.
"""

from __future__ import annotations

import asyncio
import hmac
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from firsthand import Memory
from firsthand.proxy import anthropic, chat, responses
from firsthand.proxy.conversations import Conversations, Options, Turn
from firsthand.proxy.dialect import Dialect, Unfit
from firsthand.proxy.event_stream import members
from firsthand.proxy.exchange import Exchange, Log
from firsthand.proxy.upstream import Upstream
from firsthand.server.auth import is_local, is_local_origin
from firsthand.value import replace

DIALECTS: Mapping[str, Dialect] = {
    "/chat/completions": chat, "/responses": responses, "/v1/messages": anthropic,
}  # fmt: skip
"""By the end of a path."""
BODY_BYTES_MAX = 64 << 20
TOO_LARGE, COMPRESSED = "its body is too large to look at", "its body is compressed"
NAMESPACES_MAX = 64  # that are open at a time, beside the proxy's own
SESSION, NAMESPACE, AGENT, TOKEN = (f"x-firsthand-{name}" for name in ("session", "namespace", "agent", "token"))


class Proxy:
    """The proxy of one store and one upstream.

    Args:
        store: None takes the usual one.
        token: that a client must bring, in the header X-Firsthand-Token; empty asks for none.
        log: told of faults, in a line each without words of anybody's.

    Attributes:
        host: the upstream's.
    """

    def __init__(
        self,
        upstream: str,
        *,
        store: str | Path | None = None,
        namespace: str | None = None,
        options: Options | None = None,
        token: str = "",
        is_open: bool = False,
        log: Log = lambda _: None,
    ) -> None:
        self._upstream = Upstream(upstream)
        self.host = self._upstream.host
        self._store, self._options, self._log = store, options or Options(), log
        self._token, self._is_open = token, is_open or bool(token)
        self._lock = threading.Lock()
        self._memories = {"": Memory(store, namespace=namespace)}
        self._conversations = {"": Conversations(self._memories[""], self._options)}

    async def _live(self, receive: Receive, send: Send) -> None:
        """Let go of the store and of the upstream when the server stops."""
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await self._upstream.client.aclose()
        self.close()
        await send({"type": "lifespan.shutdown.complete"})

    def close(self) -> None:
        """Let the store go; what was acknowledged is on disk."""
        for memory in self._memories.values():
            memory.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        headers = Headers(scope=scope)
        refusal = self._refusal(headers)
        if refusal:
            return await PlainTextResponse(f"{refusal}\n", 403)(scope, receive, send)
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        address = self._upstream.address(path, scope.get("query_string", b""))
        exchange = Exchange(self._upstream, scope["method"], address, list(scope["headers"]), send, self._log)
        dialect = next((each for end, each in DIALECTS.items() if path.endswith(end)), None)
        length = headers.get("content-length", "0")
        if scope["method"] != "POST" or dialect is None:
            has_body = bool({"content-length", "transfer-encoding"} & {*headers})
            return await _until_gone(receive, exchange.relay if has_body else lambda pieces: _bare(pieces, exchange))
        if headers.get("content-encoding", "identity") != "identity":
            return await _until_gone(receive, lambda pieces: exchange.relay(pieces, COMPRESSED))
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            return await _until_gone(receive, lambda pieces: exchange.relay(pieces, TOO_LARGE))

        async def converse(pieces: AsyncIterator[bytes]) -> None:
            read = bytearray()
            async for piece in pieces:
                read += piece
                if len(read) > BODY_BYTES_MAX:  # its length was not said
                    return await exchange.relay(_behind(bytes(read), pieces), TOO_LARGE)
            body = bytes(read)
            return await exchange.converse(body, dialect, lambda: self._turn(body, dialect, headers))

        return await _until_gone(receive, converse)

    def _refusal(self, headers: Headers) -> str:
        """Say why a client is refused; empty when it is not."""
        if self._token and not hmac.compare_digest(headers.get(TOKEN, "").encode(), self._token.encode()):
            return "expected the proxy's token in the header X-Firsthand-Token"
        origin = headers.get("origin", "")
        is_page = origin == "null" or origin.startswith("http")  # a page may keep its origin to itself
        is_foreign = not origin and headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}
        if is_foreign or (is_page and not is_local_origin(origin)):
            return "a page of another site may not use this proxy"
        if not self._is_open and not is_local(headers.get("host", "")):
            return "expected a Host of this machine"
        return ""

    def _turn(self, body: bytes, dialect: Dialect, headers: Headers) -> Turn:
        """Make the turn of a request; it runs in a thread.

        Raises:
            Unfit: it is one that passes through.
        """
        try:
            fields, texts = members(body.decode())
        except ValueError as error:
            raise Unfit("its body is no JSON object") from error
        retries = headers.get("x-stainless-retry-count", "0")
        with self._of(headers.get(NAMESPACE, "")) as conversations:
            return conversations.turn(
                replace(dialect.read(fields), texts=texts), dialect, session=headers.get(SESSION, ""),
                agent=headers.get(AGENT, ""), again=retries.isdigit() and int(retries) > 0,
            )  # fmt: skip

    @contextmanager
    def _of(self, namespace: str) -> Iterator[Conversations]:
        """Give the conversations of a namespace, which stays open meanwhile."""
        with self._lock:
            if namespace not in self._conversations:
                if len(self._conversations) > NAMESPACES_MAX:
                    self._close_idle()
                self._memories[namespace] = Memory(self._store, namespace=namespace)
                self._conversations[namespace] = Conversations(self._memories[namespace], self._options)
            conversations = self._conversations[namespace] = self._conversations.pop(namespace)  # the newest in use
            conversations.requests += 1
        try:
            yield conversations
        finally:
            with self._lock:
                conversations.requests -= 1

    def _close_idle(self) -> None:
        """Close the namespace that was asked for longest ago and answers nobody; the proxy's own stays open."""
        idle = next((name for name, each in self._conversations.items() if name and each.is_idle), "")
        if not idle:
            raise Unfit(f"this proxy answers requests of {NAMESPACES_MAX} namespaces now, and takes no more")
        del self._conversations[idle]
        self._memories.pop(idle).close()


async def _bare(pieces: AsyncIterator[bytes], exchange: Exchange) -> None:
    """Pass a request through that has no body."""
    await exchange.relay(b"".join([piece async for piece in pieces]) or None)


async def _behind(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece


async def _until_gone(receive: Receive, work: Callable[[AsyncIterator[bytes]], Awaitable[None]]) -> None:
    """Work on a request until it is done, or until the client goes away."""
    is_read = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        more = True
        while more:
            message: Any = await receive()
            if message["type"] == "http.disconnect":
                raise asyncio.CancelledError
            if message.get("body"):
                yield message["body"]
            more = bool(message.get("more_body"))
        is_read.set()

    async def gone() -> None:
        await is_read.wait()
        while (await receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.ensure_future(work(pieces())), asyncio.ensure_future(gone())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await tasks[0]
