"""Verbs: those of `Memory` as somebody else has them, made of its own methods.

    Client, AsyncClient     each becomes a request, and its answer is read into the method's own type
    AsyncMemory             each is done in a thread

Each has the arguments, words, types and errors of the method that it is made of. How it is done is for the
`Wire` of who has it.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from collections.abc import Sequence as Seq
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_type_hints, overload

from firsthand import errors
from firsthand.context.anatomy import from_event
from firsthand.errors import InvalidArgument, ServerFailed
from firsthand.event import Draft, Event, IdMaker, Kind
from firsthand.json_codec import from_json, to_json
from firsthand.ledger.facts import Fact
from firsthand.log.results import Appended
from firsthand.memory import Memory
from firsthand.moment import now
from firsthand.notes.claim import Claim
from firsthand.pointer import Pointer
from firsthand.session import Session
from firsthand.space import pointer_of
from firsthand.value import replace

PIECE_BYTES, PAGE_EVENTS = 1 << 20, 200
_LONG = {"verify", "erase", "live"}
"""Verbs whose answer is waited for however long it takes: they read the whole store, or wait for news."""
_STARTING = {502, 503, 504}
"""What a proxy answers while the server behind it starts anew, and a server with too many connections."""
_RAW = {"expand", "live"}
"""Verbs whose answer is no JSON."""
P = ParamSpec("P")
T = TypeVar("T")


class Call:
    """One request: the verb, what it takes, and how the response is read."""

    def __init__(self, verb: str, fields: Mapping[str, Any], read: Callable[[Any], Any], part: str = "") -> None:
        self.verb, self._read, self._part = verb, read, part
        self.fields = {name: _sent(name, field) for name, field in fields.items() if field is not None}

    def request(self) -> dict[str, Any]:
        """Give the arguments of the library's request."""
        url, more = f"/v1/{self.verb}", {"timeout": None} if self.verb in _LONG else {}
        if self.verb in _RAW:
            return {"method": "GET", "url": url, "params": self.fields, "headers": {"range": self._part}, **more}
        return {"method": "POST", "url": url, "content": json.dumps(self.fields).encode("ascii"), **more}

    def result(self, response: Any) -> Any:
        """Read what came back.

        Raises:
            FirsthandError: what the same verb of `Memory` raises.
            ServerFailed: it is no answer of this protocol.
        """
        if response.status_code >= 400:
            raise problem(response)
        try:
            return self._read(response if self.verb in _RAW else response.json())
        except (ValueError, KeyError, TypeError) as error:
            raise ServerFailed(f"expected an answer to {self.verb}; got {response.text!r:.120} ({error})") from error


def problem(response: Any) -> errors.FirsthandError:
    """Read a problem as the error that the verb of `Memory` raises."""
    try:
        fields = response.json()
        kind = vars(errors).get(str(fields.get("error")), ServerFailed)
        raised: errors.FirsthandError = kind(str(fields["detail"]))
        if isinstance(raised, ServerFailed):
            raised.status = response.status_code
    except (ValueError, KeyError, TypeError, AttributeError):  # no problem of ours: a proxy's page, perhaps
        kind = errors.StoreBusy if response.status_code in _STARTING else ServerFailed
        return kind(f"the server, or a proxy before it, answered {response.status_code}: {response.text!r:.120}")
    return raised


Steps = Generator[Call, Seq[Any], None]
"""What a verb that yields is made of: it gives calls, and is told what came of each."""


class Wire(Protocol):
    """The way to who does the verbs."""

    def verb(self, verb: Verb[Any, Any], client: Any) -> Any:
        """Give a verb of a client as a function."""
        ...

    def pages(self, verb: Pages[Any, Any], client: Any) -> Any:
        """Give a verb that yields."""
        ...


class Waits:
    """What has verbs that give what they read."""

    _wire: Any  # a `Wire`


class Awaits:
    """What has verbs that are awaited."""

    _wire: Any  # a `Wire`


