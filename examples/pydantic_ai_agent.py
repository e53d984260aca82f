"""A Pydantic AI agent whose window forgets nothing; no network, a scripted model.

    pip install 'firsthand[pydantic-ai]' && python examples/pydantic_ai_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall, where a summary would have lost it; the run's history keeps all messages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from firsthand.adapters.pydantic_ai import FirsthandCapability

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[ModelResponse]:
    """Give what the model says, in order."""
    for page in range(1, PAGES + 1):
        yield ModelResponse([ToolCallPart("read_page", {"page": page})])
        yield ModelResponse([TextPart(f"Page {page} is read.")])
    yield ModelResponse([ToolCallPart("recall", {"query": "worker lost its disk"})])
    yield ModelResponse([TextPart("Worker w-4471 lost its disk.")])


def run(folder: str) -> list[ModelMessage]:
    """Read the pages and ask; give the history of the conversation at the end."""
    script, requests = replies(), []

    def reply(messages: list[ModelMessage], _: object) -> ModelResponse:
        requests.append(messages)
        return next(script)

    history: list[ModelMessage] = []
    with FirsthandCapability(folder, agent="ada", budget=3_600) as memory:
        agent = Agent(FunctionModel(reply), capabilities=[memory], tools=[read_page])
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            result = agent.run_sync(text, message_history=history)
            history = result.all_messages()
            print(f"> {text}\n  {result.output}")
    parts = [part for message in history for part in message.parts]
    answer = next(str(part.content) for part in reversed(parts) if isinstance(part, ToolReturnPart))
    print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
    print(f"{len(history)} messages in the history, {len(requests[-1])} in the newest request")
    return history


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
