"""A session: a run of turns to append to, and the doors to its window and its executors.

It decides nothing: it names the session, and hands what it is given to the memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firsthand import event, fence, moment
from firsthand.event import INJECTED, ByteSource, Draft, Event, Kind, Trust
from firsthand.log.append import Appended
from firsthand.log.prepare import BATCH_EVENTS_MAX, check_name
from firsthand.moment import Moment

if TYPE_CHECKING:
    from firsthand.context.executors import Executor
    from firsthand.context.session_window import SessionWindow
    from firsthand.context.tools import PullLimits
    from firsthand.memory import Memory
    from firsthand.pointer import Pointer
    from firsthand.tokens import TokenCounter
    from firsthand.window import Budget

Content = str | bytes | ByteSource


class Session:
    """A run of turns to append to. The session begins with its first event."""

    def __init__(self, memory: Memory, name: str, agent: str) -> None:
        self._memory, self.name, self.agent_name = memory, check_name(name, "session", empty=False), agent

    def append(self, kind: Kind, content: Content, **fields: Any) -> Appended:
        """Append one event of any kind; ``fields`` are those of `Draft`.

        The event's time is now, unless it is given, or an id is: a retry under the same id must be the same event.
        """
        if "id" not in fields:
            fields.setdefault("time", moment.now())
        draft = Draft(kind, _bytes(content), **fields)
        return self._memory.append([draft], session=self.name)[0]

    def user(self, text: Content, **fields: Any) -> Appended:
        """Append a user message; it begins a turn."""
        return self.append(Kind.USER_MESSAGE, text, **{"origin": "user", "trust": Trust.TRUSTED} | fields)

    def agent(self, text: Content, **fields: Any) -> Appended:
        """Append an agent message."""
        return self.append(Kind.AGENT_MESSAGE, text, **self._by_agent() | fields)

    def reasoning(self, text: Content, **fields: Any) -> Appended:
        """Append an agent's reasoning."""
        return self.append(Kind.REASONING, text, **self._by_agent() | fields)

    def system(self, text: Content, **fields: Any) -> Appended:
        """Append a system prompt."""
        return self.append(Kind.SYSTEM, text, **{"origin": "system", "trust": Trust.TRUSTED} | fields)

    def note(
        self,
        text: str | bytes,
        *,
        sources: Iterable[str | Pointer | Appended] = (),
        situations: Sequence[str] | None = None,
        sort: str = "note",
        **fields: Any,
    ) -> Appended:
        """Append a note to this session; `Memory.note` says what the arguments are, and what was left out."""
        from firsthand.notes.writer import note

        fields = self._by_agent() | fields
        given: dict[str, Any] = {"sources": sources, "situations": situations, "sort": sort, "fields": fields}
        return note(self._memory, text, session=self.name, **given).event

    def tool_call(
        self, tool: str, arguments: Mapping[str, Any], *, call_id: str | None = None, **fields: Any
    ) -> Appended:
        """Append a tool call; its id (made when None) joins it to its result."""
        if "id" not in fields:
            fields.setdefault("time", moment.now())
        identifier = fields.pop("id", None) or event.IdMaker()()
        meta = {"tool": tool, "call_id": call_id or f"call_{identifier.lower()}"} | dict(fields.pop("meta", {}))
        content = json.dumps(arguments, ensure_ascii=False)
        fields = {"media": "application/json"} | self._by_agent() | fields
        return self.append(Kind.TOOL_CALL, content, id=identifier, meta=meta, **fields)

    def tool_result(self, call: str | Appended, content: Content, *, tool: str = "", **fields: Any) -> Appended:
        """Append a tool's result, of any size: text, bytes, or a binary file to stream from.

        Args:
            call: the call's id, or what `tool_call` returned.
        """
        meta = {"call_id": call if isinstance(call, str) else f"call_{call.id.lower()}"}
        meta |= {"tool": tool} if tool else {}
        meta |= dict(fields.pop("meta", {}))
        origin = {"origin": f"tool:{tool}" if tool else "tool", "trust": Trust.UNTRUSTED}
        return self.append(Kind.TOOL_RESULT, content, meta=meta, **origin | fields)

    def append_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        format: str | None = None,  # noqa: A002
        *,
        time: Moment | None = None,
    ) -> list[Appended]:
        """Append a provider's messages; `messages` gives them back as they were.

        All or none, up to 10,000 events; more are appended in several transactions, in order.

        Args:
            format: ``openai-chat``, ``openai-responses`` or ``anthropic``; None looks at them.
            time: when they were said; None is kept as unknown.

        Raises:
            FormatError: they are not of the format.
        """
        from firsthand import formats

        name = format or formats.detect(messages)
        records = formats.named(name).to_records(messages)
        key = self._memory._log.reader.fence_key()  # noqa: SLF001 - Memory and Session are one room
        groups: list[list[Draft]] = [[]]
        for record in records:
            if len(groups[-1]) + len(record.drafts) > BATCH_EVENTS_MAX:
                groups.append([])
            groups[-1] += (_in_format(draft, name, key, time) for draft in record.drafts)
        return [one for group in groups if group for one in self._memory.append(group, session=self.name)]

    def messages(self, format: str | None = None) -> list[dict[str, Any]]:  # noqa: A002
        """Give the session's messages back, each equal to the one that was appended.

        Args:
            format: only those appended in this format; None gives all.

        Raises:
            Erased: one of them was erased.
        """
        reader = self._memory._log.reader  # noqa: SLF001 - Memory and Session are one room
        return [
            json.loads(reader.source_of(one).decode("utf-8", "surrogatepass"))
            for one in self.events()
            if one.part == 0 and one.meta.get("format") and format in {None, one.meta["format"]}
        ]

    def window(
        self,
        budget: int | Budget,
        *,
        format: str | None = None,  # noqa: A002
        counter: TokenCounter | None = None,
        pull: bool | PullLimits = True,
    ) -> SessionWindow:
        """Open the session's context window: what the model will see, kept under a budget of tokens.

        Args:
            budget: tokens of everything that is sent, or a whole `Budget` with its marks.
            format: of the requests: ``openai-chat``, ``openai-responses`` or ``anthropic``; None is that of the
                session's messages.
            counter: counts tokens as the model does; None is the estimate for the format (see `firsthand.tokens`).
            pull: offer recall, expand and task to the model as tools; or their limits of one turn.

        Raises:
            InvalidArgument: the budget is no budget.
            FormatError: there is no such format.
        """
        from firsthand.context.session_window import SessionWindow
        from firsthand.window import Budget

        size = budget if isinstance(budget, Budget) else Budget(budget)
        return SessionWindow(self._memory, self, size, format=format, counter=counter, pull=pull)

    def executor(
        self, name: str | None = None, *, agent: str = "", call: str | Appended | None = None, task: str = ""
    ) -> Executor:
        """Begin an executor: a session below this one with a window of its own (total-recall 6).

        All that happens in it is one item here, which opens to everything (`Memory.open_span`).

        Args:
            name: among its siblings; None makes one.
            call: the tool call of this session that it answers; None appends one of the tool ``delegate``.
            task: what it is to do.

        Raises:
            InvalidArgument: the name holds ``/`` or is taken, or the call is none of this session's.
        """
        from firsthand.context.executors import begin

        return begin(self, name, agent=agent, call=call, task=task)

    def events(self, *, after: int = 0, limit: int | None = None, newest_first: bool = False) -> Iterator[Event]:
        """Yield the session's events in order."""
        return self._memory.events(self.name, after=after, limit=limit, newest_first=newest_first)

    def _by_agent(self) -> dict[str, Any]:
        return {"agent": self.agent_name, "origin": "agent", "trust": Trust.AGENT}


def _bytes(content: Content) -> bytes | ByteSource:
    return event.to_bytes(content) if isinstance(content, str) else content


def _in_format(draft: Draft, name: str, fence_key: bytes, time: Moment | None) -> Draft:
    """Note a message's format, and which of its parts are only what Firsthand had recalled."""
    from firsthand.value import replace

    meta: dict[str, Any] = {"format": name} if draft.part == 0 else {}
    text = event.to_text(draft.content) if isinstance(draft.content, bytes) else ""
    if fence.unwrap(text, fence_key).only or (draft.kind is Kind.TOOL_RESULT and _is_answer(text, fence_key)):
        meta[INJECTED] = True
    return replace(draft, meta={**draft.meta, **meta}, time=draft.time or time)


def _is_answer(text: str, fence_key: bytes) -> bool:
    """Say whether a tool's result is an answer of ours as JSON (`AgentTools`): facts, and what was recalled, fenced."""
    if not text.startswith('{"outcome"'):
        return False
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and fence.unwrap(str(told.get("text", "")), fence_key).only
