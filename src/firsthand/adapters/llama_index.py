"""LlamaIndex: a memory block whose messages are events, with recall.

    block = FirsthandMemoryBlock("notes", session_id="monday", agent="ada")
    memory = block.memory(token_limit=30_000)
    agent = FunctionAgent(tools=[*tools, *block.tools], llm=llm)

    _aget        the messages that LlamaIndex has now into the log; the preamble, what the newest message brings up
    _aput        what leaves its short-term memory, which may be new too
    atruncate    first what was brought up goes, then the preamble
    tools        recall, expand, task and decide
    close        what was put into the memory since, and the episode

LlamaIndex keeps the short-term memory and its limit; what leaves it comes back by the tools. Nothing here raises for
a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.memory import Memory as ShortTermMemory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.tools import FunctionTool, ToolMetadata

from firsthand import Memory
from firsthand.adapters.chat_messages import newest, reply
from firsthand.adapters.loop import Loop
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool
from firsthand.tokens import estimate

HOST = "llama-index"

Dicts = list[dict[str, Any]]


@dataclass
class _Metadata(ToolMetadata):
    """What a tool is, by its JSON schema."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.parameters


class FirsthandMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory` that keeps every message of a session, and recalls."""

    _loop: Loop = PrivateAttr()
    _active: Dicts | None = PrivateAttr(default=None)
    _left: Dicts = PrivateAttr(default_factory=list)
    _memory: ShortTermMemory | None = PrivateAttr(default=None)

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        session_id: str,
        name: str = "firsthand",
        priority: int = 1,
        **options: Any,
    ) -> None:
        """Say whose session it is; the store is opened by the first call.

        Args:
            store: an open memory, which stays open; or as for `Memory` of Firsthand.
            session_id: its name, as that of LlamaIndex's memory; ``llama-index:ID`` in the log.
            name, priority: LlamaIndex's; of priority 0 nothing is cut when its memory is full.
            options: ``agent`` and ``namespace`` of `Loop`.
        """
        description = "What was said and done earlier, from a log that keeps everything."
        super().__init__(name=name, description=description, priority=priority)
        self._loop = Loop(store, host=HOST, session=session_id, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def faults(self) -> list[str]:
        """What went wrong so far, in sentences."""
        return self._loop.faults

    @property
    def tools(self) -> list[FunctionTool]:
        """The tools of the memory, for the agent."""
        return [self._tool(tool) for tool in TOOLS]

    def memory(self, *, memory_blocks: Sequence[Any] = (), **options: Any) -> ShortTermMemory:
        """Make the memory of LlamaIndex's that this block and others are of; what is put last is recorded by `close`.

        Args:
            memory_blocks, options: as for `Memory.from_defaults`.
        """
        session, blocks = self._loop.session, [self, *memory_blocks]
        self._memory = ShortTermMemory.from_defaults(session_id=session, memory_blocks=blocks, **options)
        return self._memory

    def close(self) -> None:
        """Write the episode, and let the store go, if it was opened here."""
        memory, none = self._memory, list[ChatMessage]()
        active = self._loop.guarded("record", lambda _: memory.get_all(MessageStatus.ACTIVE) if memory else none, none)
        if active:
            self._take([*map(_dict, active)])
        if self._left:
            self._loop.sync(self._left)
        self._loop.end()
        self._loop.close()

    # LlamaIndex's protocol -----------------------------------------------------------------------------

    async def _aget(self, messages: Sequence[ChatMessage] | None = None, **_: Any) -> str:
        return await self._loop.awaited.run(lambda _: self._pulled([*map(_dict, messages or ())]))

    async def _aput(self, messages: Sequence[ChatMessage]) -> None:
        await self._loop.awaited.run(lambda _: self._pushed([*map(_dict, messages)]))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Give the preamble alone where that is enough; None for nothing. No fenced text is cut in its middle."""
        preamble = await self._loop.awaited.run(lambda loop: loop.opening())
        return preamble if preamble and estimate(content) - estimate(preamble) >= tokens_to_truncate else None

    def _pulled(self, messages: Dicts) -> str:
        if _is_again(messages):
            del messages[-1]
        self._take(messages)
        return "\n\n".join(filter(None, (self._loop.opening(), self._loop.prompt(newest(messages)))))

    def _take(self, messages: Dicts) -> None:
        """Record what is new in the short-term memory."""
        if self._active is None or messages[: len(self._active)] != self._active:  # of another process, or replaced
            self._loop.sync([*self._left, *messages])
        else:
            self._loop.add(messages[len(self._active) :])
        self._active, self._left = messages, []

    def _pushed(self, messages: Dicts) -> None:
        """Take what leaves from the head of the list: all of it is in the log already, or its end is new."""
        known = (self._active or [])[: len(messages)]
        if self._active is None or messages[: len(known)] != known:
            self._left += messages  # until it is seen what they stand before
            return
        self._loop.add(messages[len(known) :])
        del self._active[: len(known)]

    def _tool(self, tool: Tool) -> FunctionTool:
        async def answer(**arguments: Any) -> str:
            return await self._loop.awaited.call(tool.name, arguments)

        metadata = _Metadata(tool.description, tool.name, None, parameters=dict(tool.parameters))
        return FunctionTool(async_fn=answer, metadata=metadata)


def _is_again(messages: Dicts) -> bool:
    """Say whether the last message is the run's input again: nobody answered it but with calls, as a handoff is."""
    for message in reversed(messages[:-1]):
        if message["role"] == "user":
            return message == messages[-1]
        if message["role"] == "assistant" and not message.get("tool_calls"):
            return False
    return False


def _dict(message: ChatMessage) -> dict[str, Any]:
    """Write a message as the log has it; blocks that openai-chat does not have stand beside its text."""
    role, text = str(message.role.value), message.content or ""
    others = [block for block in message.blocks if not isinstance(block, TextBlock | ToolCallBlock)]
    if role == "user":
        return {"role": role, "content": [*map(_part, message.blocks)] if others else text}
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in others]
    more: dict[str, Any] = {"blocks": blocks} if blocks else {}
    if role == "tool":
        call = message.additional_kwargs.get("tool_call_id", "")
        return {"role": role, "tool_call_id": call, "content": text, **more}
    if role != "assistant":
        return {"role": role, "content": text, **more}
    thoughts = [block.content for block in others if isinstance(block, ThinkingBlock)]
    return reply(text, [_call(block) for block in message.blocks if isinstance(block, ToolCallBlock)], thoughts, blocks)


def _call(block: ToolCallBlock) -> tuple[str, str, str]:
    arguments = block.tool_kwargs if isinstance(block.tool_kwargs, str) else json.dumps(block.tool_kwargs)
    return block.tool_call_id or "", block.tool_name, arguments


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock) and block.url:
        return {"type": "image_url", "image_url": {"url": str(block.url)}}
    return {"type": "file", "file": block.model_dump(mode="json", exclude_none=True)}
