"""Anthropic's memory tool on a memory: two conversations, of which the second reads what the first wrote.

    pip install 'firsthand[anthropic]'
    python examples/anthropic_memory_tool.py    # offline: what a model would reply is scripted

With a key, `Anthropic()` in place of `scripted(...)`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from typing import Any

import httpx2
from anthropic import Anthropic, DefaultHttpxClient

from firsthand.adapters.anthropic_memory import FirsthandMemoryTool

FILE = "/memories/notes/staging.md"
FIRST = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": FILE, "file_text": "staging: db7.internal:5433\n"},
    "Noted.",
]
SECOND = [{"command": "view", "path": FILE}, "It listens on port 5433."]


def scripted(replies: list[Any]) -> Anthropic:
    """Give a client whose model replies as scripted: a command of the memory tool, or a text."""
    left: Iterator[Any] = iter(replies)

    def answer(request: httpx2.Request) -> httpx2.Response:
        last = json.loads(request.content)["messages"][-1]["content"]
        if isinstance(last, list):
            print("  ", str(last[-1]["content"]).replace("\n", "\n   "))
        reply = next(left)
        calls = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": reply}
        content = {"type": "text", "text": reply} if isinstance(reply, str) else calls
        return httpx2.Response(200, json={
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [content],
            "stop_reason": "end_turn" if isinstance(reply, str) else "tool_use", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        })  # fmt: skip

    return Anthropic(api_key="none", http_client=DefaultHttpxClient(transport=httpx2.MockTransport(answer)))


def run(store: str) -> str:
    """Have two conversations; give the last answer."""
    last = ""
    for question, replies in (("Staging is db7.internal:5433.", FIRST), ("Which port has staging?", SECOND)):
        print(">", question)
        runner = scripted(replies).beta.messages.tool_runner(
            model="scripted", max_tokens=100, tools=[FirsthandMemoryTool(store, agent="ada")],
            messages=[{"role": "user", "content": question}], betas=["context-management-2025-06-27"],
        )  # fmt: skip
        last = runner.until_done().content[-1].text
        print("  ", last)
    return last


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
