"""One request's way through the proxy: to the upstream and back, as often as our tools are called.

    body -> the turn (its session, its window) -> upstream -> events relayed as they come
                  ^------- a call of recall is answered and withheld, and the next call goes on

The invariant: whatever of Firsthand fails, the request goes on as it came, and a header says
so; what the upstream says is passed on with its own status; a client that goes away ends the
upstream's work, and what was said until then is recorded as cut short.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import httpx
from starlette.concurrency import run_in_threadpool
from starlette.types import Send

from firsthand.errors import FirsthandError
from firsthand.proxy.conversations import Turn
from firsthand.proxy.dialect import Answer, Dialect, Reply, Unfit
from firsthand.proxy.event_stream import Splitter, json_object
from firsthand.proxy.upstream import Headers, Upstream, passed_on

CALLS_MAX = 16  # of the upstream for one answer; in the last one no tool may be called
AHEAD_S = 0.02  # that the first byte has to come back before the recording of its request asks for the processor
DECODED = frozenset({"identity", "gzip", "deflate"})  # although only the first is asked for
DRAIN_S = 0.5  # for the end of a response whose last event has come
WHY_CHARACTERS_MAX = 200
HEADER = b"x-firsthand"
Log = Callable[[str], None]


class Exchange:
    """One request of a client.

    Args:
        log: told of faults of ours, in a line without words of anybody's.
    """

    def __init__(self, upstream: Upstream, method: str, address: str, headers: Headers, send: Send, log: Log) -> None:
        self._upstream, self._method, self._address, self._headers = upstream, method, address, headers
        self._send, self.log = send, log

    # as it came --------------------------------------------------------------------------------------

    async def relay(self, body: bytes | AsyncIterator[bytes] | None, why: str = "") -> None:
        """Pass a request through as it is."""
        request = self._upstream.client.build_request(
            self._method, self._address, headers=passed_on(self._headers, body=True), content=body
        )
        try:
            response = await self._upstream.client.send(request, stream=True)
        except httpx.TransportError as error:
            return await self.unreachable(error)
        return await self.passed(response, f"passed through; {why}" if why else "")

    async def passed(self, response: httpx.Response, note: str) -> None:
        """Pass a response through as it is."""
        noted = [(HEADER, note.encode("latin-1", "replace"))] if note else []
        try:
            with suppress(httpx.TransportError):  # cut on the way: the client's connection is cut, too
                await self.start(response.status_code, passed_on(response.headers.raw, body=True) + noted)
                async for piece in response.aiter_raw():
                    await self.piece(piece)
                await self.piece(b"", more=False)
        finally:
            await response.aclose()

    async def unreachable(self, error: httpx.TransportError) -> None:
        """Say that the upstream does not answer."""
        message = f"firsthand proxy: the upstream does not answer ({type(error).__name__})"
        fields = {"type": "error", "error": {"type": "api_error", "message": message, "code": "upstream_unreachable"}}
        await self.start(502, [(b"content-type", b"application/json")])
        await self.piece(json.dumps(fields).encode(), more=False)

    async def start(self, status: int, headers: Headers) -> None:
        """Begin the response."""
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def piece(self, data: bytes, *, more: bool = True) -> None:
        """Send bytes of the body."""
        if data or not more:
            await self._send({"type": "http.response.body", "body": data, "more_body": more})

    # through a window --------------------------------------------------------------------------------

    async def converse(self, body: bytes, dialect: Dialect, begin: Callable[[], Turn]) -> None:
        """Send a request through its session's window; as it came where that cannot be.

        Args:
            begin: makes the turn out of the body; it runs in a thread.
        """
        try:
            turn = await run_in_threadpool(begin)
        except Unfit as error:
            return await self.relay(body, why_of(error))
        except Exception as error:  # noqa: BLE001 - whatever of ours fails, the client's request goes on
            self.log(f"a request was passed through: {type(error).__name__}")
            return await self.relay(body, why_of(error))
        return await _Conversation(self, turn, dialect.Answer(turn.own), body).run()

    async def call(self, content: bytes) -> httpx.Response:
        """Call the upstream."""
        headers = [*passed_on(self._headers, body=False), (b"accept-encoding", b"identity")]
        client = self._upstream.client
        return await client.send(
            client.build_request("POST", self._address, headers=headers, content=content), stream=True
        )


class _Conversation:
    """The calls of the upstream that one answer takes."""

    def __init__(self, exchange: Exchange, turn: Turn, answer: Answer, body: bytes) -> None:
        self._exchange, self._turn, self._answer, self._body = exchange, turn, answer, body
        self._has_started = False
        self._first_id = self._note = ""
        self._is_settled = False
        self._goes = asyncio.Event()  # the first byte has gone to the client
        self._pieces: AsyncIterator[bytes] | None = None

    async def run(self) -> None:
        """Answer the client."""
        content = self._content()
        self._recording = asyncio.ensure_future(self._recorded())  # while the upstream thinks
        try:
            await self._answered(content)
        except httpx.TransportError as error:
            if not self._has_started:
                await self._exchange.unreachable(error)
            await self._cut(f"the upstream broke off ({type(error).__name__})")
        except asyncio.CancelledError:
            await self._cut("the client went away")
            raise
        finally:
            if not self._is_settled:
                await self._cut("the answer has no end")

    async def _answered(self, content: bytes) -> None:
        for number in range(1, CALLS_MAX + 1):
            response = await self._exchange.call(content)
            try:
                if response.headers.get("content-encoding", "identity") not in DECODED and not self._has_started:
                    await self._settle(self._turn.cut, None, "it came in an encoding that was not asked for")
                    return await self._exchange.passed(response, "not recorded; its encoding was not asked for")
                if not await self._passed(response):
                    return None
                await self._recorded_by_now()
                reply = self._answer.reply()
                if not (reply.ours and not reply.theirs and reply.is_whole and number < CALLS_MAX):
                    return await self._finish(reply)
                self._first_id = self._first_id or reply.id
                await run_in_threadpool(self._turn.go_on, reply, last=number == CALLS_MAX - 1)
                await self._exchange.piece(self._answer.resume())
                content = self._content()
            finally:
                await self._let_go(response)
        return None

    async def _recorded(self) -> None:
        """Record what is new in the request where that is left to be done."""
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._goes.wait(), AHEAD_S)
            await run_in_threadpool(self._turn.record)
        except Exception as error:  # noqa: BLE001 - the request has gone out; its answer is the client's
            self._turn.lose(why_of(error))
            self._note = f"not recorded; {why_of(error)}"
            self._exchange.log(f"a request was not recorded: {type(error).__name__}")

    async def _recorded_by_now(self) -> None:
        self._goes.set()
        await asyncio.shield(self._recording)

    async def _let_go(self, response: httpx.Response) -> None:
        """Let a response go; one that has come to its end leaves its connection to the next call."""
        try:
            if self._answer.ended and self._pieces is not None:
                async with asyncio.timeout(DRAIN_S):
                    async for _ in self._pieces:
                        pass
        except (httpx.HTTPError, httpx.StreamError, TimeoutError):
            pass  # all that it said has come; its connection is closed
        finally:
            self._pieces = None
            await response.aclose()

    def _content(self) -> bytes:
        if not self._turn.changes:
            return self._body
        return self._turn.content()

    async def _passed(self, response: httpx.Response) -> bool:
        """Relay a response as far as it is for the client; False when the answer is over with it."""
        exchange = self._exchange
        if "text/event-stream" in response.headers.get("content-type", "") and response.status_code == 200:
            return await self._relayed(response)
        data = await response.aread()
        fields = json_object(data)
        await self._recorded_by_now()
        if response.status_code == 200 and fields and not fields.get("error"):
            self._answer.take(fields)
            self._data, self._response = data, response
            return True
        await self._settle(self._turn.cut, None, f"the upstream said {response.status_code}")
        if self._has_started:
            data = self._answer.failure(response.status_code, fields)
        else:
            await exchange.start(response.status_code, self._headers(response))
        await exchange.piece(data, more=False)
        return False

    async def _relayed(self, response: httpx.Response) -> bool:
        exchange, answer = self._exchange, self._answer
        if not self._has_started:
            self._has_started = True
            await exchange.start(200, self._headers(response))
        answer.begin()
        splitter = Splitter()
        self._pieces = response.aiter_bytes()
        async for data in self._pieces:
            await exchange.piece(b"".join([answer.feed(block) for block in splitter.feed(data)]))
            self._goes.set()
            if answer.ended:
                break
        await exchange.piece(b"".join([answer.feed(block) for block in splitter.close()]))
        if answer.is_over and not answer.failed:
            return True
        await self._cut("the upstream said that it failed" if answer.failed else "the upstream broke off")
        await exchange.piece(answer.end(), more=False)  # the upstream's own end, such as it is
        return False

    async def _finish(self, reply: Reply) -> None:
        """Record the end of the answer, then give it to the client."""
        exchange, answer = self._exchange, self._answer
        await self._settle(self._turn.end, reply, self._first_id)
        if self._has_started:
            return await exchange.piece(answer.end(), more=False)
        fields = answer.whole()
        data = (
            self._data if fields is None else json.dumps(fields, ensure_ascii=False).encode("utf-8", "backslashreplace")
        )
        await exchange.start(200, [*self._headers(self._response), (b"content-length", str(len(data)).encode())])
        return await exchange.piece(data, more=False)

    def _headers(self, response: httpx.Response) -> Headers:
        mode = "window" if self._turn.changes else "capture"
        before = f"; the request before was not recorded: {self._turn.before}" if self._turn.before else ""
        note = self._note or f"{mode}; session={self._turn.conversation.session.name}{before}"
        return [*passed_on(response.headers.raw, body=False), (HEADER, note.encode("latin-1", "replace"))]

    async def _cut(self, why: str) -> None:
        if not self._is_settled:
            reply = self._answer.reply()
            await self._settle(self._turn.cut, reply, why)

    async def _settle(self, record: Callable[..., None], *arguments: Any) -> None:
        """Record how the answer ended, also while the client goes away; a fault of the store's ends no answer."""
        self._is_settled = True

        async def settled() -> None:  # behind what the request brought
            await self._recorded_by_now()
            await run_in_threadpool(record, *arguments)

        try:
            await asyncio.shield(asyncio.ensure_future(settled()))
        except Exception as error:  # noqa: BLE001 - what was said is the client's in any case
            self._exchange.log(f"an answer was not recorded: {type(error).__name__}")


def why_of(error: Exception) -> str:
    """Say why a request is passed through, fit for a header."""
    text = " ".join(f"{error}".split()) if isinstance(error, FirsthandError) else type(error).__name__
    return "".join(sign if sign.isprintable() and sign.isascii() else "?" for sign in text)[:WHY_CHARACTERS_MAX].strip()
