"""A window under a tool-using loop: what a provider's cache can reuse, how full it gets, what a request costs.

    python bench/window_loop.py --data DATA [--usage] [--cache 1.1] [--low .8]

The same list of messages goes through a window, as it is (append-only), and cut to its newest messages at the
same budget (truncating). Exact counts need a package of requirements-tokens.txt.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import corpus
from firsthand import Memory, tokens
from firsthand.formats import canonical
from firsthand.window import Budget
from timing import percentile

SEED, ASKED_EACH, RESULT_CHARACTERS = 7, 12, (200, 3_000)
SYSTEM = {"role": "system", "content": "You mend programs. Read before you write, and run the tests. " * 10}
TOOL = {
    "type": "function",
    "function": {"name": "bash", "description": "Run a command", "parameters": {"type": "object", "properties": {}}},
}


def steps(count: int, texts: list[str]) -> Iterator[list[dict[str, Any]]]:
    """Yield what each step of a loop adds to its list: a call and its result, now and then a new question."""
    chance = random.Random(SEED)
    for number in range(count):
        text = texts[number % len(texts)][: chance.randint(*RESULT_CHARACTERS)]
        function = {
            "name": "bash",
            "arguments": json.dumps({"command": f"sed -n {number},{number + 40}p src/m{number % 17}.py"}),
        }
        call = {"id": f"call_{number}", "type": "function", "function": function}
        asked = {"role": "user", "content": f"Task {number}: {texts[-1 - number % len(texts)][:300]}"}
        done = {"role": "assistant", "content": f"Task {number - ASKED_EACH} is done."}
        yield [
            *([done] if number and not number % ASKED_EACH else []), *([asked] if not number % ASKED_EACH else []),
            {"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
        ]  # fmt: skip


class Cache:
    """What of each request a provider that caches prefixes has read before."""

    def __init__(self) -> None:
        self._before = b""
        self.new_bytes, self.shares = 0, []
        self.parts: dict[str, int] = {}  # by what stood where a request was no longer the one before it

    def send(self, body: dict[str, Any]) -> float:
        sent = canonical.dump(body)
        same = next((n for n, (a, b) in enumerate(zip(self._before, sent, strict=False)) if a != b), None)
        same = min(len(self._before), len(sent)) if same is None else same
        self.new_bytes += len(sent) - same
        share = same / max(1, len(self._before))
        if same < len(self._before.rstrip(b'"]}')):
            named = self._before[max(0, self._before.rfind(b'"role":', 0, same)) :][:60].decode(errors="replace")
            part = next((part for part in ("[Task state", "[Turn") if part in named), named[8:18].strip(',:"c'))
            self.parts[part] = self.parts.get(part, 0) + len(sent) - same
        self._before = sent
        self.shares.append(same / len(sent))
        return share


def exact() -> Callable[[str], int] | None:
    if find_spec("bpe_openai") is None:
        return None
    encoding = __import__("bpe_openai").get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def run(
    budget: Budget, count: int, texts: list[str], counter: Callable[[str], int] | None, *, usage: bool
) -> dict[str, Any]:
    """Send every step through a window; what is between compactions and at them is told apart."""
    real = exact()
    ours, grown, cut = Cache(), Cache(), Cache()
    plain, compacting, outside, filled = [], [], [], []
    last = 0
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        window = memory.session("s").window(budget, counter=counter)
        messages: list[dict[str, Any]] = [SYSTEM]
        for step in steps(count, texts):
            messages += step
            started = time.process_time()
            request = window.request(messages, tools=[TOOL])
            took = 1_000 * (time.process_time() - started)
            (compacting if request.receipt else plain).append(took)
            share = ours.send(request.body)
            if request.receipt is None:
                outside.append(share)
            elif last:
                filled.append(last)
            had = _tokens(request.body, real or tokens.OPENAI)
            last = had / budget.tokens_max
            if usage:
                window.usage(had)
            grown.send({"tools": [TOOL], "messages": messages})
            cut.send({"tools": [TOOL], "messages": [SYSTEM, *_newest(messages, budget.tokens_max)]})
    return {
        "compactions": len(compacting), "reused": sum(ours.shares) / count, "append-only": sum(grown.shares) / count,
        "truncating": sum(cut.shares) / count, "outside, least": min(outside[1:]),
        "outside over .95": sum(share >= 0.95 for share in outside[1:]) / len(outside[1:]),
        "not reused, of append-only": ours.new_bytes / grown.new_bytes,
        "truncating, of it": cut.new_bytes / grown.new_bytes,
        "used before a compaction": sum(filled) / max(1, len(filled)), "most used": max(filled, default=0),
        "plain p50 ms": percentile(plain, 0.5), "all p95 ms": percentile(plain + compacting, 0.95),
        "new bytes by what changed": ours.parts, "compacting p50 ms": percentile(compacting or [0.0], 0.5),
        "compacting p95 ms": percentile(compacting or [0.0], 0.95),
    }  # fmt: skip


def _tokens(value: Any, count: Callable[[str], int]) -> int:
    """Count what a provider reads of a body: its texts, and four for each message, call and schema."""
    if isinstance(value, str):
        return count(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(_tokens(each, count) for each in inner) + (2 if isinstance(value, dict) else 0)


def _newest(messages: list[dict[str, Any]], tokens_max: int) -> list[dict[str, Any]]:
    size, start = 0, len(messages)
    while start > 1 and size < tokens_max * 3:  # about three bytes a token
        start -= 1
        size += len(json.dumps(messages[start]))
    return messages[start:]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=16_000)
    parser.add_argument("--cache", type=float, help="Budget(cache=...)")
    parser.add_argument("--low", type=float, default=Budget(1).low)
    parser.add_argument("--usage", action="store_true", help="tell the window what the provider counted")
    parser.add_argument(
        "--counter", choices=("estimate", "gpt", "exact"), nargs="+", default=("estimate", "gpt", "exact")
    )
    asked = parser.parse_args()
    made = [f"module {n} line {k}: value {n * k} of key_{k}\n" * 4 for n in range(40) for k in range(10)]
    texts = [t for t in corpus.texts(asked.data, 400, seed=SEED) if len(t) > 400] if asked.data else made
    counters = {"estimate": None, "gpt": tokens.OPENAI, "exact": exact()}
    for name in asked.counter:
        if name == "exact" and counters[name] is None:
            print("exact: bpe_openai is not installed")
            continue
        figures = run(
            Budget(asked.tokens, low=asked.low, cache=asked.cache),
            asked.steps,
            texts,
            counters[name],
            usage=asked.usage,
        )
        shares = figures.pop("new bytes by what changed")
        print(f"{name}:", ", ".join(f"{what} {figure:.3g}" for what, figure in figures.items()), shares, flush=True)


if __name__ == "__main__":
    main()
