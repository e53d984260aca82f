"""Microsoft Agent Framework: a context provider that gives an agent a window, recall and capture.

    agent = Agent(client, tools=tools, context_providers=[FirsthandProvider("notes", agent="ada")])

    before_run      the preamble among the instructions; recall, expand, task and decide; a chat middleware for
    each call       the messages under the budget: what left stands in markers; what the user's message brings up at
                    the end; then the reply into the log
    after_run       results of tools that no call of the model had any more

The invariant: the history of the session is never changed; a message that the window shows whole is the very object
that came, but the user's newest text, which what it brings up is joined to.
Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from agent_framework import ChatMiddleware, Content, ContextProvider, FunctionTool, Message
from pydantic_core import to_jsonable_python

from firsthand import InvalidArgument, Memory
from firsthand.adapters.chat_messages import Part, Written, restored, result, written
from firsthand.adapters.loop import Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool

HOST = "agent-framework"


class FirsthandProvider(Loops, ContextProvider):
    """A lossless window, recall and capture for agents; each agent of a session has a session of its own."""

    host = HOST

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        source_id: str = "firsthand",
        **options: Any,
    ) -> None:
        """Say whose memory it is; the store is opened by the first run.

        Args:
            store: an open memory, which stays open; or as for `Memory`.
            source_id: the framework's, of the provider.
            options: ``agent``, ``namespace``, ``budget`` and ``counter`` of `Loops`.
        """
        Loops.__init__(self, store, **options)
        ContextProvider.__init__(self, source_id)

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Give the run its preamble, tools and window.

        Raises:
            InvalidArgument: the agent loads its history at each call, behind the window, so there would be none.
        """
        if getattr(agent, "require_per_service_call_history_persistence", False):
            raise InvalidArgument(
                "require_per_service_call_history_persistence puts the whole history behind the window at each call; "
                "leave it out, or leave out FirsthandProvider"
            )
        loop = self._of(agent, session)
        if preamble := await loop.awaited.run(lambda loop: loop.opening()):
            context.extend_instructions(self.source_id, preamble)
        theirs = {
            getattr(tool, "name", "") for tool in (getattr(agent, "default_options", None) or {}).get("tools") or ()
        }
        context.extend_tools(self.source_id, [_tool(tool, loop) for tool in TOOLS if tool.name not in theirs])
        context.extend_middleware(self.source_id, _Window(loop))

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Record the results that the run ended with."""
        messages = context.response.messages if context.response else []
        last = [*takewhile(lambda message: message.role == "tool", reversed(messages))]
        await self._of(agent, session).awaited.add(_messages(reversed(last)))

    def _of(self, agent: Any, session: Any) -> Loop:
        name = getattr(agent, "name", None)
        return self.loop(f"{session.session_id}/{name}" if name else session.session_id)


class _Window(ChatMiddleware):
    """What each call of the model goes through."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        if (context.options or {}).get("conversation_id"):  # the service has the history: what is sent is new
            await self.loop.awaited.add(_messages(context.messages))
        else:
            context.messages = await self.loop.awaited.run(lambda loop: _fitted(loop, context))
        await call_next()
        if context.stream and context.result is not None:
            context.result = context.result.with_result_hook(self._recorded)
        elif context.result is not None:
            await self._recorded(context.result)

    async def _recorded(self, response: Any) -> Any:
        await self.loop.awaited.add(_messages(response.messages))
        return response


def _tool(tool: Tool, loop: Loop) -> FunctionTool:
    async def answer(**arguments: Any) -> str:
        return await loop.awaited.call(tool.name, arguments)

    return FunctionTool(name=tool.name, description=tool.description, func=answer, input_model=dict(tool.parameters))


# a request -------------------------------------------------------------------------------------------------


def _fitted(loop: Loop, context: Any) -> list[Any]:
    """Give the messages of a call under the budget, with what the session is told."""
    options, came = context.options or {}, [pair for message in context.messages for pair in _written(message)]
    functions = [tool for tool in options.get("tools") or () if isinstance(tool, FunctionTool)]
    tools = [Tool(function.name, function.description, function.parameters()) for function in functions]
    system = (options.get("instructions") or "").replace(loop.opening(), "")
    return _restored(loop.fit([message for message, _ in came], tools=tools, system=system), context.messages, came)


def _messages(messages: Any) -> list[dict[str, Any]]:
    return [each for message in messages for each, _ in _written(message)]


def _written(message: Any) -> Written:
    """Write a message as the log has it."""
    role = message.role if message.role in {"assistant", "system"} else "user"
    return written(role, [*map(_part, message.contents)])


def _part(content: Any) -> Part:
    match content.type:
        case "text":
            return Part(content, text=content.text or "")
        case "function_call":
            is_text = isinstance(content.arguments, str)
            arguments = content.arguments if is_text else json.dumps(content.arguments or {}, default=repr)
            return Part(content, call=(content.call_id, content.name, arguments))
        case "function_result":
            files = [_plain(item) for item in content.items or () if item.type != "text"]
            return Part(content, result=result(content.call_id, content.result or "", files))
        case sort:
            return Part(content, thought=content.text if sort == "text_reasoning" else None, plain=_plain(content))


def _plain(content: Any) -> Any:
    return to_jsonable_python(content.to_dict(), bytes_mode="base64", fallback=repr)


def _result(content: Any, text: str) -> Any:
    return Content.from_function_result(content.call_id, id=content.id, result=text)


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], came: Written) -> list[Any]:
    """Give the messages to send; results that follow each other are one message, as they came."""
    whole = {tuple(map(id, message.contents)): message for message in messages}
    system = [message for message in messages if message.role == "system"]
    fitted = restored(sent, came, Content.from_text, _result)
    return [*system, *(whole.get(tuple(map(id, each.parts))) or Message(each.role, each.parts) for each in fitted)]
