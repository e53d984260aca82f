"""Google ADK: a plugin that gives the agents of an app a window, recall and capture, and a memory service.

    runner = Runner(app=App(name="shop", root_agent=agent, plugins=[FirsthandPlugin("notes")]), ...)

    before_model_callback   the contents under the budget: what left stands in markers; the preamble in the system
                            instruction, what the user's message brings up at the end; recall, expand, task, decide
    on_event_callback       replies and results into the log, as they come
    close                   the episodes

The invariant: the session of ADK is never changed; contents that the window shows whole have the very parts that
came, and what ADK puts among them for one request alone, such as an instruction, is passed on and not recorded. Each
user of an app has a namespace, each agent of a session a session of its own, since agents of one session are sent
different lists; an agent that is not sent earlier turns has one for each. Nothing here raises for a fault of
Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from firsthand import InvalidArgument, Memory
from firsthand.adapters.chat_messages import Part, Written, as_key, restored, result, written
from firsthand.adapters.loop import ASKER, Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.formats.tool_definitions import Tool

HOST, USER = "google-adk", "user"
TURN_DIGITS, TURNS_MAX = 12, 10_000


class _Users(Loops):
    """The sessions of an app's users."""

    host = HOST

    def __init__(self, store: Memory | str | os.PathLike[str] | None, *, namespace: str | None, **options: Any) -> None:
        if isinstance(store, Memory):
            if namespace not in {None, store.namespace}:
                raise InvalidArgument(f"the open memory is of {store.namespace!r}; got namespace={namespace!r}")
            if namespace is None:
                raise InvalidArgument(
                    "an open memory is one namespace, which all users of the app would share; give the path of its "
                    "store, or namespace=memory.namespace if they may"
                )
        super().__init__(store, namespace=namespace, **options)
        self._is_shared = namespace is not None

    def of(self, thread: str, app_name: str, user_id: str) -> Loop:
        """Give a session of a user's."""
        own = f"{quote(app_name, safe='')}/{quote(user_id, safe='@')}"
        return self.loop(thread, None if self._is_shared else own)


class FirsthandPlugin(BasePlugin):
    """A lossless window, recall and capture for the agents of an app."""

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        name: str = "firsthand",
        **options: Any,
    ) -> None:
        """Say whose memory it is; the store is opened by the first request.

        Args:
            store: as for `Memory`; an open memory with its namespace alone.
            namespace: of all users; None gives each user of each app one of his own, ``APP/USER``.
            name: ADK's, of the plugin.
            options: ``agent``, ``budget`` and ``counter`` of `Loops`.

        Raises:
            InvalidArgument: an open memory was given and no namespace, so that users would share it unasked.
        """
        super().__init__(name)
        self.sessions = _Users(store, namespace=namespace, **options)
        self._tools = [_MemoryTool(tool, self) for tool in TOOLS]
        self._turns: dict[str, str] = {}  # the newest of each agent that is not sent earlier ones

    @property
    def faults(self) -> list[str]:
        """What went wrong so far in the sessions that are open, in sentences."""
        return self.sessions.faults

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Put the contents under the budget, and offer the tools of the memory."""
        context = callback_context
        agent = getattr(getattr(context, "_invocation_context", None), "agent", None)
        if getattr(agent, "include_contents", "") == "none":
            self._begin(context, llm_request.contents)
        loop = self.of(context.session, context.agent_name, context.branch)
        await loop.awaited.guarded("window", lambda loop: _fit(loop, llm_request, context, agent), None)
        if not llm_request.config.response_schema:  # beside which models take no functions
            llm_request.append_tools([tool for tool in self._tools if tool.name not in llm_request.tools_dict])

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:  # noqa: ARG002 - ADK's signature
        """Know that an agent which the tool runs is asked by this one."""
        ASKER.set(f"agent:{tool_context.agent_name}")  # in the task of this one call

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Record what an agent or its tools said; the user's message is recorded by the request that has it."""
        if event.partial or event.author == "user" or not event.content or invocation_context.live_request_queue:
            return
        loop = self.of(invocation_context.session, event.author, event.branch)
        await loop.awaited.guarded("record", lambda loop: loop.add(_of_events([event])), None)

    async def close(self) -> None:
        """Write the episodes of the sessions that are open, and let the store go; a later request opens it again."""
        await asyncio.to_thread(self.sessions.close)

    def of(self, session: Any, agent: str, branch: str | None) -> Loop:
        """Give the session of an agent in a session of ADK's."""
        thread = _thread(session, agent, branch)
        return self.sessions.of(self._turns.get(thread, thread), session.app_name, session.user_id)

    def _begin(self, context: Any, contents: Sequence[Any]) -> None:
        """Name the turn whose contents an agent is sent alone; that of a turn that goes on begins as it did."""
        thread = _thread(context.session, context.agent_name, context.branch)
        first = next((each for each, author in zip(contents, _authors(contents, context), strict=True) if author), None)
        turn = f"{context.invocation_id}\n{first.model_dump_json() if first else ''}"
        self._turns.pop(thread, None)
        self._turns[thread] = f"{thread}/{hashlib.sha256(turn.encode('utf-8', 'replace')).hexdigest()[:TURN_DIGITS]}"
        if len(self._turns) > TURNS_MAX:
            del self._turns[next(iter(self._turns))]


