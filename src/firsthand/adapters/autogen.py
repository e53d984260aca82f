"""AutoGen: a model context that forgets nothing, and a memory for agents that have a context of their own.

    context = FirsthandContext("notes", session="monday", agent="ada", tools=[ship], system="Be brief.")
    agent = AssistantAgent("ada", client, model_context=context, tools=context.tools, system_message="Be brief.")

    FirsthandContext    `add_message` into the log; `get_messages` under the budget, what left in markers, with the
                        preamble and what the user's newest message brings up
    FirsthandMemory     `update_context` adds both to any other context, and records it; `query` recalls, `add` notes
    tools               recall, expand, task and decide

The invariant: a message that the window shows whole is the very object that came, results of tools alone are put
together anew. Nothing here raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self

from autogen_core import FunctionCall, Image
from autogen_core.memory import Memory as AutoGenMemory
from autogen_core.memory import MemoryContent, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import BaseTool, FunctionTool
from pydantic import BaseModel, ConfigDict

from firsthand import Kind, Memory, Query
from firsthand.adapters.chat_messages import calls_of, matched, newest, reply, result
from firsthand.adapters.loop import UNREACHABLE, Loop
from firsthand.agents.agent_tools import REMEMBER_CHARACTERS_MAX, AgentTools
from firsthand.context.tools import TOOLS
from firsthand.errors import InvalidArgument
from firsthand.formats.tool_definitions import Tool

HOST = "autogen"
PEOPLE = ("user",)
"""Who speaks where nobody is named: AutoGen's source of a task."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Tool(BaseTool[_Arguments, str]):
    """A tool of the memory."""

    def __init__(self, loop: Loop, tool: Tool) -> None:
        super().__init__(_Arguments, str, tool.name, tool.description)
        self._loop, self._parameters = loop, dict(tool.parameters)

    @property
    def schema(self) -> Any:
        return {"name": self.name, "description": self.description, "parameters": self._parameters}

    async def run(self, args: Any, cancellation_token: Any) -> str:  # noqa: ARG002 - AutoGen's signature
        return await self._loop.awaited.call(self.name, args.model_dump())


