"""CrewAI: a memory object that keeps what a crew did, and recalls it word for word.

    with FirsthandMemory("notes", session="monday", agent="crew") as memory:
        Crew(agents=agents, tasks=tasks, memory=memory).kickoff()

    recall               what the log has, fenced, each with its pointer; the preamble before the first of them
    remember             a note in the log, in the words it was given, without a model
    extract_memories     what a task came to, into the log; there is nothing to extract
    hooks                what a task asks, each call of a tool and its result, into the log

The invariant: no model is asked and no vector is made. What the log does not take is raised to who asked for it to be
remembered; CrewAI's own calls go on (`adapters.loop`), and a recall that failed says so in its one match.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any, Self

from crewai.hooks import (
    register_after_tool_call_hook,
    register_before_llm_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_llm_call_hook,
)
from crewai.memory.types import MemoryMatch, MemoryRecord
from crewai.memory.unified_memory import Memory as CrewMemory
from crewai.tools import BaseTool
from crewai.utilities.i18n import I18N_DEFAULT
from crewai.utilities.pydantic_schema_utils import create_model_from_schema
from pydantic import PrivateAttr

from firsthand import Event, Memory, Query
from firsthand.adapters.chat_messages import OWN, reply
from firsthand.adapters.loop import UNREACHABLE, Loop
from firsthand.answer import HITS_MAX
from firsthand.context.tools import TOOLS
from firsthand.errors import InvalidArgument, StoreFailed

HOST = "crewai"
NOT_CAPTURED = OWN | {"search_memory", "save_to_memory"}  # the last two are CrewAI's own tools of a memory
HEAD = I18N_DEFAULT.slice("native_task").partition("{input}")[0].strip()
ENDS = [I18N_DEFAULT.slice("memory").partition("{memory}")[0]] + [
    I18N_DEFAULT.slice(name).partition("{input}")[2] for name in ("task", "task_no_tools")
]
"""What CrewAI's prompts have before and behind what somebody asks."""


class _Refused:
    """What stands in for CrewAI's storage, which nothing here has."""

    def __getattr__(self, name: str) -> Any:
        raise InvalidArgument(
            f"{name} is not offered by a log: ask recall, or Firsthand itself; to destroy events, ask Memory.erase"
        )


class _Tool(BaseTool):
    """A tool of the memory."""

    answer: Any

    def _run(self, **arguments: Any) -> str:
        return str(self.answer({name: value for name, value in arguments.items() if value is not None}))


