"""Time to the first byte of a streamed answer: straight, through a bare relay of the same libraries, and the proxy.

    python bench/proxy_bench.py [--rounds 200] [--think-ms 0]

All four ways are asked by turns, so that load of the machine falls on all of them alike. The
bare relay reads the body and passes bytes on, and does nothing else. `--think-ms`
is what the stub waits before its first byte, as a model does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from firsthand.proxy.app import Proxy
from firsthand.proxy.budgets import Budgets
from firsthand.proxy.conversations import Options
from firsthand.proxy.proxy_server import config, listen

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


def stub(think_s: float) -> Starlette:
    """Answer as a model does."""

    async def answer(request: Request) -> StreamingResponse:
        await request.body()

        async def events() -> AsyncIterator[str]:
            await asyncio.sleep(think_s)
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


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--think-ms", type=float, default=0)
    chosen = parser.parse_args()
    sockets = [listen("127.0.0.1", 0) for _ in range(4)]
    urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    quiet = {"log_level": "critical", "log_config": None, "ws": "none", "access_log": False}
    with tempfile.TemporaryDirectory() as folder:
        apps = [stub(chosen.think_ms / 1000), bare(urls[0])]
        made = [lambda app=app: uvicorn.Config(app, lifespan="off", **quiet) for app in apps]
        made += [lambda name=name, most=most: config(Proxy(urls[0], store=Path(folder) / name, options=Options(
            budgets=Budgets([most])))) for name, most in (("plain", "10000000"), ("small", "8000"))]  # fmt: skip
        servers = [served(make, each) for make, each in zip(made, sockets, strict=True)]
        ways = ["straight", "bare relay", "proxy", "proxy, compacting"]
        clients = [httpx.Client(base_url=url, timeout=60) for url in urls]
        times = {way: [] for way in ways}
        messages = [{"role": "system", "content": SYSTEM}]
        for number in range(chosen.rounds):
            messages.append({"role": "user", "content": f"Step {number}. " + "What does worker 7 do? " * 8})
            for way, client in zip(ways, clients, strict=True):
                times[way].append(first_byte_s(client, messages))
            messages.append({"role": "assistant", "content": "".join(f"word{n} " for n in range(20))})
        for server in servers:
            server.terminate()
            server.join(10)
    warm = {way: values[10:] for way, values in times.items()}
    straight, relay = (statistics.median(warm[way]) for way in ways[:2])
    print(f"{'way':20}{'p50 ms':>9}{'p95 ms':>9}{'added / bare relay':>20}")
    for way, values in warm.items():
        median, slow = statistics.median(values), sorted(values)[int(len(values) * 0.95)]
        ratio = f"{(median - straight) / (relay - straight):.2f} x" if way != "straight" else ""
        print(f"{way:20}{median * 1e3:9.1f}{slow * 1e3:9.1f}{ratio:>20}")


if __name__ == "__main__":
    main()
