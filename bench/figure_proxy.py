"""Time to the first byte of a streamed answer: what the proxy adds, beside what a bare relay adds.

A client asks straight, through the relay and through two proxies, by turns, so that load of the machine falls
on all alike; the list grows to ``ROUNDS`` x 2 messages. One proxy sends the client's list as it is, the other keeps it
under 16,000 tokens. The relay, of the same libraries, passes bytes on and does nothing else. The stub answers at once.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from firsthand import Memory
from firsthand.proxy.app import Proxy
from firsthand.proxy.budgets import Budgets
from firsthand.proxy.conversations import Options
from firsthand.proxy.proxy_server import config, listen
from setting import Setting
from table import Bound, Row, Target
from timing import percentile

ROUNDS, SHORT, LONG, WARM = 150, 40, 200, 10
WAYS = STRAIGHT, RELAY, PLAIN, SMALL = "straight", "bare relay", "whole list", "16k window"
SYSTEM = "You look after the workers. " * 100
EVENTS = [
    *(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": f"word{number} "}}],
        }
        for number in range(20)
    ),
    {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]


def stub() -> Starlette:
    """Answer as a model does."""

    async def answer(request: Request) -> StreamingResponse:
        await request.body()

        async def events() -> AsyncIterator[str]:
            for event in EVENTS:
                yield f"data: {json.dumps(event)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])


def bare(upstream: str) -> Starlette:
    """Pass bytes on, and do nothing else."""
    client = httpx.AsyncClient(timeout=None)

    async def relay(request: Request) -> StreamingResponse:
        body = await request.body()
        made = client.build_request("POST", f"{upstream}{request.url.path}", content=body,
                                    headers={"content-type": "application/json"})  # fmt: skip
        response = await client.send(made, stream=True)
        return StreamingResponse(response.aiter_raw(), response.status_code, {"content-type": "text/event-stream"},
                                 background=None)  # fmt: skip

    return Starlette(routes=[Route("/v1/chat/completions", relay, methods=["POST"])])


def first_byte_s(client: httpx.Client, messages: list[dict[str, str]]) -> float:
    """Ask, and say after how many seconds the answer began."""
    body = {"model": "m", "stream": True, "messages": messages}
    started = time.perf_counter()
    with client.stream("POST", "/v1/chat/completions", json=body) as response:
        pieces = response.iter_raw()
        next(pieces)
        took = time.perf_counter() - started
        text = "".join(part.decode() for part in pieces)
    assert "[DONE]" in text
    assert response.headers.get("x-firsthand", "window").startswith("window"), response.headers
    return took


def served(make: Callable[[], uvicorn.Config], listening: socket.socket) -> BaseProcess:
    """Serve in a process of its own, as programs do."""
    process = multiprocessing.get_context("fork").Process(
        target=lambda: uvicorn.Server(make()).run(sockets=[listening]), daemon=True
    )
    process.start()
    return process


def measure(setting: Setting) -> list[Row]:
    rounds = setting.scaled(ROUNDS, at_least=WARM + 10)
    folder = setting.fresh("proxy")
    try:
        times = _times(folder, rounds)
        with Memory(folder / SMALL, read_only=True) as memory:
            receipts = [call.receipt for call in memory.anatomies(memory.sessions()[0].name)]
    finally:
        setting.drop(folder)
    compacted = [number for number in range(1, len(receipts)) if receipts[number] != receipts[number - 1]]
    parts = {f"up to {SHORT} messages": range(WARM, SHORT // 2), f"{LONG} messages and more": range(LONG // 2, rounds)}
    small = {**parts, f"the window was compacted, {len(compacted)} times": compacted}
    return [
        _row(f"first byte through the proxy, {way}, {part}, {named}", times, way, numbers, share, target)
        for way, of_way in ((PLAIN, parts), (SMALL, small))
        for part, numbers in of_way.items()
        if numbers
        for named, share, target in (("p50", 0.5, Target(Bound.RATIO_MAX, 2)), ("p95", 0.95, None))
    ]


def _row(figure: str, times: dict[str, list[float]], way: str, numbers: Sequence[int], share: float,
         target: Target | None) -> Row:  # fmt: skip
    straight, relay, ours = (percentile([times[each][number] for number in numbers], share) for each in
                             (STRAIGHT, RELAY, way))  # fmt: skip
    added, least = ours - straight, max(relay - straight, 1e-6)
    note = f"straight {straight * 1e3:.1f} ms"
    return Row(figure, added * 1e3, least * 1e3, "ms", "added by a bare relay", True, target, note)


def _times(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Ask by turns; gives seconds to the first byte of each way."""
    sockets = [listen("127.0.0.1", 0) for _ in range(4)]
    urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    quiet = {"log_level": "critical", "log_config": None, "ws": "none", "access_log": False}
    made = [lambda app=app: uvicorn.Config(app, lifespan="off", **quiet) for app in (stub(), bare(urls[0]))]
    made += [lambda name=name, most=most: config(Proxy(urls[0], store=folder / name, options=Options(
        budgets=Budgets([most])))) for name, most in ((PLAIN, "10000000"), (SMALL, "16000"))]  # fmt: skip
    servers = [served(make, each) for make, each in zip(made, sockets, strict=True)]
    clients = {way: httpx.Client(base_url=url, timeout=60) for way, url in zip(WAYS, urls, strict=True)}
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    messages = [{"role": "system", "content": SYSTEM}]
    for number in range(rounds):
        messages.append({"role": "user", "content": f"Step {number}. " + "What does worker 7 do? " * 8})
        for way, client in clients.items():
            times[way].append(first_byte_s(client, messages))
        messages.append({"role": "assistant", "content": "".join(f"word{n} " for n in range(20))})
    for server in servers:
        server.terminate()
        server.join(10)
    return times
