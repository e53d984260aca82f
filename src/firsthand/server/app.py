"""The application behind the server's port: pages, their JSON twins, health, MCP.

    guard -> way -> the store of the place, opened as hooks open it -> a page's fields -> template or JSON

The invariant: a fault is a page that says what went wrong and what to type, never a traceback;
reading changes nothing; what changes something comes by POST with the proof of a form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from firsthand import FirsthandError, Memory, __version__
from firsthand.agents import health_line
from firsthand.environment import default_embedder, default_store
from firsthand.moment import now
from firsthand.server import api, api_door, measures
from firsthand.server.auth import COOKIE_S, Guard, Keys, Scope, cookie_name, is_own_path
from firsthand.server.daemon_stores import NO_IDENTITY, Stores, identity_of
from firsthand.server.hook_client import Call
from firsthand.server.inspector import call_pages, event_pages, texts
from firsthand.server.inspector.page import Asked, Page, Place, as_json
from firsthand.server.inspector.pages import ACTIONS, PAGES, TAKEN, Made
from firsthand.server.live import stream
from firsthand.server.mcp_doors import Doors

HERE = Path(__file__).parent / "inspector"
FORM_BYTES_MAX = 64 << 10
MEMO_MAX = 20_000
Count = Callable[[int], None]
_T = TypeVar("_T")


def application(stores: Stores, keys: Keys, log: Callable[[str], None], count: Count) -> Guard:
    """Make the application.

    Args:
        count: told of each request that begins, by 1, and ends, by -1.
    """
    pages = _Pages(stores, keys, log, count)
    doors = Doors(stores)
    app = Starlette(
        routes=[
            Route("/healthz", pages.healthz),
            Route("/open", pages.open),
            Route("/static/{name}", pages.static),
            Route("/mcp", doors),
            Route("/metrics", pages.metrics),
            Route("/v1/{verb:path}", pages.api, methods=["GET", "POST"]),
            Route("/", pages.home),
            Route("/{place}", pages.home),
            Route("/{place}/raw", pages.raw),
            Route("/{place}/sent-bytes", pages.sent_bytes),
            Route("/{place}/live", pages.live),
            Route("/{place}/{name}", pages.page, methods=["GET", "POST"]),
        ],
        exception_handlers={FirsthandError: pages.fault, HTTPException: pages.fault},
        lifespan=doors.lifespan,
    )
    return Guard(app, keys, pages.refusal)


class _Nothing(HTTPException):
    """Nothing was ever recorded in a store."""


class _Pages:
    """The ways to the pages."""

    def __init__(self, stores: Stores, keys: Keys, log: Callable[[str], None], count: Count) -> None:
        self._stores, self._keys, self._log, self._count = stores, keys, log, count
        self._templates = environment()
        self._memos: dict[tuple[str, str], dict[tuple[str, ...], object]] = {}

    # ways --------------------------------------------------------------------------------------------

    async def healthz(self, _request: Request) -> Response:
        """Say that the server answers, to anybody on this machine."""
        return JSONResponse({"ok": True, "version": __version__})

    async def open(self, request: Request) -> Response:
        """Exchange a link for a cookie, and lead to the page without it."""
        to = request.query_params.get("to", "/")
        if not is_own_path(to):
            raise HTTPException(400, "expected a link to a page of this server")
        if not self._keys.use(request.query_params.get("key", "")):
            raise HTTPException(401, "this link was used before, or is older than ten minutes. Type: firsthand inspect")
        response = RedirectResponse(to, 303)
        host = request.headers["host"]
        response.set_cookie(
            cookie_name(host), self._keys.cookie(), max_age=COOKIE_S, httponly=True, samesite="strict", path="/"
        )
        return response

    async def static(self, request: Request) -> Response:
        """Give the style sheet or the script."""
        path = HERE / "static" / request.path_params["name"]
        if path.name not in {"style.css", "script.js", "icon.svg"}:
            raise HTTPException(404, "there is no such file")
        return FileResponse(path, headers={"cache-control": "no-cache"})

    async def home(self, request: Request) -> Response:
        """Lead to the sessions."""
        place = request.path_params.get("place", "default")
        return RedirectResponse(f"/{texts.query(place)}/sessions", 303)

    async def page(self, request: Request) -> Response:
        """Give a page, or its fields as JSON."""
        name, dot, form = request.path_params["name"].partition(".")
        sends = request.method == "POST"
        made = (ACTIONS if sends else PAGES).get(name)
        if made is None or (dot and form != "json"):
            raise HTTPException(404, f"there is no page {name!r:.80} here; there are: {', '.join(PAGES)}")
        asked = await self._asked(request)
        if sends:  # before it does anything
            asked.check(TAKEN[name])
        page = await run_in_threadpool(self._made, request, made, asked)
        if page.status == 303:
            return RedirectResponse(page.fields["to"], 303)
        if dot:
            return Response(as_json(page), page.status, media_type="application/json")
        part = request.headers.get("x-part") == "1"
        return await run_in_threadpool(self._written, request, page, name, part=part)

    async def raw(self, request: Request) -> Response:
        """Give the exact bytes that a pointer addresses, to be kept as a file."""
        return await self._file(request, event_pages.raw)

    async def sent_bytes(self, request: Request) -> Response:
        """Give exactly what was sent to a model, to be kept as a file."""
        return await self._file(request, call_pages.sent_bytes)

    async def _file(self, request: Request, made: Made) -> Response:
        page = await run_in_threadpool(self._made, request, made, await self._asked(request))
        data: bytes = page.fields["data"]
        name = "".join(sign for sign in page.title if sign.isalnum())[:60]
        headers = {
            "content-disposition": f'attachment; filename="{name}.bin"', "x-sha256": sha256(data).hexdigest(),
            "content-security-policy": "sandbox; default-src 'none'",
        }  # fmt: skip
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def live(self, request: Request) -> Response:
        """Tell of new events, as they come (SSE)."""

        def head(place: Place, asked: Asked) -> Page:
            return Page("", "", {"position": api_door.reached(place.memory, asked.text("name"))})

        asked = await self._asked(request)

        async def position() -> int:
            page = await run_in_threadpool(self._made, request, head, asked)
            return int(page.fields["position"])

        return stream(position, request.is_disconnected)

    async def api(self, request: Request) -> Response:
        """Answer a program: a verb of the memory, as JSON or bytes."""
        name = request.path_params["verb"]
        if name == "openapi.json":
            return JSONResponse(api.document())
        asked = await api_door.fields_of(request)
        verb = api_door.verb_of(name, request.method)
        namespace = api_door.namespace_of(request) or str(asked.get("namespace", "default"))
        call = self._named(namespace)
        return await api_door.answer(request, verb, asked, lambda: self._open(call), self._stores.measures)

    async def metrics(self, _request: Request) -> Response:
        """Give what was counted, for Prometheus."""
        if missing := measures.missing():
            raise HTTPException(501, missing)
        page = await run_in_threadpool(self._stores.measures.page, self._stores.names(), measures.memory_bytes())
        return Response(page, media_type="text/plain; version=0.0.4")

    def _named(self, namespace: str) -> Call:
        """Give a namespace of the usual store, or the place of that name.

        It is made where it is not there, as `Memory` makes it.
        """
        key = self._stores.at(namespace) or (str(default_store()), namespace, default_embedder() or "none")
        return Call(store=key[0], namespace=key[1], embedder=key[2])

    def _with(self, name: str, work: Callable[[Memory], _T]) -> _T:
        """Do work on the store of a place.

        Raises:
            HTTPException: nobody opened one as that, or nothing was ever recorded in it.
        """
        key = self._stores.at(name)
        if key is None:
            raise HTTPException(404, f"nobody opened a store as {name!r:.60}. Type: firsthand inspect --store PATH")
        if identity_of(key[0]) == NO_IDENTITY:
            raise _Nothing(404, f"there is no store in {key[0]}; firsthand import and firsthand install fill one")
        with self._open(Call(store=key[0], namespace=key[1], embedder=key[2])) as memory:
            return work(memory)

    @contextmanager
    def _open(self, call: Call) -> Iterator[Memory]:
        """Open a store for the length of a block, and count the request."""
        self._count(1)
        try:
            self._stores.check_there(call)
            with self._stores.of(call) as memory:
                yield memory
        finally:
            self._count(-1)

    # pages -------------------------------------------------------------------------------------------

    def _made(self, request: Request, made: Made, asked: Asked) -> Page:
        """Make a page from the store of its place."""
        name = request.path_params["place"]

        def make(memory: Memory) -> Page:
            memo = self._memo(memory)
            form = self._keys.form(request.scope.get("cookie", ""))
            page = made(Place(memory, f"/{texts.query(name)}", now(), memo, form), asked)
            asked.check()
            return page

        try:
            return self._with(name, make)
        except _Nothing:
            key = self._stores.at(name)
            return Page("empty.html", "Nothing yet", {"store": key[0] if key else ""}, 404)

    def _memo(self, memory: Memory) -> dict[tuple[str, ...], object]:
        memo = self._memos.setdefault((f"{memory.path}{memory.identity}", memory.namespace), {})
        if len(memo) > MEMO_MAX:
            memo.clear()
        return memo

    async def _asked(self, request: Request) -> Asked:
        """Read what is asked for; a form proves that a page of ours made it."""
        if request.method != "POST":
            return Asked(parse_qs(request.url.query, keep_blank_values=True, errors="surrogateescape"))
        data = b""
        async for piece in request.stream():
            data += piece
            if len(data) > FORM_BYTES_MAX:
                raise HTTPException(413, f"expected a form of at most {FORM_BYTES_MAX:,} bytes")
        try:
            values = parse_qs(data.decode(), keep_blank_values=True, strict_parsing=bool(data), max_num_fields=64)
        except ValueError as error:
            raise HTTPException(400, "expected a form as a page of this server sends it") from error
        proof = values.pop("proof", [""])[0]
        if "cookie" in request.scope and proof != self._keys.form(request.scope["cookie"]):
            raise HTTPException(403, "expected a form of a page of this server; open the page again and send it there")
        return Asked(values)

    def _written(self, request: Request, page: Page, name: str, *, part: bool = False) -> Response:
        place = request.path_params.get("place", "default")
        key = self._stores.at(place)
        about = {
            **self._about(place, name), "tenant": key[1] if key else "", "store": key[0] if key else "",
            "query": request.url.query, "json": f"/{texts.query(place)}/{name}.json?{request.url.query}",
            "ails": health_line.line(Path(key[0])) if key else "",
            "proof": self._keys.form(request.scope.get("cookie", "")),
        }  # fmt: skip
        template = page.part if part and page.part else page.template
        text = self._templates.get_template(template).render({"title": page.title, **about, **page.fields})
        return Response(text, page.status, media_type="text/html")

    def _about(self, place: str, tab: str) -> dict[str, Any]:
        """Give what the frame of every page is written from."""
        return {
            "base": f"/{texts.query(place)}", "tab": tab, "zone": texts.zone(), "version": __version__,
            "pages_there": PAGES,
        }  # fmt: skip

    # what went wrong -----------------------------------------------------------------------------------

    async def fault(self, request: Request, error: Exception) -> Response:
        """Say what went wrong."""
        if isinstance(error, HTTPException):
            return self._sorry(request.scope, error.status_code, str(error.detail))
        status = api_door.status_of(error) if isinstance(error, FirsthandError) else 500
        if status == 500:
            self._log(f"a page failed: {request.url.path}: {type(error).__name__}: {error}")
        return self._sorry(request.scope, status, str(error), type(error).__name__)

    def _sorry(self, scope: Scope, status: int, why: str, error: str = "") -> Response:
        body, media = self.refusal(scope, status, why, error)
        return Response(body, status, media_type=media)

    def refusal(self, scope: Scope, status: int, why: str, error: str = "") -> tuple[bytes, str]:
        """Write why something is not answered: for programs as problem+json, for people as a page.

        Args:
            error: the class that the same verb raises in Python; empty where it raises none.
        """
        path = str(scope["path"])
        wants = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        if path.startswith(_FOR_PROGRAMS) or path.endswith(".json") or "text/html" not in wants:
            return api_door.problem(status, why, error), "application/problem+json"
        place = path.split("/")[1] if path.count("/") > 1 else "default"
        about = {**self._about(place, ""), "title": api_door.TITLES.get(status, "Fault"), "status": status, "why": why}
        text = self._templates.get_template("fault.html").render(about)
        return text.encode(), "text/html; charset=utf-8"


_FOR_PROGRAMS = ("/mcp", "/v1/", "/healthz", "/metrics")


def environment() -> jinja2.Environment:
    """Give the templates: everything that they write is escaped, and shows every sign that it holds."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, finalize=texts.finalized,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, cache_size=64, auto_reload=False,
    )  # fmt: skip
    made.filters |= {
        "when": texts.when, "size": texts.size, "lasted": texts.duration, "count": texts.count, "linked": texts.linked,
        "query": texts.query, "short": texts.short, "pointer": texts.link, "kind": texts.kind_name,
        "kind_class": texts.kind_class, "n": lambda number: f"{number:,}",
    }  # fmt: skip
    return made
