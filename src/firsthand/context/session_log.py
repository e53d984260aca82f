"""A session in the log: a run of turns to append to and to read.

The invariant: messages that were appended come back as they were. What of a message is
only what Firsthand itself had recalled is noted as such, so that it is never found again.

It knows nothing of the session's window: `firsthand.session.Session` opens one.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from firsthand import event, fence, formats, moment
from firsthand.context.session_lists import stretches
from firsthand.event import INJECTED, LIST, ByteSource, Draft, Event, Kind, Trust
from firsthand.formats.parts import OPEN_CALLS_MAX, Calls
from firsthand.log.prepare import BATCH_EVENTS_MAX, check_name
from firsthand.log.results import Appended
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.value import replace

Content = str | bytes | ByteSource
T = TypeVar("T")


class SessionVerbs(ABC, Generic[T]):
    """What a session takes, as drafts; what becomes of each is for those who derive from it to say."""

    def __init__(self, name: str, agent: str) -> None:
        self.name, self.agent_name = check_name(name, "session", empty=False), agent

    @abstractmethod
    def _append(self, draft: Draft) -> T: ...

    def append(self, kind: Kind, content: Content, **fields: Any) -> T:
        """Append one event of any kind; ``fields`` are those of `Draft`.

        The event's time is now, unless it is given, or an id is: a retry under the same id must be the same event.
        """
        if "id" not in fields:
            fields.setdefault("time", moment.now())
        return self._append(Draft(kind, _bytes(content), **fields))

    def user(self, text: Content, **fields: Any) -> T:
        """Append a user message; it begins a turn."""
        return self.append(Kind.USER_MESSAGE, text, **{"origin": "user", "trust": Trust.TRUSTED} | fields)

    def agent(self, text: Content, **fields: Any) -> T:
        """Append an agent message."""
        return self.append(Kind.AGENT_MESSAGE, text, **self._by_agent() | fields)

    def reasoning(self, text: Content, **fields: Any) -> T:
        """Append an agent's reasoning."""
        return self.append(Kind.REASONING, text, **self._by_agent() | fields)

    def system(self, text: Content, **fields: Any) -> T:
        """Append a system prompt."""
        return self.append(Kind.SYSTEM, text, **{"origin": "system", "trust": Trust.TRUSTED} | fields)

    def tool_call(self, tool: str, arguments: Mapping[str, Any], *, call_id: str | None = None, **fields: Any) -> T:
        """Append a tool call; its id (made when None) joins it to its result."""
        if "id" not in fields:
            fields.setdefault("time", moment.now())
        identifier = fields.pop("id", None) or event.IdMaker()()
        meta = {"tool": tool, "call_id": call_id or f"call_{identifier.lower()}"} | dict(fields.pop("meta", {}))
        content = json.dumps(arguments, ensure_ascii=False)
        fields = {"media": "application/json"} | self._by_agent() | fields
        return self.append(Kind.TOOL_CALL, content, id=identifier, meta=meta, **fields)

    def tool_result(self, call: str | Appended, content: Content, *, tool: str = "", **fields: Any) -> T:
        """Append a tool's result, of any size: text, bytes, or a binary file to stream from.

        Args:
            call: the call's id, or what `tool_call` returned.
        """
        meta = {"call_id": call if isinstance(call, str) else f"call_{call.id.lower()}"}
        meta |= {"tool": tool} if tool else {}
        meta |= dict(fields.pop("meta", {}))
        origin = {"origin": f"tool:{tool}" if tool else "tool", "trust": Trust.UNTRUSTED}
        return self.append(Kind.TOOL_RESULT, content, meta=meta, **origin | fields)

    def _by_agent(self) -> dict[str, Any]:
        return {"agent": self.agent_name, "origin": "agent", "trust": Trust.AGENT}


class SessionLog(SessionVerbs[Appended]):
    """The events of one session. The session begins with its first event.

    Attributes:
        list_name: of the list that what is appended here belongs to (`session_lists`).
    """

    def __init__(self, space: Space, name: str, agent: str) -> None:
        super().__init__(name, agent)
        self.space = space
        self.calls: Calls = {}
        self.list_name = ""

    def _append(self, draft: Draft) -> Appended:
        return append_listed(self, [draft])[0]

    def append_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        format: str | None = None,  # noqa: A002 - the package's word
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
        drafts = drafts_of(self, messages, format or formats.detect(messages), time=time)
        return [appended for message in append_drafts(self, drafts) for appended in message]

    def messages(self, format: str | None = None) -> list[dict[str, Any]]:  # noqa: A002
        """Give the session's messages back, each equal to the one that was appended.

        Args:
            format: only those appended in this format; None gives all.

        Raises:
            Erased: one of them was erased.
            FormatError: there is no such format.
        """
        if format is not None:
            formats.named(format)
        return [
            message_of(self, event)
            for event in self.events()
            if event.part == 0 and event.meta.get("format") and format in {None, event.meta["format"]}
        ]

    def events(self, *, after: int = 0, limit: int | None = None, newest_first: bool = False) -> Iterator[Event]:
        """Yield the session's events in order."""
        return self.space.events(self.name, after=after, limit=limit, newest_first=newest_first)


