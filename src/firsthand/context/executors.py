"""Scopes: planner and executor windows over one log (total-recall 6).

    with begin(session, "tests", task="Run the tests") as executor:
        window = executor.window(8_000)
        ...
        executor.finish("All 12 pass.")

An executor has a session of its own, named below its parent's (``deploy/tests``), and
so a window of its own. Its parent holds the tool call that began it and the result
that ended it, and in the result the pointer of all that happened below: whatever
the length of that, it is one item in the parent's window. Executors nest.

The invariant: nothing that an executor did is copied or lost; its span opens to every
event below it, by way of names and call ids in the log. An executor is finished at
the moment when one event says so: its result in the parent, or its end in its own
session; before that it is found again (`unfinished`).

It does not know who runs an executor, nor what its parent makes of the result.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from firsthand import moment
from firsthand import pointer as pointers
from firsthand.answer import Answer
from firsthand.context import marker_hints
from firsthand.context.session_log import SessionLog
from firsthand.context.session_window import SessionWindow
from firsthand.errors import InvalidArgument, PointerError, StaleExpectation, Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, derived_id, to_bytes
from firsthand.ledger.ledger_recall import recall
from firsthand.log.results import Appended
from firsthand.pointer import Pointer
from firsthand.recall.search import query_of
from firsthand.space import Space
from firsthand.value import value
from firsthand.window import HISTORY, Budget

TOOL = "delegate"  # the tool of a call that is made for an executor without one
SCOPE, PARENT = "scope", "parent_session"  # facts in the meta of an executor's first event; hosts write the second too
DEPTH_MAX = 16
TOPICS_MAX = 4
TOPIC_EVENTS_MAX = 100  # looked at for topics: as many from the head, and from the tail
_SEPARATOR = "/"
_EXECUTOR, _END = "executor", "end"


@value
class Finished:
    """How an executor ended.

    Attributes:
        text: the result with the line that opens what is below it, as the parent's model reads it.
        pointer: of the executor's whole span.
        event: the result in the parent's session, or the end in the executor's own.
    """

    text: str
    pointer: str
    event: Appended


@value
class Below:
    """One event of an opened span.

    Attributes:
        depth: 0 for the span's own session, one more for each executor between.
    """

    depth: int
    event: Event


class Executor:
    """One executor: a session below another one, and the result that it owes it; made by `begin`.

    Leaving its ``with`` block finishes it: with the error, when one came, which goes on.
    """

    def __init__(self, space: Space, session: SessionLog, first: Event) -> None:
        self._space, self._first = space, first
        self.session = session

    @property
    def name(self) -> str:
        """The name of its session."""
        return self.session.name

    @property
    def parent(self) -> str:
        """The name of the session that it works for."""
        return self.name.rpartition(_SEPARATOR)[0]

    @property
    def task(self) -> str:
        """What it is to do, as it was begun with."""
        return self._space.expand(f"fh:{self._first.id}").decode("utf-8", "surrogatepass")

    @property
    def call_id(self) -> str:
        """The call in the parent that its result answers."""
        return str(self._first.meta["call_id"])

    @property
    def pointer(self) -> str:
        """The pointer of all that happened in its session so far."""
        return str(Pointer(self._first.id, self._last().id))

    @property
    def is_finished(self) -> bool:
        """True when its result is in its parent, or was handed over."""
        return any(_has(self._space, self._id_of(end)) for end in (_EXECUTOR, _END))

    def window(self, budget: int | Budget, **options: Any) -> SessionWindow:
        """Open its window; the options are those of `Session.window`."""
        return SessionWindow(self.session, budget, **options)

    def recall(self, query: str, **options: Any) -> Answer:
        """Recall within its scope: its own session and those below it; the options are those of `Memory.recall`."""
        scope = (self.name, f"{self.name}{_SEPARATOR}*")
        rewrite = options.pop("rewrite", None)
        return recall(self._space, query_of(query, sessions=scope, **options), rewrite=rewrite, waiting=True)

    def executor(
        self, name: str | None = None, *, agent: str = "", call: str | Appended | None = None, task: str = ""
    ) -> Executor:
        """Begin an executor below this one; see `begin`."""
        return begin(self.session, name, agent=agent, call=call, task=task)

    def finish(self, result: str = "", *, is_error: bool = False, append: bool = True) -> Finished:
        """Hand the result to the parent, with the pointer of all that is below it.

        Args:
            result: in the executor's own words.
            is_error: the executor failed.
            append: append the result to the parent's session. False leaves that to a loop which keeps its own list of
                messages: it puts ``text`` into the tool message, and the window appends that.

        Raises:
            InvalidArgument: it is finished already.
            IdConflict: another process finished it at the same time.
        """
        if self.is_finished:
            raise InvalidArgument(f"executor {self.name!r} is finished already; begin another one")
        last = self._last()
        span = str(Pointer(self._first.id, last.id))
        text = "\n".join(part for part in (result, self._line(span, last)) if part)
        facts = {SCOPE: self.name, "span": span} | ({"is_error": True} if is_error else {})
        event = self._to_parent(text, facts) if append else self._to_self(text, facts)
        return Finished(text, span, event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_finished:
            return
        if error is None:
            self.finish("(ended without a result)")
        else:
            self.finish(f"failed: {type(error).__name__}: {error}", is_error=True)

    def _to_parent(self, text: str, facts: Mapping[str, Any]) -> Appended:
        """Append the result; with the call before it, where that was not written before the process ended."""
        call = _delegation(self._first, self.task)
        missing = [call] if call is not None and not _has(self._space, str(call.id)) else []
        tool = str(self._first.meta.get("tool") or "")
        meta = {"call_id": self.call_id} | ({"tool": tool} if tool else {}) | dict(facts)
        drafts = [*missing, _result(text, self._id_of(_EXECUTOR), meta)]
        return self._space.append(drafts, session=self.parent)[-1]

    def _to_self(self, text: str, facts: Mapping[str, Any]) -> Appended:
        end = Draft(
            Kind.SESSION, to_bytes(text), meta={**facts, SCOPE: _END}, agent=self._first.agent, origin="agent",
            trust=Trust.AGENT, time=moment.now(), id=self._id_of(_END),
        )  # fmt: skip
        return self._space.append([end], session=self.name)[0]

    def _line(self, span: str, last: Event) -> str:
        turns = f"{last.turn:,} turn{'s' if last.turn != 1 else ''}"
        number = last.sequence - self._first.sequence + 1
        events = f"{number:,} event{'s' if number != 1 else ''}"
        topics = ", ".join(self._topics())
        about = f", topics: {topics}" if topics else ""
        return f'[Executor {self.name}: {turns}, {events}{about}. To read all of it: expand("{span}").]'

    def _topics(self) -> tuple[str, ...]:
        """Name what its events speak of, from the head and the tail of its session."""
        head = self.session.events(after=self._first.position, limit=TOPIC_EVENTS_MAX)
        tail = self.session.events(newest_first=True, limit=TOPIC_EVENTS_MAX)
        texts = {event.position: event.text for event in (*head, *tail) if _speaks(event, self._first)}
        counts = Counter(term for _, text in sorted(texts.items()) for term in marker_hints.terms(text))
        return tuple(term for term, _ in counts.most_common(TOPICS_MAX))

    def _last(self) -> Event:
        return next(self.session.events(newest_first=True, limit=1))

    def _id_of(self, end: str) -> str:
        """Give the id of the event that finishes it: made of its first event's, so there is only one."""
        return derived_id(self._first.time, b"firsthand scope", end.encode(), self._first.id.encode())


