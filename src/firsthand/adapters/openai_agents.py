"""The OpenAI Agents SDK: a session in the log, and a window for each call of the model.

    async with FirsthandSession("monday", "notes", agent="ada") as session:
        agent = Agent(name="ada", tools=[*tools, *session.tools])
        await Runner.run(agent, "Ship it.", session=session, run_config=session.run_config())

    get_items, add_items, pop_item, clear_session   the SDK's `Session`: items are events, what is taken back is marked
    call_model_input_filter                         the items under the budget, with preamble and recall
    session_input_callback                          recall alone, for runs whose whole history fits
    FirsthandHooks                                  records a run that has no session

The invariant: the session's items are those that were added and not taken back, whatever else stands in its log:
lists that a handoff rewrote, and what was recalled, are noted there as no items. A list of one of several runs at
once, which lacks what the others add, goes to the model as it is as long as the budget has room for it. While the
store fails the items are kept in this process; nothing raises for a fault of Firsthand's (`adapters.loop`).
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit
from agents.run_config import ModelInputData

from agents import FunctionTool, RunConfig, RunHooks
from firsthand import Budget, Draft, Kind, Memory, moment
from firsthand.adapters.chat_messages import as_key, newest, text_of
from firsthand.adapters.loop import THREADS_MAX, Loop, Loops
from firsthand.context.tools import TOOLS
from firsthand.event import IdMaker, to_text
from firsthand.formats import OPENAI_RESPONSES
from firsthand.formats.tool_definitions import Tool, schemas
from firsthand.tokens import estimate
from firsthand.tokens.tokenizers import named

HOST = "openai-agents"
GONE = "gone"  # of the fact of a mark: ids of events that are items no more
GONE_MAX = 1_000  # that one mark names

_T = TypeVar("_T")
Item = Any  # a TypedDict of the SDK's, one of many


class _Entry:
    """An item of the session: as JSON, and the id of its event; empty until it is read from the log."""

    def __init__(self, text: str, event_id: str = "") -> None:
        self.text, self.id = text, event_id


class Conversation(Loop):
    """A loop whose session is a list of items that can be taken back."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, host=HOST, format=OPENAI_RESPONSES, **options)
        self._entries: list[_Entry] = []
        self._marks: list[Sequence[str]] = []  # that are not appended yet
        self._ahead: list[_Entry] = []  # that the window appended of a list, and nobody added yet
        self._reached = 0
        self._handed_out: set[str] = set()

    # items -------------------------------------------------------------------------------------------

    def items(self, limit: int | None = None) -> list[Item]:
        """Give the newest items, in order; None gives all."""
        with self._lock:
            self._safely("read", self._followed, None)
            entries = self._entries if limit is None else self._entries[-limit:] if limit > 0 else []
            return [json.loads(entry.text) for entry in entries]

    def extend(self, items: Sequence[Item]) -> None:
        """Append items; what was only recalled for them is none."""
        with self._lock:
            self._safely("read", self._followed, None)
            entries = [self._entry(as_key(item)) for item in items if text_of(item) not in self._handed_out]
            self._entries += entries
            self.add([json.loads(entry.text) for entry in entries if not entry.id])
            self._safely("read", self._followed, None)

    def _entry(self, text: str) -> _Entry:
        """Give the entry of a new item; the SDK adds the input of a streamed run after the model has seen it."""
        ahead = next((entry for entry in self._ahead if entry.text == text), None)
        if ahead is None:
            return _Entry(text)
        self._ahead.remove(ahead)
        return ahead

    def pop(self) -> Item | None:
        """Take the newest item back, and give it; None where there is none. Its event stays."""
        with self._lock:
            self._safely("read", self._followed, None)
            entry = self._entries.pop() if self._entries else None
            self._forget([entry] if entry else [])
            return json.loads(entry.text) if entry else None

    def clear(self) -> None:
        """Take every item back; the events stay."""
        with self._lock:
            self._safely("read", self._followed, None)
            entries, self._entries = self._entries, []
            self._forget(entries)

    def _forget(self, entries: Sequence[_Entry]) -> None:
        """Mark events as no items, now or as soon as the store takes it; what waits for the store goes."""
        if self._waiting and (count := sum(not entry.id for entry in entries)):
            del self._waiting[-1].messages[-count:]
        ids = [entry.id for entry in entries if entry.id]
        self._marks += [ids[start : start + GONE_MAX] for start in range(0, len(ids), GONE_MAX)]
        self._safely("record", self._mark, None)

    def _mark(self) -> None:
        if self._marks and self._records():
            drafts = [
                Draft(Kind.SESSION, b"", meta={HOST: {GONE: [*ids]}}, origin=HOST, time=moment.now())
                for ids in self._marks
            ]
            self._host().tools.space.append(drafts, session=self.name)
            self._marks = []

    def _followed(self) -> None:
        """Take in what was appended since, by whichever process."""
        self._mark()
        space = self._host().tools.space
        head = space.position
        if head <= self._reached:
            return
        reader = space.log.reader
        for event in reader.events(
            space.namespace, session=self.name, after=self._reached, before=head + 1,
            damaged=lambda _, error: self._tell("read", error),
        ):  # fmt: skip
            marked = event.meta.get(HOST)
            if isinstance(marked, dict):
                gone = {*marked.get(GONE, ())}
                self._entries = [entry for entry in self._entries if entry.id not in gone]
            elif not event.part and event.meta.get("format") == OPENAI_RESPONSES:  # an erased one has no meta
                self._take(as_key(json.loads(to_text(reader.source_of(event)))), event.id)
        self._reached = head

    def _take(self, text: str, event_id: str) -> None:
        """Take in the event of an item: that of the oldest one which waits for its own, or a further one."""
        place = next((place for place, entry in enumerate(self._entries) if not entry.id), len(self._entries))
        if place < len(self._entries) and self._entries[place].text == text:
            self._entries[place].id = event_id
        else:
            self._entries.insert(place, _Entry(text, event_id))

    # a call of the model -------------------------------------------------------------------------------

    def fit(self, messages: Sequence[Item], *, tools: Sequence[Tool], system: str) -> list[Item]:
        """Give items under the budget; none that is only in them becomes one of the session."""
        with self._lock:
            self._safely("read", self._followed, None)
            if self._lacks(messages) and (whole := self._whole(messages, tools, system)):
                return whole
            self._forget(self._ahead)  # nobody added them, so they were of a list that somebody rewrote
            self._ahead = []
            before, texts = {id(entry) for entry in self._entries}, {as_key(item) for item in messages}
            sent = super().fit(messages, tools=tools, system=system)
            self._waiting = [waiting for waiting in self._waiting if not waiting.is_list]  # the SDK adds what is new
            self._safely("record", lambda: self._set_aside(before, texts), None)
            return sent

    def _lacks(self, messages: Sequence[Item]) -> bool:
        """Say whether a list has items of the session in their order, new ones behind them, and not all between."""
        keys, known = [as_key(item) for item in messages], [entry.text for entry in (*self._entries, *self._ahead)]
        at, first = 0, len(known) if self._entries else 0
        for place, text in enumerate(known):
            if at < len(keys) and text == keys[at]:
                at, first = at + 1, min(first, place)
        return at < len(known) - first and not {*keys[at:]} & {*known}

    def _whole(self, messages: Sequence[Item], tools: Sequence[Tool], system: str) -> list[Item]:
        """Give a list as it is, behind it what its newest message brings up; empty where that exceeds the budget."""
        brought = self.prompt(newest(messages))
        sent = [*messages, *([{"role": "user", "content": brought}] if brought else [])]
        counter = named(self.counter) if isinstance(self.counter, str) else self.counter or estimate
        beside = [*schemas(tools, self.format), system, self.opening()]
        budget = self.budget if isinstance(self.budget, Budget) else Budget(self.budget)
        return sent if counter(as_key({"input": sent, "beside": beside})) <= budget.settled.tokens_max else []

    def _set_aside(self, before: set[int], texts: set[str]) -> None:
        """Put aside what the window appended of a list: it is no item before somebody adds it."""
        self._followed()
        self._ahead = [entry for entry in self._entries if id(entry) not in before and entry.text in texts]
        self._entries = [entry for entry in self._entries if entry not in self._ahead]

    def finish(self) -> str:
        """Write the episode."""
        with self._lock:
            self._forget(self._ahead)
            self._ahead = []
            return self.end()

    def brought(self, items: Sequence[Item]) -> str:
        """Give what new items bring up; it is no item when it is added with them."""
        text = self.prompt(newest(items))
        self._handed_out |= {text} if text else set()
        return text


