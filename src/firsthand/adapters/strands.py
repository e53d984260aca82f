"""Strands: a conversation manager that gives an agent a window, recall and capture, and a memory store.

    agent = Agent(model, tools, conversation_manager=FirsthandConversationManager("notes", session_id="monday"))

    InvokeModelStage.Input  the messages under the budget: what left stands in markers; the preamble in the system
                            prompt, what the user's message brings up at the end
    MessageAddedEvent       each message into the log, when the agent has it
    tools                   recall, expand, task and decide

The invariant: `agent.messages` is never changed; a message that the window shows whole and by itself is the very
object that came, and roles alternate. Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python
from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AgentInitializedEvent, MessageAddedEvent
from strands.memory import MemoryEntry, MemoryStore
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.tools.tools import PythonAgentTool

from firsthand import Memory
from firsthand.adapters.chat_messages import Part, Written, restored, result, written
from firsthand.adapters.loop import Loop, Loops, asked_by
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool

HOST = "strands"
OF_GRAPH = "\nInputs from previous nodes:"
OF_SWARM = "If you don't hand off to another agent, the swarm will consider the task complete."
"""A block of what Strands' graph, and the end of what its swarm, tells a node: the task and other agents' words."""
AGENT_ID = "default"
"""Strands' own, of an agent that was given none."""


