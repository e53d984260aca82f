"""Pydantic AI: a capability that gives an agent a window, recall and capture.

    agent = Agent(model, capabilities=[FirsthandCapability("notes", agent="ada")])

    get_instructions        the preamble
    get_wrapper_toolset     recall, expand, task and decide, beside the agent's tools
    prepare_model_request   the messages under the budget: what left stands in markers; what the user's message
                            brings up at the end
    after_model_request     the reply into the log; `after_run` puts the rest there

The invariant: the run's history is never changed; a message that the window shows whole is the very object that came.
A tool of the agent's own that is named as one of the memory's takes its place.
A conversation of Pydantic AI's is a session. Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import Tool as FunctionTool
from pydantic_ai.toolsets import FunctionToolset, WrapperToolset
from pydantic_core import to_jsonable_python

from firsthand.adapters.chat_messages import as_key, calls_of, matched, reply, result
from firsthand.adapters.loop import Loop, Loops, asked_by
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool

HOST = "pydantic-ai"
_WHOLE = -1  # the place of a reply, which is one message


class FirsthandCapability(Loops, AbstractCapability[Any]):
    """A lossless window, recall and capture for agents; each conversation is a session."""

    host = HOST

    def get_instructions(self) -> Any:
        """Give what the conversation is to read first, asked for at each request."""

        async def preamble(context: Any) -> str:
            return await self._of(context).awaited.run(lambda loop: loop.opening())

        return preamble

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """Put the tools of the memory beside those of the agent."""
        return _Beside(toolset, FunctionToolset([self._tool(tool) for tool in TOOLS], id=HOST))

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Put the messages under the budget; what the window shows as it came are the messages that came."""
        return await self._of(ctx).awaited.guarded(
            "window", lambda loop: _fitted(loop, request_context), request_context
        )

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:  # noqa: ARG002 - the framework's signature
        """Record the reply."""
        await self._of(ctx).awaited.add([_reply(response)])
        return response

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:  # noqa: ARG002 - the framework's signature
        """Know that an agent which a tool runs is asked by this one."""
        with asked_by(f"agent:{getattr(ctx.agent, 'name', None) or HOST}"):
            return await handler(args)

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """Record what no request had any more, as the results of output tools are."""
        await self._of(ctx).awaited.run(lambda loop: loop.sync([each for _, each in _dicts(result.all_messages())]))
        return result

    def _of(self, context: Any) -> Loop:
        return self.loop(context.conversation_id or context.run_id)

    def _tool(self, tool: Tool) -> FunctionTool[Any]:
        async def answer(context: Any, **arguments: Any) -> str:
            return await self._of(context).awaited.call(tool.name, arguments)

        return FunctionTool.from_schema(answer, tool.name, tool.description, dict(tool.parameters), takes_ctx=True)


@dataclasses.dataclass
class _Beside(WrapperToolset[Any]):
    """Tools of an agent, and those of the memory whose names are free."""

    own: Any

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        return {**await self.own.get_tools(ctx), **await self.wrapped.get_tools(ctx)}

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        toolset = self.own if tool.toolset is self.own else self.wrapped
        return await toolset.call_tool(name, tool_args, ctx, tool)