class _Session:
    """One session of an agent: its loop, the memory's tools, and its end."""

    def __init__(self, loop: Loop, people: Collection[str]) -> None:
        self.loop, self.people = loop, frozenset(people)
        self.tools: list[Any] = [_Tool(loop, tool) for tool in TOOLS]

    @property
    def faults(self) -> list[str]:
        """What went wrong so far, in sentences."""
        return self.loop.faults

    def dicts(self, messages: Sequence[Any]) -> list[tuple[dict[str, Any], Any]]:
        """Write messages as the log has them, each with what it was; words of nobody of the people are an agent's."""
        pairs = [pair for message in messages for pair in _dicts(message)]
        return [
            ({**each, "origin": f"agent:{whole.source}"}, whole)
            if isinstance(whole, UserMessage) and whole.source not in self.people else (each, whole)
            for each, whole in pairs
        ]  # fmt: skip

    async def end(self) -> str:
        """Write the session's episode; gives its name, empty without one."""
        return await self.loop.awaited.end()

    async def close(self) -> None:
        """Write the episode, and let the store go, if it was opened here."""
        await self.end()
        await self.loop.awaited.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class FirsthandContext(_Session, ChatCompletionContext):
    """A model context: every message stands in the log, and the model gets a window."""

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        session: str,
        tools: Sequence[BaseTool[Any, Any] | Callable[..., Any]] = (),
        system: str = "",
        initial_messages: Sequence[Any] = (),
        people: Collection[str] = PEOPLE,
        **options: Any,
    ) -> None:
        """Say whose session it is; the store is opened by the first message.

        Args:
            store: an open memory, which stays open; or as for `Memory` of Firsthand.
            session: its name; ``autogen:SESSION`` in the log.
            tools: the agent's own, which count against the budget; the context's ``tools`` are these and the memory's.
            system: the agent's system message, which counts too.
            initial_messages: AutoGen's.
            people: the sources of messages that are a person's, as the name of a `UserProxyAgent` is.
            options: ``agent``, ``namespace``, ``budget`` and ``counter`` of `Loop`.
        """
        super().__init__(Loop(store, host=HOST, session=session, **options), people)
        ChatCompletionContext.__init__(self, [*initial_messages])
        self.system, self._is_recorded = system, not initial_messages
        theirs = [
            tool if isinstance(tool, BaseTool) else FunctionTool(tool, description=tool.__doc__ or "") for tool in tools
        ]
        self.tools = [*theirs, *self.tools]

    async def add_message(self, message: Any) -> None:
        """Add a message, and record it."""
        await super().add_message(message)
        if self._is_recorded:
            await self.loop.awaited.add([each for each, _ in self.dicts([message])])
        else:
            await self.loop.awaited.sync([each for each, _ in self.dicts(self._messages)])
            self._is_recorded = True

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on with the messages of a state."""
        await super().load_state(state)
        self._is_recorded = False

    async def get_messages(self) -> list[Any]:
        """Give the messages under the budget."""
        return await self.loop.awaited.guarded("window", self._fitted, [*self._messages])

    def _fitted(self, loop: Loop) -> list[Any]:
        messages = [*self._messages]
        came = self.dicts(messages)
        schemas = [tool.schema for tool in self.tools]
        tools = [Tool(each["name"], each.get("description", ""), each.get("parameters", {})) for each in schemas]
        sent = loop.fit([each for each, _ in came], tools=tools, system=self.system)
        first = [SystemMessage(content=preamble)] if (preamble := loop.opening()) else []
        system = [message for message in messages if isinstance(message, SystemMessage)]
        return [*first, *system, *_restored(sent, came)]


class FirsthandMemory(_Session, AutoGenMemory):
    """A memory of AutoGen's, for an agent whose context is another one than `FirsthandContext`."""

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        session: str,
        people: Collection[str] = PEOPLE,
        **options: Any,
    ) -> None:
        """Say whose session it is; arguments as for `FirsthandContext`."""
        super().__init__(Loop(store, host=HOST, session=session, **options), people)
        self._context: Any = None

    async def update_context(self, model_context: Any) -> UpdateContextResult:
        """Record what is new in a context, and add the preamble, once, and what the newest message brings up."""
        dicts = await self._synced(model_context)
        is_first, self._context = self._context is not model_context, model_context

        def told(loop: Loop) -> list[str]:
            return [*filter(None, [loop.opening() if is_first else "", loop.prompt(newest(dicts))])]

        texts = await self.loop.awaited.run(told)
        if texts:
            await model_context.add_message(SystemMessage(content="\n\n".join(texts)))
        return UpdateContextResult(memories=_result(texts))

    async def query(self, query: Any, cancellation_token: Any = None, **_: Any) -> MemoryQueryResult:  # noqa: ARG002 - AutoGen's signature
        """Recall; the outcome stands in the metadata of each result, and a store that fails is a result too."""
        text = query if isinstance(query, str) else _text(query.content)

        def asked(memory: Memory) -> MemoryQueryResult:
            answer = memory.recall(Query(text, memory.agent(self.loop.agent).scope()))
            about = {"outcome": str(answer.outcome), "notes": [*answer.notes]}
            hits = [(hit.preview, {"pointer": hit.pointer, "score": hit.score, **about}) for hit in answer]
            return _result(*([text for text, _ in hits], [fact for _, fact in hits]))

        failed = _result([UNREACHABLE], [{"outcome": "failed"}])
        return await self.loop.awaited.run(lambda loop: loop.ask("recall", asked, failed))

    async def add(self, content: Any, cancellation_token: Any = None) -> None:  # noqa: ARG002 - AutoGen's signature
        """Keep a note of the agent's; what is no short text is kept as a document."""
        body = content.content
        raw = body if isinstance(body, bytes) else b""
        text = "" if raw else _text(body)

        def noted(memory: Memory) -> None:
            if text and len(text) <= REMEMBER_CHARACTERS_MAX:
                AgentTools.of(memory, cwd="", agent=self.loop.agent).remember(text)
            else:
                mime = str(getattr(content.mime_type, "value", content.mime_type))
                memory.session(self.loop.name, agent=self.loop.agent).append(Kind.DOCUMENT, raw or text, media=mime)

        await self.loop.awaited.run(lambda loop: loop.ask("note", noted, None))

    async def clear(self) -> None:
        """Refuse: what the log has stays.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument(
            "a log is not cleared: begin another session or namespace, or destroy events by Memory.erase"
        )

    async def end(self) -> str:
        """Record what the context has got since, and write the episode."""
        if self._context is not None:
            await self._synced(self._context)
        return await super().end()

    async def _synced(self, context: Any) -> list[dict[str, Any]]:
        dicts = [each for each, _ in self.dicts(await context.get_messages())]
        await self.loop.awaited.sync(dicts)
        return dicts


def _result(texts: Sequence[str], facts: Sequence[dict[str, Any] | None] = ()) -> MemoryQueryResult:
    pairs = zip(texts, facts or [None] * len(texts), strict=True)
    return MemoryQueryResult(
        results=[MemoryContent(content=text, mime_type="text/plain", metadata=fact) for text, fact in pairs]
    )


def _text(content: Any) -> str:
    if isinstance(content, Image):
        return str(content.data_uri)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=repr)


def _dicts(message: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Write a message as the log has it, with itself; of several results each."""
    if isinstance(message, FunctionExecutionResultMessage):
        for executed in message.content:
            yield result(executed.call_id, executed.content), executed
    elif isinstance(message, AssistantMessage):
        is_text = isinstance(message.content, str)
        calls = [] if is_text else [(call.id, call.name, call.arguments) for call in message.content]
        yield reply(message.content if is_text else "", calls, [message.thought]), message
    elif isinstance(message, SystemMessage):
        yield {"role": "system", "content": message.content}, message
    else:
        content = message.content if isinstance(message.content, str) else [*map(_part, message.content)]
        name = {} if message.source == "user" else {"name": message.source}
        yield {"role": "user", "content": content, **name}, message


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": part.data_uri}}