class FirsthandMemoryService(BaseMemoryService):
    """The memory service of a runner: what `load_memory` asks, over all that the log has of a user."""

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        agent: str = HOST,
        records: bool = True,
    ) -> None:
        """Say whose memory it is; arguments as for `FirsthandPlugin`.

        Args:
            records: append the sessions that are added; False beside the plugin, which has recorded them.
        """
        self.sessions = _Users(store, namespace=namespace, agent=agent)
        self._records = records

    async def add_session_to_memory(self, session: Any) -> None:
        """Append what is new in a session."""
        messages = _of_events(session.events)
        if self._records:
            await self.sessions.of(session.id, session.app_name, session.user_id).awaited.sync(messages)

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Any], session_id: str | None = None, **_: Any
    ) -> None:
        """Append events of a session."""
        if self._records:
            await self.sessions.of(session_id or "events", app_name, user_id).awaited.add(_of_events(events))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recall: one entry, fenced, that says what was found and how far to trust it, or why nothing was."""
        text = await self.sessions.of("searches", app_name, user_id).awaited.search(query)
        content = types.Content(role="user", parts=[types.Part(text=text)])
        return SearchMemoryResponse(memories=[MemoryEntry(content=content, author="firsthand")])

    async def close(self) -> None:
        """Write the episodes of the sessions that were added, and let the store go."""
        await asyncio.to_thread(self.sessions.close)


class _MemoryTool(BaseTool):
    """One of recall, expand, task and decide."""

    def __init__(self, tool: Tool, plugin: FirsthandPlugin) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._parameters, self._plugin = dict(tool.parameters), plugin

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> str:
        loop = self._plugin.of(tool_context.session, tool_context.agent_name, tool_context.branch)
        return await loop.awaited.call(self.name, args)


# a request -------------------------------------------------------------------------------------------------


def _fit(loop: Loop, request: Any, context: Any, agent: Any) -> None:
    """Put a request under the budget, with what the session is told."""
    config, contents = request.config, request.contents
    ids, authors = _call_ids(contents, context.session.events, context.agent_name), _authors(contents, context)
    passed, came = _passed_on(contents, authors, agent), Written()
    for place, (content, author) in enumerate(zip(contents, authors, strict=True)):
        origin = {"origin": f"agent:{author}"} if author not in {"", USER} else {}
        if place not in passed:
            came += [({**message, **origin}, parts) for message, parts in _written(content, ids)]
    system = [config.system_instruction] if isinstance(config.system_instruction, str) else []
    if _has_instruction(agent):
        parts = (contents[place].parts for place in passed)
        system += [part.text for part, *more in parts if part.text and not more][:1]
    sent = loop.fit([message for message, _ in came], tools=_functions(config.tools), system="\n\n".join(system))
    request.contents = _beside(_restored(sent, came), contents, passed)
    request.append_instructions([preamble] if (preamble := loop.opening()) else [])


def _authors(contents: Sequence[Any], context: Any) -> list[str]:
    """Say of each content whether the session has it as the user's: `USER`, as of results, or empty where not.

    Of what another agent said, which ADK shows as the user's with the agent's name before it, it is that name.
    """
    events = context.session.events
    others, said = {event.author for event in events} - {USER, context.agent_name}, dict[str, list[Any]]()
    for event in events:
        if event.author == USER and event.content:
            said.setdefault(_text(event.content), []).append(event.content)
    return [
        USER if any(part.function_response for part in content.parts or ()) or content in said.get(_text(content), ())
        else next((name for name in others if content.role == USER and _is_of(name, content)), "")
        for content in contents
    ]  # fmt: skip


def _text(content: Any) -> str:
    return "\n".join(part.text or "" for part in content.parts or ())


def _is_of(agent: str, content: Any) -> bool:
    return any((part.text or "").startswith(f"[{agent}] ") for part in content.parts or ())


def _has_instruction(agent: Any) -> bool:
    """Say whether ADK puts the agent's instruction among the contents, since the system instruction is a static one."""
    return bool(getattr(agent, "static_instruction", None) and getattr(agent, "instruction", None))


def _passed_on(contents: Sequence[Any], authors: Sequence[str], agent: Any) -> list[int]:
    """Give the places of contents that ADK, or a tool, puts into this request alone: no event of the session has them.

    They stand among the user's newest contents, or, of a static instruction that is no text, ahead of all. Where
    nothing there is as the user said it, the last one is what a plugin made of that.
    """
    models = [place for place, content in enumerate(contents) if content.role == "model"]
    runs = [range(models[-1] + 1 if models else 0, len(contents))]
    if models and getattr(agent, "static_instruction", None):
        runs.insert(0, range(models[0]))
    passed: list[int] = []
    for run in runs:
        strange = [place for place in run if not authors[place]]
        is_known = any(authors[place] == USER for place in run) or (run and authors[run[0]])
        passed += strange if is_known else strange[: max(len(strange) - 1, int(_has_instruction(agent)))]
    return passed


