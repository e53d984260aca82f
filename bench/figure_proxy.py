"""Time to the first byte of a streamed answer: what the proxy adds, beside what a bare relay adds.

A client asks straight, through the relay and through two proxies, by turns, in another order each time, so that load
of the machine falls on all alike. ``LISTS`` lists grow by ``STEPS`` steps, half of them over a hundredth of the small
window, one in a hundred over a tenth. One proxy sends the client's list as it is, the other keeps it under 16,000
tokens. What is added is told from what was asked straight in the same round. The relay, of the same libraries, passes
bytes on and does nothing else. The stub answers at once.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import random
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
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

SHORT, LONG, WARM = 40, 140, 5
LISTS, STEPS, TOKENS, LINE_TOKENS = 10, 90, 16_000, 14
STEP_SHARE, STEP_SPREAD = 0.01, 1.0  # of the budget: the median of a log-normal distribution
WAYS = STRAIGHT, RELAY, PLAIN, SMALL = "straight", "bare relay", "whole list", "16k window"
SYSTEM = "You look after the workers. " * 100
WORDS = [f"word{number} " for number in range(20)]
DELTAS = [({"content": word}, None) for word in WORDS] + [({}, "stop")]
EVENTS = [{"id": "c", "object": "chat.completion.chunk",
           "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in DELTAS]  # fmt: skip
ANSWER = {"role": "assistant", "content": "".join(WORDS)}


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


def first_byte_s(client: httpx.Client, messages: list[dict[str, str]], session: str) -> float:
    """Ask, and say after how many seconds the answer began."""
    body = {"model": "m", "stream": True, "messages": messages}
    started = time.perf_counter()
    with client.stream("POST", "/v1/chat/completions", json=body, headers={"X-Firsthand-Session": session}) as response:
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
    lists = range(setting.scaled(LISTS, at_least=2))
    folder = setting.fresh("proxy")
    try:
        with _asking(folder) as ask:
            rounds = [[ask(f"{seed}", messages) for messages in _grown(seed)] for seed in lists]
        with Memory(folder / SMALL, read_only=True) as memory:
            receipts = [[call.receipt for call in memory.anatomies(f"{seed}")] for seed in lists]
    finally:
        setting.drop(folder)
    short = [times for each in rounds for times in each[WARM : SHORT // 2]]
    long = [times for each in rounds for times in each[LONG // 2 :]]
    behind = [rounds[seed][n] for seed in lists for n in range(1, STEPS) if receipts[seed][n] != receipts[seed][n - 1]]
    parts = [(way, *part) for way in (PLAIN, SMALL) for part in
             ((f"up to {SHORT} messages", short), (f"{LONG} messages and more", long))]  # fmt: skip
    parts.append((SMALL, "first request behind a compaction", behind))
    return [row for way, what, times in parts for row in _rows(f"{way}, {what}", times, way)]


def _rows(what: str, rounds: list[dict[str, float]], way: str) -> Iterator[Row]:
    """Compare what two ways add to each request, at percentiles of both."""
    ours, relay = ([times[each] - times[STRAIGHT] for times in rounds] for each in (way, RELAY))
    straight = percentile([times[STRAIGHT] for times in rounds], 0.5)
    note = f"straight {straight * 1e3:.1f} ms at p50; {len(rounds)} requests"
    for named, share in (("p50", 0.5), ("p95", 0.95)):
        added, least = percentile(ours, share) * 1e3, max(percentile(relay, share) * 1e3, 1e-3)
        yield Row(f"first byte through the proxy, {what}, {named}", added, least, "ms", "added by a bare relay", True,
                  Target(Bound.RATIO_MAX, 2), note)  # fmt: skip


def _grown(seed: int) -> Iterator[list[dict[str, str]]]:
    """Yield the lists of a client, some of whose steps are large."""
    sizes, messages = random.Random(seed), [{"role": "system", "content": SYSTEM}]
    for number in range(STEPS):
        tokens = TOKENS * min(0.2, sizes.lognormvariate(math.log(STEP_SHARE), STEP_SPREAD))
        text = "".join(
            f"Worker {sizes.randrange(10_000)} looks at the queue. " for _ in range(int(tokens / LINE_TOKENS))
        )
        messages.append({"role": "user", "content": f"Step {number} of {seed}. {text}"})
        yield messages
        messages.append(ANSWER)


@contextmanager
def _asking(folder: Path) -> Iterator[Callable[[str, list[dict[str, str]]], dict[str, float]]]:
    """Serve all four, and give what asks each of them, in seconds to the first byte."""
    sockets = [listen("127.0.0.1", 0) for _ in range(4)]
    urls = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    quiet = {"log_level": "critical", "log_config": None, "ws": "none", "access_log": False}
    made = [lambda app=app: uvicorn.Config(app, lifespan="off", **quiet) for app in (stub(), bare(urls[0]))]
    made += [lambda name=name, most=most: config(Proxy(urls[0], store=folder / name, options=Options(
        budgets=Budgets([most])))) for name, most in ((PLAIN, "10000000"), (SMALL, str(TOKENS)))]  # fmt: skip
    servers = [served(make, each) for make, each in zip(made, sockets, strict=True)]
    clients = {way: httpx.Client(base_url=url, timeout=60) for way, url in zip(WAYS, urls, strict=True)}

    def ask(session: str, messages: list[dict[str, str]]) -> dict[str, float]:
        order = random.Random(len(messages)).sample(WAYS, len(WAYS))
        return {way: first_byte_s(clients[way], messages, session) for way in order}

    try:
        yield ask
    finally:
        for server in servers:
            server.terminate()
            server.join(10)