class Runs(Loops):
    """The runs of agents inside the tools of a session's agents: each has a list, and so a session, of its own."""

    host = HOST

    def __init__(self, loop: Conversation) -> None:
        super().__init__(
            loop.handles, agent=loop.agent, namespace=loop.namespace, budget=loop.budget, counter=loop.counter
        )
        self._options["format"] = OPENAI_RESPONSES
        self._session = loop.session
        self._agents: list[tuple[Any, str]] = []  # that are tools, each with the name of one whose tool it is
        self._lists: dict[str, Sequence[Item]] = {}

    def current(self, agent: Any, items: Sequence[Item]) -> Loop | None:
        """Give the run whose list goes on with these items; None where it is the session's own.

        The SDK hands the configuration of a run on to the agents that are its tools (`Agent.as_tool`), and says
        nowhere which run calls a filter.
        """
        self._agents += [
            (inner, agent.name) for tool in agent.tools
            if (inner := getattr(tool, "_agent_instance", None)) and not self._asker(inner)
        ]  # fmt: skip
        if not (asker := self._asker(agent)):
            return None
        longer = (name for name, known in reversed(self._lists.items()) if _goes_on(items, known))
        name = next(longer, "") or f"{self._session}/{agent.name}-{IdMaker()().lower()}"
        self._lists.pop(name, None)
        self._lists[name] = [*items]
        if len(self._lists) > THREADS_MAX:
            del self._lists[next(iter(self._lists))]
        loop = self.loop(name)
        loop.asker = asker
        return loop

    def _asker(self, agent: Any) -> str:
        return next((f"agent:{outer}" for inner, outer in self._agents if inner is agent), "")


