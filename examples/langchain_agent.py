"""A LangChain agent whose window forgets nothing; no network, a fake model.

    pip install 'firsthand[langchain]' && python examples/langchain_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall, where a summary would have lost it; the state of the graph keeps all messages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from firsthand.adapters.langchain import FirsthandMiddleware

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


class FakeModel(GenericFakeChatModel):
    """Says what is scripted, in order; keeps the newest request."""

    newest: list[BaseMessage] = []  # noqa: RUF012 - a field of pydantic

    def bind_tools(self, _tools: Sequence[Any], **_: Any) -> FakeModel:
        return self

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **named: Any) -> Any:
        self.newest[:] = messages
        return super()._generate(messages, *arguments, **named)


def replies() -> Iterator[AIMessage]:
    """Give what the fake model says, in order."""
    for page in range(1, PAGES + 1):
        yield AIMessage("", tool_calls=[{"id": f"call_{page}", "name": "read_page", "args": {"page": page}}])
        yield AIMessage(f"Page {page} is read.")
    yield AIMessage("", tool_calls=[{"id": "call_q", "name": "recall", "args": {"query": "worker lost its disk"}}])
    yield AIMessage("Worker w-4471 lost its disk.")


def run(folder: str) -> list[BaseMessage]:
    """Read the pages and ask; give the messages that the state holds at the end."""
    model = FakeModel(messages=replies())
    thread = {"configurable": {"thread_id": "workers"}}
    with FirsthandMiddleware(folder, agent="ada", budget=3_600) as middleware:
        agent = create_agent(model, [read_page], middleware=[middleware], checkpointer=InMemorySaver())
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            state = agent.invoke({"messages": [("user", text)]}, thread)
            print(f"> {text}\n  {state['messages'][-1].content}")
        answer = next(message.text for message in reversed(model.newest) if message.type == "tool")
        print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
        print(f"{len(state['messages'])} messages in the state, {len(model.newest)} in the newest request")
    return state["messages"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
