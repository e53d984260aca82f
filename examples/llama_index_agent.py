"""A LlamaIndex agent whose memory block forgets nothing; no network, LlamaIndex's own mock of a model.

    pip install 'firsthand[llama-index]' && python examples/llama_index_agent.py

It reads eight pages with a short-term memory that holds three. Asked for a detail of the first one, which has left,
it gets it back by the tool recall.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.storage.chat_store.sql import MessageStatus
from llama_index.core.tools import FunctionTool

from firsthand.adapters.llama_index import FirsthandMemoryBlock

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[ChatMessage]:
    """Give what the model says, in order."""
    for page in range(1, PAGES + 1):
        call = ToolCallBlock(tool_call_id=f"call_{page}", tool_name="read_page", tool_kwargs={"page": page})
        yield ChatMessage(role="assistant", blocks=[call])
        yield ChatMessage(role="assistant", blocks=[TextBlock(text=f"Page {page} is read.")])
    query = {"query": "worker lost its disk"}
    call = ToolCallBlock(tool_call_id="call_q", tool_name="recall", tool_kwargs=query)
    yield ChatMessage(role="assistant", blocks=[call])
    yield ChatMessage(role="assistant", blocks=[TextBlock(text="Worker w-4471 lost its disk.")])


async def talk(folder: str) -> int:
    """Read the pages and ask; give how many messages the short-term memory has at the end."""
    script, newest = replies(), []

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        newest[:] = messages
        return next(script)

    with FirsthandMemoryBlock(folder, session_id="workers", agent="ada") as block:
        count = str.split  # any counter of tokens; LlamaIndex's own needs tiktoken's files
        memory = block.memory(token_limit=2_500, token_flush_size=500, tokenizer_fn=count)
        tools = [FunctionTool.from_defaults(read_page), *block.tools]
        agent = FunctionAgent(tools=tools, llm=MockFunctionCallingLLM(response_generator=reply), streaming=False)
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            print(f"> {text}\n  {await agent.run(user_msg=text, memory=memory)}")
        answer = next(message.content or "" for message in reversed(newest) if message.role == "tool")
        print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
        active = await memory.aget_all(status=MessageStatus.ACTIVE)
        print(f"{len(active)} messages in the short-term memory")
    return len(active)


def run(folder: str) -> int:
    """Run it."""
    return asyncio.run(talk(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
