"""Make a session of a length, look at it through a window for the first time, and time calls on it."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from pathlib import Path

from firsthand import Draft, Kind, Memory, Trust
from firsthand.tokens import estimate
from timing import percentile

BATCH = 5_000
KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)


def load(store: str, length: int, texts: list[str]) -> None:
    with Memory(store) as memory:
        for start in range(0, length, BATCH):
            memory.append([_draft(number, texts) for number in range(start, min(length, start + BATCH))], session="s")


def main(store: str, length: int, budget: int, calls: int, texts_file: str) -> None:
    texts = json.loads(Path(texts_file).read_text(encoding="utf-8"))
    # in a process of its own, whose peak memory is not ours
    loading = multiprocessing.get_context("spawn").Process(target=load, args=(store, length, texts))
    loading.start()
    loading.join()
    assert loading.exitcode == 0, "the session could not be made"
    with Memory(store) as memory:
        before = _peak()
        started = time.perf_counter()
        session = memory.session("s")
        window = session.window(budget)
        window.request()
        cold = time.perf_counter() - started
        peak = _peak() - before
        left = length - len(window.state.items)
        plain: list[float] = []
        compacting: list[float] = []
        appends: list[float] = []
        for number in range(calls):
            text = texts[number % len(texts)]
            started = time.perf_counter()
            window.add({"role": "user", "content": text})
            added = time.perf_counter()
            request = window.request()
            (compacting if request.receipt else plain).append(time.perf_counter() - added)
            appends.append(added - started)
        opened = []
        for _ in range(20):
            started = time.perf_counter()
            session.window(budget)
            opened.append(time.perf_counter() - started)
        found = {
            "cold": cold, "left": left, "peak": max(peak, 0.1), "open": percentile(opened, 0.5) * 1e3,
            "plain_p50": percentile(plain, 0.5) * 1e3, "plain_p95": percentile(plain, 0.95) * 1e3,
            "compacting_p50": percentile(compacting or plain, 0.5) * 1e3, "compactions": len(compacting),
            "append_p50": percentile(appends, 0.5) * 1e3, "tokens": request.tokens, "estimate": estimate(texts[0]),
        }  # fmt: skip
        print(json.dumps(found))


def _draft(number: int, texts: list[str]) -> Draft:
    kind = KINDS[number % len(KINDS)]
    meta = {"call_id": f"c{number // 4}", "tool": "bash"} if kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else {}
    return Draft(kind, texts[number % len(texts)].encode(), meta=meta, trust=Trust.UNTRUSTED)


def _peak() -> float:
    """Give the process's peak memory so far, in MB; what getrusage says of it has its parent's in it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