def _goes_on(items: Sequence[Item], known: Sequence[Item]) -> bool:
    return len(items) > len(known) and [*items[: len(known)]] == [*known]


def _fitted(loop: Loop, data: Any, tools: Sequence[Tool]) -> ModelInputData:
    """Give the input of a call of the model under the budget."""
    items, instructions = data.input, data.instructions
    sent, texts = loop.fit(items, tools=tools, system=instructions or ""), {as_key(item) for item in items}
    while sent and sent[0].get("role") in {"system", "developer"} and as_key(sent[0]) not in texts:
        sent = sent[1:]  # which the instructions say
    return ModelInputData(input=sent, instructions="\n\n".join(filter(None, (instructions, loop.opening()))) or None)


class FirsthandSession:
    """A session of the SDK's whose items are events, with a window, recall and capture."""

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Say which session; the store is opened by the first call.

        Args:
            session_id: its name; ``openai-agents:ID`` in the log.
            store: an open memory, which stays open; or as for `Memory`.
            session_settings: the SDK's; its limit is the usual one of `get_items`.
            options: ``agent``, ``namespace``, ``budget`` and ``counter`` of `Loop`.
        """
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self.loop = Conversation(store, session=session_id, **options)
        self.runs = Runs(self.loop)
        self.tools: list[FunctionTool] = [self._tool(tool) for tool in TOOLS]

    @property
    def faults(self) -> list[str]:
        """What went wrong so far, in sentences."""
        return [*self.loop.faults, *self.runs.faults]

    # the SDK's protocol --------------------------------------------------------------------------------

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """Give the newest items in the order of the conversation; a limit of 0 or less gives none."""
        most = resolve_session_limit(limit, self.session_settings)
        return await self._ask(lambda loop: loop.items(most))

    async def add_items(self, items: list[Item]) -> None:
        """Append items."""
        await self._do(lambda loop: loop.extend(items))

    async def pop_item(self) -> Item | None:
        """Take the newest item back; None where there is none."""
        return await self._do(lambda loop: loop.pop())

    async def clear_session(self) -> None:
        """Take every item back."""
        await self._do(lambda loop: loop.clear())

    # the run -------------------------------------------------------------------------------------------

    def run_config(self, **fields: Any) -> RunConfig:
        """Make a run's configuration with the window in it; ``fields`` are those of `RunConfig`."""
        return RunConfig(call_model_input_filter=self.call_model_input_filter, **fields)

    async def call_model_input_filter(self, data: Any) -> ModelInputData:
        """Give the model its items under the budget: markers for what left, the preamble, what the message brings up.

        Not for conversations that the provider keeps (``conversation_id``, ``previous_response_id``).
        """
        functions = [tool for tool in data.agent.tools if isinstance(tool, FunctionTool)]
        tools = [Tool(tool.name, tool.description, tool.params_json_schema) for tool in functions]
        loop = self.runs.current(data.agent, data.model_data.input) or self.loop
        came = data.model_data
        return await loop.awaited.guarded("window", lambda loop: _fitted(loop, came, tools), came)

    async def session_input_callback(self, history: list[Item], new: list[Item]) -> list[Item]:
        """Put what the new message brings up before it; it is in this run's input, and no item of the session."""
        text = await self._ask(lambda loop: loop.brought(new))
        return [*history, *([{"role": "user", "content": text}] if text else []), *new]

    def _tool(self, tool: Tool) -> FunctionTool:
        async def answered(_context: Any, arguments: str) -> str:
            return await self._ask(lambda loop: loop.call(tool.name, _arguments(arguments)))

        schema = dict(tool.parameters)
        return FunctionTool(tool.name, tool.description, schema, answered, strict_json_schema=False)

    # the end -------------------------------------------------------------------------------------------

    async def end(self) -> str:
        """Write the session's episode, and those of runs inside its tools; gives its name, empty without one."""
        await asyncio.to_thread(self.runs.close)
        return await self._do(lambda loop: loop.finish())

    async def close(self) -> None:
        """Let the store go, if it was opened here."""
        await self.loop.awaited.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()
        await self.close()

    async def _ask(self, function: Callable[[Conversation], _T]) -> _T:
        return await self.loop.awaited.run(lambda _: function(self.loop))

    async def _do(self, function: Callable[[Conversation], _T]) -> _T:
        """Do what changes the session to its end, also where the caller is cancelled meanwhile."""
        return await asyncio.shield(asyncio.ensure_future(self._ask(function)))