def _speaks(event: Event, first: Event) -> bool:
    """Say whether an event is what happened, and neither what was recalled nor a record of a prompt."""
    return event.position > first.position and event.kind in HISTORY and event.is_searchable


def begin(
    session: SessionLog, name: str | None = None, *, agent: str = "", call: str | Appended | None = None, task: str = ""
) -> Executor:
    """Begin an executor below a session.

    Args:
        session: the parent.
        name: of the executor among its siblings, without ``/``; None makes one.
        agent: whose words its agent messages are.
        call: the parent's tool call that it answers, its id or what `Session.tool_call` returned; None appends one of
            the tool ``delegate`` to the parent.
        task: what it is to do; kept with its first event, not said to its model.

    Raises:
        InvalidArgument: the name holds ``/`` or is taken, the call is none of the parent's, or the parent is below
            too many others.
    """
    space = session.space
    named = IdMaker()().lower() if name is None else name
    if not isinstance(named, str) or not named or _SEPARATOR in named:
        raise InvalidArgument(f"an executor's name is text without {_SEPARATOR!r}; got {name!r}")
    if session.name.count(_SEPARATOR) >= DEPTH_MAX:
        raise InvalidArgument(f"executors nest at most {DEPTH_MAX} deep; {session.name!r} is below too many")
    child = SessionLog(space, f"{session.name}{_SEPARATOR}{named}", agent)
    meta = {SCOPE: _EXECUTOR, PARENT: session.name} | _called(space, session, call)
    first = Draft(
        Kind.SESSION, to_bytes(task), meta=meta, agent=session.agent_name, origin="agent", trust=Trust.AGENT,
        time=moment.now(),
    )  # fmt: skip
    try:
        appended = space.append([first], session=child.name, expected_position=0)[0]
    except StaleExpectation as error:
        raise InvalidArgument(
            f"session {child.name!r} is there already; choose another name, or take it up again (unfinished)"
        ) from error
    event = space.event(appended)
    delegation = _delegation(event, task)
    if delegation is not None:
        space.append([delegation], session=session.name)
    return Executor(space, child, event)


