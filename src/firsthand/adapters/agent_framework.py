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
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

from agent_framework import ChatMiddleware, Content, ContextProvider, FunctionTool, Message
from pydantic_core import to_jsonable_python

from firsthand import InvalidArgument, Memory
from firsthand.adapters.chat_messages import OWN, as_key, calls_of, matched, reply
from firsthand.adapters.loop import Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool

HOST = "agent-framework"

Dicts = list[tuple[dict[str, Any], list[Any]]]


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
        await self._of(agent, session).awaited.add(_written(reversed(last)))

    def _of(self, agent: Any, session: Any) -> Loop:
        name = getattr(agent, "name", None)
        return self.loop(f"{session.session_id}/{name}" if name else session.session_id)


class _Window(ChatMiddleware):
    """What each call of the model goes through."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    async def process(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        if (context.options or {}).get("conversation_id"):  # the service has the history: what is sent is new
            await self.loop.awaited.add(_written(context.messages))
        else:
            context.messages = await self.loop.awaited.run(lambda loop: _fitted(loop, context))
        await call_next()
        if context.stream and context.result is not None:
            context.result = context.result.with_result_hook(self._recorded)
        elif context.result is not None:
            await self._recorded(context.result)

    async def _recorded(self, response: Any) -> Any:
        await self.loop.awaited.add(_written(response.messages))
        return response


def _tool(tool: Tool, loop: Loop) -> FunctionTool:
    async def answer(**arguments: Any) -> str:
        return await loop.awaited.call(tool.name, arguments)

    return FunctionTool(name=tool.name, description=tool.description, func=answer, input_model=dict(tool.parameters))


# a request -------------------------------------------------------------------------------------------------


def _fitted(loop: Loop, context: Any) -> list[Any]:
    """Give the messages of a call under the budget, with what the session is told."""
    options, came = context.options or {}, [pair for message in context.messages for pair in _dicts(message)]
    tools = [
        {"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters()}}
        for tool in options.get("tools") or () if isinstance(tool, FunctionTool) and tool.name not in OWN
    ]  # fmt: skip
    system = (options.get("instructions") or "").replace(loop.opening(), "")
    return [*_restored(loop.fit([message for message, _ in came], tools=tools, system=system), context.messages, came)]


def _written(messages: Any) -> list[dict[str, Any]]:
    return [each for message in messages for each, _ in _dicts(message)]


def _dicts(message: Any) -> Dicts:
    """Write a message as the log has it, each result by itself, with the contents that it was written from."""
    contents = [*message.contents]
    if message.role == "assistant":
        calls = [content for content in contents if content.type == "function_call"]
        written = reply(
            "".join(content.text or "" for content in contents if content.type == "text"),
            [(call.call_id, call.name, _arguments(call.arguments)) for call in calls],
            [content.text for content in contents if content.type == "text_reasoning"],
            [_plain(content) for content in contents if content.type not in {"text", "function_call"}],
        )
        return [(written, contents)] if contents else []
    results: Dicts = [(_result(content), [content]) for content in contents if content.type == "function_result"]
    if not (others := [content for content in contents if content.type != "function_result"]):
        return results
    role = "system" if message.role == "system" else "user"
    is_text = len(others) == 1 and others[0].type == "text"
    return [*results, ({"role": role, "content": others[0].text if is_text else [*map(_item, others)]}, others)]


def _arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, default=repr)


def _result(content: Any) -> dict[str, Any]:
    files = [_plain(item) for item in content.items or () if item.type != "text"]
    written = {"role": "tool", "tool_call_id": content.call_id, "content": content.result or ""}
    return written | ({"blocks": files} if files else {})


def _item(content: Any) -> dict[str, Any]:
    """Write a piece of a user's message."""
    is_text = content.type == "text"
    return {"type": "text", "text": content.text} if is_text else {"type": "file", "file": _plain(content)}


def _plain(content: Any) -> Any:
    return to_jsonable_python(content.to_dict(), bytes_mode="base64", fallback=repr)


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], came: Dicts) -> Iterator[Any]:
    """Give the messages to send; results that follow each other are one message, as they came."""
    known = {name: content for message, contents in came for name, content in _pieces(message, contents)}
    whole = {tuple(map(id, message.contents)): message for message in messages}
    yield from (message for message in messages if message.role == "system")
    pairs = matched((message for message in sent if message["role"] != "system"), came)
    for is_result, group in groupby(pairs, lambda pair: pair[0]["role"] == "tool"):
        pieces = [(message["role"], contents or _made(message, known)) for message, contents in group]
        if is_result:
            pieces = [("tool", [content for _, contents in pieces for content in contents])]
        for role, contents in pieces:
            yield whole.get(tuple(map(id, contents))) or Message(role, contents)


def _pieces(message: Mapping[str, Any], contents: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Name the contents of a message that one which the window made may show again."""
    if message["role"] == "tool":
        yield f"result {message['tool_call_id']}", contents[0]
    elif message["role"] == "assistant":
        yield from ((f"call {content.call_id}", content) for content in contents if content.type == "function_call")
    else:
        yield from ((as_key(_item(content)), content) for content in contents)


def _made(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Any]:
    """Write a message that the window made as contents, with those that came."""
    content = message.get("content") or ""
    if message["role"] == "tool":
        result = known[f"result {message['tool_call_id']}"]
        return [Content.from_function_result(result.call_id, id=result.id, result=content)]
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [known.get(as_key(piece)) or Content.from_text(piece.get("text", "")) for piece in pieces if content]
    return [*texts, *(known[f"call {name}"] for name, _, _ in calls_of(message))]