def _beside(fitted: list[Any], contents: Sequence[Any], passed: Sequence[int]) -> list[Any]:
    """Put contents that are passed on where they stood: ahead of all, before the user's newest, or at the end."""
    begun = next((place for place, content in enumerate(contents) if content.role == "model"), 0)
    last = max((place for place in range(len(contents)) if place not in passed), default=-1)
    newest = max((place + 1 for place, content in enumerate(fitted) if content.role == "model"), default=0)
    ahead = [contents[place] for place in passed if place < begun]
    before = [contents[place] for place in passed if begun <= place < last]
    behind = [contents[place] for place in passed if place >= begun and place > last]
    return [*ahead, *fitted[:newest], *before, *fitted[newest:], *behind]


def _thread(session: Any, agent: str, branch: str | None) -> str:
    return f"{session.id}/{agent}{f'@{branch}' if branch else ''}"


def _call_ids(contents: Sequence[Any], events: Sequence[Any], agent: str) -> dict[int, str]:
    """Name the calls and results among contents, by the ``id`` of their parts; ADK leaves the names out of a request.

    What it leaves out stands in the agent's events; the newest call there is the newest in the request.
    """
    known: dict[str, list[str]] = {}
    for event in events:
        for call in event.get_function_calls() if event.author == agent else ():
            known.setdefault(as_key({"name": call.name, "args": call.args}), []).append(call.id or "")
    parts = [part for content in contents for part in content.parts or ()]
    names: dict[int, str] = {}
    for number, part in reversed([*enumerate(part for part in parts if part.function_call)]):
        call = part.function_call
        earlier = known.get(as_key({"name": call.name, "args": call.args}))
        name = earlier.pop() if earlier else ""
        names[id(part)] = call.id or name or f"{call.name}-{number}"
    waiting: list[tuple[str, str]] = []
    for part in parts:
        if part.function_call:
            waiting.append((part.function_call.name, names[id(part)]))
        elif result := part.function_response:
            place = next((at for at, (name, _) in enumerate(waiting) if name == result.name), None)
            named = waiting.pop(place)[1] if place is not None else f"{result.name}-result"
            names[id(part)] = result.id or named
    return names


def _written(content: Any, ids: Mapping[int, str]) -> Written:
    """Write a content as the log has it."""
    role = "assistant" if content.role == "model" else "user"
    return written(role, [_part(part, ids.get(id(part), "")) for part in content.parts or ()])


def _part(part: Any, identifier: str) -> Part:
    if call := part.function_call:
        return Part(part, call=(identifier, call.name, json.dumps(call.args or {})))
    if answer := part.function_response:
        response = answer.response or {}
        is_text = response.keys() == {"result"} and isinstance(response["result"], str)
        text = response["result"] if is_text else json.dumps(response, ensure_ascii=False, default=repr)
        return Part(part, result=result(identifier, text, [_plain(file) for file in answer.parts or ()]))
    if part.text is not None and not part.thought:
        return Part(part, text=part.text)
    return Part(part, thought=part.text if part.thought else None, plain=_plain(part))


def _plain(part: Any) -> Any:
    return part.model_dump(mode="json", exclude_none=True)


def _restored(sent: Sequence[Mapping[str, Any]], came: Written) -> list[Any]:
    """Give the contents to send; results that follow each other are one content, as models want them."""
    return [
        types.Content(role="model" if message.role == "assistant" else "user", parts=message.parts)
        for message in restored(sent, came, lambda text: types.Part(text=text), _result, _renamed)
    ]


def _result(part: Any, identifier: str, name: str, text: str) -> Any:
    own = part.function_response if part else types.FunctionResponse(id=identifier, name=name)
    response = types.FunctionResponse(id=own.id, name=own.name, response={"result": text})
    return types.Part(function_response=response)


def _renamed(part: Any, identifier: str) -> Any:
    sort = "function_call" if part.function_call else "function_response"
    return part.model_copy(update={sort: getattr(part, sort).model_copy(update={"id": identifier})})


def _functions(tools: Sequence[Any] | None) -> list[Tool]:
    """Give the agent's own tools, which count against the budget."""
    return [
        Tool(
            each.name, each.description or "",
            each.parameters_json_schema or (_plain(each.parameters) if each.parameters else {}),
        )
        for tool in tools or () for each in getattr(tool, "function_declarations", None) or ()
    ]  # fmt: skip


def _of_events(events: Sequence[Any]) -> list[dict[str, Any]]:
    contents = [event.content for event in events if event.content and not event.partial]
    ids = _call_ids(contents, (), "")
    return [message for content in contents for message, _ in _written(content, ids)]
