"""A Strands agent whose window forgets nothing; no network, a scripted model.

    pip install 'firsthand[strands]' && python examples/strands_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall, where a summary would have lost it; the agent keeps all messages.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

from strands import Agent, tool
from strands.models import Model

from firsthand.adapters.strands import FirsthandConversationManager

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


@tool
def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[tuple[str, Any]]:
    """Give what the model says, in order: a call of a tool, or a text."""
    for page in range(1, PAGES + 1):
        yield "read_page", {"page": page}
        yield "", f"Page {page} is read."
    yield "recall", {"query": "worker lost its disk"}
    yield "", "Worker w-4471 lost its disk."


class ScriptedModel(Model):
    """A model that says what the script has, and keeps the newest request."""

    def __init__(self) -> None:
        self.script, self.number, self.newest = replies(), count(), []

    def update_config(self, **_: Any) -> None:
        """Nothing can be configured."""

    def get_config(self) -> dict[str, Any]:
        """Nothing is configured."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Give no structured output."""
        raise RuntimeError("the script has none")

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Give the next reply."""
        self.newest = messages
        name, said = next(self.script)
        yield {"messageStart": {"role": "assistant"}}
        use = {"name": name, "toolUseId": f"call-{next(self.number)}"}
        yield {"contentBlockStart": {"start": {"toolUse": use} if name else {}}}
        delta = {"toolUse": {"input": json.dumps(said)}} if name else {"text": said}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if name else "end_turn"}}


def run(folder: str) -> int:
    """Read the pages and ask; give how many messages the agent has at the end."""
    model = ScriptedModel()
    with FirsthandConversationManager(folder, session_id="workers", agent="ada", budget=3_600) as memory:
        agent = Agent(model, tools=[read_page], conversation_manager=memory, callback_handler=None)
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            print(f"> {text}\n  {agent(text)}".rstrip())
    blocks = [block for message in agent.messages for block in message["content"]]
    answer = next(block["toolResult"] for block in reversed(blocks) if "toolResult" in block)["content"][0]["text"]
    print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
    print(f"{len(agent.messages)} messages of the agent, {len(model.newest)} in the newest request")
    return len(agent.messages)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
