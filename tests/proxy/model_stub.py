"""A provider that says what a test wrote down, in three formats, whole or as events; and the proxy before it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn

from firsthand import Memory
from firsthand.proxy.app import Proxy
from firsthand.proxy.conversations import Options
from firsthand.proxy.proxy_server import config, listen

PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}


@dataclass
class Said:
    """What the model says to one request.

    Attributes:
        calls: id, tool and arguments of each.
        how: ``whole``; ``cut``: the connection breaks after the text; ``hang``: nothing comes after it.
        raw: what is sent, in place of all else.
        encoding: that is said of it.
    """

    text: str = ""
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    how: str = "whole"
    status: int = 200
    thought: str = ""
    raw: bytes = b""
    encoding: str = ""
    reason: str = ""


@dataclass
class Stub:
    """The provider: `script` is what it says next, `requests` what it got."""

    script: deque[Said] = field(default_factory=deque)
    requests: list[dict[str, Any]] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    step: threading.Event | None = None  # waited for between two words
    before: Callable[[int], Any] = lambda _: None  # called with the number of each request before it is answered

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request["body"] for request in self.requests]

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return None
        data = b""
        while True:
            message = await receive()
            data += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): text.decode() for name, text in scope["headers"]}
        try:
            body = json.loads(data)
        except ValueError:
            body = {}
        body = body if isinstance(body, dict) else {}
        path = scope["path"]
        query = scope["query_string"].decode()
        about = {"path": path, "query": query, "headers": headers, "method": scope["method"]}
        self.requests.append({**about, "body": body, "data": data})
        format_ = next((name for name, end in PATHS.items() if path == end), None)
        if format_ is None or scope["method"] != "POST":
            return await _send(send, 200, [b'{"path":"' + path.encode() + b'"}'], "application/json")
        said = self.script.popleft() if self.script else Said("ok")
        if said.status != 200:
            error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down", "code": "limit"}}
            return await _send(
                send, said.status, [json.dumps(error).encode()], "application/json", [(b"retry-after", b"1")]
            )
        number = len(self.requests)
        self.before(number)
        if said.encoding:
            encoding = [(b"content-encoding", said.encoding.encode())]
            return await _send(send, 200, [said.raw], "application/json", encoding)
        if not body.get("stream"):
            return await _send(send, 200, [json.dumps(whole(format_, said, number)).encode()], "application/json")
        events = [said.raw] if said.raw else stream(format_, said, number, body)
        headers = [(b"content-type", b"text/event-stream"), (b"x-request-id", b"up-1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for event in events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
            while self.step is not None and not self.step.is_set():  # noqa: ASYNC110 - set by another thread
                await asyncio.sleep(0.002)
            if self.step is not None:
                self.step.clear()
        if said.how == "hang":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.gone.set()
        elif said.how != "cut":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None


async def _send(send, status, pieces, kind, more=()):
    headers = [(b"content-type", kind.encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"".join(pieces), "more_body": False})


def whole(format_: str, said: Said, number: int) -> dict[str, Any]:
    """Write a response in one piece."""
    if format_ == "openai-chat":
        message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": None}
        if said.calls:
            message["tool_calls"] = [_chat_call(call) for call in said.calls]
        reason = said.reason or ("tool_calls" if said.calls else "stop")
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        about = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "stub-1"}
        return {**about, "choices": [choice], "usage": CHAT_USAGE}
    if format_ == "anthropic":
        content = [
            *([{"type": "text", "text": said.text}] if said.text else []),
            *({"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in said.calls),
        ]
        reason = said.reason or ("tool_use" if said.calls else "end_turn")
        return {**_message(number, output_tokens=5), "content": content, "stop_reason": reason}
    return _response(f"resp_{number}", _items(said, number), "completed")


def stream(format_: str, said: Said, number: int, body: dict[str, Any]) -> list[bytes]:
    """Write a response as events, a word each."""
    make = {"openai-chat": _chat_events, "anthropic": _anthropic_events, "openai-responses": _responses_events}
    events = [_written(fields, named=format_ != "openai-chat") for fields in make[format_](said, number, body)]
    if format_ == "openai-chat" and said.how == "whole":
        events.append(b"data: [DONE]\n\n")
    return events


def _written(fields: dict[str, Any], *, named: bool) -> bytes:
    name = f"event: {fields['type']}\n" if named else ""
    return f"{name}data: {json.dumps(fields)}\n\n".encode()


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [word if number == 0 else f" {word}" for number, word in enumerate(words)] if text else []


def _halves(given: dict[str, Any]) -> list[str]:
    written = json.dumps(given)
    return [written[: len(written) // 2], written[len(written) // 2 :]]


def _chat_call(call: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    return {"id": call[0], "type": "function", "function": {"name": call[1], "arguments": json.dumps(call[2])}}


CHAT_USAGE = {
    "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4},
}  # fmt: skip
USAGE = {
    "input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": {"cached_tokens": 4},
    "output_tokens_details": {"reasoning_tokens": 2},
}  # fmt: skip


def _message(number: int, *, output_tokens: int) -> dict[str, Any]:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "stub-1", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": output_tokens},
    }  # fmt: skip


def _chat_events(said: Said, number: int, body: dict[str, Any]):
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        about = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "stub-1"}
        return {**about, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for word in _words(said.thought):
        yield chunk({"reasoning_content": word})
    for word in _words(said.text):
        yield chunk({"content": word})
    if said.how != "whole":
        return
    for at, (id_, name, given) in enumerate(said.calls):
        yield chunk(
            {"tool_calls": [{"index": at, "id": id_, "type": "function", "function": {"name": name, "arguments": ""}}]}
        )
        for half in _halves(given):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": half}}]})
    yield chunk({}, said.reason or ("tool_calls" if said.calls else "stop"))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**chunk({}), "choices": [], "usage": CHAT_USAGE}


def _anthropic_events(said: Said, number: int, body: dict[str, Any]):
    yield {"type": "message_start", "message": _message(number, output_tokens=1)}
    yield {"type": "ping"}
    at = 0
    if said.thought:
        yield {"type": "content_block_start", "index": at, "content_block": {"type": "thinking", "thinking": ""}}
        for word in _words(said.thought):
            yield {"type": "content_block_delta", "index": at, "delta": {"type": "thinking_delta", "thinking": word}}
        yield {"type": "content_block_delta", "index": at, "delta": {"type": "signature_delta", "signature": "s1"}}
        yield {"type": "content_block_stop", "index": at}
        at += 1
    if said.text:
        yield {"type": "content_block_start", "index": at, "content_block": {"type": "text", "text": ""}}
        for word in _words(said.text):
            yield {"type": "content_block_delta", "index": at, "delta": {"type": "text_delta", "text": word}}
        if said.how != "whole":
            return
        yield {"type": "content_block_stop", "index": at}
        at += 1
    for id_, name, given in said.calls:
        block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        yield {"type": "content_block_start", "index": at, "content_block": block}
        for half in _halves(given):
            delta = {"type": "input_json_delta", "partial_json": half}
            yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
        at += 1
    reason = said.reason or ("tool_use" if said.calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _items(said: Said, number: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if said.thought:
        summary = [{"type": "summary_text", "text": said.thought}]
        sealed = {"encrypted_content": f"sealed-{number}"}
        items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, **sealed})
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        items.append(
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
        )
    items += (
        {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name, "status": "completed",
         "arguments": json.dumps(given)}
        for id_, name, given in said.calls
    )  # fmt: skip
    return items


def _response(id_: str, items: list[dict[str, Any]], status: str) -> dict[str, Any]:
    return {
        "id": id_, "object": "response", "created_at": 1, "model": "stub-1", "status": status, "output": items,
        "usage": USAGE if status == "completed" else None, "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip


def _responses_events(said: Said, number: int, body: dict[str, Any]):
    events = [*_responses_bare(said, number)]
    for at, fields in enumerate(events):
        yield {**fields, "sequence_number": at}


def _responses_bare(said: Said, number: int):
    yield {"type": "response.created", "response": _response(f"resp_{number}", [], "in_progress")}
    yield {"type": "response.in_progress", "response": _response(f"resp_{number}", [], "in_progress")}
    items = _items(said, number)
    for at, item in enumerate(items):
        empty = {"content": [], "status": "in_progress"} if item["type"] == "message" else {}
        empty |= {"arguments": "", "status": "in_progress"} if item["type"] == "function_call" else {}
        yield {"type": "response.output_item.added", "output_index": at, "item": {**item, **empty}}
        if item["type"] == "message":
            about = {"item_id": item["id"], "output_index": at, "content_index": 0}
            part = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **about, "part": part}
            for word in _words(said.text):
                yield {"type": "response.output_text.delta", **about, "delta": word, "logprobs": []}
            if said.how != "whole":
                return
            yield {"type": "response.output_text.done", **about, "text": said.text, "logprobs": []}
            yield {"type": "response.content_part.done", **about, "part": {**part, "text": said.text}}
        if item["type"] == "function_call":
            for half in _halves(json.loads(item["arguments"])):
                about = {"item_id": item["id"], "output_index": at}
                yield {"type": "response.function_call_arguments.delta", **about, "delta": half}
            done = {**about, "name": item["name"], "arguments": item["arguments"]}
            yield {"type": "response.function_call_arguments.done", **done}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    yield {"type": "response.completed", "response": _response(f"resp_{number}", items, "completed")}


class Running:
    """Two servers in a thread: the stub, and the proxy before it."""

    def __init__(self, url: str, upstream: str, stub: Stub, log: list[str]) -> None:
        self.url, self.upstream, self.stub, self.log = url, upstream, stub, log
        self.client = httpx.Client(base_url=url, timeout=20)

    def post(self, format_: str, body: dict[str, Any], **headers: str) -> httpx.Response:
        return self.client.post(PATHS[format_], json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def events(self, format_: str, body: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
        response = self.post(format_, {**body, "stream": True}, **headers)
        assert response.status_code == 200, response.text
        lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: ") and "[DONE]" not in line]
        return [json.loads(line) for line in lines]


@contextmanager
def running(store, *, host_of_upstream: str = "", **options):
    """Start both, and stop them at the end."""
    stub, log = Stub(), []
    proxy_settings = {name: options.pop(name) for name in ("token", "is_open", "namespace") if name in options}
    sockets = [listen("127.0.0.1", 0), listen("127.0.0.1", 0)]
    urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    proxy = Proxy(
        host_of_upstream or urls[0], store=store, options=Options(**options), log=log.append, **proxy_settings
    )
    servers = [
        uvicorn.Server(
            uvicorn.Config(
                stub, log_level="critical", log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1
            )
        ),
        uvicorn.Server(config(proxy)),
    ]

    async def both() -> None:
        await asyncio.gather(*(server.serve([each]) for server, each in zip(servers, sockets, strict=True)))

    thread = threading.Thread(target=lambda: asyncio.run(both()), daemon=True)
    thread.start()
    run = Running(urls[1], urls[0], stub, log)
    try:
        yield run
    finally:
        run.client.close()
        for server in servers:
            server.should_exit = True
        thread.join(10)
        for each in sockets:
            each.close()


def cut_short(store, seconds=5):
    """Give what was recorded as cut short, as soon as there is something."""
    by = time.monotonic() + seconds
    while time.monotonic() < by:
        with Memory(store, read_only=True) as memory:
            events = [(event.text, event.meta["cut_short"]) for event in memory.events() if "cut_short" in event.meta]
        if events:
            return events
        time.sleep(0.02)
    return []