def _restored(sent: Sequence[Mapping[str, Any]], came: Sequence[tuple[dict[str, Any], Any]]) -> list[Any]:
    """Give the messages to send, without those of the system: results that follow each other are one message."""
    names = {result.call_id: result.name for _, result in came if isinstance(result, FunctionExecutionResult)}
    restored: list[Any] = []
    for each, whole in matched((each for each in sent if each["role"] != "system"), came):
        made = _made(each, names) if whole is None else whole
        if not isinstance(made, FunctionExecutionResult):
            restored.append(made)
        elif restored and isinstance(restored[-1], FunctionExecutionResultMessage):
            restored[-1] = FunctionExecutionResultMessage(content=[*restored[-1].content, made])
        else:
            restored.append(FunctionExecutionResultMessage(content=[made]))
    return restored


def _made(message: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    """Make an object of a message that the window made."""
    content = message.get("content") or ""
    if message["role"] == "tool":
        identifier = message["tool_call_id"]
        name = names.get(identifier, "tool")
        return FunctionExecutionResult(content=content, name=name, call_id=identifier, is_error=False)
    if message["role"] == "assistant":
        calls = [FunctionCall(id=call, name=name, arguments=arguments) for call, name, arguments in calls_of(message)]
        return AssistantMessage(content=calls or content, thought=(content or None) if calls else None, source=HOST)
    parts = [content] if isinstance(content, str) else [
        part["text"] if part["type"] == "text" else Image.from_uri(part["image_url"]["url"]) for part in content
    ]  # fmt: skip
    is_text = all(isinstance(part, str) for part in parts)
    return UserMessage(content="\n\n".join(parts) if is_text else parts, source=message.get("name", "user"))