class _Made(Generic[P]):
    """A verb that is made of one of `Memory`."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], make: Callable[[Any, dict[str, Any]], Any]) -> None:
        self.method, self._make, self.signature = method, make, inspect.signature(method)

    def sent(self, client: Any, send: Callable[[Any], Any]) -> Any:
        """Give the verb as a function that hands the arguments, by name, to who makes the request, and sends it."""

        @functools.wraps(self.method)
        def verb(*arguments: Any, **named: Any) -> Any:
            asked: dict[str, Any] = {}
            for name, argument in self.signature.bind(client, *arguments, **named).arguments.items():
                is_more = self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
                asked |= argument if is_more else {name: argument}
            del asked["self"]
            return send(self._make(client, asked))

        return verb


class Verb(_Made[P], Generic[P, T]):
    """A verb with one answer."""

    def __init__(
        self, method: Callable[Concatenate[Any, P], T], make: Callable[[Any, dict[str, Any]], Call] | None = None
    ) -> None:
        super().__init__(method, make or (lambda _client, asked: Call(method.__name__, asked, reads(method))))

    @overload
    def __get__(self, client: Waits, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaits, owner: object) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        return self.method if client is None else client._wire.verb(self, client)  # noqa: SLF001 - its own


class Pages(_Made[P], Generic[P, T]):
    """A verb that yields, over as many requests as it takes."""

    def __init__(
        self,
        method: Callable[Concatenate[Any, P], Iterator[T]],
        make: Callable[[Any, dict[str, Any]], Steps] = lambda _client, _asked: iter(()),  # type: ignore[assignment,return-value]
    ) -> None:
        super().__init__(method, make)

    @overload
    def __get__(self, client: Waits, owner: object) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaits, owner: object) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        return self.method if client is None else client._wire.pages(self, client)  # noqa: SLF001 - its own


def reads(method: Callable[..., Any]) -> Callable[[Any], Any]:
    """Read an answer into what a method says that it returns."""
    return lambda data: from_json(get_type_hints(method)["return"], data)


def _sent(name: str, argument: Any) -> Any:
    """Write an argument as the server reads it."""
    match argument:
        case Appended() | Pointer():
            return str(pointer_of(argument))
        case Claim():
            return argument.as_json()
        case str() | bytes() | Mapping():
            return to_json(argument)
        case Iterable() if not hasattr(type(argument), "__match_args__"):
            return [_sent(name, member) for member in argument]
        case _ if callable(argument):
            raise InvalidArgument(f"a function cannot be sent to a server; leave {name} out")
    return to_json(argument)


def _append(_client: Any, asked: dict[str, Any]) -> Call:
    id_of, drafts = IdMaker(), list[Draft](asked.pop("drafts"))
    asked["events"] = [
        replace(draft, id=draft.id or id_of(), content=_whole(draft.content)) for draft in drafts
    ]  # fmt: skip

    def read(data: Any) -> tuple[Appended, ...]:  # what has an id of ours is new, however often it was sent
        appended = from_json(tuple[Appended, ...], data)
        return tuple(replace(each, new=each.new or not draft.id) for each, draft in zip(appended, drafts, strict=True))

    return Call("append", asked, read)


def _note(_client: Any, asked: dict[str, Any]) -> Call:
    asked = asked if "id" in asked else {"id": IdMaker()(), "time": now(), **asked}
    return Call("note", asked, reads(Memory.note))


def _note_of_session(session: Any, asked: dict[str, Any]) -> Call:
    by_agent = {"agent": session.agent_name, "origin": "agent", "trust": "agent", "id": IdMaker()(), "time": now()}
    return Call("note", {**by_agent, **asked, "session": session.name}, lambda data: from_json(Appended, data["event"]))


def _of_session(method: Callable[..., Any], **more: Callable[[], Any]) -> Callable[[Any, dict[str, Any]], Call]:
    def make(session: Any, asked: dict[str, Any]) -> Call:
        fields = {name: field() for name, field in more.items()} | asked | {"session": session.name}
        return Call(method.__name__, fields, reads(method))

    return make


def timeline(asked: dict[str, Any], read: Callable[[Event], Iterable[Any]]) -> Steps:
    """Read events page by page."""
    limit, last = asked.pop("limit", None), "before" if asked.get("newest_first") else "after"
    while limit is None or limit > 0:
        events: list[Event] = []
        size = PAGE_EVENTS if limit is None else min(limit, PAGE_EVENTS)

        def page_of(data: Any, events: list[Event] = events) -> list[Any]:
            events += from_json(tuple[Event, ...], data)
            return [item for each in events for item in read(each)]

        yield Call("timeline", {**asked, "limit": size}, page_of)
        if len(events) < size:
            return
        limit = None if limit is None else limit - size
        asked[last] = events[-1].position


def _stream(_client: Any, asked: dict[str, Any]) -> Steps:
    start = size = 0

    def read(response: Any) -> tuple[bytes, ...]:
        nonlocal size
        size = int(response.headers.get("content-range", "/0").rpartition("/")[2])  # none: it came whole
        return (response.content,)

    while not start or start < size:
        yield Call("expand", asked, read, f"bytes={start}-{start + PIECE_BYTES - 1}")
        start += PIECE_BYTES


def _facts(_client: Any, asked: dict[str, Any]) -> Steps:
    yield Call("facts", asked, lambda data: from_json(tuple[Fact, ...], data))


def _whole(content: Any) -> bytes:
    return content if isinstance(content, bytes) else b"".join(iter(lambda: content.read(PIECE_BYTES), b""))


class Verbs:
    """What every memory does, of this process or of a server."""

    append = Verb(Memory.append, _append)
    note = Verb(Memory.note, _note)  # type: ignore[arg-type] # of `self`, which has a name in any function
    check = Verb(Memory.check)
    check_correction = Verb(Memory.check_correction)
    coverage = Verb(Memory.coverage)
    supersede = Verb(Memory.supersede)
    retract = Verb(Memory.retract)
    assert_fact = Verb(Memory.assert_fact)
    facts = Pages(Memory.facts, _facts)
    recall = Verb(Memory.recall)
    fence = Verb(Memory.fence)
    fenced = Verb(Memory.fenced)
    expand = Verb(Memory.expand, lambda _, asked: Call("expand", asked, lambda response: response.content))
    stream = Pages(Memory.stream, _stream)
    event = Verb(Memory.event)
    events = Pages(Memory.events, lambda _, asked: timeline(asked, lambda each: (each,)))
    sessions = Verb(Memory.sessions)
    head = Verb(Memory.head)
    anatomies = Pages(
        Memory.anatomies,
        lambda _, asked: timeline(
            asked | {"kind": Kind.ANATOMY}, lambda each: () if each.erased else (from_event(each),)
        ),
    )
    anatomy = Verb(
        Memory.anatomy, lambda _, asked: Call("event", asked, lambda data: from_event(from_json(Event, data)))
    )
    verify = Verb(Memory.verify)
    erase = Verb(Memory.erase)


class SessionCalls:
    """What a session does beyond appending an event."""

    note = Verb(Session.note, _note_of_session)  # type: ignore[arg-type] # as above
    append_messages = Verb(Session.append_messages, _of_session(Session.append_messages, key=IdMaker()))
    messages = Verb(Session.messages, _of_session(Session.messages))
    events = Pages(
        Session.events, lambda session, asked: timeline(asked | {"session": session.name}, lambda each: (each,))
    )
