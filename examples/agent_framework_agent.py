"""An agent of Microsoft Agent Framework whose window forgets nothing; no network, a scripted model.

    pip install 'firsthand[agent-framework]' && python examples/agent_framework_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall, where a summary would have lost it; the session keeps all messages.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from firsthand.adapters.agent_framework import FirsthandProvider

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


@tool(approval_mode="never_require")
def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[Content]:
    """Give what the model says, in order."""
    for page in range(1, PAGES + 1):
        yield Content.from_function_call(f"call-{page}", "read_page", arguments={"page": page})
        yield Content.from_text(f"Page {page} is read.")
    yield Content.from_function_call("call-q", "recall", arguments={"query": "worker lost its disk"})
    yield Content.from_text("Worker w-4471 lost its disk.")


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that says what the script has, and keeps the newest request."""

    def __init__(self) -> None:
        super().__init__()
        self.script, self.newest = replies(), []

    async def _inner_get_response(self, *, messages: Sequence[Message], **_: Any) -> ChatResponse:
        self.newest = messages
        return ChatResponse(messages=[Message("assistant", [next(self.script)])])


async def talk(folder: str) -> int:
    """Read the pages and ask; give how many messages the session has at the end."""
    client, session = ScriptedClient(), AgentSession(session_id="workers")
    with FirsthandProvider(folder, agent="ada", budget=3_600) as memory:
        agent = Agent(client, tools=[read_page], context_providers=[memory])
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            print(f"> {text}\n  {(await agent.run(text, session=session)).text}")
    history = session.state["in_memory"]["messages"]
    contents = [content for message in history for content in message.contents]
    answer = next(content.result for content in reversed(contents) if content.type == "function_result")
    print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
    print(f"{len(history)} messages in the session, {len(client.newest)} in the newest request")
    return len(history)


def run(folder: str) -> int:
    """Run it."""
    return asyncio.run(talk(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