class FirsthandMemory(CrewMemory):
    """A memory of CrewAI's on the log, for a crew or an agent."""

    _loop: Loop = PrivateAttr()
    _numbers: Any = PrivateAttr(default_factory=lambda: count(1))
    _is_opened: bool = PrivateAttr(default=False)

    def __init__(
        self,
        store: Memory | str | os.PathLike[str] | None = None,
        *,
        session: str,
        read_only: bool = False,
        **options: Any,
    ) -> None:
        """Say whose session it is; the store is opened by the first call. Make it before the crew begins.

        Args:
            store: an open memory, which stays open; or as for `Memory` of Firsthand.
            session: its name; ``crewai:SESSION`` in the log.
            read_only: record nothing, and remember nothing; CrewAI's word.
            options: ``agent``, of the whole crew, and ``namespace`` of `Loop`.
        """
        super().__init__(llm="none", storage="none", read_only=read_only)
        self._loop = Loop(store, host=HOST, session=session, records=not read_only, **options)
        register_before_llm_call_hook(self._asked)
        register_after_tool_call_hook(self._called)

    def model_post_init(self, _context: Any) -> None:
        """Open no database of CrewAI's."""
        self._storage: Any = _Refused()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Give itself: a copy of a crew has the same memory."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def faults(self) -> list[str]:
        """What went wrong so far, in sentences."""
        return self._loop.faults

    @property
    def tools(self) -> list[_Tool]:
        """Recall, expand, task and decide, for an agent; CrewAI adds search and save of its own accord."""
        return [
            _Tool(
                name=tool.name, description=tool.description, answer=partial(self._loop.call, tool.name),
                args_schema=create_model_from_schema(dict(tool.parameters), model_name=tool.name.title()),
            )
            for tool in TOOLS
        ]  # fmt: skip

    def close(self) -> None:
        """Write the episode, take no more from crews, and let the store go, if it was opened here."""
        unregister_before_llm_call_hook(self._asked)
        unregister_after_tool_call_hook(self._called)
        self._loop.end()
        self._loop.close()

    # CrewAI's memory -----------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        **_: Any,
    ) -> list[MemoryMatch]:
        """Give what the log has, best first; a scope or categories look among what was remembered in them alone."""

        def asked(memory: Memory) -> list[MemoryMatch]:
            most = HITS_MAX if scope or categories else min(max(limit, 1), HITS_MAX)
            answer = memory.recall(Query(query, memory.agent(self._loop.agent).scope(), hits_max=most))
            about = {"outcome": str(answer.outcome), **({"notes": "; ".join(answer.notes)} if answer.notes else {})}
            return [
                _match(memory.fence(hit.preview), hit.score, hit.pointer, about)
                for hit in answer
                if _suits(memory.event(hit.pointer), scope, categories or ())
            ][:limit]

        matches = self._loop.ask("recall", asked, [_match(UNREACHABLE, 0.0, "", {"outcome": "failed"})])
        if not self._is_opened and (preamble := self._loop.opening()):
            matches = [_match(preamble, 1.0, "preamble", {}), *matches]
        self._is_opened = True
        return matches

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        **_: Any,
    ) -> MemoryRecord | None:
        """Keep a note in the log, and give it; None where this memory is read-only.

        Raises:
            InvalidArgument: it is private: give it a namespace of its own.
            StoreFailed: the log did not take it.
        """
        if private:
            raise InvalidArgument("a session's notes are its agent's: give what is private a namespace of its own")
        if self.read_only:
            return None
        named = {"scope": scope, "categories": categories, "metadata": metadata, "source": source}
        facts = {name: fact for name, fact in {**named, "importance": importance}.items() if fact}

        def noted(memory: Memory) -> str:
            session = memory.session(self._loop.name, agent=self._loop.agent)
            return str(session.note(content, meta={HOST: facts}).pointer)

        if not (pointer := self._loop.ask("note", noted, "")):
            raise StoreFailed(f"this was not remembered: {self.faults[-1] if self.faults else UNREACHABLE}")
        return _match(content, 1.0, pointer, metadata or {}, scope=scope or "/", categories=categories or []).record

    def remember_many(self, contents: list[str], *arguments: Any, **named: Any) -> list[MemoryRecord]:
        """Keep several notes, at once."""
        records = [self.remember(content, *arguments, **named) for content in contents]
        return [record for record in records if record is not None]

    def extract_memories(self, content: str) -> list[str]:
        """Record what a task came to, of CrewAI's account of it the result; nothing is to be remembered again."""
        account = content.partition("\nAgent: ")[2]
        self._loop.say("assistant", account.partition("\nResult: ")[2] or content)
        return []

    # hooks ---------------------------------------------------------------------------------------------

    def _is_ours(self, context: Any) -> bool:
        crew = getattr(context.crew, "_memory", None)
        own = getattr(context.agent, "memory", None) or crew
        return (getattr(own, "_memory", None) or own) is self  # of a scope or a slice what it is a view of

    def _asked(self, context: Any) -> None:
        """Record what a task asks, before the first call of the model."""
        if self._is_ours(context) and context.iterations == 0:
            task = context.task
            asked = task.description if task is not None else _last(context.messages)
            role = getattr(context.agent, "role", "") or HOST
            own = getattr(context.crew, "tasks", None) or [task]
            origin = {} if any(task is each for each in own) else {"origin": "agent:coworker"}  # which delegates
            self._loop.add([{"role": "user", "content": asked, "name": str(role).strip(), **origin}])

    def _called(self, context: Any) -> None:
        """Record a call with its result; of the memory's own tools neither."""
        if self._is_ours(context) and context.tool_name not in NOT_CAPTURED:
            identifier = f"call_{next(self._numbers)}"
            call = (identifier, context.tool_name, json.dumps(context.tool_input, default=repr))
            result = {"role": "tool", "tool_call_id": identifier, "content": str(context.tool_result or "")}
            self._loop.add([reply("", [call]), result])


def _match(content: str, score: float, name: str, facts: dict[str, Any], **fields: Any) -> MemoryMatch:
    pointer = {"pointer": name} if name else {}
    record = MemoryRecord(id=name or HOST, content=content, metadata={**facts, **pointer}, **fields)
    return MemoryMatch(record=record, score=score, match_reasons=["words"])


def _suits(event: Event, scope: str | None, categories: Sequence[str]) -> bool:
    facts = event.meta.get(HOST)
    named = facts if isinstance(facts, dict) else {}
    within = f"{named.get('scope', '')}/".startswith(f"{scope.rstrip('/')}/") if scope else True
    return within and (not categories or not {*categories}.isdisjoint(named.get("categories", ())))


def _last(messages: Sequence[Any]) -> str:
    said = [str(message.get("content") or "") for message in messages if message.get("role") == "user"]
    asked = said[-1].strip().removeprefix(HEAD) if said else ""
    for end in ENDS:
        asked = asked.partition(end)[0]
    return asked.strip()
