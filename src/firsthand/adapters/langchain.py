"""LangChain's agents: a middleware that keeps what summarisation would throw away.

    agent = create_agent(model, tools, middleware=[FirsthandMiddleware("notes", agent="ada")], checkpointer=saver)

    wrap_model_call   the messages under the budget: what left stands in markers; the preamble in the system
                      message, what the user's message brings up at the end; then the reply into the log
    wrap_tool_call    recall, expand, task and decide; the result of another tool into the log
    after_agent       what is left; the episode, where the run belongs to no thread

The invariant: the state of the graph is never changed, so it composes with any checkpointer; a message that the
window shows whole is the very object that came. Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from firsthand import Budget, Memory
from firsthand.adapters.loop import BUDGET, Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.errors import InvalidArgument
from firsthand.formats.tool_definitions import Tool
from firsthand.tokens import TokenCounter

HOST = "langchain"
OWN = frozenset(tool.name for tool in TOOLS)

Dicts = list[dict[str, Any]]


class FirsthandMiddleware(AgentMiddleware):
    """A lossless window, recall and capture for the agents of `create_agent`."""

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        agent: str = HOST,
        namespace: str | None = None,
        budget: int | Budget = BUDGET,
        counter: TokenCounter | None = None,
    ) -> None:
        """Say whose memory it is; the store is opened by the first call of the model.

        Args:
            store: an open memory, which stays open; or as for `Memory`.
            agent: whose sessions, episodes and rules it reads and adds to.
            budget: of a whole request: system message, tools and messages.
            counter: counts tokens as the model does; None is the estimate.
        """
        super().__init__()
        self.tools = [_tool(tool) for tool in TOOLS]
        self.loops = Loops(store, host=HOST, agent=agent, namespace=namespace, budget=budget, counter=counter)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def faults(self) -> list[str]:
        """What went wrong so far in the threads that are open, in sentences."""
        return self.loops.faults

    def end(self, thread_id: str) -> str:
        """End a thread: write its episode, and give its name, empty without one."""
        return self.loops.end(thread_id)

    def close(self) -> None:
        """End every thread that is open, and let the store go."""
        self.loops.close()

    # the hooks ---------------------------------------------------------------------------------------

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with the messages under the budget, and record its reply."""
        loop = self.loops.loop(_thread(request.messages))
        response = handler(self._fitted(loop, request))
        _record(loop, _replies(response))
        return response

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_model_call` does."""
        loop = self.loops.loop(_thread(request.messages))
        response = await handler(await loop.awaited.run(lambda loop: self._fitted(loop, request)))
        await loop.awaited.run(lambda loop: _record(loop, _replies(response)))
        return response

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Answer a tool of the memory; of any other one record the result."""
        loop = self.loops.loop(_thread(request.state["messages"]))
        call = request.tool_call
        result = _answer(loop, call) if call["name"] in OWN else handler(request)
        _record(loop, _alone(request, result))
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_tool_call` does."""
        loop = self.loops.loop(_thread(request.state["messages"]))
        call, is_own = request.tool_call, request.tool_call["name"] in OWN
        result = await (loop.awaited.run(lambda loop: _answer(loop, call)) if is_own else handler(request))
        await loop.awaited.run(lambda loop: _record(loop, _alone(request, result)))
        return result

    def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
        """Record what a tool gave at last; write the episode of a run that belongs to no thread."""
        self._finish(self.loops.loop(thread := _thread(state["messages"])), thread, state["messages"])

    async def aafter_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
        """Do what `after_agent` does."""
        loop = self.loops.loop(thread := _thread(state["messages"]))
        await loop.awaited.run(lambda loop: self._finish(loop, thread, state["messages"]))

    def _finish(self, loop: Loop, thread: str, messages: Sequence[Any]) -> None:
        if messages and isinstance(messages[-1], ToolMessage):  # a tool whose result is the run's
            loop.sync([message for group in _dicts(messages) for message in group])
        if thread.startswith(_RUN):
            loop.end()

    # a request ---------------------------------------------------------------------------------------

    def _fitted(self, loop: Loop, request: Any) -> Any:
        """Give a request under the budget; what the window shows as it came are the messages that came."""
        messages = [*request.messages]
        groups = _dicts(messages)
        system = request.system_message.text if request.system_message is not None else ""
        theirs = [convert_to_openai_tool(tool) for tool in request.tools if getattr(tool, "name", "") not in OWN]
        given = [message for group in groups for message in group]
        sent = loop.fit(given, _newest(messages), tools=theirs, system=system)
        fitted = [*_restored(sent, messages, groups)]
        return request.override(messages=fitted, system_message=_joined(request.system_message, loop.opening()))


_RUN = "run-"
_TEXTS = ("text", "refusal")


def _thread(messages: Sequence[Any]) -> str:
    """Name the thread that a hook is called in; without one, the run, by its first message."""
    thread = get_config().get("configurable", {}).get("thread_id")
    return str(thread) if thread else f"{_RUN}{messages[0].id if messages else 'empty'}"


def _tool(tool: Tool) -> StructuredTool:
    def refused(**_: Any) -> str:
        raise InvalidArgument(f"{tool.name} is answered by FirsthandMiddleware.wrap_tool_call; it is no tool by itself")

    return StructuredTool(name=tool.name, description=tool.description, args_schema=dict(tool.parameters), func=refused)


def _answer(loop: Loop, call: Mapping[str, Any]) -> ToolMessage:
    return ToolMessage(loop.call(call["name"], call["args"]), tool_call_id=call["id"], name=call["name"])


def _alone(request: Any, result: Any) -> list[Any]:
    """Give the result of a tool that was called alone; several end in any order, so the next request records them."""
    calls = getattr(request.state["messages"][-1], "tool_calls", ())
    return [result] if len(calls) == 1 and isinstance(result, ToolMessage) else []


def _replies(response: Any) -> list[Any]:
    if isinstance(response, AIMessage):
        return [response]
    return list(getattr(getattr(response, "model_response", response), "result", ()))


def _record(loop: Loop, messages: Sequence[Any]) -> None:
    if dicts := [message for group in _dicts(messages) for message in group]:
        loop.add(dicts)


def _dicts(messages: Sequence[Any]) -> list[Dicts]:
    """Write each message as the log has it: one of openai-chat, or several."""
    return [_dicts_of(message) for message in messages]


def _dicts_of(message: Any) -> Dicts:
    try:
        return [_plain(dict(each)) for each in convert_to_openai_messages([message])]
    except (ValueError, TypeError, KeyError):  # blocks that have no form there: what they say as text
        role = {"human": "user", "ai": "assistant"}.get(message.type, "user")
        return [{"role": role, "content": message.text or repr(message.content)}]


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Move blocks of the model's that openai-chat does not have, as thoughts are, beside its text."""
    content = message.get("content")
    if message["role"] != "assistant" or not isinstance(content, list):
        return message
    texts = [block for block in content if isinstance(block, str) or block.get("type") in _TEXTS]
    blocks = [block for block in content if block not in texts]
    thoughts = [str(block.get("thinking") or block.get("reasoning") or "") for block in blocks]
    more = {"reasoning_content": "\n".join(filter(None, thoughts)), "blocks": blocks} if blocks else {}
    return message | {"content": texts} | more


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], groups: Sequence[Dicts]) -> Iterator[Any]:
    """Give the messages to send: those that came, where they are sent as they came, and what the window made else."""
    came: dict[str, deque[Any]] = {}
    for message, group in zip(messages, groups, strict=True):
        if len(group) == 1:
            came.setdefault(_key(group[0]), deque()).append(message)
    yield from (message for message in messages if isinstance(message, SystemMessage))
    for each in sent:
        if each["role"] != "system":  # which stands in the system message already
            waiting = came.get(_key(each))
            yield waiting.popleft() if waiting else convert_to_messages([dict(each)])[0]


def _key(message: Mapping[str, Any]) -> str:
    return json.dumps(message, sort_keys=True, default=repr)


def _joined(system: Any, preamble: str) -> Any:
    """Put the preamble behind the system message, whose own blocks stay as they are."""
    if not preamble or system is None:
        return SystemMessage(preamble) if preamble else system
    blocks = system.content if isinstance(system.content, list) else [{"type": "text", "text": system.content}]
    return system.model_copy(update={"content": [*blocks, {"type": "text", "text": f"\n\n{preamble}"}]})


def _newest(messages: Sequence[Any]) -> str:
    """Give the text of the newest message of the user's; empty without one."""
    return next((message.text for message in reversed(messages) if isinstance(message, HumanMessage)), "")
