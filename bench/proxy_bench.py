"""Time to the first byte of a streamed answer: straight, through a bare relay of the same libraries, and the proxy.

    python bench/proxy_bench.py [--rounds 150] [--think-ms 0]

All four ways are asked by turns, so that load of the machine falls on all of them alike. The
bare relay reads the body and passes bytes on, and does nothing else. One proxy sends the client's
list as it is, the other keeps it under 16,000 tokens. `--think-ms` is what the stub waits before its
first byte, as a model does. Rows are requests of up to 40 messages, of 200 and more, and, under 16,000
tokens, those for which the window was compacted.
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

from firsthand import Memory
from firsthand.proxy.app import Proxy
from firsthand.proxy.budgets import Budgets
from firsthand.proxy.conversations import Options
from firsthand.proxy.proxy_server import config, listen

SHORT, LONG, WARM = 40, 200, 10
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
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--think-ms", type=float, default=0)
    chosen = parser.parse_args()
    sockets = [listen("127.0.0.1", 0) for _ in range(4)]
    urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    quiet = {"log_level": "critical", "log_config": None, "ws": "none", "access_log": False}
    with tempfile.TemporaryDirectory() as folder:
        apps = [stub(chosen.think_ms / 1000), bare(urls[0])]
        made = [lambda app=app: uvicorn.Config(app, lifespan="off", **quiet) for app in apps]
        made += [lambda name=name, most=most: config(Proxy(urls[0], store=Path(folder) / name, options=Options(
            budgets=Budgets([most])))) for name, most in (("plain", "10000000"), ("small", "16000"))]  # fmt: skip
        servers = [served(make, each) for make, each in zip(made, sockets, strict=True)]
        ways = ["straight", "bare relay", "proxy", "proxy, 16k"]
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
        with Memory(Path(folder) / "small", read_only=True) as memory:
            receipts = [call.receipt for call in memory.anatomies(memory.sessions()[0].name)]
    compacted = [number for number in range(1, len(receipts)) if receipts[number] != receipts[number - 1]]
    parts = {
        f"up to {SHORT} messages": range(WARM, SHORT // 2),
        f"{LONG} messages and more": range(LONG // 2, chosen.rounds),
        f"window compacted ({len(compacted)})": compacted,
    }
    print(f"{'way':14}{'requests':28}{'p50 ms':>9}{'p95 ms':>9}{'added p50':>11}{'added p95':>11}  of a bare relay's")
    for way in ways:
        for part, numbers in parts.items():
            if (numbers is compacted and way != "proxy, 16k") or not numbers:
                continue
            figures = [quantiles([times[each][number] for number in numbers]) for each in (*ways[:2], way)]
            (low, low_95), (relay, relay_95), (median, slow) = figures
            ratios = f"{(median - low) / (relay - low):9.2f} x{(slow - low_95) / (relay_95 - low_95):9.2f} x"
            print(f"{way:14}{part:28}{median * 1e3:9.1f}{slow * 1e3:9.1f}{ratios if way != 'straight' else ''}")


def quantiles(values: list[float]) -> tuple[float, float]:
    """Give p50 and p95."""
    return statistics.median(values), sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    main()
