"""An AutoGen agent whose context forgets nothing; no network, a scripted model.

    pip install 'firsthand[autogen]' autogen-agentchat && python examples/autogen_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, which has left the window,
it gets it back by the tool recall.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, FunctionExecutionResultMessage, RequestUsage

from firsthand.adapters.autogen import FirsthandContext

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[str | list[FunctionCall]]:
    """Give what the model says, in order."""
    for page in range(1, PAGES + 1):
        yield [FunctionCall(id=f"call_{page}", name="read_page", arguments=json.dumps({"page": page}))]
        yield f"Page {page} is read."
    yield [FunctionCall(id="call_q", name="recall", arguments='{"query": "worker lost its disk"}')]
    yield "Worker w-4471 lost its disk."


class Scripted(ChatCompletionClient):
    """A model that says what it is given, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script, self.sent = replies(), list[Any]()

    async def create(self, messages: Sequence[Any], **_: Any) -> CreateResult:
        self.sent = [*messages]
        content, usage = next(self.script), RequestUsage(0, 0)
        reason = "stop" if isinstance(content, str) else "function_calls"
        return CreateResult(finish_reason=reason, content=content, usage=usage, cached=False)

    async def create_stream(self, messages: Sequence[Any], **_: Any) -> Any:
        yield await self.create(messages)

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    total_usage = actual_usage

    def count_tokens(self, _messages: Sequence[Any], **_: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    async def close(self) -> None:
        pass

    @property
    def model_info(self) -> Any:
        names = ("vision", "function_calling", "json_output", "structured_output")
        return {"family": "unknown", **dict.fromkeys(names, True)}

    capabilities = model_info


async def talk(folder: str) -> int:
    """Read the pages and ask; give how many messages the model was sent at the end."""
    model = Scripted()
    async with FirsthandContext(folder, session="workers", agent="ada", budget=5_000, tools=[read_page]) as context:
        agent = AssistantAgent("ada", model, tools=context.tools, model_context=context, max_tool_iterations=5)
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            result = await agent.run(task=text)
            print(f"> {text}\n  {result.messages[-1].content}")
        answers = [message for message in model.sent if isinstance(message, FunctionExecutionResultMessage)]
        answer = answers[-1].content[0].content
        print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
        print(f"{len(model.sent)} messages in the last request, under 5,000 tokens")
    return len(model.sent)


def run(folder: str) -> int:
    """Run it."""
    return asyncio.run(talk(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
