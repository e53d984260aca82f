"""The application of a server for teams: the HTTP API and MCP, for many principals over one log.

    a token -> its principal -> his rate -> the namespace and right of the route -> a memory of that namespace -> answer

The invariant: nothing but what `OPEN` names is answered without a principal; a route that is in no table is refused
before its body is read. A fault names its class in the log and nothing that anybody sent. There are no pages here: the
inspector is for one user, over a store of that machine or its replica.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from math import ceil
from typing import Any
from urllib.parse import unquote

import anyio
from anyio.to_thread import run_sync
from psycopg.errors import ReadOnlySqlTransaction
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from firsthand import FirsthandError, Kind, Memory, __version__
from firsthand.client import NAMESPACE_HEADER
from firsthand.errors import StoreFull
from firsthand.log.postgres.access import granted_in
from firsthand.log.postgres.connection import takes_writes
from firsthand.log.postgres.schema import check_version
from firsthand.server import api, api_door, measures
from firsthand.server.api import Verb
from firsthand.server.auth import SAFE_HEADERS, Receive, Scope, Send, body_bytes_max
from firsthand.server.mcp_doors import Doors
from firsthand.server.teams.audit import MINUTE_S, Audit
from firsthand.server.teams.grants import METHODS, ROUTES, TOOLS, Principal, Refused, Right
from firsthand.server.teams.identity import MARK, Identity
from firsthand.server.teams.limits import Buckets
from firsthand.server.teams.spaces import NO_KEY, Spaces
from firsthand.value import replace, value

METADATA = "/.well-known/oauth-protected-resource"
OPEN = frozenset({"/healthz", "/readyz", METADATA, f"{METADATA}/mcp"})
"""What is answered to anybody."""
STATELESS = {"stateless_http": True, "json_response": True}
LOOKUPS_MAX = 8
"""Tokens that are looked at together, so that strangers leave threads for the others."""
AT_ONCE_MAX = 16
"""Requests of one principal, streams among them."""
READY_S = 3.0
_named = {verb.name: verb for verb in api.VERBS}
HEALTH = replace(
    _named["health"],
    answer=lambda memory, _: {
        "ok": not (line := _lacking(memory)), "line": line, "position": memory.position, "head": memory.head()
    },
)  # fmt: skip
STATS = replace(_named["stats"], answer=lambda memory, _: replace(memory.stats(), path=""))
EXPORT = Verb("GET", "export", "The namespace, or a session of it, as JSON Lines.", ("session",), HEALTH.answer)
GRANTS = Verb("GET", "grants", "Who may do what in the namespace.", (), HEALTH.answer)
OWN = {verb.name: verb for verb in (HEALTH, STATS, EXPORT, GRANTS)}
"""Verbs that a server for teams has, or answers otherwise: its folders are named to nobody."""


@value
class Terms:
    """How a server is run.

    Attributes:
        url: its address as clients know it, without a path; empty for that which it listens at.
        issuer: of the tokens that it takes beside keys; empty for none.
        requests_per_s: of one principal, by this process; 0 without a limit.
        audit_reads: what is read is recorded, too.
    """

    url: str = ""
    issuer: str = ""
    requests_per_s: float = 50.0
    audit_reads: bool = False


class Gateway:
    """The ASGI application."""

    def __init__(
        self, spaces: Spaces, identity: Identity, audit: Audit, terms: Terms, log: Callable[[str], None]
    ) -> None:
        self._spaces, self._identity, self._audit, self._terms, self._log = spaces, identity, audit, terms, log
        self._buckets = Buckets(terms.requests_per_s, 2 * terms.requests_per_s)
        self._working = Counter[str]()
        self._doors = Doors(spaces, STATELESS)
        self._lookups, self._looks = anyio.CapacityLimiter(LOOKUPS_MAX), anyio.CapacityLimiter(2)
        self._tokens = anyio.CapacityLimiter(LOOKUPS_MAX)  # these wait for the issuer, and no key waits for them
        faults: Any = {
            Refused: self._refused,
            FirsthandError: self._failed,
            HTTPException: self._wrong,
            Exception: self._fault,
        }
        self._app = Starlette(
            routes=[
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route(METADATA, self._metadata),
                Route(f"{METADATA}/mcp", self._metadata),
                Route("/metrics", self._metrics),
                Route("/mcp", self._mcp),
                Route("/v1/openapi.json", self._document),
                Route("/v1/{verb:path}", self._api, methods=["GET", "POST"]),
            ],
            exception_handlers=faults, lifespan=self._lifespan,
        )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        working, begun = "", False

        async def safe(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                more = [(name.encode(), text.encode()) for name, text in SAFE_HEADERS.items()]
                message = message | {"headers": [*message.get("headers", ()), *more]}
            await send(message)

        request = Request(scope, receive)
        try:
            if scope["type"] != "http":
                raise HTTPException(403, "expected HTTP")  # noqa: TRY301 - answered as any other
            if scope["path"] not in OPEN:
                scope["principal"] = await self._principal(request)
                working = self._entered_by(scope["principal"])
            await self._app(scope, receive, safe)
        except (Refused, FirsthandError, HTTPException) as error:
            handler: Any = {Refused: self._refused, HTTPException: self._wrong}.get(type(error), self._failed)
            await (await handler(request, error))(scope, receive, safe)
        except Exception as error:  # noqa: BLE001 - the outermost frame of a request: its fault is logged without its words
            answer = None if "fault" in scope else await self._fault(request, error)
            if answer is not None and not begun:  # else one in the middle of an answer, which breaks off
                await answer(scope, receive, safe)
        finally:
            self._working[working] -= 1
            self._working = +self._working

    # who and what ------------------------------------------------------------------------------------

    async def _principal(self, request: Request) -> Principal:
        """Tell who sends a request, and whether he may send one now."""
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 18 or int(length) > body_bytes_max(request.url.path):
            raise HTTPException(413, f"expected at most {body_bytes_max(request.url.path) >> 20} MiB")
        token = _token(request)
        principal = self._identity.known(token)
        if principal is None:
            limiter = self._lookups if token.startswith(MARK) else self._tokens
            principal = await run_sync(self._identity.principal, token, limiter=limiter)
        if wait_s := self._buckets.wait_s(principal.name):
            raise Refused(429, f"expected at most {self._terms.requests_per_s:g} requests a second", "", wait_s)
        return principal

    def _entered_by(self, principal: Principal) -> str:
        """Count a request of a principal that is being answered, so that one leaves threads for the others."""
        if self._working[principal.name] >= AT_ONCE_MAX:
            raise Refused(429, f"expected at most {AT_ONCE_MAX} requests at once", "", 1.0)
        self._working[principal.name] += 1
        return principal.name

    async def _entered(self, request: Request, right: Right | None, route: str) -> str:
        """Give the namespace that a request is about, once it is known that its principal may."""
        header, query = unquote(request.headers.get(NAMESPACE_HEADER, "")), request.query_params.get("namespace", "")
        if header and query and header != query:
            raise Refused(400, "expected one namespace; the header and the address name two", "")
        principal: Principal = request.scope["principal"]
        namespace = principal.namespace(header or query)
        principal.check(namespace, right)
        request.scope["route_named"] = route
        if right is Right.READ and self._terms.audit_reads:
            await self._record(request, "read", namespace=namespace, route=route)
        return namespace

    async def _record(self, request: Request, act: str, **facts: Any) -> None:
        await run_in_threadpool(partial(self._audit.act, request.scope["principal"].name, act, **facts))

    # routes ------------------------------------------------------------------------------------------

    async def _api(self, request: Request) -> Response:
        """Answer a verb of the memory."""
        name = request.path_params["verb"]
        verb = OWN.get(name) if request.method == "GET" or name in _named else None
        verb = verb or api_door.verb_of(name, request.method)
        right = ROUTES.get(name)
        if right is None:
            raise Refused(404, f"/v1/{name:.80} is no part of a server for teams", "")
        namespace = await self._entered(request, right, name)
        asked = await api_door.fields_of(request)
        if request.method == "POST" and "namespace" in asked:
            raise Refused(400, f"a body names no namespace; send the header {NAMESPACE_HEADER}", "")
        further = {*_further(name, asked), *({Right.ERASE} if right is Right.ERASE else ())}
        for each in further:
            request.scope["principal"].check(namespace, each)
        if verb is GRANTS:
            return JSONResponse(await run_in_threadpool(granted_in, self._spaces.engine.connections, namespace))
        if verb is EXPORT:
            session = verb.asked(asked).get("session")
            await self._record(request, "export", namespace=namespace)
            pieces = await run_in_threadpool(self._exported, request, namespace, session)
            return api_door.Sent(pieces, 200, None, "application/jsonl")
        if Right.ERASE in further:
            await self._record(request, "erase", namespace=namespace, route=name)
        opened = partial(self._opened, request, namespace, right)
        return await api_door.answer(request, verb, asked, opened, self._spaces.measures)

    @contextmanager
    def _opened(self, request: Request, namespace: str, right: Right) -> Iterator[Memory]:
        """Open a memory, unless the grant was withdrawn meanwhile: a stream opens one at each look."""
        token = _token(request)
        principal = self._identity.known(token) or self._identity.principal(token)
        principal.check(namespace, right)
        with self._spaces.of(self._spaces.named(namespace)) as memory:
            yield memory

    def _exported(self, request: Request, namespace: str, session: str | None) -> Generator[bytes]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it was sent
        with self._opened(request, namespace, Right.ADMIN) as memory:
            log: Any = memory.log
            log.export(file, namespace=namespace, session=session)
        return api_door.pieces_of(file)

    @property
    def _mcp(self) -> Any:
        return _Mcp(self)

    async def answer_mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message of MCP, in the namespace and with the right that it needs."""
        request = Request(scope, receive)
        if request.method != "POST":
            raise HTTPException(405, "expected POST: this server keeps no sessions of MCP")
        if unknown := sorted(request.query_params.keys() - {"agent", "namespace"}):
            raise HTTPException(400, f"expected agent or namespace; got {unknown!r:.120}")
        message = await api_door.fields_of(request)
        method, parameters = str(message.get("method", "ping")), message.get("params")
        if method == "tools/call":
            name = str(parameters.get("name")) if isinstance(parameters, dict) else ""
            right, route = TOOLS.get(name), name
        else:
            name, right, route = method, METHODS.get(method), method
        if name not in (TOOLS if method == "tools/call" else METHODS):
            raise Refused(404, f"this server has no {name!r:.80} in MCP", "")
        namespace = await self._entered(request, right, f"mcp {route}")
        agent = request.query_params.get("agent", scope["principal"].name)
        values = {"namespace": namespace, "agent": agent, "across": "1"}  # who may read, may read all of it
        data = json.dumps(message).encode()  # as it was read here: no other reading of its bytes
        left_out = {b"host", b"origin", b"authorization", b"content-length"}
        headers = [(name, text) for name, text in scope["headers"] if name.lower() not in left_out]
        headers += [(b"host", b"127.0.0.1:1"), (b"content-length", str(len(data)).encode())]

        bodies = [{"type": "http.request", "body": data, "more_body": False}]

        async def body() -> Any:
            return bodies.pop() if bodies else await receive()

        await self._doors.answer(values, {**scope, "headers": headers}, body, send)

    async def _healthz(self, _request: Request) -> Response:
        return JSONResponse({"ok": True, "version": __version__})

    async def _readyz(self, _request: Request) -> Response:
        """Say whether the log can be reached, is takes writes of this version, its keys and room are there."""

        def look() -> bool:
            with self._spaces.engine.connections.use() as db:
                is_ours = not check_version(db) and takes_writes(db)
            return is_ours and not self._spaces.engine.seal.lacking() and self._spaces.has_room()

        ready = False
        with suppress(FirsthandError), anyio.move_on_after(READY_S):
            ready = await run_sync(look, abandon_on_cancel=True, limiter=self._looks)
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    async def _metadata(self, _request: Request) -> Response:
        """Say where tokens for this server come from (RFC 9728)."""
        about: dict[str, Any] = {"resource": f"{self._terms.url}/mcp", "resource_name": "Firsthand"}
        about["bearer_methods_supported"] = ["header"]
        issuers = {"authorization_servers": [self._terms.issuer]} if self._terms.issuer else {}
        return JSONResponse(about | issuers)

    async def _metrics(self, request: Request) -> Response:
        """Give what was counted, to an operator."""
        if not request.scope["principal"].is_operator:
            raise Refused(403, "expected a principal who may read the audit log", "metrics")
        if missing := measures.missing():
            raise HTTPException(501, missing)
        page = await run_in_threadpool(self._spaces.measures.page, self._spaces.names(), measures.memory_bytes())
        return Response(page, media_type="text/plain; version=0.0.4")

    async def _document(self, _request: Request) -> Response:
        return JSONResponse(api.document((EXPORT, GRANTS)))

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Record counted refusals by the minute."""

        async def flush() -> None:
            while True:
                await asyncio.sleep(MINUTE_S)
                with suppress(FirsthandError):  # they stay counted
                    await run_in_threadpool(self._audit.flush)

        async with self._doors.lifespan(app):
            flushing = asyncio.create_task(flush())
            yield
            flushing.cancel()
            with suppress(FirsthandError):
                await run_in_threadpool(partial(self._audit.flush, now=True))

    # what went wrong -----------------------------------------------------------------------------------

    async def _refused(self, request: Request, refusal: Refused) -> Response:
        """Answer what is not allowed, and record it."""
        principal = request.scope.get("principal")
        if refusal.reason:
            name, route = principal.name if principal else "", request.scope.get("route_named", _route(request))
            try:
                await run_in_threadpool(self._audit.refusal, name, route, refusal.reason)
            except FirsthandError as error:
                self._log(f"a refusal could not be recorded: {type(error).__name__}")
        headers = {"retry-after": str(ceil(refusal.wait_s))} if refusal.wait_s else {}
        if refusal.status == 401:
            headers["www-authenticate"] = f'Bearer resource_metadata="{self._terms.url}{METADATA}/mcp"'
        return _answer(refusal.status, str(refusal), "StoreBusy" if refusal.status == 429 else "", headers)

    async def _failed(self, _request: Request, error: FirsthandError) -> Response:
        """Answer what the store could not do; what is not the caller's fault in words that name nothing."""
        kind = type(error).__name__
        if isinstance(error, StoreFull) and error.wait_s:
            return _answer(429, str(error), kind, {"retry-after": str(ceil(error.wait_s))})
        status = 503 if isinstance(error.__cause__, ReadOnlySqlTransaction) else api_door.status_of(error)
        return _answer(status, self._spaces.plain(error), kind)

    async def _fault(self, request: Request, error: Exception) -> Response:
        """Answer a fault of ours, and log its class and place."""
        request.scope["fault"] = True
        frame = traceback.extract_tb(error.__traceback__)[-1]
        self._log(f"a request failed: {type(error).__name__} at {frame.filename}:{frame.lineno}")
        return _answer(500, "the server failed; its log names the place")

    async def _wrong(self, _request: Request, error: HTTPException) -> Response:
        return _answer(error.status_code, str(error.detail))


