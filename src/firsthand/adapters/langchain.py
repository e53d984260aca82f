"""LangChain's agents: a middleware that keeps what summarisation would throw away.

    agent = create_agent(model, tools, middleware=[FirsthandMiddleware("notes", agent="ada")], checkpointer=saver)

    before_agent      a name for a run that belongs to no thread
    wrap_model_call   the messages under the budget: what left stands in markers; the preamble in the system
                      message, what the user's message brings up at the end; then the reply into the log
    wrap_tool_call    recall, expand, task and decide; the result of another tool into the log
    after_agent       what is left; the episode, where the run belongs to no thread

The invariant: the messages of the graph are never changed, so it composes with any checkpointer; a message that the
window shows whole is the very object that came. A tool of the agent's own that is named as one of the memory's takes
its place. Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import (
    AIMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config

from firsthand.adapters.chat_messages import matched
from firsthand.adapters.loop import Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.errors import InvalidArgument
from firsthand.event import IdMaker
from firsthand.formats.tool_definitions import Tool

HOST = "langchain"

Dicts = list[dict[str, Any]]


class _State(AgentState):
    """The state of an agent, with the name of a run that belongs to no thread; the caller is not given it."""

    firsthand_run: Annotated[str, PrivateStateAttr]


class FirsthandMiddleware(Loops, AgentMiddleware):
    """A lossless window, recall and capture for the agents of `create_agent`; each thread is a session."""

    host = HOST
    tools: Any = ()
    state_schema: Any = _State

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Say whose memory it is; arguments as for `Loops`."""
        super().__init__(*arguments, **options)
        self.tools = [_tool(tool) for tool in TOOLS]

    # the hooks ---------------------------------------------------------------------------------------

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """Name a run of no thread, whatever messages it is sent; one that goes on has its name."""
        return {_RUN: IdMaker()().lower()} if _is_run() and _RUN not in state else None

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model with the messages under the budget, and record its reply."""
        loop = self.loop(_thread(request.state))
        response = handler(loop.guarded("window", lambda loop: self._fitted(loop, request), request))
        _record(loop, _replies(response))
        return response

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_model_call` does."""
        loop = self.loop(_thread(request.state))
        fitted = await loop.awaited.guarded("window", lambda loop: self._fitted(loop, request), request)
        response = await handler(fitted)
        await loop.awaited.run(lambda loop: _record(loop, _replies(response)))
        return response

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Answer a tool of the memory; of any other one record the result."""
        loop, call = self.loop(_thread(request.state)), request.tool_call
        result = _answer(loop, call) if request.tool in self.tools else handler(request)
        _record(loop, _alone(request, result))
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do what `wrap_tool_call` does."""
        loop, call = self.loop(_thread(request.state)), request.tool_call
        is_own = request.tool in self.tools
        result = await (loop.awaited.run(lambda loop: _answer(loop, call)) if is_own else handler(request))
        await loop.awaited.run(lambda loop: _record(loop, _alone(request, result)))
        return result

    def after_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
        """Record what a tool gave at last; write the episode of a run by itself."""
        self._finish(self.loop(_thread(state)), _is_run(), state["messages"])

    async def aafter_agent(self, state: Any, runtime: Any) -> None:  # noqa: ARG002 - LangChain's signature
        """Do what `after_agent` does."""
        messages, is_run = state["messages"], _is_run()
        await self.loop(_thread(state)).awaited.run(lambda loop: self._finish(loop, is_run, messages))

    def _finish(self, loop: Loop, is_run: bool, messages: Sequence[Any]) -> None:
        if messages and isinstance(messages[-1], ToolMessage):  # a tool whose result is the run's
            loop.sync(_dicts(messages))
        if is_run:
            loop.end()

    # a request ---------------------------------------------------------------------------------------

    def _fitted(self, loop: Loop, request: Any) -> Any:
        """Give a request under the budget; what the window shows as it came are the messages that came."""
        messages = [*request.messages]
        groups = [_dicts_of(message) for message in messages]
        came = [(group[0], message) for group, message in zip(groups, messages, strict=True) if len(group) == 1]
        system = request.system_message.text if request.system_message is not None else ""
        theirs = [_schema(convert_to_openai_tool(tool)) for tool in request.tools]
        sent = loop.fit([each for group in groups for each in group], tools=theirs, system=system)
        fitted = [message for message in messages if isinstance(message, SystemMessage)]
        for each, message in matched((each for each in sent if each["role"] != "system"), came):
            fitted.append(convert_to_messages([dict(each)])[0] if message is None else message)
        return request.override(messages=fitted, system_message=_joined(request.system_message, loop.opening()))


_RUN = "firsthand_run"  # of the state
_TEXTS = ("text", "refusal")


def _thread(state: Mapping[str, Any]) -> str:
    """Name the thread that a hook is called in, or the run.

    A run of no thread is `run-ID`. A run inside another one has its thread, and a list of its own: `THREAD/run-ID`.
    """
    thread = _configurable().get("thread_id")
    if not _is_run():
        return str(thread)
    run = f"run-{state.get(_RUN) or IdMaker()().lower()}"  # without a name: one that another middleware took away
    return f"{thread}/{run}" if thread else run


def _is_run() -> bool:
    """Say whether a hook is called in a run by itself: of no thread, or of a graph inside a graph."""
    return not _configurable().get("thread_id") or _is_inside()


def _is_inside() -> bool:
    return "|" in _configurable().get("checkpoint_ns", "")


def _configurable() -> Mapping[str, Any]:
    configurable: Mapping[str, Any] = get_config().get("configurable", {})
    return configurable


def _tool(tool: Tool) -> StructuredTool:
    def refused(**_: Any) -> str:
        raise InvalidArgument(f"{tool.name} is answered by FirsthandMiddleware.wrap_tool_call; it is no tool by itself")

    return StructuredTool(name=tool.name, description=tool.description, args_schema=dict(tool.parameters), func=refused)


def _schema(tool: Mapping[str, Any]) -> Tool:
    function = tool.get("function", {"name": tool.get("type", ""), "parameters": tool})  # or one of the provider's own
    return Tool(function["name"], function.get("description", ""), function.get("parameters", {}))


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
    if messages:
        loop.add(_dicts(messages))


def _dicts(messages: Sequence[Any]) -> Dicts:
    """Write messages as the log has them: each as one of openai-chat, or as several."""
    return [each for message in messages for each in _dicts_of(message)]


def _dicts_of(message: Any) -> Dicts:
    try:
        return [_plain(dict(each)) | _origin(message) for each in convert_to_openai_messages([message])]
    except (ValueError, TypeError, KeyError):  # blocks that have no form there: what they say as text
        role = {"human": "user", "ai": "assistant"}.get(message.type, "user")
        return [{"role": role, "content": message.text or repr(message.content), **_origin(message)}]


def _origin(message: Any) -> dict[str, str]:
    """Say whose words stand in the user's role, where it is not the user who runs the thread that says them."""
    if message.type != "human":
        return {}
    made = message.additional_kwargs.get("lc_source")  # by LangChain's own middleware, as a summary is
    return {"origin": str(made)} if made else {"origin": f"agent:{HOST}"} if _is_inside() else {}


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


def _joined(system: Any, preamble: str) -> Any:
    """Put the preamble behind the system message, whose own blocks stay as they are."""
    if not preamble or system is None:
        return SystemMessage(preamble) if preamble else system
    blocks = system.content if isinstance(system.content, list) else [{"type": "text", "text": system.content}]
    return system.model_copy(update={"content": [*blocks, {"type": "text", "text": f"\n\n{preamble}"}]})