class FirsthandHooks(RunHooks):
    """Records one run that has no session: its input, replies and results, and at its end the episode."""

    def __init__(
        self, store: Memory | str | os.PathLike[str] | None = None, *, session: str = "", **options: Any
    ) -> None:
        name = session or IdMaker()().lower()
        self.loop = Loop(store, host=HOST, session=name, format=OPENAI_RESPONSES, **options)
        self._items: list[Item] = []
        self._outputs: dict[str, Item | None] = {}

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: str | None, input_items: list[Item]) -> None:  # noqa: ARG002 - the SDK's signature
        self._items, self._outputs = [*input_items], {}
        await self.loop.awaited.sync(self._items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:  # noqa: ARG002 - the SDK's signature
        replies = [dict(item) for item in response.to_input_items()]
        self._outputs = {item["call_id"]: None for item in replies if item.get("type") == "function_call"}
        self._items += replies
        await self.loop.awaited.sync(self._items)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:  # noqa: ARG002 - the SDK's signature
        """Record the results of a reply's calls when the last of them is there, in the order of the calls."""
        identifier = getattr(context, "tool_call_id", "")
        if identifier in self._outputs:
            self._outputs[identifier] = {
                "call_id": identifier, "output": str(result), "type": "function_call_output",
            }  # fmt: skip
            outputs = [item for item in self._outputs.values() if item is not None]
            if len(outputs) == len(self._outputs):
                await self.loop.awaited.sync([*self._items, *outputs])

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:  # noqa: ARG002 - the SDK's signature
        await self.loop.awaited.end()
        await self.loop.awaited.close()


def _arguments(text: str) -> dict[str, Any]:
    """Read the arguments of a call; what is no JSON object is handed on for the tool to refuse."""
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {"arguments": text}