class _Mcp:
    """MCP as an ASGI application, which is what a route takes for one that sends by itself."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._gateway.answer_mcp(scope, receive, send)


def _lacking(memory: Memory) -> str:
    """Say that a namespace's key cannot be read, in words that name nothing of this machine; else nothing."""
    log: Any = memory.log
    return NO_KEY if log.engine.seal.lacking(log.engine.reader.namespace_key(memory.namespace)) else ""


def _further(name: str, asked: dict[str, Any]) -> Iterator[Right]:
    """Yield the rights that events ask for which erase or decide, wherever they are appended."""
    events = asked.get("events") if name in {"append", "sync/push"} else None
    for event in events if isinstance(events, list) else ():
        kind = event.get("kind") if isinstance(event, dict) else None
        if kind == Kind.LEDGER:
            yield Right.LEDGER
        elif kind == Kind.ERASURE:
            yield Right.ERASE


def _answer(status: int, why: str, error: str = "", headers: dict[str, str] | None = None) -> Response:
    return Response(api_door.problem(status, why, error), status, headers, "application/problem+json")


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _route(request: Request) -> str:
    """Name the route of a request for the audit log: one of ours, or none."""
    name = request.url.path.removeprefix("/v1/")
    return name if name in ROUTES or name in {"/mcp", "/metrics"} else "another"