class FirsthandConversationManager(Loops, ConversationManager):
    """A lossless window, recall and capture for an agent; one for several agents where each has an ``agent_id``."""

    host = HOST

    def __init__(
        self, store: Memory | str | os.PathLike[str] | None = None, *, session_id: str, **options: Any
    ) -> None:
        """Say whose session it is; the store is opened by the first message.

        Args:
            store: an open memory, which stays open; or as for `Memory`.
            session_id: its name, as that of the agent's session manager; ``strands:ID`` in the log.
            options: ``agent``, ``namespace``, ``budget`` and ``counter`` of `Loops`.
        """
        Loops.__init__(self, store, **options)
        ConversationManager.__init__(self)
        self.session_id = session_id

    def register_hooks(self, registry: Any, **_: Any) -> None:
        """Take part in what the agent does."""
        super().register_hooks(registry)
        registry.add_callback(AgentInitializedEvent, self._begin)
        registry.add_callback(MessageAddedEvent, self._added)

    def apply_management(self, agent: Any, **_: Any) -> None:
        """Leave the agent's messages as they are: the window is made for each call of the model."""

    def reduce_context(self, agent: Any, e: Exception | None = None, **_: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Raise what came: the budget is more than the model takes.

        Raises:
            Exception: the model's own.
        """
        if e is not None:
            e.add_note(f"the budget of Firsthand's window is more than this model takes; got {self._options['budget']}")
            raise e

    def _begin(self, event: Any) -> None:
        registry, loop = event.agent.tool_registry, self._of(event.agent)
        ours = [tool for tool in TOOLS if tool.name not in registry.registry]
        registry.process_tools([_tool(tool, loop.session, self) for tool in ours])
        event.agent.add_middleware(InvokeModelStage.Input, self._fitted)
        event.agent.add_middleware(ExecuteToolStage.Wrap, self._called)

    async def _added(self, event: Any) -> None:
        loop, message = self._of(event.agent), event.message
        await loop.awaited.guarded("record", lambda loop: loop.add([each for each, _ in _written(message)]), None)

    async def _called(self, context: Any, call_next: Any) -> Any:
        with asked_by(f"agent:{context.agent.name}"):
            async for event in call_next(context):
                yield event

    async def _fitted(self, context: Any) -> Any:
        return await self._of(context.agent).awaited.guarded("window", lambda loop: _fitted(loop, context), context)

    def _of(self, agent: Any) -> Loop:
        own = "" if agent.agent_id == AGENT_ID else f"/{agent.agent_id}"
        return self.loop(f"{self.session_id}{own}")


class FirsthandMemoryStore(MemoryStore):
    """A store of Strands' `MemoryManager` that recalls from the log; the conversation manager writes it."""

    def __init__(
        self, store: Memory | str | os.PathLike[str] | None = None, *, name: str = "firsthand", **options: Any
    ) -> None:
        """Say whose memory it is (``agent`` and ``namespace`` of `Loop`); the store is opened by the first search."""
        self.name, self.description = name, "What was said and done earlier, from a log that keeps everything."
        self.max_search_results, self.writable, self.extraction = 1, False, None
        self.loop = Loop(store, host=HOST, session="searches", records=False, **options)

    async def search(self, query: str, options: Any = None) -> list[MemoryEntry]:  # noqa: ARG002 - one entry has all
        """Recall: one entry, fenced, that says what was found and how far to trust it, or why nothing was."""
        return [MemoryEntry(await self.loop.awaited.search(query), self.name)]


def _tool(tool: Tool, session: str, manager: FirsthandConversationManager) -> PythonAgentTool:
    async def answer(tool_use: Any, **_: Any) -> Any:
        text = await manager.loop(session).awaited.call(tool.name, tool_use["input"])
        return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": [{"text": text}]}

    schema = {"json": dict(tool.parameters)}
    return PythonAgentTool(
        tool.name, {"name": tool.name, "description": tool.description, "inputSchema": schema}, answer
    )


# a request -------------------------------------------------------------------------------------------------


def _fitted(loop: Loop, context: Any) -> Any:
    """Give a request under the budget, with what the session is told."""
    came = [pair for message in context.messages for pair in _written(message)]
    prompt = context.system_prompt or ""
    system = prompt if isinstance(prompt, str) else "\n".join(block.get("text", "") for block in prompt)
    tools = [Tool(spec["name"], spec["description"], spec["inputSchema"]["json"]) for spec in context.tool_specs]
    sent = loop.fit([message for message, _ in came], tools=tools, system=system)
    preamble = loop.opening()
    if preamble and prompt:
        prompt = f"{prompt}\n\n{preamble}" if isinstance(prompt, str) else [*prompt, {"text": preamble}]
    messages, made = _restored(sent, context.messages, came)
    return context.replace(messages=messages, system_prompt=prompt or preamble or None, dynamic_trailing_blocks=made)


def _written(message: Mapping[str, Any]) -> Written:
    """Write a message as the log has it; what a graph or a swarm writes of several agents is theirs."""
    pairs = written(message["role"], [*map(_part, message["content"])])
    texts = [block.get("text", "") for block in message["content"]]
    is_of_agents = message["role"] == "user" and (OF_GRAPH in texts or any(text.endswith(OF_SWARM) for text in texts))
    origin = {"origin": "agent:others"} if is_of_agents else {}
    return [({**each, **origin}, parts) for each, parts in pairs]


def _part(block: Mapping[str, Any]) -> Part:
    if "text" in block:
        return Part(block, text=block["text"])
    if use := block.get("toolUse"):
        return Part(block, call=(use["toolUseId"], use["name"], json.dumps(use["input"])))
    if answer := block.get("toolResult"):
        texts = [part["text"] if "text" in part else json.dumps(_plain(part["json"])) for part in answer["content"]
                 if "text" in part or "json" in part]  # fmt: skip
        files = [_plain(part) for part in answer["content"] if "text" not in part and "json" not in part]
        return Part(block, result=result(answer["toolUseId"], "\n".join(texts), files))
    thought = block.get("reasoningContent", {}).get("reasoningText", {}).get("text")
    return Part(block, thought=thought, plain=_plain(block))


def _plain(value: Any) -> Any:
    return to_jsonable_python(value, bytes_mode="base64", fallback=repr)


def _result(block: Mapping[str, Any] | None, identifier: str, _: str, text: str) -> dict[str, Any]:
    own = block["toolResult"] if block else {"status": "success"}
    return {"toolResult": {**own, "toolUseId": identifier, "content": [{"text": text}]}}


def _renamed(block: Mapping[str, Any], identifier: str) -> dict[str, Any]:
    return {sort: {**value, "toolUseId": identifier} for sort, value in block.items()}


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], came: Written) -> tuple[list[Any], int]:
    """Give the messages to send, and how many blocks at the end of the last one are of this call alone.

    Those of one role that follow each other are one message, as models want them.
    """
    whole = {tuple(map(id, message["content"])): message for message in messages}
    both = frozenset({"tool", "user"})
    joined = restored(sent, came, lambda text: {"text": text}, _result, _renamed, joined=both)
    made = [
        {"role": "assistant" if each.role == "assistant" else "user", "content": each.parts} for each in joined
    ]  # fmt: skip
    return [whole.get(tuple(map(id, each["content"])), each) for each in made], joined[-1].made if joined else 0