def _fitted(loop: Loop, request: Any) -> Any:
    came = [*_dicts(request.messages)]
    parameters, last = request.model_request_parameters, request.messages[-1]
    parts = parameters.instruction_parts
    system = last.instructions or "" if parts is None else "\n\n".join(part.content for part in parts)
    tools = [
        Tool(tool.name, tool.description or "", tool.parameters_json_schema)
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    sent = loop.fit([each for _, each in came], system=system.replace(loop.opening(), ""), tools=tools)
    return dataclasses.replace(request, messages=[*_restored(sent, request.messages, came)])


def _dicts(messages: Sequence[Any]) -> list[tuple[tuple[int, int], dict[str, Any]]]:
    """Write messages as the log has them, each with the places of its message and of its part."""
    dicts: list[tuple[tuple[int, int], dict[str, Any]]] = []
    for place, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            dicts.append(((place, _WHOLE), _reply(message)))
        else:
            by_tools = _by_tools(message)
            dicts += [
                ((place, number), each | ({"origin": by_tools} if by_tools and part.part_kind == "user-prompt" else {}))
                for number, part in enumerate(message.parts) if (each := _dict(part))
            ]  # fmt: skip
    return dicts


def _by_tools(request: ModelRequest) -> str:
    """Name the tools of a request's results, whose files and texts stand behind them as the user's prompts."""
    names = [part.tool_name for part in request.parts if isinstance(part, ToolReturnPart)]
    return f"tool:{','.join(dict.fromkeys(names))}" if names else ""


def _dict(part: Any) -> dict[str, Any]:
    """Write a part of a request; empty for what is only the framework's own, as a change of the tools is."""
    match part.part_kind:
        case "user-prompt":
            is_text = isinstance(part.content, str)
            return {"role": "user", "content": part.content if is_text else [*map(_item, part.content)]}
        case "system-prompt":
            return {"role": "system", "content": part.content}
        case "tool-return":
            return result(part.tool_call_id, part.model_response_str(), [*map(_plain, part.files)])
        case "retry-prompt" if part.tool_name:
            return result(part.tool_call_id, part.model_response())
        case "retry-prompt" | "retry-feedback":
            return {"role": "user", "content": part.model_response(), "origin": HOST}
        case _:
            return {}


def _reply(response: ModelResponse) -> dict[str, Any]:
    """Write a reply; parts that openai-chat does not have stand beside its text."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return reply(
        "".join(part.content for part in response.parts if isinstance(part, TextPart)),
        [(call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in calls],
        [part.content for part in response.parts if isinstance(part, ThinkingPart)],
        [_plain(part) for part in response.parts if not isinstance(part, TextPart | ToolCallPart)],
    )


def _item(item: Any) -> dict[str, Any]:
    """Write a piece of a user's message."""
    if isinstance(item, str) or item.kind in {"text-content", "structured-content"}:
        return {"type": "text", "text": item if isinstance(item, str) else item.content}
    if item.kind == "image-url" or (item.kind == "binary" and item.is_image):
        return {"type": "image_url", "image_url": {"url": item.data_uri if item.kind == "binary" else item.url}}
    return {"type": "file", "file": _plain(item)}


def _plain(value: Any) -> Any:
    return to_jsonable_python(value, bytes_mode="base64", fallback=repr)


def _restored(sent: Sequence[Mapping[str, Any]], messages: Sequence[Any], came: Sequence[Any]) -> list[Any]:
    """Give the messages to send: those that came, where they are sent as they came, and what the window made else."""
    rest = matched((each for each in sent if each["role"] != "system"), ((each, place) for place, each in came))
    parts = [part for message in messages for part in message.parts]
    restored: list[Any] = []
    for place, group in groupby(rest, lambda pair: pair[1] and pair[1][0]):
        if place is None:
            restored += [_made(each, parts) for each, _ in group]
            continue
        numbers, message = {where[1] for _, where in group if where}, messages[place]
        stay = [part for number, part in enumerate(message.parts) if number in numbers or _stays(part)]
        is_whole = _WHOLE in numbers or len(stay) == len(message.parts)
        restored.append(message if is_whole else dataclasses.replace(message, parts=stay))
    there = {id(part) for message in restored for part in message.parts}
    gone = [part for part in parts if isinstance(part, SystemPromptPart) and id(part) not in there]
    return [ModelRequest(gone), *restored] if gone else restored


def _stays(part: Any) -> bool:
    """Say whether a part of a request stays with it, whatever the window shows."""
    return isinstance(part, SystemPromptPart) or not _dict(part)


def _made(message: Mapping[str, Any], parts: Sequence[Any]) -> Any:
    """Make a message that the window made, with the pieces and names of those that came."""
    content = message.get("content") or ""
    if message["role"] == "assistant":
        calls = [ToolCallPart(name, arguments, identifier) for identifier, name, arguments in calls_of(message)]
        return ModelResponse([*([TextPart(content)] if content else []), *calls])
    if message["role"] == "tool":
        identifier = message["tool_call_id"]
        names = [part.tool_name for part in parts if getattr(part, "tool_call_id", "") == identifier]
        return ModelRequest([ToolReturnPart(names[0] if names else "tool", content, identifier)])
    if not isinstance(content, str):
        pieces = [piece for part in parts if isinstance(part, UserPromptPart) for piece in part.content]
        known = {as_key(_item(piece)): piece for piece in pieces}
        content = [known.get(as_key(piece), piece.get("text", "")) for piece in content]
    return ModelRequest([UserPromptPart(content)])