def unfinished(space: Space, parent: str) -> tuple[Executor, ...]:
    """Find the executors below a session, at any depth, that have no result; in the order they began."""
    open_spans = []
    for name in _below(space, parent):
        first = next(space.events(name, limit=1))
        if first.kind is Kind.SESSION and first.meta.get(SCOPE) == _EXECUTOR:
            executor = Executor(space, SessionLog(space, name, ""), first)
            open_spans += [] if executor.is_finished else [executor]
    return tuple(open_spans)


def open_span(space: Space, address: str | Pointer | Finished) -> Iterator[Below]:
    """Open a span to every event below it, nested ones included, in order.

    What happened in an executor comes right before the result that it gave. What has no result in the span, or
    was imported from a host that does not say which call it answers, comes at the end.

    Raises:
        MalformedPointer: it is no pointer.
        Unresolvable: nothing in this namespace answers to it.
        PointerError: its ends lie in different sessions, or run backwards.
    """
    name = address.pointer if isinstance(address, Finished) else address
    at = name if isinstance(name, Pointer) else pointers.parse(name)
    first, last = (space.event(f"fh:{end}") for end in (at.first, at.last or at.first))
    if first.session != last.session or first.position > last.position:
        raise PointerError(f"a span runs forward within one session; {at} does not: take the one a result tells")
    below = _below(space, first.session)
    yield from _opened(space, first.session, below, range(first.position, last.position + 1), 0)


def _opened(space: Space, session: str, below: Collection[str], positions: range | None, depth: int) -> Iterator[Below]:
    """Open a session, or these positions of it, and what is below."""
    waiting: dict[str, list[Event]] = {}
    for began in _children(space, session, below):
        waiting.setdefault(str(began.meta.get("call_id") or ""), []).append(began)
    after, before = (0, None) if positions is None else (positions.start - 1, positions.stop)
    for event in space.events(session, after=after, before=before):
        if event.kind is Kind.TOOL_RESULT and event.meta.get("call_id"):
            for began in waiting.pop(str(event.meta["call_id"]), []):
                yield from _opened(space, began.session, below, None, depth + 1)
        yield Below(depth, event)
    for began in (span for several in waiting.values() for span in several):
        if positions is None or began.position in positions:
            yield from _opened(space, began.session, below, None, depth + 1)


def _below(space: Space, session: str) -> tuple[str, ...]:
    """Name all sessions whose names are below a session's, at any depth."""
    return tuple(info.name for info in space.sessions() if info.name.startswith(session + _SEPARATOR))


def _children(space: Space, parent: str, below: Collection[str]) -> Iterator[Event]:
    """Give the first events of the sessions right below one, by their names and their own word."""
    for name in below:
        if name.startswith(parent + _SEPARATOR) and _SEPARATOR not in name[len(parent) + 1 :]:
            first = next(space.events(name, limit=1))
            # hosts name the parent without what their import puts before it; an erased event says nothing any more
            if first.erased or first.meta.get(PARENT) in {parent, parent.partition(":")[2]}:
                yield first


def _called(space: Space, session: SessionLog, call: str | Appended | None) -> dict[str, Any]:
    """Give the facts of the call that an executor answers: its own id, where one is to be made."""
    if call is None:
        identifier = IdMaker()()
        return {"call_id": f"call_{identifier.lower()}", "tool": TOOL, "call_event": identifier}
    if isinstance(call, str):
        if not call:
            raise InvalidArgument("expected the id of a tool call, or None to have one made; got an empty text")
        return {"call_id": call}
    event = space.event(call)
    if event.kind is not Kind.TOOL_CALL or event.session != session.name or not event.meta.get("call_id"):
        raise InvalidArgument(
            f"expected a tool call of session {session.name!r}; got {call}: {event.kind} of {event.session!r}"
        )
    return {"call_id": event.meta["call_id"], "tool": event.meta.get("tool") or ""}


def _delegation(first: Event, task: str) -> Draft | None:
    """Draft the call that is made for an executor, always the same one; None for one that answers another call."""
    identifier = first.meta.get("call_event")
    if identifier is None:
        return None
    arguments = {"name": first.session.rpartition(_SEPARATOR)[2], "task": task}
    return Draft(
        Kind.TOOL_CALL, to_bytes(json.dumps(arguments, ensure_ascii=False)), "application/json",
        {"tool": TOOL, "call_id": first.meta["call_id"]}, agent=first.agent, origin="agent", trust=Trust.AGENT,
        time=first.time, id=str(identifier),
    )  # fmt: skip


def _result(text: str, identifier: str, meta: Mapping[str, Any]) -> Draft:
    origin = f"tool:{meta['tool']}" if meta.get("tool") else "tool"
    return Draft(
        Kind.TOOL_RESULT, to_bytes(text), meta=meta, origin=origin, trust=Trust.UNTRUSTED, time=moment.now(),
        id=identifier,
    )  # fmt: skip


def _has(space: Space, identifier: str) -> bool:
    try:
        space.event(f"fh:{identifier}")
    except Unresolvable:  # that is the answer
        return False
    return True
