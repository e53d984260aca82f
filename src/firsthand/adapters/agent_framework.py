"""Microsoft Agent Framework: a context provider that gives an agent a window, recall and capture.

    agent = Agent(client, tools=tools, context_providers=[FirsthandProvider("notes", agent="ada")])

    before_run      the preamble among the instructions; recall, expand, task and decide; a chat middleware for
    each call       the messages under the budget: what left stands in markers; what the user's message brings up at
                    the end; then the reply into the log
    after_run       results of tools that no call of the model had any more
    FirsthandHistory   before the provider: the history out of the log, in place of the framework's own

The invariant: the history of the session is never changed; a message that the window shows whole is the very object
that came, but the user's newest text, which what it brings up is joined to.
Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import takewhile
from typing import Any

from agent_framework import (
    ChatMiddleware,
    Content,
    ContextProvider,
    FunctionMiddleware,
    FunctionTool,
    HistoryProvider,
    Message,
)
from pydantic_core import to_jsonable_python

from firsthand import InvalidArgument, Memory
from firsthand.adapters.chat_messages import Part, Written, calls_of, restored, result, written
from firsthand.adapters.loop import Loop, Loops, asked_by
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
        loop = self.session(agent, session)
        if preamble := await loop.awaited.run(lambda loop: loop.opening()):
            context.extend_instructions(self.source_id, preamble)
        theirs = {
            getattr(tool, "name", "") for tool in (getattr(agent, "default_options", None) or {}).get("tools") or ()
        }
        context.extend_tools(self.source_id, [_tool(tool, loop) for tool in TOOLS if tool.name not in theirs])
        context.extend_middleware(self.source_id, [_Window(loop), _Calls(getattr(agent, "name", None) or HOST)])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Record the results that the run ended with."""
        messages = context.response.messages if context.response else []
        last = [*takewhile(lambda message: message.role == "tool", reversed(messages))]
        loop = self.session(agent, session)
        await loop.awaited.guarded("record", lambda loop: loop.add(_messages(reversed(last))), None)

    def session(self, agent: Any, session: Any) -> Loop:
        """Give the session of an agent in a session of the framework's."""
        name = getattr(agent, "name", None)
        return self.loop(f"{session.session_id}/{name}" if name else session.session_id)


class FirsthandHistory(HistoryProvider):
    """The history of agents' sessions, from the log of the `FirsthandProvider` that stands behind it."""

    def __init__(self, provider: FirsthandProvider, *, source_id: str = "firsthand-history") -> None:
        super().__init__(source_id, store_inputs=False, store_outputs=False)
        self._provider = provider

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Give the run what the session has; nothing while the store cannot be read, which is told."""
        loop = self._provider.session(agent, session)
        context.extend_messages(self, await self.get_messages(loop.session))

    async def get_messages(self, session_id: str | None, **_: Any) -> list[Message]:
        """Give the messages of a session of the log; of an agent that has a name it is ``SESSION/NAME``."""
        loop = self._provider.loop(session_id or "")
        return _from_log(await loop.awaited.run(lambda loop: loop.ask("read", partial(_recorded, name=loop.name), [])))

    async def save_messages(self, session_id: str | None, messages: Any, **_: Any) -> None:
        """Leave it to the provider, which has recorded them."""


class _Window(ChatMiddleware):
    """What each call of the model goes through."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        if (context.options or {}).get("conversation_id"):  # the service has the history: what is sent is new
            await self.loop.awaited.guarded("record", lambda loop: loop.add(_messages(context.messages)), None)
        else:
            context.messages = await self.loop.awaited.guarded(
                "window", lambda loop: _fitted(loop, context), context.messages
            )
        await call_next()
        if context.stream and context.result is not None:
            context.result = context.result.with_result_hook(self._recorded)
        elif context.result is not None:
            await self._recorded(context.result)

    async def _recorded(self, response: Any) -> Any:
        await self.loop.awaited.guarded("record", lambda loop: loop.add(_messages(response.messages)), None)
        return response


class _Calls(FunctionMiddleware):
    """What each call of a tool goes through: an agent that it runs is asked by this one."""

    def __init__(self, agent: str) -> None:
        self.agent = agent

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002 - the framework's signature
        with asked_by(f"agent:{self.agent}"):
            await call_next()


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
    pairs = written(role, [*map(_part, message.contents)])
    origin = {"origin": f"agent:{message.author_name}"} if message.author_name and message.role == "user" else {}
    return [({**each, **origin}, parts) for each, parts in pairs]


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


def _result(content: Any, identifier: str, _: str, text: str) -> Any:
    return Content.from_function_result(identifier, id=content.id if content else None, result=text)


def _renamed(content: Any, identifier: str) -> Any:
    made = copy(content)
    made.call_id = identifier
    return made


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], came: Written) -> list[Any]:
    """Give the messages to send; results that follow each other are one message, as they came."""
    whole = {tuple(map(id, message.contents)): message for message in messages}
    system = [message for message in messages if message.role == "system"]
    fitted = restored(sent, came, Content.from_text, _result, _renamed)
    return [*system, *(whole.get(tuple(map(id, each.parts))) or Message(each.role, each.parts) for each in fitted)]


# the history -----------------------------------------------------------------------------------------------


def _recorded(memory: Memory, name: str) -> list[dict[str, Any]]:
    """Read the messages of a session that were not erased."""
    reader, events = memory.log.reader, memory.events(name)
    return [json.loads(reader.source_of(event)) for event in events if not event.part and event.meta.get("format")]


def _from_log(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Write recorded messages as the framework's; results that follow each other are one message."""
    made: list[Message] = []
    for message in messages:
        contents = _contents(message)
        if made and message["role"] == made[-1].role == "tool":
            made[-1].contents.extend(contents)
        else:
            made.append(Message(message["role"], contents))
    return made


def _contents(message: Mapping[str, Any]) -> list[Content]:
    content, files = message.get("content") or "", [Content.from_dict(block) for block in message.get("blocks", ())]
    if message["role"] == "tool":
        return [Content.from_function_result(message["tool_call_id"], result=[Content.from_text(content), *files])]
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
    said = [
        Content.from_text(piece["text"]) if piece["type"] == "text" else Content.from_dict(piece["file"])
        for piece in pieces if content
    ]  # fmt: skip
    calls = [Content.from_function_call(call, name, arguments=asked) for call, name, asked in calls_of(message)]
    return [*files, *said, *calls]
