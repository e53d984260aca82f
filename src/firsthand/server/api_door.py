"""The HTTP API over Starlette: what a program asks, read from a request, answered from a memory.

    request -> fields of the query or the body -> the verb, on the memory that the caller opens -> JSON, bytes, events

It knows neither who asks nor where a store is: the application that has the route opens the memory.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from typing import IO, Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from firsthand import FirsthandError, InvalidArgument, Memory
from firsthand.client import NAMESPACE_HEADER
from firsthand.errors import (
    AppendError,
    DecisionRefused,
    FormatError,
    InvalidDraft,
    KeyMissing,
    PointerError,
    QueryError,
    StoreBusy,
    Unresolvable,
)
from firsthand.log import payload
from firsthand.log.expansion import PieceSource
from firsthand.server import api
from firsthand.server.api import Verb
from firsthand.server.auth import Receive, Scope, Send, body_bytes_max
from firsthand.server.live import stream
from firsthand.server.measures import Measures

WHOLE_BYTES, PIECE_BYTES = 4 << 20, 1 << 20
"""What has more bytes is read twice, and never whole in memory or on a disk."""
Opened = Callable[[], AbstractContextManager[Memory]]
_STATUS: tuple[tuple[type[FirsthandError], int], ...] = (
    (Unresolvable, 404), (PointerError, 400), (InvalidArgument, 400), (QueryError, 400), (FormatError, 400),
    (InvalidDraft, 400), (DecisionRefused, 400), (AppendError, 409), (StoreBusy, 503), (KeyMissing, 503),
    (FirsthandError, 500),
)  # fmt: skip
TITLES = {
    400: "Not understood", 401: "Not let in", 403: "Refused", 404: "Not there", 405: "Not so",
    413: "Too large", 421: "Another host", 429: "Too much", 500: "Fault", 503: "Busy",
}  # fmt: skip


async def fields_of(request: Request) -> dict[str, Any]:
    """Read what a program asks for: the query, or a JSON object.

    Raises:
        HTTPException: the body is larger than the route takes.
        InvalidArgument: it is no JSON object.
    """
    if request.method == "GET":
        return dict(request.query_params)
    data = bytearray()
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > (most := body_bytes_max(request.url.path)):
                raise HTTPException(413, f"expected at most {most >> 20} MiB")
    except ClientDisconnect as error:
        raise HTTPException(400, "the request was cut off") from error
    try:
        fields = json.loads(data or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"expected a JSON object; {error}") from error
    if not isinstance(fields, dict):
        raise InvalidArgument(f"expected a JSON object; got {type(fields).__name__}")
    return fields


def namespace_of(request: Request) -> str:
    """Give the namespace that a request's header names; empty where it names none."""
    return unquote(request.headers.get(NAMESPACE_HEADER, ""))


def verb_of(name: str, method: str) -> Verb:
    """Give the verb of a route.

    Raises:
        HTTPException: there is none.
    """
    for verb in (*api.VERBS, api.EXPAND, api.LIVE):
        if verb.name == name and method in {"POST", verb.method}:
            return verb
    raise HTTPException(404, f"there is no {method} /v1/{name:.80}; see /v1/openapi.json")


async def answer(request: Request, verb: Verb, asked: dict[str, Any], opened: Opened, measures: Measures) -> Response:
    """Answer a verb from a memory, and count it."""
    fields = verb.asked(asked)
    if verb is api.EXPAND:
        wanted = request.headers.get("range", "")
        return await run_in_threadpool(lambda: _expanded(opened, str(fields["address"]), wanted))
    if verb is api.LIVE:
        session = str(fields.get("session", ""))

        def position() -> int:
            with opened() as memory:
                return reached(memory, session)

        return stream(lambda: run_in_threadpool(position), request.is_disconnected, fields.get("after"))
    text = await run_in_threadpool(lambda: json.dumps(_answered(opened, verb, fields, measures)))
    return Response(text, media_type="application/json")


def status_of(error: FirsthandError) -> int:
    """Give the status of HTTP that an error is answered with."""
    return next(code for kind, code in _STATUS if isinstance(error, kind))


def problem(status: int, why: str, error: str = "") -> bytes:
    """Write what went wrong for a program.

    Args:
        error: the class that the same verb raises in Python; empty where it raises none.
    """
    fields = {"type": "about:blank", "title": TITLES.get(status, "Fault"), "status": status, "detail": why}
    return json.dumps(fields | ({"error": error} if error else {})).encode()


def reached(memory: Memory, session: str) -> int:
    """Give the position that the log or a session of it has reached."""
    if not session:
        return memory.position
    return next((event.position for event in memory.events(session, newest_first=True, limit=1)), 0)


def _answered(opened: Opened, verb: Verb, fields: dict[str, Any], measures: Measures) -> Any:
    events = fields["events"] if verb.name == "append" else ()
    with opened() as memory, measures.call("api", verb.name):
        answer = api.answer_of(verb, memory, fields)
    if verb.name == "recall":
        measures.count("firsthand_recall_requests", "api", answer["outcome"])
    for event in events:
        measures.count("firsthand_events_appended", "api", event["kind"])
    return answer


class Sent(StreamingResponse):
    """Pieces that are read as they are sent, and let go when a client goes."""

    def __init__(self, pieces: Generator[bytes], *options: Any) -> None:
        super().__init__(pieces, *options)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        with closing(self._pieces):
            await super().__call__(scope, receive, send)


def _expanded(opened: Opened, address: str, wanted: str) -> Response:
    """Answer with bytes, all of which were read, and are as written, before the first is sent."""
    with opened() as memory:
        part = api.bytes_of(memory, address, wanted)
        if part is None:
            raise HTTPException(416, "the range lies beyond the end")
        is_short = (size := part.end - part.start) <= WHOLE_BYTES
        short = b"".join(part.read(memory)) if is_short else b""
        deque(() if is_short else part.read(memory), maxlen=0)
    headers = {"accept-ranges": "bytes", "content-length": str(size)}
    if part.partial:
        headers["content-range"] = f"bytes {part.start}-{part.end - 1}/{part.size}"
    status, media = 206 if part.partial else 200, "application/octet-stream"
    return Response(short, status, headers, media) if is_short else Sent(_again(opened, part), status, headers, media)


def _again(opened: Opened, part: api.Bytes) -> Generator[bytes]:
    """Read what is sent once more; the last piece goes when all are as written still, else the answer breaks off."""
    last = b""
    with opened() as memory:
        for piece in payload.pieces_of(b"", PieceSource(part.read(memory))):
            yield last
            last = piece
        yield last


def pieces_of(file: IO[bytes]) -> Generator[bytes]:
    """Read a file from its begin, and close it."""
    file.seek(0)
    with file:
        while piece := file.read(PIECE_BYTES):
            yield piece
