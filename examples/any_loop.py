"""An agent's loop with any client: the five lines that keep its window under a budget are marked.

    python examples/any_loop.py --url http://localhost:8080/v1 --model NAME   # needs httpx; key: $OPENAI_API_KEY
    python examples/any_loop.py --recorded                                    # what SmolLM2-135M said once, in order

The loop is the usual one: a list of messages that grows, a model, tools of one's own.
The list may become as long as it likes. What is sent stays under the budget; what
left it, the model can have back, word for word.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from firsthand import Memory, PullLimits
from firsthand.tokens import estimate

RECORDED = Path(__file__).parent / "recorded" / "any_loop.jsonl"
BUDGET_TOKENS = 3_200
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
Message = dict[str, Any]


def server(url: str, model: str) -> Callable[..., Message]:
    """Give a function that asks a server of OpenAI chat completions for the next message."""
    import httpx  # noqa: PLC0415 - the recorded replies want nothing installed

    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def complete(**body: Any) -> Message:
        body |= {"model": model, "max_tokens": 64, "stop": ["\n"]}
        answer = httpx.post(f"{url}/chat/completions", json=body, headers=headers, timeout=300).raise_for_status()
        return answer.json()["choices"][0]["message"]

    return complete


def recorded() -> Callable[..., Message]:
    """Give a function that says what was recorded, whatever it is asked."""
    replies = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    return lambda **_: next(replies)


def run(complete: Callable[..., Message], store: str) -> str:
    """Work through what is asked; give the last answer."""
    said = ""
    with Memory(store) as memory:
        limits = PullLimits(hits=1)  # so small a model reads one hit better than eight
        window = memory.session("workers").window(BUDGET_TOKENS, pull=limits)  # 1
        messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        for text in [*READING, QUESTION]:
            tools = TOOLS if text != QUESTION else []
            if text == QUESTION:
                window.compact()  # by itself it would wait for 90 % of the budget; before a new task is a good time too
            messages.append({"role": "user", "content": text})
            shown: list[str] = []
            for _ in range(STEPS_MAX):
                request = window.request(messages, tools=tools)  # 2
                reply = complete(**request.body)  # 3
                messages.append(reply)  # 4
                recalled = window.answer(reply)  # 5
                messages += recalled
                shown += passages(recalled)
                messages += own_results(reply)
                if not reply.get("tool_calls"):
                    break
            said = str(reply["content"])
            calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in calls_behind(messages)]
            lines = [", ".join(calls) or "no call", *(f"recalled: {one}" for one in shown), said]
            print("\n  ".join([f"> {text}", *lines]))  # what was recalled, and what so small a model makes of it
        print(f"\n{estimate(json.dumps(messages)):,} tokens in the list, {request.tokens:,} sent, "
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


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--url", help="of a server that speaks OpenAI chat completions, before /chat/completions")
    chosen.add_argument("--recorded", action="store_true", help="replay what SmolLM2-135M said once")
    parser.add_argument("--model", default="", help="the model's name at the server")
    options = parser.parse_args()
    complete = recorded() if options.recorded else server(options.url, options.model)
    with tempfile.TemporaryDirectory() as folder:
        run(complete, f"{folder}/store")


if __name__ == "__main__":
    main()