def message_of(session: SessionLog, event: Event) -> dict[str, Any]:
    """Give the message back that an event is the first part of."""
    message: dict[str, Any] = json.loads(session.space.log.reader.source_of(event).decode("utf-8", "surrogatepass"))
    return message


def listed(session: SessionLog, *, after: int = 0) -> Iterator[Event]:
    """Yield the events of a session's list and of those that it goes on from, the newest first."""
    reader, namespace = session.space.log.reader, session.space.namespace
    for part in stretches(reader, namespace, session.list_name):
        events = reader.events(
            namespace, session=session.name, after=max(after, part.after), before=part.before, newest_first=True
        )
        yield from filter(part.has, events)
        if part.after <= after:
            return


def append_listed(session: SessionLog, drafts: Sequence[Draft], expected_position: int | None = None) -> list[Appended]:
    """Append drafts in one transaction, as events of the session's list.

    Raises:
        StaleExpectation: the session does not end at ``expected_position``.
    """
    if session.list_name:
        drafts = [replace(draft, meta={**draft.meta, LIST: session.list_name}) for draft in drafts]
    return [*session.space.append(drafts, session=session.name, expected_position=expected_position)]


def drafts_of(
    session: SessionLog, messages: Sequence[Mapping[str, Any]], format: str, *, time: Moment | None = None  # noqa: A002
) -> list[list[Draft]]:  # fmt: skip
    """Draft the events of each message; a result is named by its call, whichever append that came by."""
    key, to_records = session.space.log.reader.fence_key(), formats.named(format).to_records
    records = to_records(messages, session.calls)
    if any(draft.origin == "tool" for record in records for draft in record.drafts):
        session.calls = _earlier_calls(session) | session.calls
        records = to_records(messages, session.calls)
    return [[_in_format(draft, format, key, time, session.agent_name) for draft in record.drafts] for record in records]


def _earlier_calls(session: SessionLog) -> Calls:
    """Give the tools of calls among the newest events, by their ids."""
    space = session.space
    newest = space.log.reader.events(
        space.namespace, session=session.name, limit=OPEN_CALLS_MAX, newest_first=True, damaged=lambda *_: None
    )
    calls = [event.meta for event in newest if event.kind is Kind.TOOL_CALL and not event.erased]
    return {str(meta.get("call_id")): str(meta.get("tool", "")) for meta in reversed(calls)}


def append_drafts(
    session: SessionLog, messages: Sequence[Sequence[Draft]], through: int | None = None
) -> list[list[Appended]]:
    """Append the drafts of messages, each message in one transaction; all together while they are few.

    Raises:
        StaleExpectation: the session does not end at ``through``, or grew between two transactions.
    """
    groups: list[list[Draft]] = [[]]
    for drafts in messages:
        if len(groups[-1]) + len(drafts) > BATCH_EVENTS_MAX:
            groups.append([])
        groups[-1] += drafts
    appended: list[Appended] = []
    for group in filter(None, groups):
        appended += append_listed(session, group, through)
        through = None if through is None else appended[-1].position
    each = iter(appended)
    return [[next(each) for _ in drafts] for drafts in messages]


def _bytes(content: Content) -> bytes | ByteSource:
    return event.to_bytes(content) if isinstance(content, str) else content


def _in_format(draft: Draft, name: str, fence_key: bytes, time: Moment | None, agent: str) -> Draft:
    """Note a message's format, and which of its parts are only what Firsthand had recalled."""
    meta: dict[str, Any] = {"format": name} if draft.part == 0 else {}
    text = event.to_text(draft.content) if isinstance(draft.content, bytes) else ""
    if fence.unwrap(text, fence_key).only or (draft.kind is Kind.TOOL_RESULT and _is_answer(text, fence_key)):
        meta[INJECTED] = True
    return replace(draft, meta={**draft.meta, **meta}, time=draft.time or time, agent=agent * (draft.origin == "agent"))


def _is_answer(text: str, fence_key: bytes) -> bool:
    """Say whether a tool's result is an answer of ours as JSON (`AgentTools`): facts, and what was recalled, fenced."""
    if not text.startswith('{"outcome"'):
        return False
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fence.unwrap(str(fields.get("text", "")), fence_key).only
