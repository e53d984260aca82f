"""An agent's loop with any client: the five lines that keep its window under a budget are marked.

    python examples/any_loop.py --url http://localhost:8080/v1 --model NAME   # key: $OPENAI_API_KEY
    python examples/any_loop.py --recorded                                    # replies of SmolLM2-135M, replayed

The loop is the usual one: a list of messages that grows, a model, tools of one's own.
The list may become as long as it likes. What is sent stays under the budget; what
left it, the model can have back, word for word.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from firsthand import Memory, PullLimits
from firsthand.llm import CallExample, LocalModel, Model, OpenAICompatible, Recorded

OFFSET = re.compile(r"(?<=:\d\d)[+-]\d\d:\d\d")  # of a clock that is not UTC's
RECORDED = Path(__file__).parent / "recorded" / "any_loop.jsonl"
BUDGET_TOKENS = 3_000
STEPS_MAX = 6  # calls of the model for one message of the user

SYSTEM = "You look after the workers. Answer in one short sentence."
READING = ["Read page 1 of the log.", "Read page 2 of the log.", "Read page 3 of the log.", "Read page 4 of the log."]
QUESTION = "Which worker lost its disk?"  # asked when the log is closed, and page 2 has left the window


def read_page(page: int) -> str:
    """Give a page of a log; stands for whatever tools an agent has."""
    things = ["invoices", "the mail", "a report", "payments", "orders", "an upload"]
    lines = [f"worker w-{page * 31 + line} handled {things[line % 6]} without a fault" for line in range(24)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 2 else lines)


TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_page",
            "description": "Read a page of the log.",
            "parameters": {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]},
        },
    }
]
# Only the small local model needs them: it imitates calls better than it follows a description.
EXAMPLES = [
    CallExample("Which door was red?", "recall", {"query": "door was red"}),
    CallExample("Read page 12 of the log.", "read_page", {"page": 12}),
    CallExample("Which printer had no ink?", "recall", {"query": "printer had no ink"}),
    CallExample("Which shop lost its sign?", "recall", {"query": "shop lost its sign"}),
    CallExample("Which host has a full disk?", "recall", {"query": "host full disk"}),
]


def run(model: Model, store: str) -> str:
    """Work through what is asked; give the last answer."""
    said = ""
    with Memory(store) as memory:
        limits = PullLimits(hits=1)  # so small a model reads one hit better than eight
        window = memory.session("workers").window(BUDGET_TOKENS, counter=tokens, pull=limits)  # 1
        messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        for text in [*READING, QUESTION]:
            tools = TOOLS if text != QUESTION else []
            if text == QUESTION:
                window.compact()  # by itself it would wait for 90 % of the budget; before a new task is a good time too
            messages.append({"role": "user", "content": text})
            shown: list[str] = []
            for _ in range(STEPS_MAX):
                request = window.request(messages, tools=tools)  # 2
                reply = model.complete(**request.body, max_tokens=64, stop=["\n"])  # 3
                messages.append(reply.message)  # 4
                recalled = window.answer(reply.message)  # 5
                messages += recalled
                shown += passages(recalled)
                messages += own_results(reply.message)
                if not reply.tool_calls:
                    break
            said = reply.text
            calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in calls_behind(messages)]
            lines = [", ".join(calls) or "no call", *(f"recalled: {one}" for one in shown), said]
            print("\n  ".join([f"> {text}", *lines]))  # what was recalled, and what so small a model makes of it
        print(f"\n{tokens(json.dumps(messages)):,} tokens in the list, {request.tokens:,} sent, "
              f"{window.state.cycle} compactions:")  # fmt: skip
        for marker in window.state.markers:
            print(f"  {marker.text}")
    return said


def passages(answers: list[dict[str, Any]]) -> list[str]:
    """Give the first line of what each hit of a recall shows."""
    return [line[2:] for one in answers for line in str(one["content"]).splitlines() if line.startswith("| ")][:1]


def own_results(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Call the tools of this program that a reply asks for."""
    results = []
    for call in message.get("tool_calls") or ():
        if call["function"]["name"] == "read_page":
            page = json.loads(call["function"]["arguments"])["page"]
            results.append({"role": "tool", "tool_call_id": call["id"], "content": read_page(page)})
    return results


def calls_behind(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the calls made since the newest user message."""
    newest = max(at for at, message in enumerate(messages) if message["role"] == "user")
    return [call for message in messages[newest:] for call in message.get("tool_calls") or ()]


def tokens(text: str) -> int:
    """Count tokens by a rule of thumb: the recorded replies want the same count in every run and every time zone."""
    return -(-len(OFFSET.sub("Z", text)) // 3)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--url", help="of a server that speaks OpenAI chat completions, before /chat/completions")
    chosen.add_argument("--recorded", action="store_true", help="replay what SmolLM2-135M said once")
    chosen.add_argument("--record", action="store_true", help="let SmolLM2-135M answer, and keep it for --recorded")
    parser.add_argument("--model", default="", help="the model's name at the server")
    options = parser.parse_args()
    with ExitStack() as held:
        if options.url:
            key = os.environ.get("OPENAI_API_KEY")
            model: Model = held.enter_context(OpenAICompatible(options.url, options.model, key))
        elif options.recorded:
            model = Recorded(RECORDED)
        else:
            RECORDED.unlink(missing_ok=True)
            model = Recorded(RECORDED, LocalModel(context_tokens=4_096, threads=1, calls="first", examples=EXAMPLES))
        run(model, f"{held.enter_context(tempfile.TemporaryDirectory())}/store")


if __name__ == "__main__":
    main()
